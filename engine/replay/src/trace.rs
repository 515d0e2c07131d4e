//! A recording of a spot market.

use crate::judge::first_measured;
use crate::raw;
use crate::table::{Row, Table, short};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// How many machines each zone would have carried, and at what price, sample by sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// Seconds from one sample to the next.
    pub interval_seconds: u32,
    /// What one machine costs per hour on demand.
    pub on_demand: f64,
    /// Zones.
    pub zones: Vec<String>,
    /// The region of each zone.
    pub regions: Vec<String>,
    /// By sample, then by zone.
    pub capacity: Vec<Vec<u32>>,
    /// Price per hour, by sample, then by zone.
    pub price: Vec<Vec<f64>>,
    /// Whether prices were recorded. Otherwise they are a share of on-demand.
    pub has_prices: bool,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A file cannot be read.
    #[error("{}: cannot read the recording: {cause}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{}: {what}", place(path, *line))]
    Format {
        /// Which.
        path: PathBuf,
        /// The line, if it is in one.
        line: Option<u64>,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
}

impl TraceError {
    /// What is wrong, without the place.
    pub fn what(&self) -> String {
        match self {
            TraceError::Read { cause, .. } => format!("cannot read the recording: {cause}"),
            TraceError::Format { what, .. } => what.clone(),
        }
    }

    /// Where: a file, and its line if there is one.
    pub fn place(&self) -> String {
        match self {
            TraceError::Read { path, .. } => place(path, None),
            TraceError::Format { path, line, .. } => place(path, *line),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            TraceError::Read { .. } => A_RECORDING,
            TraceError::Format { hint, .. } => hint,
        }
    }

    /// The same, on a line.
    pub(crate) fn on_line(mut self, number: u64) -> Self {
        if let TraceError::Format { line, .. } = &mut self {
            *line = Some(number);
        }
        self
    }
}

fn place(path: &Path, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// What a recording is made of.
const A_RECORDING: &str = "a recording is a folder with trace.json, capacity.csv and price.csv, or a folder of JSON \
                           files of the public spot-traces set";

/// From one sample to the next, in seconds: less is no sample, more shows nothing of a market.
const INTERVAL: RangeInclusive<u32> = 1..=24 * 3600;

/// Dollars per hour of one machine.
const PRICES: RangeInclusive<f64> = 0.000_001..=10_000.0;
const A_PRICE: &str = "a price per hour above 0 and up to 10000";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(default)]
    name: String,
    interval_seconds: u32,
    on_demand_usd_per_hour: f64,
    zones: Vec<String>,
    #[serde(default)]
    regions: Option<Vec<String>>,
    #[serde(default)]
    samples: Option<usize>,
}

impl Trace {
    /// Hours from one sample to the next.
    pub fn hours(&self) -> f64 {
        f64::from(self.interval_seconds) / 3600.0
    }

    /// How many samples there are.
    pub fn samples(&self) -> usize {
        self.capacity.len()
    }

    /// The same zones in another order, the same for the same seed. Nought: as recorded.
    pub fn shuffled(&self, seed: u64) -> Trace {
        let mut order: Vec<usize> = (0..self.zones.len()).collect();
        // A linear congruence is chance enough for an order.
        let mut state = seed;
        for at in (1..order.len()).rev().filter(|_| seed != 0) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            order.swap(at, (state >> 33) as usize % (at + 1));
        }
        let rows = |table: &[Vec<u32>]| -> Vec<Vec<u32>> {
            table.iter().map(|row| order.iter().map(|&zone| row[zone]).collect()).collect()
        };
        Trace {
            zones: order.iter().map(|&zone| self.zones[zone].clone()).collect(),
            regions: order.iter().map(|&zone| self.regions[zone].clone()).collect(),
            capacity: rows(&self.capacity),
            price: self.price.iter().map(|r| order.iter().map(|&z| r[z]).collect()).collect(),
            ..self.clone()
        }
    }

    /// A stretch of it: from one sample up to, not including, another.
    pub fn part(&self, from: usize, to: usize) -> Trace {
        let (from, to) = (from.min(self.samples()), to.min(self.samples()));
        Trace {
            capacity: self.capacity[from..to].to_vec(),
            price: self.price[from..to].to_vec(),
            ..self.clone()
        }
    }

    /// Reads a folder with `trace.json`, `capacity.csv` and `price.csv`.
    pub fn load(folder: &Path) -> Result<Trace, TraceError> {
        let path = folder.join("trace.json");
        let text = read(&path)?;
        let head: Head = serde_json::from_str(&text).map_err(|error| json_error(&path, &error))?;
        check_zones(&path, &head.zones)?;
        check_interval(&path, "intervalSeconds", head.interval_seconds)?;
        let regions = head.regions.unwrap_or_else(|| head.zones.clone());
        if regions.len() != head.zones.len() {
            let what = format!("{} zones, but {} regions", head.zones.len(), regions.len());
            let hint = "name the region of each zone, in the same order, or leave `regions` out";
            return Err(format_error(&path, what, hint));
        }
        let on_demand = head.on_demand_usd_per_hour;
        if !PRICES.contains(&on_demand) {
            let what = format!("onDemandUsdPerHour: {on_demand} is not {A_PRICE}");
            return Err(format_error(&path, what, "write what one machine costs on demand"));
        }
        let names: Vec<&str> = head.zones.iter().map(String::as_str).collect();
        let path = folder.join("capacity.csv");
        let capacity = capacity(&path, &names)?;
        let samples = capacity.len();
        if let Some(said) = head.samples.filter(|said| *said != samples) {
            let what = format!("{samples} samples, but trace.json says {said}");
            return Err(format_error(&path, what, "check that the file is whole"));
        }
        check_length(&path, samples, head.interval_seconds)?;
        let price = prices(&folder.join("price.csv"), &names, samples)?;
        let folder_name = folder.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = if head.name.is_empty() { folder_name.unwrap_or_default() } else { head.name };
        Ok(Trace {
            name,
            interval_seconds: head.interval_seconds,
            on_demand,
            zones: head.zones,
            regions,
            capacity,
            price,
            has_prices: true,
        })
    }

    /// Reads every recording in a folder, or the folder itself if it is one.
    pub fn load_all(folder: &Path) -> Result<Vec<Trace>, TraceError> {
        if folder.join("trace.json").is_file() {
            return Ok(vec![Trace::load(folder)?]);
        }
        let entries = std::fs::read_dir(folder)
            .map_err(|cause| TraceError::Read { path: folder.to_owned(), cause })?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join("trace.json").is_file())
            .collect();
        folders.sort();
        let raw = raw::files(folder);
        if folders.is_empty() && !raw.is_empty() {
            return Ok(vec![raw::load(folder, &raw)?]);
        }
        if folders.is_empty() {
            let what = "no trace.json here or one folder down, and no JSON of the spot-traces set";
            return Err(format_error(folder, what, A_RECORDING));
        }
        folders.iter().map(|folder| Trace::load(folder)).collect()
    }
}

