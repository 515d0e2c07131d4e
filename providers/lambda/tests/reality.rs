//! Lambda as it really is: machines that never come up, lists that forget, things of one region.

use fleet_fakes::lambda::{ARM_IMAGE, Habits, IMAGE, KEY, LambdaCloud, RULESETS, SSH_KEY, Sick};
use fleet_fakes::{Faults, Server};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::{CauseKind, FleetUid, Machine, MachineState, Scope, Template};
use fleet_provider::{
    Class, Clock, ExamineRequest, Listing, Missing, OfferingsRequest, Reach, TraceRequest, Traced,
    Verdict,
};
use fleet_testkit::{Asks, SteppedClock, victims};
use std::sync::Arc;
use std::time::Duration;

struct Fixture {
    server: Server<LambdaCloud>,
    clock: Arc<dyn Clock>,
    asks: Asks,
}

const MINUTE: u64 = 60;

async fn fixture() -> Fixture {
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(LambdaCloud::default(), clock.clone(), 0).await.expect("a fake");
    let settings = LambdaSettings { key: Some(KEY.into()), endpoint: server.url() };
    let asks = Asks {
        provider: Arc::new(Lambda::new(settings, clock.clone())),
        pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool"),
        template: Template { key: Some(SSH_KEY.into()), ..Template::default() },
    };
    Fixture { server, clock, asks }
}

impl Fixture {
    fn behave(&self, habits: Habits) {
        self.server.meddle(|world| world.habits = habits);
    }

