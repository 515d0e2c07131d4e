//! What the suite for all providers does not ask: the habits of Lambda alone.

use fleet_fakes::lambda::{KEY, LambdaCloud, SSH_KEY};
use fleet_fakes::{Faults, Refusal, Server};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::{MicroUsd, Pattern, Template};
use fleet_provider::{Class, Clock, ExamineRequest, OfferingsRequest, PriceListRequest, Verdict};
use fleet_testkit::{Asks, SteppedClock, victims};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

struct Fixture {
    server: Server<LambdaCloud>,
    clock: Arc<dyn Clock>,
    asks: Asks,
}

async fn fixture() -> Fixture {
    bed_with(KEY).await
}

async fn bed_with(key: &str) -> Fixture {
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(LambdaCloud::default(), clock.clone(), 0).await.expect("a fake");
    let settings = LambdaSettings { key: Some(key.into()), endpoint: server.url() };
    let asks = Asks {
        provider: Arc::new(Lambda::new(settings, clock.clone())),
        pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool"),
        template: Template { key: Some(SSH_KEY.into()), ..Template::default() },
    };
    Fixture { server, clock, asks }
}

impl Fixture {
    fn live(&self) -> usize {
        self.server.meddle(|world| world.live())
    }
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_looking_and_nothing_is_sent_twice() {
    let fixture = fixture().await;
    fixture.server.set(Faults { answers_lost: true, ..Faults::default() });
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("found by its name");
    assert_eq!(created.machines.len(), 1);
    assert_eq!((fixture.live(), fixture.server.calls("launch")), (1, 1));
}

#[tokio::test]
async fn a_launch_that_nobody_sees_yet_is_unknown_and_found_later() {
    let fixture = fixture().await;
    fixture.server.set(Faults { answers_broken: true, hidden_for: 60, ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("not seen");
    assert_eq!((error.class, error.code.as_str()), (Class::Unknown, "global/internal-error"));
    fixture.server.set(Faults::default());
    fixture.clock.sleep(Duration::from_secs(60)).await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("the same machine");
    assert_eq!(created.machines.len(), 1);
    assert_eq!((fixture.live(), fixture.server.calls("launch")), (1, 1));
}

#[tokio::test]
async fn launches_keep_the_documented_rate() {
    let fixture = fixture().await;
    let start = fixture.clock.now();
    for n in 0..4 {
        fixture.asks.create(&fixture.asks.ask(&format!("t{n}"))).await.expect("within the rate");
    }
    let took = fixture.clock.now().duration_since(start).as_secs();
    assert!((36..48).contains(&took), "{took} s for four launches");
    assert_eq!(fixture.live(), 4);
}

#[tokio::test]
async fn every_refusal_has_its_reaction() {
    let fixture = fixture().await;
    for (status, code, expect) in [
        (400, "global/quota-exceeded", Class::Quota { block: Duration::from_secs(900) }),
        (403, "global/account-inactive", Class::Auth),
        (403, "global/invalid-address", Class::Auth),
        (400, "global/invalid-parameters", Class::Invalid),
        (400, "instance-operations/launch/file-system-in-wrong-region", Class::Invalid),
        (400, "something/new", Class::Refused { block: Duration::from_secs(600) }),
        (409, "something/new", Class::Unknown),
        (409, "provider/quota-exceeded", Class::Quota { block: Duration::from_secs(900) }),
        (400, "provider/internal-unavailable", Class::Refused { block: Duration::from_secs(300) }),
        (503, "provider/internal-unavailable", Class::Unknown),
        (503, "instance-operations/launch/insufficient-capacity", Class::Unknown),
    ] {
        let refusal = Refusal { status, code: code.into(), message: "no".into() };
        fixture.server.set(Faults { refuse: Some(refusal), ..Faults::default() });
        let token = format!("t-{status}-{}", code.replace('/', "-"));
        let error = fixture.asks.create(&fixture.asks.ask(&token)).await.expect_err("refused");
        assert_eq!((error.class, error.code.as_str()), (expect, code));
    }
    assert_eq!(fixture.live(), 0);
}

#[tokio::test]
async fn a_wrong_key_stops_everything() {
    let fixture = bed_with("wrong").await;
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("no account");
    assert_eq!((error.class, error.code.as_str()), (Class::Auth, "global/invalid-api-key"));
    assert!(fixture.asks.list().await.is_none());
    let request = ExamineRequest {
        pools: &[],
        everywhere: &[],
        template: &fixture.asks.template,
        fulfilment: fleet_model::Fulfilment::Exact,
    };
    let found = fixture.asks.provider.examine(&request).await.findings;
    assert_eq!(found[0].verdict, Verdict::Bad);
}

#[tokio::test]
async fn machines_whose_tags_were_edited_are_shown_and_left_alone() {
    let fixture = fixture().await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.server.meddle(|world| {
        world.retag(|tags| {
            let kept = tags.as_array().cloned().unwrap_or_default();
            let kept = kept.into_iter().filter(|tag| tag["key"] != "fleet:launched");
            *tags = json!(kept.collect::<Vec<_>>());
        });
    });
    let seen = fixture.asks.list().await.expect("a list");
    assert_eq!((seen.len(), &seen[0].owner), (1, &None));
    let destroyed = fixture.asks.destroy(&victims(&created.machines)).await.expect("an answer");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (0, 1));
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("a stranger");
    assert_eq!(error.class, Class::Freeze);
    assert_eq!(fixture.live(), 1);
}

#[tokio::test]
async fn prices_and_capacity_come_from_one_call() {
    let fixture = fixture().await;
    let room = [("us-east-1/gpu_1x_a10".to_owned(), 0)].into();
    fixture.server.set(Faults { room, ..Faults::default() });
    let pools = [fixture.asks.pool.clone()];
    let request = OfferingsRequest {
        pools: &pools,
        template: &fixture.asks.template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
    let quote = offered.quotes[0].clone().expect("known");
    assert_eq!(quote.price, Some(MicroUsd(1_290_000)));
    assert_eq!(quote.signals.obtainability.map(|signal| signal.percent), Some(5));
    assert_eq!(fixture.server.calls("instance-types"), 1);
    assert_eq!(
        fixture.server.asked(),
        ["instance-types"],
        "nothing is asked that the spec has no use for"
    );
    let regions = [Pattern::new("us-east-1")];
    let listed = fixture.asks.provider.price_list(&PriceListRequest { regions: &regions }).await;
    assert_eq!(listed.expect("a list").len(), 5);
}

#[tokio::test]
async fn an_account_is_looked_over() {
    let fixture = fixture().await;
    let pools = [fixture.asks.pool.clone()];
    let request = ExamineRequest {
        pools: &pools,
        everywhere: &pools,
        template: &fixture.asks.template,
        fulfilment: fleet_model::Fulfilment::Exact,
    };
    let found = fixture.asks.provider.examine(&request).await.findings;
    let bad: Vec<_> = found.iter().filter(|f| f.verdict == Verdict::Bad).collect();
    assert!(bad.is_empty(), "{bad:?}");
    let wrong = Template {
        key: Some("nobody".into()),
        image: Some("no-such-family".into()),
        ..Template::default()
    };
    let request = ExamineRequest {
        pools: &pools,
        everywhere: &pools,
        template: &wrong,
        fulfilment: fleet_model::Fulfilment::Exact,
    };
    let found = fixture.asks.provider.examine(&request).await.findings;
    let bad: Vec<&str> =
        found.iter().filter(|f| f.verdict == Verdict::Bad).map(|f| f.subject.as_str()).collect();
    assert_eq!(bad, ["ssh key", "image"]);
}
