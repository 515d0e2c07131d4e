//! What the suite does not ask: Google's own ways to go wrong.

use crate::support::{Fixture, Hasty, ON_DEMAND, SPOT, ask, create_from, pool, victims};
use fleet_fakes::gcp::{Faults, Refusal};
use fleet_model::{
    FleetName, FleetUid, Labelled, Labels, Machine, MachineState, Market, OtherPool, Template,
};
use fleet_provider::{Class, Error, Listing, OfferingsRequest, RelabelRequest};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const BUSY: Class = Class::Capacity { block: Duration::from_secs(180) };

fn ids(machines: &[Machine]) -> BTreeSet<String> {
    machines.iter().map(|machine| machine.id.to_string()).collect()
}

#[tokio::test]
async fn every_code_inside_an_operation_is_what_it_is() {
    let fixture = Fixture::new().await;
    let minutes = |n: u64| Duration::from_secs(60 * n);
    let cases = [
        ("ZONE_RESOURCE_POOL_EXHAUSTED", BUSY),
        ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", BUSY),
        ("RESOURCE_POOL_EXHAUSTED", BUSY),
        ("INSUFFICIENT_CAPACITY", BUSY),
        ("IP_SPACE_EXHAUSTED", BUSY),
        ("QUOTA_EXCEEDED", Class::Quota { block: minutes(15) }),
        ("IAM_PERMISSION_DENIED", Class::Auth),
        ("CONDITION_NOT_MET", Class::Invalid),
        ("UNSUPPORTED_OPERATION", Class::Capacity { block: minutes(5) }),
        ("RESOURCE_NOT_FOUND", Class::Capacity { block: minutes(5) }),
        ("RESOURCE_OPERATION_RATE_EXCEEDED", Class::Retry { after: None }),
        ("RESOURCE_NOT_READY", Class::Retry { after: Some(Duration::from_secs(5)) }),
        ("SOMETHING_NEW", Class::Unknown),
    ];
    for (code, expect) in cases {
        fixture.fake.set(Faults { launch_error: Some(code.into()), ..Faults::default() });
        for count in [1, 3] {
            let answer = fixture.create(&ask(ON_DEMAND, &format!("{code}-{count}"), count)).await;
            let error = answer.expect_err("nothing can be made");
            assert_eq!((error.code.as_str(), error.class), (code, expect), "{count} machines");
        }
    }
    assert_eq!(fixture.fake.count(), (0, 0));
}

#[tokio::test]
async fn every_refusal_outright_is_what_it_is() {
    let fixture = Fixture::new().await;
    let quota = Class::Quota { block: Duration::from_secs(900) };
    for (status, reason, expect) in [
        (403, "rateLimitExceeded", Class::Retry { after: None }),
        (403, "quotaExceeded", quota),
        (401, "authError", Class::Auth),
        (403, "forbidden", Class::Auth),
        (400, "invalid", Class::Invalid),
        (404, "notFound", Class::Invalid),
        (412, "conditionNotMet", Class::Invalid),
        (500, "internalError", Class::Unknown),
        (503, "ZONE_RESOURCE_POOL_EXHAUSTED", Class::Unknown),
        (503, "insufficientCapacity", BUSY),
        (418, "teapot", Class::Refused { block: Duration::from_secs(600) }),
    ] {
        let refuse = Some(Refusal { status, reason: reason.into(), ..Refusal::default() });
        fixture.fake.set(Faults { refuse, ..Faults::default() });
        let error = fixture.create(&ask(ON_DEMAND, "t", 2)).await.expect_err("refused");
        assert_eq!((error.code.as_str(), error.class), (reason, expect), "{status}");
    }
}

