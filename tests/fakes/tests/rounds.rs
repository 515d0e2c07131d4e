//! The whole command against the fakes, killed in the middle and resumed.

use fleet_fakes::Server;
use fleet_fakes::azure::AzureCloud;
use fleet_fakes::lambda::LambdaCloud;
use fleet_testkit::{RealClock, fleet, say, told};
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;

async fn rounds(cloud: &str, endpoint: &str, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut script = Command::new("python3");
    script
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/clouds/rounds.py"))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--cloud", cloud, "--endpoint", endpoint])
        .args(more);
    let said = told(&mut script).await.unwrap_or_else(|error| panic!("{error}"));
    say(&said);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn azure_killed_and_resumed() {
    let server = Server::start(AzureCloud::quick(), Arc::new(RealClock), 0).await.expect("a fake");
    let count = std::env::var("FLEET_ROUNDS").unwrap_or_else(|_| "10".into());
    rounds("azure", &server.url(), &["--rounds", &count]).await;
}

/// Side by side, an account each: Lambda's rates are kept, and a launch in doubt takes five minutes to
/// settle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn lambda_killed_and_resumed() {
    let lane = |seed: u32| async move {
        let server =
            Server::start(LambdaCloud::default(), Arc::new(RealClock), 0).await.expect("a fake");
        let seed = seed.to_string();
        rounds("lambda", &server.url(), &["--rounds", "2", "--amid", "--seed", &seed]).await;
    };
    let mut lanes = tokio::task::JoinSet::new();
    for seed in 1..=6 {
        lanes.spawn(lane(seed));
    }
    lanes.join_all().await;
}
