//! One CSV file, read by its headers.

use super::ImportError;
use csv::StringRecord;
use fleet_model::{MicroUsd, Timestamp};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// An open price list.
pub(super) struct Table {
    path: PathBuf,
    reader: csv::Reader<File>,
    columns: Columns,
}

/// Where each column stands. The order differs from file to file.
struct Columns {
    kind: usize,
    accelerator: usize,
    count: usize,
    vcpus: usize,
    memory: usize,
    region: usize,
    /// Clouds without zones have no such column.
    zone: Option<usize>,
    price: usize,
    spot: usize,
}

/// One line of a price list. Empty texts and `None` are what the list leaves out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'r> {
    pub(super) kind: &'r str,
    pub(super) accelerator: &'r str,
    pub(super) count_milli: Option<u32>,
    pub(super) vcpus: Option<u32>,
    pub(super) memory_mib: Option<u64>,
    pub(super) region: &'r str,
    pub(super) zone: &'r str,
    pub(super) on_demand: Option<MicroUsd>,
    pub(super) spot: Option<MicroUsd>,
}

impl Table {
    /// Opens a list and says when it last changed; `None` if there is no such file.
    pub(super) fn open(path: &Path) -> Result<Option<(Self, Timestamp)>, ImportError> {
        let failed = |source| ImportError::Read { path: path.to_owned(), source };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let changed = file.metadata().and_then(|data| data.modified()).map_err(failed)?;
        let changed = Timestamp::try_from(changed).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut reader = csv::Reader::from_reader(file);
        let headers = reader
            .headers()
            .map_err(|source| ImportError::Table { path: path.to_owned(), source })?;
        let find = |name: &str| headers.iter().position(|header| header == name);
        let need = |column: &'static str| {
            find(column).ok_or_else(|| ImportError::Column { path: path.to_owned(), column })
        };
        let columns = Columns {
            kind: need("InstanceType")?,
            accelerator: need("AcceleratorName")?,
            count: need("AcceleratorCount")?,
            vcpus: need("vCPUs")?,
            memory: need("MemoryGiB")?,
            region: need("Region")?,
            zone: find("AvailabilityZone"),
            price: need("Price")?,
            spot: need("SpotPrice")?,
        };
        Ok(Some((Table { path: path.to_owned(), reader, columns }, changed)))
    }

    /// Hands every line to `take`.
    pub(super) fn each(mut self, mut take: impl FnMut(Line<'_>)) -> Result<(), ImportError> {
        let mut record = StringRecord::new();
        loop {
            match self.reader.read_record(&mut record) {
                Ok(true) => take(line(&record, &self.columns, &self.path)?),
                Ok(false) => return Ok(()),
                Err(source) => return Err(ImportError::Table { path: self.path, source }),
            }
        }
    }
}

fn line<'r>(
    record: &'r StringRecord,
    columns: &Columns,
    path: &Path,
) -> Result<Line<'r>, ImportError> {
    let text = |at: usize| record.get(at).unwrap_or("").trim();
    let wrong = |column: &'static str, text: &str| ImportError::Value {
        path: path.to_owned(),
        line: record.position().map_or(0, csv::Position::line),
        column,
        text: text.to_owned(),
    };
    // A whole number of `per` parts: thousandths of an accelerator, MiB of a GiB.
    let parts = |at: usize, per: f64, column: &'static str| {
        let text = text(at);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>().map(|number| (number * per).round()) {
            Ok(number) if (0.0..=f64::from(u32::MAX)).contains(&number) => Ok(Some(number as u32)),
            _ => Err(wrong(column, text)),
        }
    };
    let price = |at: usize, column: &'static str| {
        let text = text(at);
        if text.is_empty() {
            return Ok(None);
        }
        let price = text.parse().ok().and_then(MicroUsd::from_f64);
        price.map(Some).ok_or_else(|| wrong(column, text))
    };
    let region = text(columns.region);
    if region.is_empty() {
        return Err(wrong("Region", region));
    }
    Ok(Line {
        kind: text(columns.kind),
        accelerator: text(columns.accelerator),
        count_milli: parts(columns.count, 1000.0, "AcceleratorCount")?,
        vcpus: parts(columns.vcpus, 1.0, "vCPUs")?.filter(|&vcpus| vcpus > 0),
        memory_mib: parts(columns.memory, 1024.0, "MemoryGiB")?
            .filter(|&memory| memory > 0)
            .map(u64::from),
        region,
        zone: columns.zone.map_or("", text),
        on_demand: price(columns.price, "Price")?,
        spot: price(columns.spot, "SpotPrice")?,
    })
}