    async fn wait(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    async fn launch(&self, token: &str) -> Machine {
        let created = self.asks.create(&self.asks.ask(token)).await.expect("one");
        created.machines.into_iter().next().expect("one machine")
    }

    async fn trace(&self, machines: &[Machine]) -> Vec<Traced> {
        let missing: Vec<Missing> = machines
            .iter()
            .map(|machine| Missing {
                machine: machine.id.clone(),
                slot: machine.owner.as_ref().expect("ours").slot,
                pool: machine.pool(),
                launched_at: machine.launched_at,
            })
            .collect();
        let scope = self.asks.pool.place.scope();
        let fleet = FleetUid::new("uid");
        let request = TraceRequest { fleet: &fleet, scope: &scope, missing: &missing };
        self.asks.provider.trace(&request).await.expect("answers")
    }

    /// Why each of some pools cannot be used.
    async fn refusals(&self, template: &Template, pools: &[&str]) -> Vec<Option<String>> {
        let pools: Vec<_> = pools.iter().map(|pool| pool.parse().expect("a pool")).collect();
        let goal = fleet_model::CapacityGoal::default();
        let request = OfferingsRequest {
            pools: &pools,
            template,
            goal,
            ignore: fleet_model::SignalSet::default(),
        };
        let offered = self.asks.provider.offerings(&request).await.expect("quotes");
        let why = |quote: Option<fleet_model::Quote>| {
            quote.expect("known").refusal.map(|why| why.to_string())
        };
        offered.quotes.into_iter().map(why).collect()
    }
}

const EAST: &str = "lambda/us-east-1/regional/gpu_1x_a10/on-demand";
const EAST_ARM: &str = "lambda/us-east-1/regional/gpu_1x_gh200/on-demand";
const WEST: &str = "lambda/us-west-1/regional/gpu_1x_a10/on-demand";
const SOUTH: &str = "lambda/us-south-1/regional/gpu_1x_a10/on-demand";
const EUROPE: &str = "lambda/europe-central-1/regional/gpu_1x_a10/on-demand";

#[tokio::test]
async fn a_machine_that_comes_up_unhealthy_is_no_capacity() {
    let fixture = fixture().await;
    fixture.behave(Habits { sick: Some(Sick::FromBoot), ..Habits::default() });
    fixture.launch("t").await;
    let mut told = Vec::new();
    for _ in 0..5 {
        fixture.wait(8 * MINUTE).await;
        let seen = fixture.asks.list().await.expect("a list");
        told.push((seen[0].state, seen[0].cause.as_ref().map(|cause| cause.kind)));
    }
    let (pending, failed) = (MachineState::Pending, MachineState::Failed);
    let (never, unwell) = (Some(CauseKind::NeverReady), Some(CauseKind::Unwell));
    // After 8, 16, 24, 32 and 40 minutes.
    let expect =
        [(pending, None), (failed, never), (failed, never), (failed, unwell), (failed, unwell)];
    assert_eq!(told, expect);
}

#[tokio::test]
async fn a_machine_that_turns_unhealthy_is_unwell_and_can_be_destroyed() {
    let fixture = fixture().await;
    fixture.behave(Habits { sick: Some(Sick::After(7200)), ..Habits::default() });
    fixture.launch("t").await;
    fixture.wait(90 * MINUTE).await;
    let seen = fixture.asks.list().await.expect("a list");
    assert_eq!((seen[0].state, &seen[0].cause), (MachineState::Running, &None));
    fixture.wait(60 * MINUTE).await;
    let seen = fixture.asks.list().await.expect("a list");
    let kind = seen[0].cause.as_ref().map(|cause| cause.kind);
    assert_eq!((seen[0].state, kind), (MachineState::Failed, Some(CauseKind::Unwell)));
    let destroyed = fixture.asks.destroy(&victims(&seen)).await.expect("ended");
    assert_eq!(destroyed.ended.len(), 1);
    assert_eq!(fixture.server.meddle(|world| world.live()), 0);
}

#[tokio::test]
async fn eight_gpus_boot_for_a_quarter_of_an_hour() {
    let fixture = fixture().await;
    let mut ask = fixture.asks.ask("t");
    ask.pool.instance_type = "gpu_8x_h100_sxm5".into();
    fixture.asks.create(&ask).await.expect("one");
    fixture.wait(14 * MINUTE).await;
    assert_eq!(fixture.asks.list().await.expect("a list")[0].state, MachineState::Pending);
    fixture.wait(2 * MINUTE).await;
    assert_eq!(fixture.asks.list().await.expect("a list")[0].state, MachineState::Running);
}

#[tokio::test]
async fn a_machine_that_the_list_lacks_is_asked_for_by_its_id() {
    let fixture = fixture().await;
    let machine = fixture.launch("t").await;
    fixture.wait(10 * MINUTE).await;
    let there = fixture.trace(std::slice::from_ref(&machine)).await;
    assert!(matches!(&there[..], [Traced::There(found)] if found.id == machine.id), "{there:?}");
    fixture.behave(Habits { forgets_at_once: true, ..Habits::default() });
    fixture.server.meddle(|world| world.end_all(fixture.clock.now()));
    assert_eq!(fixture.asks.list().await, Some(Vec::new()));
    let ending = fixture.trace(std::slice::from_ref(&machine)).await;
    let state = |traced: &Traced| match traced {
        Traced::There(found) => Some(found.state),
        Traced::Gone(_) | Traced::Unknown => None,
    };
    assert_eq!(state(&ending[0]), Some(MachineState::Stopping));
    fixture.wait(MINUTE).await;
    assert_eq!(fixture.trace(std::slice::from_ref(&machine)).await, [Traced::Gone(None)]);
    fixture.behave(Habits { knows_no_ended: true, ..Habits::default() });
    assert_eq!(fixture.trace(&[machine]).await, [Traced::Gone(None)]);
}

#[tokio::test]
async fn nothing_is_said_of_a_young_machine_or_by_a_service_that_does_not_answer() {
    let fixture = fixture().await;
    fixture.server.set(Faults { hidden_for: 4 * MINUTE, ..Faults::default() });
    let machine = fixture.launch("t").await;
    assert_eq!(fixture.asks.list().await, Some(Vec::new()));
    assert_eq!(fixture.trace(std::slice::from_ref(&machine)).await, [Traced::Unknown]);
    fixture.wait(10 * MINUTE).await;
    for page in [404, 502, 503] {
        fixture.behave(Habits { page: Some(page), ..Habits::default() });
        assert_eq!(fixture.trace(std::slice::from_ref(&machine)).await, [Traced::Unknown]);
    }
    fixture.behave(Habits::default());
    // Whoever is told to ask less does not ask for the rest.
    fixture.server.set(Faults { throttled: true, ..Faults::default() });
    let before = fixture.server.calls(machine.id.as_str());
    let several = [machine.clone(), machine.clone(), machine.clone()];
    assert_eq!(fixture.trace(&several).await, [Traced::Unknown, Traced::Unknown, Traced::Unknown]);
    assert_eq!(fixture.server.calls(machine.id.as_str()), before + 1);
    // And each takes a second: a great many are not asked for in one go.
    fixture.server.set(Faults::default());
    let many = vec![machine; 40];
    let answers = fixture.trace(&many).await;
    let there = answers.iter().filter(|traced| matches!(traced, Traced::There(_))).count();
    assert_eq!((answers.len(), there), (40, 30));
}

#[tokio::test]
async fn all_regions_are_listed_in_one_call() {
    let fixture = fixture().await;
    fixture.launch("t").await;
    let before = fixture.server.calls("instances");
    let scope = |pool: &str| -> Scope {
        pool.parse::<fleet_model::PoolId>().expect("a pool").place.scope()
    };
    let scopes = [scope(EAST), scope(WEST), scope(SOUTH)];
    let counts = |listings: Vec<Result<Listing, fleet_provider::Error>>| -> Vec<Option<usize>> {
        let count = |listing| match listing {
            Ok(Listing::Complete(machines)) => Some(machines.len()),
            Ok(Listing::Partial(..)) | Err(_) => None,
        };
        listings.into_iter().map(count).collect()
    };
    assert_eq!(counts(fixture.asks.provider.list(&scopes).await), [Some(1), Some(0), Some(0)]);
    assert_eq!(fixture.server.calls("instances"), before + 1);
    fixture.server.set(Faults { out: true, ..Faults::default() });
    assert_eq!(counts(fixture.asks.provider.list(&scopes).await), [None, None, None]);
}

#[tokio::test]
async fn rulesets_go_to_their_own_region_and_plans_say_where_none_fits() {
    let fixture = fixture().await;
    let groups = RULESETS.iter().map(|(id, _)| (*id).to_owned()).collect();
    let template = Template { security_groups: groups, ..fixture.asks.template.clone() };
    let why = fixture.refusals(&template, &[EAST, WEST, SOUTH, EUROPE]).await;
    assert_eq!((&why[0], &why[1]), (&None, &None));
    assert!(why[2].as_ref().is_some_and(|why| why.contains("has no firewall")), "{why:?}");
    assert!(why[3].as_ref().is_some_and(|why| why.contains("us-east-1, us-west-1")), "{why:?}");
    // The fake refuses a ruleset of another region, as Lambda does.
    for (token, pool) in [("e", EAST), ("w", WEST)] {
        let mut ask = fixture.asks.ask(token);
        ask.pool = pool.parse().expect("a pool");
        fixture.asks.create_from(&ask, &template).await.expect("with the ruleset of its region");
    }
    assert_eq!(
        fixture.server.calls("firewall-rulesets"),
        2,
        "once for the plan, once for launches"
    );
    let mut ask = fixture.asks.ask("s");
    ask.pool = SOUTH.parse().expect("a pool");
    let error = fixture.asks.create_from(&ask, &template).await.expect_err("nothing to protect it");
    assert_eq!((error.class, error.reach()), (Class::Invalid, Reach::Region));
    assert_eq!(fixture.server.calls("launch"), 2);
    let stranger = Template { security_groups: vec!["gone".into()], ..template };
    let why = fixture.refusals(&stranger, &[EAST]).await;
    assert!(why[0].as_ref().is_some_and(|why| why.contains("`gone`")), "{why:?}");
}

#[tokio::test]
async fn an_image_is_of_one_region_and_one_processor() {
    let fixture = fixture().await;
    let with =
        |image: &str| Template { image: Some(image.into()), ..fixture.asks.template.clone() };
    let usable = async |image: &str| -> Vec<bool> {
        let why = fixture.refusals(&with(image), &[EAST, EAST_ARM, WEST]).await;
        why.iter().map(Option::is_none).collect()
    };
    assert_eq!(usable(IMAGE).await, [true, false, false]);
    assert_eq!(usable(ARM_IMAGE).await, [false, true, false]);
    assert_eq!(usable("lambda-stack-24-04").await, [true, true, true]);
    assert_eq!(usable("no-such-family").await, [false, false, false]);
    let pools = [EAST.parse().expect("a pool"), WEST.parse().expect("a pool")];
    let template = with(IMAGE);
    let fulfilment = fleet_model::Fulfilment::Exact;
    let request =
        ExamineRequest { pools: &pools, everywhere: &pools, template: &template, fulfilment };
    let found = fixture.asks.provider.examine(&request).await.findings;
    let image = found.iter().find(|finding| finding.subject == "image").expect("looked at");
    assert_eq!(image.verdict, Verdict::Doubtful, "{image:?}");
}

#[tokio::test]
async fn listed_is_not_launchable_and_not_listed_is_not_hopeless() {
    let fixture = fixture().await;
    let percent = async || {
        let pools = [fixture.asks.pool.clone()];
        let request = OfferingsRequest {
            pools: &pools,
            template: &fixture.asks.template,
            goal: fleet_model::CapacityGoal::default(),
            ignore: fleet_model::SignalSet::default(),
        };
        let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
        let quote = offered.quotes[0].clone().expect("known");
        quote.signals.obtainability.map(|signal| signal.percent)
    };
    fixture.behave(Habits { listed_is_not_launchable: true, ..Habits::default() });
    assert_eq!(percent().await, Some(70));
    let error =
        fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("refused though listed");
    assert_eq!(error.class, Class::Capacity { block: Duration::from_secs(180) });
    fixture.behave(Habits { launchable_is_not_listed: true, ..Habits::default() });
    assert_eq!(percent().await, Some(5));
    fixture.launch("u").await;
}

#[tokio::test]
async fn a_page_is_judged_by_its_status_and_a_moved_address_is_for_a_person() {
    let fixture = fixture().await;
    // The look before a launch gets the page, so nothing is in doubt.
    for (page, expect) in [
        (502, Class::Retry { after: None }),
        (403, Class::Auth),
        (429, Class::Retry { after: None }),
    ] {
        fixture.behave(Habits { page: Some(page), ..Habits::default() });
        let error =
            fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("no answer of Lambda's");
        assert_eq!((error.class, error.throttled), (expect, page == 429));
        assert!(!error.message.contains("<html>"), "{error}");
    }
    let moved = Some("https://cloud.lambda.ai".to_owned());
    fixture.behave(Habits { moved, ..Habits::default() });
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("moved");
    assert_eq!((error.class, error.code.as_str()), (Class::Invalid, "Http301"));
    assert!(error.message.contains("LAMBDA_CLOUD_ENDPOINT"), "{error}");
    assert_eq!(fixture.server.calls("launch"), 0);
}

#[tokio::test]
async fn the_account_is_shared_with_others() {
    let fixture = fixture().await;
    fixture.launch("t").await;
    fixture.wait(MINUTE).await;
    // Somebody launches from the dashboard: our launch is turned away, and nothing is in doubt.
    fixture.server.meddle(|world| world.somebody_else_calls(fixture.clock.now(), true));
    fixture.wait(2).await;
    let error = fixture.asks.create(&fixture.asks.ask("u")).await.expect_err("told to wait");
    assert!(error.throttled && matches!(error.class, Class::Retry { .. }), "{error:?}");
    assert_eq!(fixture.server.meddle(|world| world.live()), 1);
    fixture.wait(12).await;
    fixture.launch("u").await;
    assert_eq!(fixture.server.meddle(|world| world.live()), 2);
}

#[tokio::test]
async fn a_launch_that_waited_too_long_is_handed_back_unsent() {
    let fixture = fixture().await;
    fixture.server.set(Faults { answers_broken: true, hidden_for: 3600, ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("nobody knows");
    assert_eq!(error.class, Class::Unknown);
    // The same launch again is held until lists must show what it made. That is longer than the
    // engine's record of it may be old, so it goes back to be written down anew.
    fixture.server.set(Faults::default());
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("handed back");
    assert_eq!((error.class, error.code.as_str()), (Class::Retry { after: None }, "HeldTooLong"));
    assert_eq!(fixture.server.calls("launch"), 1);
}