#[tokio::test]
async fn a_broken_answer_after_the_deed_is_unknown_and_a_repeat_finds_the_same() {
    for count in [1, 4] {
        let fixture = Fixture::new().await;
        let create = ask(SPOT, "t", count);
        fixture.fake.set(Faults { answers_broken: true, ..Faults::default() });
        let error = fixture.create(&create).await.expect_err("broken");
        assert_eq!(error.class, Class::Unknown);
        fixture.fake.set(Faults::default());
        let listed = fixture.list().await;
        let created = fixture.create(&create).await.expect("the same machines");
        assert_eq!(ids(&created.machines), ids(&listed));
        assert_eq!(created.machines.len(), count as usize);
    }
}

#[tokio::test]
async fn when_google_has_forgotten_the_request_the_names_still_hold() {
    for count in [1, 4] {
        let fixture = Fixture::new().await;
        let create = ask(ON_DEMAND, "t", count);
        let first = fixture.create(&create).await.expect("machines");
        fixture.fake.set(Faults { request_ids_forgotten: true, ..Faults::default() });
        let again = fixture.create(&create).await.expect("the same machines");
        assert_eq!(ids(&first.machines), ids(&again.machines));
        assert_eq!(again.shortfall, None);
        assert_eq!(fixture.fake.count(), (count as usize, count as usize));
    }
}

#[tokio::test]
async fn a_name_that_somebody_else_has_freezes() {
    for count in [1, 3] {
        let fixture = Fixture::new().await;
        let create = ask(ON_DEMAND, "t", count);
        fixture.create(&create).await.expect("machines");
        let forget = Faults { request_ids_forgotten: true, ..Faults::default() };
        fixture.fake.set(forget);
        // As if others had made them: the names are the same, the labels are not ours.
        for name in fixture.fake.names() {
            fixture.fake.relabel(&name, "fleet-uid", Some("somebody-else"));
        }
        let error = fixture.create(&create).await.expect_err("frozen");
        assert_eq!(error.class, Class::Freeze, "{error}");
        assert_eq!(fixture.fake.count().0, count as usize);
    }
}

#[tokio::test]
async fn an_operation_that_does_not_end_is_unknown() {
    let fixture = Fixture::with(Arc::new(Hasty::default())).await;
    fixture.fake.set(Faults { operations_hang: true, ..Faults::default() });
    let error = fixture.create(&ask(ON_DEMAND, "t", 1)).await.expect_err("not over");
    assert_eq!((error.code.as_str(), error.class), ("OperationStillRunning", Class::Unknown));
    assert_eq!(fixture.list().await.len(), 1, "and yet it is there");
}

#[tokio::test]
async fn part_of_a_launch_is_an_answer_with_the_reason() {
    let fixture = Fixture::new().await;
    let room = [("us-central1-a/n2-standard-4".to_owned(), 7)].into();
    fixture.fake.set(Faults { room, ..Faults::default() });
    let created = fixture.create(&ask(ON_DEMAND, "t", 20)).await.expect("seven");
    assert_eq!(created.machines.len(), 7);
    let Error { class, code, .. } = created.shortfall.expect("a reason");
    assert_eq!((code.as_str(), class), ("ZONE_RESOURCE_POOL_EXHAUSTED", BUSY));
    let slots: BTreeSet<_> = created
        .machines
        .iter()
        .filter_map(|m| m.owner.as_ref())
        .collect::<Vec<_>>()
        .into_iter()
        .map(|owner| owner.slot)
        .collect();
    assert_eq!(slots.len(), 7, "each fills a slot of its own");
}

#[tokio::test]
async fn the_largest_launch_is_one_request_and_is_read_back() {
    let fixture = Fixture::with(Arc::new(Hasty::default())).await;
    let mut create = ask(SPOT, "t", 100);
    for (n, slot) in create.slots.iter_mut().enumerate() {
        slot.name.ordinal = 4_000_000_000 - 7 * n as u32;
    }
    fixture.fake.set(Faults { hidden_ms: 60_000, ..Faults::default() });
    let created = fixture.create(&create).await.expect("a hundred");
    assert_eq!(fixture.fake.calls("bulkInsert"), 1);
    let slots: Vec<_> =
        created.machines.iter().filter_map(|m| Some(m.owner.as_ref()?.slot)).collect();
    assert_eq!(slots, create.slots);
    let destroyed = fixture.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (100, 0));
    assert_eq!(fixture.fake.count(), (0, 0), "no machine and no disk is left");
}

