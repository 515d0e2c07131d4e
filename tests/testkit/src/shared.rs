//! Data that lies beside the repository and not in it: price lists, recordings, API descriptions.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of shared data: below `FLEET_SHARED_DATA`, or `../shared/data` beside the repository.
/// If it is absent, the test is reported as skipped, with the reason.
pub fn shared_data(folder: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("FLEET_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let path = root.join(folder);
    if path.exists() {
        return Some(path);
    }
    skipped(&format!("shared data is absent: {folder} (set FLEET_SHARED_DATA)"));
    None
}

/// Reports that a test, or a part of it, does not run. `cargo xtask test` counts these lines, so it is
/// written past the test harness, which keeps to itself what a passing test prints.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stdout(), "\nSKIPPED {test}: {why}");
}
