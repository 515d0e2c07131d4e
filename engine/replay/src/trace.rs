//! A recording of a spot market.

use crate::raw;
use serde::Deserialize;
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
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{}: {what}", path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(default)]
    name: String,
    interval_seconds: u32,
    on_demand_usd_per_hour: f64,
    zones: Vec<String>,
    #[serde(default)]
    regions: Vec<String>,
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
        let head: Head =
            serde_json::from_str(&text).map_err(|e| format_error(&path, e.to_string()))?;
        let zones = head.zones.len();
        if zones == 0 || head.interval_seconds == 0 {
            return Err(format_error(&path, "no zones, or an interval of nought seconds"));
        }
        let regions = if head.regions.len() == zones { head.regions } else { head.zones.clone() };
        let capacity = capacity(&folder.join("capacity.csv"), zones)?;
        let price = prices(&folder.join("price.csv"), zones, capacity.len())?;
        let on_demand = head.on_demand_usd_per_hour;
        let sane = |p: f64| p.is_finite() && p >= 0.0;
        if !sane(on_demand) || on_demand == 0.0 || price.iter().flatten().any(|p| !sane(*p)) {
            return Err(format_error(&path, "a price is not a number above nought"));
        }
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
            return Err(format_error(folder, what));
        }
        folders.iter().map(|folder| Trace::load(folder)).collect()
    }
}

pub(crate) fn read(path: &Path) -> Result<String, TraceError> {
    std::fs::read_to_string(path).map_err(|cause| TraceError::Read { path: path.to_owned(), cause })
}

pub(crate) fn format_error(path: &Path, what: impl Into<String>) -> TraceError {
    TraceError::Format { path: path.to_owned(), what: what.into() }
}

fn rows(path: &Path) -> Result<Vec<csv::StringRecord>, TraceError> {
    let text = read(path)?;
    let reader = csv::Reader::from_reader(text.as_bytes()).into_records().collect::<Vec<_>>();
    reader.into_iter().map(|row| row.map_err(|e| format_error(path, e.to_string()))).collect()
}

fn field<T: std::str::FromStr>(
    path: &Path,
    row: usize,
    text: Option<&str>,
) -> Result<T, TraceError> {
    let text = text.unwrap_or_default().trim();
    text.parse().map_err(|_| format_error(path, format!("row {}: not a number: {text:?}", row + 2)))
}

fn capacity(path: &Path, zones: usize) -> Result<Vec<Vec<u32>>, TraceError> {
    let mut samples = Vec::new();
    for (at, row) in rows(path)?.iter().enumerate() {
        let counts = (0..zones).map(|zone| field(path, at, row.get(zone)));
        samples.push(counts.collect::<Result<Vec<u32>, _>>()?);
    }
    if samples.is_empty() {
        return Err(format_error(path, "no samples"));
    }
    Ok(samples)
}

/// Prices are written where they change; the last row holds on.
fn prices(path: &Path, zones: usize, samples: usize) -> Result<Vec<Vec<f64>>, TraceError> {
    let mut filled: Vec<Vec<f64>> = Vec::with_capacity(samples);
    let mut last: Option<Vec<f64>> = None;
    for (at, row) in rows(path)?.iter().enumerate() {
        let sample: usize = field(path, at, row.get(0))?;
        let now = (0..zones).map(|zone| field(path, at, row.get(zone + 1)));
        let now = now.collect::<Result<Vec<f64>, _>>()?;
        let before = last.clone().unwrap_or_else(|| now.clone());
        while filled.len() < sample.min(samples) {
            filled.push(before.clone());
        }
        last = Some(now);
    }
    let Some(last) = last else { return Err(format_error(path, "no prices")) };
    filled.resize(samples, last);
    Ok(filled)
}