#[tokio::test]
async fn a_zone_that_does_not_answer_makes_its_region_partial() {
    let fixture = Fixture::new().await;
    fixture.create(&ask(ON_DEMAND, "a", 2)).await.expect("machines");
    fixture.create(&ask(SPOT, "b", 1)).await.expect("a machine");
    let unreachable = ["us-central1-b".to_owned()].into();
    fixture.fake.set(Faults { unreachable, ..Faults::default() });
    match fixture.provider.machines(&pool(ON_DEMAND).place.scope()).await {
        Ok(Listing::Partial(seen, why)) => {
            assert_eq!(seen.len(), 2);
            assert!(why.contains("us-central1-b"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let elsewhere = pool("gcp/us-east1/us-east1-b/n2-standard-4/spot").place.scope();
    let listing = fixture.provider.machines(&elsewhere).await;
    assert_eq!(listing, Ok(Listing::Complete(Vec::new())), "the other regions are whole");
}

#[tokio::test]
async fn many_pages_are_one_list() {
    let fixture = Fixture::new().await;
    fixture.create(&ask(ON_DEMAND, "a", 7)).await.expect("machines");
    fixture.create(&ask(SPOT, "b", 6)).await.expect("machines");
    fixture.fake.set(Faults { page: Some(4), ..Faults::default() });
    assert_eq!(fixture.list().await.len(), 13);
}

#[tokio::test]
async fn any_zone_of_a_region_will_do_where_the_pool_says_so() {
    let fixture = Fixture::new().await;
    let room = [("us-central1-a/n2-standard-4".to_owned(), 2)].into();
    fixture.fake.set(Faults { room, ..Faults::default() });
    let anywhere = "gcp/us-central1/regional/n2-standard-4/spot";
    let created = fixture.create(&ask(anywhere, "t", 5)).await.expect("five");
    assert_eq!((created.machines.len(), created.shortfall), (5, None));
    let zones: BTreeSet<String> =
        created.machines.iter().map(|machine| machine.place.zone.to_string()).collect();
    assert!(zones.len() > 1, "{zones:?}");
}

#[tokio::test]
async fn accelerators_reservations_and_arm() {
    let fixture = Fixture::new().await;
    for (at, text) in [
        "gcp/us-central1/us-central1-a/n1-standard-8+2xt4/spot",
        "gcp/us-central1/us-central1-a/g2-standard-4/on-demand",
        "gcp/us-central1/us-central1-a/a2-highgpu-1g/reserved",
        "gcp/us-central1/us-central1-a/t2a-standard-4/spot",
    ]
    .into_iter()
    .enumerate()
    {
        for count in [1, 2] {
            let created = fixture.create(&ask(text, &format!("{at}-{count}"), count)).await;
            let created = created.unwrap_or_else(|error| panic!("{text}: {error}"));
            for machine in created.machines {
                assert_eq!(machine.pool().to_string(), text);
            }
        }
    }
    let none = "gcp/us-central1/us-central1-b/a2-highgpu-1g/reserved";
    let error = fixture.create(&ask(none, "t", 1)).await.expect_err("no reservation");
    assert!(matches!(error.class, Class::Capacity { .. }), "{error}");
}

#[tokio::test]
async fn a_machine_that_lost_its_labels_is_left_alone() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask(ON_DEMAND, "t", 2)).await.expect("machines");
    let names = fixture.fake.names();
    fixture.fake.relabel(&names[0], "fleet-uid", None);
    fixture.fake.relabel(&names[1], "fleet-slots", Some("base-7_1x2"));
    let destroyed = fixture.destroy(&victims(&created.machines)).await.expect("an answer");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (0, 2), "{destroyed:?}");
    assert_eq!(fixture.fake.calls("delete"), 0);
}

#[tokio::test]
async fn a_change_of_labels_meets_another() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask(ON_DEMAND, "t", 1)).await.expect("a machine");
    let machine = &created.machines[0];
    let slot = machine.owner.as_ref().expect("an owner").slot;
    let one = Labelled { machine: machine.id.clone(), slot };
    let request = RelabelRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("f"),
        scope: &machine.place.scope(),
        set: &Labels::from([("team".into(), "infra".into())]),
        remove: &BTreeSet::new(),
        machines: &[one],
    };
    fixture.fake.set(Faults { labels_race: true, ..Faults::default() });
    let error = fixture.provider.relabel(&request).await.expect_err("somebody was faster");
    assert!(matches!(error.class, Class::Retry { .. }), "{error}");
    let done = fixture.provider.relabel(&request).await.expect("changed");
    assert_eq!(done, std::slice::from_ref(&machine.id));
    let labels = fixture.fake.labels(machine.id.as_str().rsplit('/').next().unwrap_or_default());
    assert_eq!(labels.get("team").map(String::as_str), Some("infra"));
    assert_eq!(labels.get("somebody-elses").map(String::as_str), Some("yes"), "theirs stays");
}

