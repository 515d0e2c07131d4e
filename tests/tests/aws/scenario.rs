//! The whole command against moto, looked at from outside by Amazon's own Python client.

use fleet_tests::aws::{Faults, Moto, Proxy, tool};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;

/// The binary under test: beside the tests, unless `FLEET_BIN` says otherwise.
fn fleet() -> PathBuf {
    if let Some(path) = std::env::var_os("FLEET_BIN") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a path");
    tests.ancestors().nth(2).expect("a folder").join("fleet")
}

async fn script(name: &str, moto: &Moto, endpoint: &str, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("aws");
    let output = Command::new(tool("python"))
        .arg(scripts.join(name))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--endpoint", endpoint, "--moto", &moto.url()])
        .args(more)
        .output()
        .await
        .expect("python");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    // The figures, for whoever watches.
    let _ = writeln!(std::io::stderr(), "{name}: {}", said.trim());
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_hundred_machines_in_three_regions_come_and_go() {
    let moto = Moto::start().await.expect("moto");
    script("scenario.py", &moto, &moto.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_flexible_fleet_goes_around_a_pool_that_is_full() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    // The first that a plan asks: the cheapest, in the first zone.
    let full = [("us-east-1b".to_owned(), "c5.large".to_owned())].into();
    proxy.set(Faults { full, ..Faults::default() });
    script("flexible.py", &moto, &proxy.url(), &["--full", "use1-az1/c5.large"]).await;
    assert!(proxy.calls("CreateFleet") > 0 && proxy.calls("RunInstances") == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn killed_and_resumed_flexible_fleets_have_no_duplicates_and_no_orphans() {
    kill_and_resume("flexible").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn killed_and_resumed_there_are_no_duplicates_and_no_orphans() {
    kill_and_resume("exact").await;
}

async fn kill_and_resume(fulfilment: &str) {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    proxy.set(Faults { latency: Duration::from_millis(60), ..Faults::default() });
    let rounds = std::env::var("FLEET_ROUNDS").unwrap_or_else(|_| "25".into());
    script("rounds.py", &moto, &proxy.url(), &["--rounds", &rounds, "--fulfilment", fulfilment])
        .await;
}
