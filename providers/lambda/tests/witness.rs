//! Every request and every answer held against Lambda's official description.

use fleet_fakes::lambda::{KEY, LambdaCloud, SSH_KEY};
use fleet_fakes::witness::{Prism, Router, descriptions, lambda};
use fleet_fakes::{Faults, Server};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::Template;
use fleet_provider::{Class, Clock, ExamineRequest, OfferingsRequest};
use fleet_testkit::{Asks, SteppedClock, say, victims};
use serde_json::json;
use std::sync::Arc;

struct Fixture {
    server: Server<LambdaCloud>,
    router: Router,
    asks: Asks,
    _prism: Prism,
}

async fn fixture() -> Option<Fixture> {
    let folder = descriptions()?;
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(LambdaCloud::default(), clock.clone(), 0).await.expect("a fake");
    let prism = Prism::start(&lambda(&folder), &server.url()).await.expect("Prism");
    let router = Router::start(prism.port(), server.port(), |_| true).await.expect("a router");
    let settings = LambdaSettings { key: Some(KEY.into()), endpoint: router.url() };
    let asks = Asks {
        provider: Arc::new(Lambda::new(settings, clock)),
        pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool"),
        template: Template {
            key: Some(SSH_KEY.into()),
            image: Some("lambda-stack-24-04".into()),
            user_data: Some("#!/bin/sh\n".into()),
            security_groups: vec!["c4d291f47f9d436fa39f58493ce3b50d".into()],
            ..Template::default()
        },
    };
    Some(Fixture { server, router, asks, _prism: prism })
}

#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn a_whole_life_is_as_described() {
    let Some(fixture) = fixture().await else { return };
    let pools = [fixture.asks.pool.clone()];
    let template = &fixture.asks.template;
    let request = OfferingsRequest {
        pools: &pools,
        template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    fixture.asks.provider.offerings(&request).await.expect("quotes");
    fixture
        .asks
        .provider
        .examine(&ExamineRequest {
            pools: &pools,
            everywhere: &pools,
            template,
            fulfilment: fleet_model::Fulfilment::Exact,
        })
        .await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    let room = [("us-east-1/gpu_1x_a10".to_owned(), 0)].into();
    fixture.server.set(Faults { room, ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("u")).await.expect_err("full");
    assert!(matches!(error.class, Class::Capacity { .. }), "{error}");
    fixture.server.set(Faults { quota: [("us-east-1".to_owned(), 1)].into(), ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("u")).await.expect_err("over the limit");
    assert!(matches!(error.class, Class::Quota { .. }), "{error}");
    fixture.server.set(Faults::default());
    assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(1));
    let destroyed = fixture.asks.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!(destroyed.ended.len(), 1);
    assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(1));
    assert_eq!(fixture.router.refused(), Vec::<String>::new());
    assert!(fixture.router.passed() >= 13, "{}", fixture.router.passed());
    say(&format!("lambda: {} exchanges, 0 refused by Prism", fixture.router.passed()));
}

/// The check can fail, in both directions.
#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn what_is_not_as_described_is_refused() {
    let Some(fixture) = fixture().await else { return };
    // The provider itself asks for no region that it does not know.
    let wrong = json!({
        "region_name": "mars-1", "instance_type_name": "gpu_1x_a10", "ssh_key_names": [SSH_KEY],
    });
    let url = format!("{}/api/v1/instance-operations/launch", fixture.router.url());
    let sent = reqwest::Client::new().post(url).bearer_auth(KEY).json(&wrong).send().await;
    assert!(sent.is_ok_and(|answer| answer.status().is_client_error()), "no such region");
    let refused = fixture.router.refused();
    assert!(refused.len() == 1 && refused[0].contains("region_name"), "{refused:?}");
    assert_eq!(fixture.server.calls("launch"), 0);
    fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.server.meddle(|world| world.retag(|tags| *tags = json!("not a list")));
    assert!(fixture.asks.list().await.is_none());
    assert_eq!(fixture.router.refused().len(), 2);
}
