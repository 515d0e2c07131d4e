//! The whole command against the fake, killed and resumed, looked at from outside.

use crate::witness::tools;
use fleet_fakes::gcp::{Fake, Faults};
use fleet_testkit::{fleet, say, told};
use std::path::Path;
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the binary and Google's Python client: cargo xtask test clouds"]
async fn killed_and_resumed_there_are_no_duplicates_no_orphans_and_no_disks() {
    let fake = Fake::start().await.expect("a port");
    fake.set(Faults { latency_ms: 200, operation_ms: 400, ..Faults::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let rounds = std::env::var("FLEET_ROUNDS").unwrap_or_else(|_| "15".into());
    let mut script = Command::new(tools().join("bin/python"));
    script
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/rounds.py"))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--endpoint", &fake.url(), "--rounds", &rounds]);
    let said = told(&mut script).await.unwrap_or_else(|error| panic!("{error}"));
    say(&format!("gcp rounds: {}", said.trim()));
}
