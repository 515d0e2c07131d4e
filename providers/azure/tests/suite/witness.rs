//! Every request and every answer held against Microsoft's official description, and Microsoft's
//! own Python client on the fake.

use crate::fixture::{pool, settings, template};
use fleet_azure::Azure;
use fleet_fakes::azure::{AzureCloud, GROUP, SUBSCRIPTIONS, TOKEN, subnet};
use fleet_fakes::witness::{Prism, Router, azure, descriptions};
use fleet_fakes::{Faults, Server};
use fleet_model::{Create, Disk, MicroUsd, Template};
use fleet_provider::{Class, Clock, OfferingsRequest};
use fleet_testkit::{Asks, RealClock, SteppedClock, ask, say, told, victims, witnesses};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

struct Fixture {
    server: Server<AzureCloud>,
    router: Router,
    asks: Asks,
    _prism: Prism,
    _folder: tempfile::TempDir,
}

fn described(path: &str) -> bool {
    path.contains("/virtualMachines")
        || path.ends_with("/skus")
        || path.ends_with("/usages")
        || path.ends_with("/versions")
}

async fn fixture() -> Option<Fixture> {
    let from = descriptions()?;
    let folder = tempfile::tempdir().expect("a folder");
    let description = azure(&from, folder.path()).expect("a description");
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(AzureCloud::default(), clock.clone(), 0).await.expect("a fake");
    let prism = Prism::start(&description, &server.url()).await.expect("Prism");
    let router = Router::start(prism.port(), server.port(), described).await.expect("a router");
    let asks = Asks {
        provider: Arc::new(Azure::of_subscriptions(settings(router.url()), clock, Arc::default())),
        pool: pool("azure/eastus/2/Standard_NC24ads_A100_v4/spot"),
        template: Template {
            security_groups: vec!["web".into()],
            instance_role: Some("runner".into()),
            disk: Some(Disk { size_gib: Some(64), kind: None, encrypted: true }),
            ..template()
        },
    };
    Some(Fixture { server, router, asks, _prism: prism, _folder: folder })
}

#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn a_whole_life_is_as_described() {
    let Some(fixture) = fixture().await else { return };
    let pools = [fixture.asks.pool.clone()];
    let request = OfferingsRequest {
        pools: &pools,
        template: &fixture.asks.template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
    assert!(offered.quotes[0].is_some() && !offered.quotas.is_empty());
    let spot = Create { max_price: Some(MicroUsd(1_500_000)), ..fixture.asks.ask("t") };
    let created = fixture.asks.create(&spot).await.expect("one");
    let there = format!("azure/westus2@{}/regional/Standard_D2s_v5/on-demand", SUBSCRIPTIONS[1]);
    let plain = pool(&there);
    fixture.asks.create(&ask(&plain, "plain", &fixture.asks.template)).await.expect("another");
    fixture
        .server
        .set(Faults { fails_later: Some("AllocationFailed".into()), ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("u")).await.expect_err("full");
    assert!(matches!(error.class, Class::Capacity { .. }), "{error}");
    fixture.server.set(Faults { quota: [("eastus".to_owned(), 1)].into(), ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("u")).await.expect_err("over the limit");
    assert!(matches!(error.class, Class::Quota { .. }), "{error}");
    fixture.server.set(Faults { page: Some(1), ..Faults::default() });
    assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(1));
    let destroyed = fixture.asks.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!(destroyed.ended.len(), 1);
    let left = fixture.asks.list().await.expect("a list");
    assert!(left.iter().all(|machine| !machine.state.is_live()), "{left:?}");
    assert_eq!(fixture.router.refused(), Vec::<String>::new());
    assert!(fixture.router.passed() >= 15, "{}", fixture.router.passed());
    say(&format!("azure: {} exchanges, 0 refused by Prism", fixture.router.passed()));
}

/// The check can fail, in both directions.
#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn what_is_not_as_described_is_refused() {
    let Some(fixture) = fixture().await else { return };
    let path = format!(
        "{}/subscriptions/{}/resourceGroups/{GROUP}/providers/Microsoft.Compute/virtualMachines/x",
        fixture.router.url(),
        SUBSCRIPTIONS[0]
    );
    let body = json!({ "location": "eastus", "properties": {
        "hardwareProfile": { "vmSize": 5 },
        "storageProfile": { "osDisk": { "deleteOption": "Delete" } },
    }});
    let client = reqwest::Client::new();
    let request = client.put(path).query(&[("api-version", "2023-07-01")]).bearer_auth(TOKEN);
    let answer = request.json(&body).send().await.expect("an answer");
    assert!(answer.status().is_client_error(), "{}", answer.status());
    let refused = fixture.router.refused();
    let named = |what: &str| refused.iter().any(|why| why.contains(what));
    assert!(refused.len() == 1 && named("vmSize") && named("createOption"), "{refused:?}");
    assert_eq!(fixture.server.calls("PUT virtualMachines"), 0);
    fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.server.meddle(|world| world.edit(|vm| vm["zones"] = json!("not a list")));
    assert!(fixture.asks.list().await.is_none());
    assert_eq!(fixture.router.refused().len(), 2);
}

#[tokio::test]
#[ignore = "needs Microsoft's Python client: cargo xtask test clouds"]
async fn microsofts_own_client_is_content() {
    let server = Server::start(AzureCloud::quick(), Arc::new(RealClock), 0).await.expect("a fake");
    let script =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts/clouds/azure_life.py");
    let mut python = tokio::process::Command::new(witnesses().join("bin").join("python"));
    python
        .arg(script)
        .args(["--endpoint", &server.url(), "--token", TOKEN, "--group", GROUP])
        .args(["--subscription", SUBSCRIPTIONS[0], "--subnet", &subnet(0, "eastus")]);
    say(&told(&mut python).await.unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(server.meddle(|world| (world.live(), world.children())), (0, 0));
}