#[tokio::test]
async fn a_machine_on_its_way_out_is_told_only_once() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask(ON_DEMAND, "t", 1)).await.expect("a machine");
    fixture.fake.set(Faults { operation_ms: 60_000, ..Faults::default() });
    for _ in 0..2 {
        let destroyed = fixture.destroy(&victims(&created.machines)).await.expect("ended");
        assert_eq!(destroyed.ended.len(), 1);
    }
    let states: Vec<MachineState> = fixture.list().await.iter().map(|m| m.state).collect();
    assert_eq!(states, [MachineState::Stopping]);
}

#[tokio::test]
async fn a_tpu_slice_of_one_host_is_a_machine_like_any_other() {
    let fixture = Fixture::new().await;
    let text = "gcp/us-central1/us-central1-a/tpu-v6e-4/spot";
    let pools = [pool(text), pool("gcp/us-central1/us-central1-a/tpu-v6e-16/spot")];
    let request = OfferingsRequest {
        pools: &pools,
        template: &Template::default(),
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    let quote = |at: usize| offered.quotes[at].clone().expect("a quote");
    assert!(quote(0).image.is_some_and(|image| image.contains("tpu-v5e-v5p-v6e")));
    assert_eq!(quote(0).refusal, None);
    assert!(quote(1).refusal.is_some_and(|why| why.contains("more than one host")));
    // One by `insert`, two by `bulkInsert`; asked again, the same.
    for (token, count) in [("one", 1), ("two", 2)] {
        let first = fixture.create(&ask(text, token, count)).await.expect("machines");
        let again = fixture.create(&ask(text, token, count)).await.expect("machines");
        assert_eq!(ids(&first.machines), ids(&again.machines));
    }
    let listed = fixture.list().await;
    let kinds: Vec<_> = listed.iter().map(|m| (m.instance_type.as_str(), m.market)).collect();
    assert_eq!(kinds, [("tpu-v6e-4", Market::Spot); 3]);
    let ended = fixture.destroy(&victims(&listed)).await.expect("ended");
    assert_eq!((ended.ended.len(), fixture.fake.count()), (3, (0, 0)));
}

#[tokio::test]
async fn plans_pin_images_count_limits_and_know_chances() {
    let fixture = Fixture::new().await;
    let room = [("us-central1-b/n2-standard-4".to_owned(), 0)].into();
    fixture.fake.set(Faults { room, ..Faults::default() });
    let pools = [
        pool(ON_DEMAND),
        pool(SPOT),
        pool("gcp/us-central1/us-central1-a/t2a-standard-4/spot"),
        pool("gcp/us-central1/us-central1-a/tpu-v5litepod-16/spot"),
        pool("gcp/us-central1/us-central1-a/g2-standard-4/on-demand"),
    ];
    let template = Template::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    let quote = |at: usize| offered.quotes[at].clone().expect("a quote");
    let debian = "projects/debian-cloud/global/images/debian-12-bookworm-v20260714";
    assert_eq!(quote(0).image.as_deref(), Some(debian));
    assert!(quote(2).image.is_some_and(|image| image.contains("arm64")));
    let names = |at: usize| -> Vec<String> {
        quote(at).quotas.iter().map(|at| offered.quotas[*at as usize].name.clone()).collect()
    };
    let always = ["INSTANCES", "IN_USE_ADDRESSES", "SSD_TOTAL_GB"];
    let check = |at: usize, more: &[&str]| assert_eq!(names(at), [&always[..], more].concat());
    check(0, &["N2_CPUS", "CPUS_ALL_REGIONS"]);
    check(1, &["PREEMPTIBLE_CPUS"]);
    check(4, &["CPUS", "CPUS_ALL_REGIONS", "NVIDIA_L4_GPUS", "GPUS_ALL_REGIONS"]);
    let chance = |at: usize| quote(at).signals.obtainability.map(|known| known.percent);
    assert_eq!((chance(0), chance(1), chance(2)), (None, Some(10), Some(90)));
    assert!(quote(3).refusal.is_some_and(|why| why.contains("TPU")));
    // An image that is pinned is used, whatever its family has become.
    let mut create = ask(ON_DEMAND, "t", 1);
    create.image = Some("projects/ubuntu-os-cloud/global/images/no-such-image".into());
    let error = create_from(&*fixture.provider, &create, &template).await.expect_err("no image");
    assert_eq!(error.class, Class::Invalid, "{error}");
    let missing = Template { image: Some("debian-cloud/debian-99".into()), ..Template::default() };
    let request = OfferingsRequest {
        pools: &pools[..1],
        template: &missing,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.provider.offerings(&request).await.expect("quotes");
    let refusal = offered.quotes[0].clone().and_then(|quote| quote.refusal);
    assert!(refusal.is_some_and(|why| why.contains("debian-99")));
}

#[tokio::test]
async fn where_there_is_a_choice_google_takes_what_has_room() {
    let fixture = Fixture::new().await;
    let room = [
        ("us-central1-a/n2-standard-4".to_owned(), 1),
        ("us-central1-b/n2-standard-4".to_owned(), 0),
        ("us-central1-a/e2-standard-4".to_owned(), 2),
        ("us-central1-b/e2-standard-4".to_owned(), 1),
    ];
    fixture.fake.set(Faults { room: room.into(), ..Faults::default() });
    let mut create = ask(ON_DEMAND, "choice", 5);
    for (zone, kind) in [("b", "n2"), ("a", "e2"), ("b", "e2")] {
        let text = format!("gcp/us-central1/us-central1-{zone}/{kind}-standard-4/on-demand");
        create.others.push(OtherPool { pool: pool(&text), price: None, max_price: None });
    }
    let created = fixture.create(&create).await.expect("some of them");
    let stands = |m: &Machine| (m.place.zone.to_string(), m.instance_type.to_string());
    let mut made: Vec<(String, String)> = created.machines.iter().map(stands).collect();
    made.sort();
    let pair =
        |zone: &str, kind: &str| (format!("us-central1-{zone}"), format!("{kind}-standard-4"));
    assert_eq!(made, [pair("a", "e2"), pair("a", "e2"), pair("a", "n2"), pair("b", "e2")]);
    let shortfall = created.shortfall.expect("one is missing");
    assert!(matches!(shortfall.class, Class::Capacity { .. }), "{shortfall}");
    assert_eq!(created.refusals.len(), 4, "all of them were asked");
    // The same request again finds the same machines.
    let again = fixture.create(&create).await.expect("the same");
    assert_eq!(again.machines.len(), 4);
    assert_eq!(fixture.list().await.len(), 4);
}
