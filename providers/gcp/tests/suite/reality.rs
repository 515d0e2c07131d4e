//! What Google really does: machines that go without a word, lists that fail for one zone's sake,
//! refusals in every shape. docs/reality/gcp.md names the facts.

use crate::support::{Fixture, Hasty, ON_DEMAND, SPOT, ask, pool, victims};
use fleet_fakes::gcp::{Fake, Faults, Refusal, all_zones, regions};
use fleet_gcp::{Gcp, GcpSettings};
use fleet_model::{
    CauseKind, FleetUid, Machine, MachineId, MachineState, Scope, SignalSource, Signals, Template,
    Unit, Units,
};
use fleet_provider::{
    Class, Clock, Error, Listing, Missing, OfferingsRequest, Provider, Reach, TraceRequest, Traced,
};
use std::sync::Arc;
use std::time::Duration;

fn missing(machine: &Machine) -> Missing {
    Missing {
        machine: machine.id.clone(),
        slot: machine.owner.as_ref().expect("an owner").slot,
        pool: machine.pool(),
        launched_at: machine.launched_at,
    }
}

async fn trace(provider: &dyn Provider, missing: &[Missing]) -> Vec<Traced> {
    let (fleet, scope) = (FleetUid::new("uid"), pool(ON_DEMAND).place.scope());
    let request = TraceRequest { fleet: &fleet, scope: &scope, missing };
    provider.trace(&request).await.expect("answers")
}

fn reason(traced: &Traced) -> Option<CauseKind> {
    match traced {
        Traced::Gone(cause) => cause.as_ref().map(|cause| cause.kind),
        Traced::There(_) | Traced::Unknown => panic!("{traced:?}"),
    }
}

#[tokio::test]
async fn a_machine_that_is_taken_back_is_stopping_and_then_gone_and_its_event_tells() {
    for events_lost in [false, true] {
        let fixture = Fixture::new().await;
        let made = fixture.create(&ask(SPOT, "t", 3)).await.expect("machines").machines;
        fixture.fake.set(Faults { events_lost, page: Some(2), ..Faults::default() });
        for name in &fixture.fake.names()[..2] {
            fixture.fake.preempt(name);
        }
        let stopping =
            fixture.list().await.iter().filter(|m| m.state == MachineState::Stopping).count();
        assert_eq!(stopping, 2);
        fixture.fake.advance(Duration::from_secs(31));
        let left = fixture.list().await;
        assert_eq!(left.len(), 1, "nothing is left to see");
        let gone: Vec<&Machine> = made.iter().filter(|m| m.id != left[0].id).collect();
        let asked: Vec<Missing> = gone.into_iter().map(missing).collect();
        // Absence of the event proves nothing: gone, and nobody knows why.
        let expect = (!events_lost).then_some(CauseKind::Interrupted);
        let found = trace(&*fixture.provider, &asked).await;
        assert_eq!(found.iter().map(reason).collect::<Vec<_>>(), [expect; 2]);
    }
}

#[tokio::test]
async fn a_machine_is_asked_for_before_it_is_forgotten() {
    let fixture = Fixture::new().await;
    fixture.fake.set(Faults { hidden_ms: 60_000, ..Faults::default() });
    let made = fixture.create(&ask(ON_DEMAND, "t", 3)).await.expect("machines").machines;
    assert_eq!(fixture.list().await, [], "a list may lag");
    fixture.fake.delete(&fixture.fake.names()[0]);
    fixture.destroy(&victims(&made[1..2])).await.expect("destroyed");
    let mut asked: Vec<Missing> = made.iter().map(missing).collect();
    asked.push(Missing { machine: MachineId::new("europe-west4-a/7"), ..asked[0].clone() });
    let found = trace(&*fixture.provider, &asked).await;
    assert_eq!(reason(&found[0]), Some(CauseKind::Person));
    assert_eq!(reason(&found[1]), None, "ours");
    assert_eq!(found[2], Traced::There(Box::new(made[2].clone())));
    assert_eq!(found[3], Traced::Unknown, "of another scope");
    fixture.fake.set(Faults { outage: true, ..Faults::default() });
    assert_eq!(trace(&*fixture.provider, &asked).await, vec![Traced::Unknown; 4]);
}

