//! Reading a bill.

use super::bad::{BadBill, BadRow};
use super::forms::{Columns, Row};
use super::lines::Counted;
use super::{Bill, Billed, BilledMachine, Form, same_name};
use fleet_model::{Cloud, CostKind};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

pub(super) const HOUR: i64 = 3_600_000;
pub(super) const DAY: i64 = 24 * HOUR;

impl Bill {
    /// Reads a bill.
    pub fn read(file: impl Read) -> Result<Self, BadBill> {
        let (file, lines) = Counted::new(file);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let line_of = |at: &csv::Position| lines.of(at.byte()).unwrap_or(at.line());
        let broken = |error: csv::Error| BadBill::Row {
            line: error.position().map_or(1, line_of),
            why: match error.kind() {
                csv::ErrorKind::Utf8 { .. } => BadRow::NotText,
                _ => BadRow::Broken(error.to_string()),
            },
        };
        let heads = reader.headers().map_err(broken)?.clone();
        let columns = Columns::of(&heads)?;
        let mut rows = 0;
        let mut providers = Providers::default();
        let mut found: Vec<Row> = Vec::new();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(broken)? {
            if record.len() == 1 && record.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            rows += 1;
            let line = record.position().map_or(0, line_of);
            let row = fits(&record, heads.len()).and_then(|()| columns.row(&record));
            found.extend(row.map_err(|why| BadBill::Row { line, why })?);
            if let Some(name) = columns.provider(&record) {
                providers.note(name);
            }
        }
        Ok(Bill::of(columns.form, rows, providers, found))
    }

    fn of(form: Form, rows: u64, providers: Providers, found: Vec<Row>) -> Self {
        let (found, others): (Vec<Row>, Vec<Row>) =
            found.into_iter().partition(|row| row.kind == CostKind::Machine);
        let longest = found.iter().map(|row| row.end - row.start).max().unwrap_or(HOUR);
        let grain = if longest > HOUR || form == Form::Azure { DAY } else { HOUR };
        let mut bill = Bill {
            form,
            grain,
            rows,
            machine_rows: found.len() as u64,
            clouds: form.cloud().map_or_else(|| providers.clouds(), |one| BTreeSet::from([one])),
            beside: BTreeMap::new(),
            machines: BTreeMap::new(),
            from: found.iter().map(|row| row.start).min().unwrap_or(0),
            to: found.iter().map(|row| row.end).max().unwrap_or(0),
        };
        for row in others {
            let at = row.start.div_euclid(grain) * grain;
            bill.beside.entry(row.kind).or_default().entry(at).or_default().0 += row.cost.0;
        }
        for row in found {
            let machine: &mut BilledMachine =
                bill.machines.entry(same_name(&row.machine)).or_default();
            machine.name = row.machine;
            machine.fleet = machine.fleet.take().or(row.fleet);
            let at = row.start.div_euclid(grain) * grain;
            *machine.times.entry(at).or_default() += Billed { cost: row.cost, ms: row.ms };
        }
        bill
    }
}

/// A row with fewer cells than the header is cut off, and one with more is shifted. Empty cells at the end
/// shift nothing.
fn fits(record: &csv::StringRecord, header: usize) -> Result<(), BadRow> {
    let found = record.len();
    let surplus = record.iter().skip(header).any(|cell| !cell.trim().is_empty());
    if found < header || surplus { Err(BadRow::Cells { found, header }) } else { Ok(()) }
}

/// Who the rows of a bill say provides what they are about.
#[derive(Debug, Default)]
struct Providers(BTreeSet<String>);

impl Providers {
    fn note(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    /// The clouds that they name. A bill that names nobody may be of any.
    fn clouds(&self) -> BTreeSet<Cloud> {
        if self.0.is_empty() {
            return Cloud::ALL.into();
        }
        self.0.iter().filter_map(|name| cloud_of(name)).collect()
    }
}

/// Clouds write their names in several ways: `AWS` and `Amazon Web Services`, `Microsoft` and `Azure`.
fn cloud_of(provider: &str) -> Option<Cloud> {
    let name = provider.to_ascii_lowercase();
    let names = [
        (Cloud::Aws, ["aws", "amazon"]),
        (Cloud::Gcp, ["google", "gcp"]),
        (Cloud::Azure, ["microsoft", "azure"]),
        (Cloud::Lambda, ["lambda", "lambda"]),
    ];
    let (cloud, _) =
        names.into_iter().find(|(_, words)| words.iter().any(|word| name.contains(word)))?;
    Some(cloud)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
