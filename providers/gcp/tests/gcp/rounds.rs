//! The whole command against the fake, killed and resumed, looked at from outside.

use crate::witness::tools;
use fleet_fake_gcp::{Fake, Faults};
use std::io::Write;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// The binary under test: beside the tests, unless `FLEET_BIN` says otherwise.
fn fleet() -> PathBuf {
    if let Some(path) = std::env::var_os("FLEET_BIN") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a path");
    tests.ancestors().nth(2).expect("a folder").join("fleet")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the binary and Google's Python client: cargo xtask test clouds"]
async fn killed_and_resumed_there_are_no_duplicates_no_orphans_and_no_disks() {
    let fake = Fake::start().await.expect("a port");
    fake.set(Faults { latency_ms: 200, operation_ms: 400, ..Faults::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let rounds = std::env::var("FLEET_ROUNDS").unwrap_or_else(|_| "15".into());
    let output = Command::new(tools().join("bin/python"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gcp/rounds.py"))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--endpoint", &fake.url(), "--rounds", &rounds])
        .output()
        .await
        .expect("python");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    // The figures, for whoever watches.
    let _ = writeln!(std::io::stderr(), "gcp rounds: {}", said.trim());
}
