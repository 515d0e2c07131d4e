//! The whole command against the fakes, killed in the middle and resumed.

use fleet_fakes::azure::AzureCloud;
use fleet_fakes::lambda::LambdaCloud;
use fleet_fakes::{RealClock, Server, fleet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;

async fn rounds(cloud: &str, endpoint: &str, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clouds/rounds.py");
    let output = Command::new("python3")
        .arg(script)
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--cloud", cloud, "--endpoint", endpoint])
        .args(more)
        .output()
        .await
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    // The figures, for whoever watches.
    let _ = writeln!(std::io::stderr(), "{}", said.trim());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn azure_killed_and_resumed() {
    let server = Server::start(AzureCloud::quick(), Arc::new(RealClock), 0).await.expect("a fake");
    let count = std::env::var("FLEET_ROUNDS").unwrap_or_else(|_| "10".into());
    rounds("azure", &server.url(), &["--rounds", &count]).await;
}

/// Few: Lambda's rates are kept, and a launch in doubt takes five minutes to settle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn lambda_killed_and_resumed() {
    let server =
        Server::start(LambdaCloud::default(), Arc::new(RealClock), 0).await.expect("a fake");
    rounds("lambda", &server.url(), &["--rounds", "3", "--longest", "20"]).await;
}