pub(crate) fn read(path: &Path) -> Result<String, TraceError> {
    std::fs::read_to_string(path).map_err(|cause| TraceError::Read { path: path.to_owned(), cause })
}

pub(crate) fn format_error(path: &Path, what: impl Into<String>, hint: &str) -> TraceError {
    TraceError::Format { path: path.to_owned(), line: None, what: what.into(), hint: hint.into() }
}

/// What is wrong with a JSON file. Its place is said once.
pub(crate) fn json_error(path: &Path, error: &serde_json::Error) -> TraceError {
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    format_error(path, said, A_RECORDING).on_line(error.line() as u64)
}

/// Zones are told apart by their names alone.
pub(crate) fn check_zones(path: &Path, zones: &[String]) -> Result<(), TraceError> {
    if zones.is_empty() {
        return Err(format_error(path, "there are no zones", A_RECORDING));
    }
    if zones.iter().any(|zone| zone.trim().is_empty()) {
        return Err(format_error(path, "a zone has no name", "name every zone"));
    }
    let mut seen = BTreeSet::new();
    match zones.iter().find(|zone| !seen.insert(*zone)) {
        None => Ok(()),
        Some(zone) => {
            let what = format!("there are several zones `{}`", short(zone));
            Err(format_error(
                path,
                what,
                "give each zone a name of its own, and one column or file",
            ))
        }
    }
}

/// A time between two samples that a market can be followed with.
pub(crate) fn check_interval(path: &Path, field: &str, seconds: u32) -> Result<(), TraceError> {
    if INTERVAL.contains(&seconds) {
        return Ok(());
    }
    let what = format!("{field}: {seconds} s is not a time between two samples");
    Err(format_error(path, what, "write a number of seconds from 1 to 86400"))
}

/// The first hour is not measured, so what is no longer says nothing.
pub(crate) fn check_length(path: &Path, samples: usize, seconds: u32) -> Result<(), TraceError> {
    let unmeasured = first_measured(seconds);
    if samples > unmeasured {
        return Ok(());
    }
    let what = format!("{samples} samples, one every {seconds} s, are too few to measure anything");
    let hint = format!("the first hour is not measured: record more than {unmeasured} samples");
    Err(format_error(path, what, &hint))
}

fn capacity(path: &Path, zones: &[&str]) -> Result<Vec<Vec<u32>>, TraceError> {
    let table = Table::read(path, zones)?;
    let counts = |row: Row<'_>| (0..zones.len()).map(|zone| row.cell(zone, A_COUNT)).collect();
    table.rows().map(|row| counts(row?)).collect()
}

const A_COUNT: &str = "a number of machines, 0 or more";

/// Prices are written where they change; the last row holds on.
fn prices(path: &Path, zones: &[&str], samples: usize) -> Result<Vec<Vec<f64>>, TraceError> {
    let names: Vec<&str> = [&["sample"], zones].concat();
    let table = Table::read(path, &names)?;
    let mut filled: Vec<Vec<f64>> = Vec::with_capacity(samples);
    let mut last: Option<(usize, Vec<f64>)> = None;
    for row in table.rows() {
        let row = row?;
        let sample: usize = row.cell(0, "the number of a sample")?;
        let mut now = Vec::with_capacity(zones.len());
        for zone in 1..names.len() {
            let price: f64 = row.cell(zone, A_PRICE)?;
            if !PRICES.contains(&price) {
                return Err(row.wrong(zone, price, A_PRICE));
            }
            now.push(price);
        }
        let hint = "rows stand in the order of their samples, each once, and the first is sample 0";
        match &last {
            None if sample > 0 => {
                let what = format!("the first price is for sample {sample}: none for those before");
                return Err(row.error(what, hint));
            }
            Some((before, _)) if *before >= sample => {
                return Err(row.error(format!("sample {sample} after sample {before}"), hint));
            }
            Some(_) | None => {}
        }
        if sample >= samples {
            let what = format!("sample {sample}, but capacity.csv ends with {}", samples - 1);
            return Err(
                row.error(what, "samples are counted from 0; check that both files are whole")
            );
        }
        if let Some((_, before)) = last.replace((sample, now)) {
            filled.resize(sample, before);
        }
    }
    let Some((_, last)) = last else {
        return Err(format_error(path, "there are no prices", "write a row for sample 0"));
    };
    filled.resize(samples, last);
    Ok(filled)
}
