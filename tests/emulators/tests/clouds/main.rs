//! One fleet over four clouds at once, looked at from outside by the vendors' own Python clients.
//! Run by `cargo xtask test clouds`, which installs moto and the clients.

mod misfortune;

use fleet_emulators::aws::{Moto, Proxy, tool};
use fleet_fakes::Server;
use fleet_fakes::azure::AzureCloud;
use fleet_fakes::gcp::Fake;
use fleet_fakes::lambda::LambdaCloud;
use fleet_testkit::{RealClock, fleet, say, told};
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;

struct Clouds {
    moto: Moto,
    aws: Proxy,
    gcp: Fake,
    azure: Server<AzureCloud>,
    lambda: Server<LambdaCloud>,
}

impl Clouds {
    async fn start() -> Self {
        let moto = Moto::start().await.expect("moto");
        let aws = Proxy::start(moto.port()).await.expect("a proxy");
        let clock = Arc::new(RealClock);
        let azure = Server::start(AzureCloud::quick(), clock.clone(), 0).await.expect("a port");
        let lambda = Server::start(LambdaCloud::default(), clock, 0).await.expect("a port");
        Clouds { moto, aws, gcp: Fake::start().await.expect("a port"), azure, lambda }
    }

    async fn script(&self, more: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut script = Command::new(tool("python"));
        script
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/clouds/four.py"))
            .arg("--fleet")
            .arg(fleet())
            .arg("--dir")
            .arg(folder.path())
            .args(["--aws", &self.aws.url(), "--moto", &self.moto.url()])
            .args(["--gcp", &self.gcp.url()])
            .args(["--azure", &self.azure.url(), "--lambda", &self.lambda.url()])
            .args(more);
        let said = told(&mut script).await.unwrap_or_else(|error| panic!("{error}"));
        say(&said);
    }

    /// What each cloud was asked for that changes something.
    fn changes(&self) -> [Vec<String>; 4] {
        let but = |asked: Vec<String>, is_read: fn(&str) -> bool| -> Vec<String> {
            asked.into_iter().filter(|name| !is_read(name)).collect()
        };
        [
            but(self.aws.asked(), |action| {
                ["Describe", "Get", "List"].iter().any(|start| action.starts_with(start))
            }),
            but(self.gcp.asked(), |name| {
                let method = name.rsplit('.').next().unwrap_or_default();
                let reads = [
                    "get",
                    "getFromFamily",
                    "list",
                    "aggregatedList",
                    "capacity",
                    "capacityHistory",
                ];
                reads.contains(&method) || name == "projects.testIamPermissions"
            }),
            // Microsoft asks for scores and rates with a POST.
            but(self.azure.asked(), |name| {
                name.starts_with("GET ")
                    || ["POST placementScores", "POST resources"].contains(&name)
            }),
            but(self.lambda.asked(), |name| !["launch", "terminate"].contains(&name)),
        ]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto and the vendors' clients: cargo xtask test clouds"]
async fn four_clouds_one_of_them_lost_and_found() {
    let clouds = Clouds::start().await;
    clouds.script(&[]).await;
    let changes = clouds.changes();
    assert!(changes.iter().all(|names| !names.is_empty()), "nothing was changed: {changes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto and the vendors' clients: cargo xtask test clouds"]
async fn whoever_only_looks_asks_for_no_change() {
    let clouds = Clouds::start().await;
    clouds.script(&["--only-look"]).await;
    assert_eq!(clouds.changes(), [const { Vec::<String>::new() }; 4]);
    let asked =
        [clouds.aws.asked(), clouds.gcp.asked(), clouds.azure.asked(), clouds.lambda.asked()];
    assert!(asked.iter().all(|names| !names.is_empty()), "a cloud was not asked: {asked:?}");
}
