//! Programs that look at a cloud, or at the binary, from outside.

use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// The binary under test: beside the tests, unless `FLEET_BIN` says otherwise.
pub fn fleet() -> PathBuf {
    if let Some(path) = std::env::var_os("FLEET_BIN") {
        return path.into();
    }
    let tests = std::env::current_exe().unwrap_or_default();
    tests.ancestors().nth(2).unwrap_or(Path::new("")).join("fleet")
}

/// The folder in which `cargo xtask test` has installed servers and the vendors' own clients.
pub fn witnesses() -> PathBuf {
    std::env::var_os("FLEET_WITNESSES").map(PathBuf::from).unwrap_or_default()
}

/// Runs a script to its end, and gives what it said. All its words are in the error if it is not
/// content.
pub async fn told(script: &mut Command) -> Result<String> {
    let output = script.output().await?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(Error::other(format!("{said}\n{}", String::from_utf8_lossy(&output.stderr))))
}

/// Figures, for whoever watches.
pub fn say(figures: &str) {
    let _ = writeln!(std::io::stderr(), "{}", figures.trim());
}
