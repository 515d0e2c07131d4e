//! One fleet over four clouds at once, looked at from outside by the vendors' own Python clients.
//! Run by `cargo xtask test clouds`, which installs moto and the clients.

use fleet_fake_gcp::Fake;
use fleet_fakes::azure::AzureCloud;
use fleet_fakes::lambda::LambdaCloud;
use fleet_fakes::{RealClock, Server, fleet, say, told};
use fleet_tests::aws::{Moto, tool};
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto and the vendors' clients: cargo xtask test clouds"]
async fn four_clouds_one_of_them_lost_and_found() {
    let moto = Moto::start().await.expect("moto");
    let gcp = Fake::start().await.expect("a port");
    let clock = Arc::new(RealClock);
    let azure = Server::start(AzureCloud::quick(), clock.clone(), 0).await.expect("a port");
    let lambda = Server::start(LambdaCloud::default(), clock, 0).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    let mut script = Command::new(tool("python"));
    script
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("clouds/four.py"))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--aws", &moto.url(), "--gcp", &gcp.url()])
        .args(["--azure", &azure.url(), "--lambda", &lambda.url()]);
    let said = told(&mut script).await.unwrap_or_else(|error| panic!("{error}"));
    say(&said);
}