#[tokio::test]
async fn hours_that_are_over_are_no_riddle() {
    let fake = Fake::start().await.expect("a port");
    let clock = Arc::new(Hasty::default());
    let settings = GcpSettings {
        project: Some("test-project".into()),
        endpoint: Some(fake.url()),
        flex_start_hours: Some(1),
        ..GcpSettings::default()
    };
    let provider = Arc::new(Gcp::new(settings, clock.clone()));
    let create = ask("gcp/us-central1/us-central1-a/g2-standard-4/on-demand", "t", 2);
    let made = crate::support::create_from(&*provider, &create, &Template::default()).await;
    let made = made.expect("machines").machines;
    fake.advance(Duration::from_secs(3600));
    clock.sleep(Duration::from_secs(3600)).await;
    assert_eq!(fake.count().0, 0);
    let found = trace(&*provider, &made.iter().map(missing).collect::<Vec<_>>()).await;
    assert_eq!(found.iter().map(reason).collect::<Vec<_>>(), [Some(CauseKind::Expired); 2]);
}

#[tokio::test]
async fn what_is_stopped_stays_and_can_be_destroyed() {
    let fixture = Fixture::new().await;
    let made = fixture.create(&ask(ON_DEMAND, "t", 2)).await.expect("machines").machines;
    let names = fixture.fake.names();
    fixture.fake.shut_down(&names[0]);
    fixture.fake.stop(&names[1]);
    fixture.fake.advance(Duration::from_secs(86_400));
    let states: Vec<MachineState> = fixture.list().await.iter().map(|m| m.state).collect();
    assert_eq!(states, [MachineState::Stopped; 2]);
    let destroyed = fixture.destroy(&victims(&made)).await.expect("destroyed");
    assert_eq!((destroyed.ended.len(), fixture.fake.count()), (2, (0, 0)));
}

fn scopes() -> Vec<Scope> {
    let scope = |region: &str| {
        let text = format!("gcp/{region}/{region}-a/e2-medium/spot");
        pool(&text).place.scope()
    };
    regions().map(scope).collect()
}

#[tokio::test]
async fn ten_thousand_machines_in_forty_regions_are_a_few_lists() {
    let fixture = Fixture::new().await;
    let zones = all_zones();
    let each = 10_000_usize.div_ceil(zones.len());
    fixture.fake.fill("test-project", &zones, each, &[("fleet-uid", "uid")]);
    let scopes = scopes();
    assert!(scopes.len() >= 40);
    let all = fixture.provider.list(&scopes).await;
    let count = |answer: &Result<Listing, Error>| match answer {
        Ok(Listing::Complete(machines)) => machines.len(),
        other => panic!("{other:?}"),
    };
    let seen: usize = all.iter().map(count).sum();
    assert_eq!(seen, each * zones.len());
    assert!(seen >= 10_000);
    let calls = fixture.fake.calls("aggregatedList") + fixture.fake.calls("list");
    assert!(calls <= 30, "{calls} calls");
}

#[tokio::test]
async fn a_broken_zone_is_one_gap() {
    let fixture = Fixture::new().await;
    fixture.create(&ask(ON_DEMAND, "a", 2)).await.expect("machines");
    fixture.create(&ask(SPOT, "b", 1)).await.expect("a machine");
    let unreachable = ["us-central1-b".to_owned()].into();
    fixture.fake.set(Faults { unreachable, ..Faults::default() });
    let all = fixture.provider.list(&scopes()).await;
    for (scope, answer) in scopes().iter().zip(all) {
        match answer {
            Ok(Listing::Partial(seen, why)) if scope.region.as_str() == "us-central1" => {
                assert_eq!(seen.len(), 2);
                assert!(why.contains("us-central1-b"), "{why}");
            }
            Ok(Listing::Complete(seen)) => assert!(seen.is_empty()),
            other => panic!("{scope}: {other:?}"),
        }
    }
    // Who is throttled does not ask a hundred times more.
    let before = fixture.fake.calls("list");
    fixture.fake.set(Faults { throttled: true, ..Faults::default() });
    let all = fixture.provider.list(&scopes()).await;
    assert!(all.iter().all(|one| one.as_ref().is_err_and(|error| error.throttled)));
    assert_eq!(fixture.fake.calls("list"), before);
}

