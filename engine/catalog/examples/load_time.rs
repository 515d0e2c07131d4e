//! Measures import, save, load and the embedded snapshot, and prints one line of JSON:
//! `cargo run --release -p fleet-catalog --example load_time [DIR]`.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use fleet_catalog::{embedded, import, load, save};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The median of some runs, in milliseconds.
fn median<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = match std::env::args_os().nth(1) {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/catalog"),
    };
    let (catalog, report) = import(&dir)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("catalog.bin");
    let saving = median(5, || save(&catalog, &path));
    println!(
        "{{\"lines\":{},\"offers\":{},\"fileBytes\":{},\"embeddedOffers\":{},\"importMs\":{:.1},\
         \"saveMs\":{saving:.1},\"loadMs\":{:.2},\"embeddedMs\":{:.2}}}",
        report.lines(),
        report.offers(),
        std::fs::metadata(&path)?.len(),
        embedded().rows.len(),
        median(5, || import(&dir).is_ok()),
        median(51, || load(&path).is_ok()),
        median(51, embedded),
    );
    Ok(())
}
