//! The public spot-traces data set: one JSON file for each zone.
//!
//! A file says how many machines could be had, tick by tick: `{"metadata": {"gap_seconds": 300},
//! "data": [4, 4, 3]}`. Prices are not in it, so spot counts for three tenths of on-demand.

use crate::trace::{
    Trace, TraceError, check_interval, check_length, check_zones, format_error, json_error, read,
};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What spot costs of on-demand where a recording does not say: what it mostly does.
pub const SPOT_SHARE: f64 = 0.3;

#[derive(Deserialize)]
struct File {
    metadata: Metadata,
    data: Vec<u32>,
}

#[derive(Deserialize)]
struct Metadata {
    gap_seconds: f64,
}

/// The JSON files of a folder, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

/// Reads the files of a folder as one recording.
pub(crate) fn load(folder: &Path, files: &[PathBuf]) -> Result<Trace, TraceError> {
    let mut zones = Vec::new();
    let mut columns: Vec<Vec<u32>> = Vec::new();
    let mut gap: Option<f64> = None;
    for path in files {
        let file: File =
            serde_json::from_str(&read(path)?).map_err(|error| json_error(path, &error))?;
        let seconds = file.metadata.gap_seconds;
        // Out of range it becomes the nearest number that is in range, and is refused as well.
        check_interval(path, "gap_seconds", seconds.round() as u32)?;
        if let Some(gap) = gap.filter(|gap| (gap - seconds).abs() > 1.0) {
            let what = format!("gap_seconds: {seconds} here, {gap} in the other zones");
            return Err(format_error(path, what, "put zones of one interval into one folder"));
        }
        gap = Some(seconds);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_default();
        zones.push(stem.split('_').next().unwrap_or(&stem).to_owned());
        columns.push(file.data);
    }
    let samples = columns.iter().map(Vec::len).min().unwrap_or_default();
    let (Some(gap), 1..) = (gap, samples) else {
        return Err(format_error(folder, "there are no samples", "fill `data` of every file"));
    };
    check_zones(folder, &zones)?;
    check_length(folder, samples, gap.round() as u32)?;
    let row = |sample: usize| columns.iter().map(|column| column[sample]).collect();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let on_demand = 1.0;
    Ok(Trace {
        name: name.unwrap_or_default(),
        interval_seconds: gap.round() as u32,
        on_demand,
        regions: zones.iter().map(|zone| region(zone)).collect(),
        price: vec![vec![SPOT_SHARE * on_demand; zones.len()]; samples],
        zones,
        capacity: (0..samples).map(row).collect(),
        has_prices: false,
    })
}

/// `us-east-1a` is in `us-east-1`, `us-central1-c` in `us-central1`.
fn region(zone: &str) -> String {
    zone.trim_end_matches(|c: char| c.is_ascii_lowercase()).trim_end_matches('-').to_owned()
}