#[tokio::test]
async fn a_machine_that_is_listed_while_google_tries_did_not_vanish() {
    let fixture = Fixture::new().await;
    let room = [("us-central1-a/n2-standard-4".to_owned(), 0)].into();
    let listed_while_made = true;
    fixture.fake.set(Faults { room, listed_while_made, operation_ms: 1500, ..Faults::default() });
    let create = ask(ON_DEMAND, "t", 1);
    let (answer, seen) = tokio::join!(fixture.create(&create), async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        fixture.list().await
    });
    let [seen] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(seen.state, MachineState::Pending);
    let error = answer.expect_err("no room");
    assert!(matches!(error.class, Class::Capacity { .. }), "{error}");
    assert_eq!(fixture.list().await, []);
    let found = trace(&*fixture.provider, &[missing(seen)]).await;
    assert_eq!(reason(&found[0]), Some(CauseKind::LaunchFailed));
}

#[tokio::test]
async fn refusals_come_in_every_shape_and_reach_as_far_as_their_cause() {
    let fixture = Fixture::new().await;
    let room = [("us-central1-a/n2-standard-4".to_owned(), 0)];
    let limit = |name: &str| Faults { limits: [(name.to_owned(), 1)].into(), ..Faults::default() };
    let help = serde_json::json!({ "@type": "type.googleapis.com/google.rpc.Help", "links": [] });
    let bare = Refusal {
        status: 403,
        reason: "quotaExceeded".into(),
        message: "Quota 'NVIDIA_H100_GPUS' exceeded.".into(),
        details: vec![help],
    };
    let quota = Class::Quota { block: Duration::from_secs(900) };
    let busy = Class::Capacity { block: Duration::from_secs(180) };
    for (at, (faults, class, reach)) in [
        (
            Faults { room: room.into(), full_is_refused: true, ..Faults::default() },
            busy,
            Reach::Pool,
        ),
        (limit("IN_USE_ADDRESSES"), quota, Reach::Region),
        (limit("SSD_TOTAL_GB"), quota, Reach::Region),
        (limit("CPUS_ALL_REGIONS"), quota, Reach::Account),
        (Faults { no_network: true, ..Faults::default() }, Class::Invalid, Reach::Account),
        (Faults { refuse: Some(bare), ..Faults::default() }, quota, Reach::Class),
    ]
    .into_iter()
    .enumerate()
    {
        let mut faults = faults;
        if let Some(only) = faults.limits.get_mut("IN_USE_ADDRESSES") {
            *only = 0;
        }
        fixture.fake.set(faults);
        let error =
            fixture.create(&ask(ON_DEMAND, &format!("t{at}"), 2)).await.expect_err("refused");
        assert_eq!((error.class, error.reach()), (class, reach), "{error}");
    }
    assert_eq!(fixture.fake.count(), (0, 0));
}

#[tokio::test]
async fn the_reason_of_a_shortfall_is_found_on_a_later_page() {
    for late in [Duration::ZERO, Duration::from_secs(2)] {
        let fixture = Fixture::new().await;
        fixture.create(&ask(ON_DEMAND, "before", 9)).await.expect("machines");
        let room = [("us-central1-a/n2-standard-4".to_owned(), 2)].into();
        let faults =
            Faults { room, page: Some(3), launch_is_dated_late: late, ..Faults::default() };
        fixture.fake.set(faults);
        let created = fixture.create(&ask(ON_DEMAND, "t", 12)).await.expect("two");
        assert_eq!(created.machines.len(), 2);
        let why = created.shortfall.expect("a reason");
        assert_eq!(why.code, "ZONE_RESOURCE_POOL_EXHAUSTED", "dated {late:?} late");
    }
}

