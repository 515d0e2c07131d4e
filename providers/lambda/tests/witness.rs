//! Every request and every answer held against Lambda's official description.

use fleet_fakes::lambda::{KEY, LambdaCloud, SSH_KEY};
use fleet_fakes::witness::{NO_DESCRIPTIONS, Prism, Router, descriptions, lambda};
use fleet_fakes::{Asks, Faults, Server, SteppedClock, say, victims};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::Template;
use fleet_provider::{Class, Clock, ExamineRequest, OfferingsRequest};
use serde_json::json;
use std::sync::Arc;

struct Fixture {
    server: Server<LambdaCloud>,
    router: Router,
    asks: Asks,
    _prism: Prism,
}

async fn bed() -> Option<Fixture> {
    let Some(folder) = descriptions() else {
        say(NO_DESCRIPTIONS);
        return None;
    };
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
    let Some(bed) = bed().await else { return };
    let pools = [bed.asks.pool.clone()];
    let template = &bed.asks.template;
    let request =
        OfferingsRequest { pools: &pools, template, goal: fleet_model::CapacityGoal::default() };
    bed.asks.provider.offerings(&request).await.expect("quotes");
    bed.asks
        .provider
        .examine(&ExamineRequest {
            pools: &pools,
            template,
            fulfilment: fleet_model::Fulfilment::Exact,
        })
        .await;
    let created = bed.asks.create(&bed.asks.ask("t")).await.expect("one");
    let room = [("us-east-1/gpu_1x_a10".to_owned(), 0)].into();
    bed.server.set(Faults { room, ..Faults::default() });
    let error = bed.asks.create(&bed.asks.ask("u")).await.expect_err("full");
    assert!(matches!(error.class, Class::Capacity { .. }), "{error}");
    bed.server.set(Faults { quota: [("us-east-1".to_owned(), 1)].into(), ..Faults::default() });
    let error = bed.asks.create(&bed.asks.ask("u")).await.expect_err("over the limit");
    assert!(matches!(error.class, Class::Quota { .. }), "{error}");
    bed.server.set(Faults::default());
    assert_eq!(bed.asks.list().await.map(|all| all.len()), Some(1));
    let destroyed = bed.asks.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!(destroyed.ended.len(), 1);
    assert_eq!(bed.asks.list().await.map(|all| all.len()), Some(1));
    assert_eq!(bed.router.refused(), Vec::<String>::new());
    assert!(bed.router.passed() >= 13, "{}", bed.router.passed());
    say(&format!("lambda: {} exchanges, 0 refused by Prism", bed.router.passed()));
}

/// The check can fail, in both directions.
#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn what_is_not_as_described_is_refused() {
    let Some(bed) = bed().await else { return };
    // The provider itself asks for no region that it does not know.
    let wrong = json!({
        "region_name": "mars-1", "instance_type_name": "gpu_1x_a10", "ssh_key_names": [SSH_KEY],
    });
    let url = format!("{}/api/v1/instance-operations/launch", bed.router.url());
    let sent = reqwest::Client::new().post(url).bearer_auth(KEY).json(&wrong).send().await;
    assert!(sent.is_ok_and(|answer| answer.status().is_client_error()), "no such region");
    let refused = bed.router.refused();
    assert!(refused.len() == 1 && refused[0].contains("region_name"), "{refused:?}");
    assert_eq!(bed.server.calls("launch"), 0);
    bed.asks.create(&bed.asks.ask("t")).await.expect("one");
    bed.server.meddle(|world| world.retag(|tags| *tags = json!("not a list")));
    assert!(bed.asks.list().await.is_none());
    assert_eq!(bed.router.refused().len(), 2);
}