#[tokio::test]
async fn types_that_are_not_sold_are_refused_in_the_plan() {
    let fixture = Fixture::new().await;
    let texts = [
        "gcp/us-central1/us-central1-a/a3-highgpu-1g/on-demand",
        "gcp/us-central1/us-central1-a/a3-highgpu-1g/spot",
        "gcp/us-central1/us-central1-a/a3-ultragpu-8g/on-demand",
        "gcp/us-central1/us-central1-a/a3-ultragpu-8g/spot",
        "gcp/us-central1/us-central1-a/a4x-highgpu-4g/spot",
    ];
    let pools = texts.map(pool);
    let template = Template::default();
    let goal = fleet_model::CapacityGoal::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    let refused: Vec<bool> =
        offered.quotes.iter().flatten().map(|quote| quote.refusal.is_some()).collect();
    assert_eq!(refused, [true, false, true, false, true]);
    for (text, refused) in texts.iter().zip(refused) {
        let answer = fixture.create(&ask(text, text, 1)).await;
        assert_eq!(answer.is_err(), refused, "{text}: {answer:?}");
    }
    // Nothing was sent for the others.
    assert_eq!(fixture.fake.calls("insert"), 2);
}

#[tokio::test]
async fn advice_is_for_the_number_wanted_and_a_missing_right_is_asked_for_once() {
    let fixture = Fixture::new().await;
    let pools: Vec<_> = ["a", "b", "c", "f"]
        .iter()
        .flat_map(|zone| {
            ["n2-standard-2", "n2-standard-4", "n2-standard-8", "e2-standard-4"]
                .map(|kind| pool(&format!("gcp/us-central1/us-central1-{zone}/{kind}/spot")))
        })
        .collect();
    let goal = fleet_model::CapacityGoal {
        unit: Unit::Vcpus,
        target: Units(64_000),
        on_demand: Units(0),
        spot: Units(64_000),
    };
    let template = Template::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    fixture.provider.offerings(&request).await.expect("quotes");
    assert_eq!(fixture.fake.advised(), [(2, 32), (4, 16), (8, 8)].into(), "vCPUs and machines");
    let calls =
        || ["advice.capacity", "advice.capacityHistory"].map(|name| fixture.fake.calls(name));
    let before = calls();
    assert_eq!(before, [16, 16]);
    // Another plan: every answer holds still.
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    assert_eq!(calls(), before);
    for quote in offered.quotes.iter().flatten() {
        assert_eq!(quote.signals.obtainability.map(|word| word.percent), Some(90));
        assert_eq!(quote.signals.interrupted.map(|word| word.share.ppm()), Some(100_000));
    }
    // What is ignored is not asked for.
    let fixture = Fixture::new().await;
    let ignore = [SignalSource::CapacityAdvice, SignalSource::CapacityHistory];
    let off = OfferingsRequest { ignore: ignore.into_iter().collect(), ..request };
    let offered = fixture.provider.offerings(&off).await.expect("quotes");
    assert!(offered.quotes.iter().flatten().all(|quote| quote.signals == Signals::default()));
    let calls =
        || ["advice.capacity", "advice.capacityHistory"].map(|name| fixture.fake.calls(name));
    assert_eq!(calls(), [0, 0]);
    // Without the right, one question of each and no more.
    fixture.fake.set(Faults { no_advice: true, ..Faults::default() });
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    assert!(offered.quotes.iter().flatten().all(|quote| quote.signals.obtainability.is_none()));
    assert_eq!(calls(), [1, 1]);
}

#[tokio::test]
async fn the_project_is_the_identity() {
    let fixture = Fixture::new().await;
    let scope = pool(ON_DEMAND).place.scope();
    let known = fixture.provider.identity(&scope).await.expect("an answer");
    assert_eq!(known.as_deref(), Some("test-project"));
}
