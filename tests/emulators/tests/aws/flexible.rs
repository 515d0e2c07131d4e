//! Launches that leave the choice of pools to EC2.

use crate::support::{Fixture, ask, pool};
use fleet_emulators::aws::Faults;
use fleet_model::{Create, Machine, MachineId, OtherPool, PoolId, Scope, SlotId, Template};
use fleet_provider::{Class, Created, DestroyRequest, Listing, TidyRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Three pools, each with what moto calls its zone.
const POOLS: [(&str, &str); 3] = [
    ("aws/us-east-1/use1-az4/m5.large", "us-east-1d"),
    ("aws/us-east-1/use1-az4/c5.large", "us-east-1d"),
    ("aws/us-east-1/use1-az6/m5.large", "us-east-1a"),
];

fn pools(market: &str) -> Vec<PoolId> {
    POOLS.iter().map(|(id, _)| pool(&format!("{id}/{market}"))).collect()
}

/// A request for some machines from any of the three.
fn any_of(token: &str, count: u32, market: &str) -> Create {
    let pools = pools(market);
    let other = |pool: &PoolId| OtherPool { pool: pool.clone(), price: None, max_price: None };
    let others = pools[1..].iter().map(other).collect();
    Create { pool: pools[0].clone(), others, ..ask(token, count) }
}

fn scope() -> Scope {
    pool("aws/us-east-1/use1-az4/m5.large/spot").place.scope()
}

/// Room for so many in the first two pools, and for none in the third.
fn little_room(first: u32, second: u32) -> Faults {
    let place = |at: usize| {
        let (id, zone) = POOLS[at];
        (zone.to_owned(), id.rsplit('/').next().unwrap_or_default().to_owned())
    };
    let room = [(place(0), first), (place(1), second)].into();
    Faults { room, full: [place(2)].into(), ..Faults::default() }
}

fn slots(machines: &[Machine]) -> BTreeMap<MachineId, SlotId> {
    let slot = |machine: &Machine| machine.owner.as_ref().expect("ours").slot;
    machines.iter().map(|machine| (machine.id.clone(), slot(machine))).collect()
}

async fn listed(fixture: &Fixture) -> Vec<Machine> {
    match fixture.provider.machines(&scope()).await {
        Ok(Listing::Complete(all)) => all.into_iter().filter(|m| m.state.is_live()).collect(),
        other => panic!("{other:?}"),
    }
}

async fn tidy(fixture: &Fixture, machines: &BTreeMap<MachineId, SlotId>, gone: bool) -> u32 {
    let request = TidyRequest {
        fleet: &"uid".into(),
        scopes: &[scope()].into(),
        machines,
        template: Template::default().digest(),
        gone,
    };
    fixture.provider.tidy(&request).await.expect("tidied")
}

fn in_pool(created: &Created, pool: &PoolId) -> usize {
    created.machines.iter().filter(|machine| machine.pool() == *pool).count()
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn what_there_is_comes_from_several_pools_and_each_no_is_told() {
    for market in ["on-demand", "spot"] {
        let fixture = Fixture::new().await;
        fixture.proxy.set(little_room(2, 3));
        let create = any_of("t", 7, market);
        let created = fixture.create(&create).await.expect("some");
        let pools = pools(market);
        let made: Vec<usize> = pools.iter().map(|pool| in_pool(&created, pool)).collect();
        assert_eq!(made, [2, 3, 0], "{market}: {created:#?}");
        let refused: BTreeSet<&PoolId> = created.refusals.iter().map(|(pool, _)| pool).collect();
        assert_eq!(refused, pools.iter().collect(), "{created:#?}");
        let block = Class::Capacity { block: Duration::from_secs(180) };
        assert!(created.refusals.iter().all(|(_, error)| error.class == block));
        assert_eq!(created.shortfall.as_ref().map(|error| error.class), Some(block));
        let given: BTreeSet<SlotId> = slots(&created.machines).into_values().collect();
        assert_eq!(given, create.slots[..5].iter().copied().collect());
        // The list says the same as the answer.
        assert_eq!(slots(&listed(&fixture).await), slots(&created.machines));
        assert_eq!(fixture.proxy.calls("CreateTags"), 5);
    }
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_lost_answer_is_sent_again_and_gives_the_same_machines() {
    let fixture = Fixture::new().await;
    fixture.proxy.set(Faults { answers_lost: true, ..little_room(2, 3) });
    let create = any_of("t", 4, "spot");
    let error = fixture.create(&create).await.expect_err("lost");
    assert_eq!(error.class, Class::Unknown, "{error}");
    // Killed before anybody could tag them: each has a slot all the same, and always the same.
    fixture.proxy.set(Faults::default());
    let before = slots(&listed(&fixture).await);
    assert_eq!(before.len(), 4);
    assert_eq!(before.values().collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(fixture.proxy.calls("CreateTags"), 0);
    let created = fixture.create(&create).await.expect("the same");
    assert_eq!(slots(&created.machines), before);
    assert_eq!(fixture.proxy.calls("CreateTags"), 4, "they are tagged now");
    assert_eq!(slots(&listed(&fixture).await), before);
    fixture.create(&create).await.expect("the same once more");
    assert_eq!(fixture.proxy.calls("CreateTags"), 4, "and only once");
    let mut more = create;
    more.slots.truncate(2);
    let error = fixture.create(&more).await.expect_err("another request");
    assert_eq!(error.class, Class::Freeze, "{error}");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn machines_that_nobody_tagged_are_tagged_when_the_apply_is_done() {
    let fixture = Fixture::new().await;
    let refused = [("CreateTags".to_owned(), "UnauthorizedOperation".to_owned())].into();
    fixture.proxy.set(Faults { refused, ..little_room(2, 3) });
    let created = fixture.create(&any_of("t", 5, "on-demand")).await.expect("five");
    let recorded = slots(&created.machines);
    assert_eq!(slots(&listed(&fixture).await), recorded);
    fixture.proxy.set(Faults::default());
    let before = fixture.proxy.calls("CreateTags");
    tidy(&fixture, &recorded, false).await;
    assert_eq!(fixture.proxy.calls("CreateTags") - before, 5);
    // Now each stands for itself: one that goes moves no other.
    let first = created.machines.iter().min_by_key(|machine| &machine.id).expect("one");
    let victims = crate::support::victims(&created);
    let victim: Vec<_> = victims.into_iter().filter(|v| v.machine == first.id).collect();
    let request = DestroyRequest { fleet: &"uid".into(), scope: &scope(), victims: &victim };
    let destroyed = fixture.provider.destroy(&request).await.expect("ended");
    assert_eq!(destroyed.ended, std::slice::from_ref(&first.id));
    let left = slots(&listed(&fixture).await);
    assert!(left.iter().all(|(id, slot)| recorded[id] == *slot));
    tidy(&fixture, &recorded, false).await;
    assert_eq!(fixture.proxy.calls("CreateTags") - before, 5, "nothing is left to tag");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn machines_that_are_late_in_lists_are_told_with_what_the_pools_refused() {
    let fixture = Fixture::new().await;
    fixture.proxy.set(Faults { hidden_for: Duration::from_secs(3600), ..little_room(2, 0) });
    let create = any_of("t", 3, "spot");
    let created = fixture.create(&create).await.expect("told by the answer");
    assert_eq!(created.machines.len(), 2, "{created:#?}");
    assert!(!created.refusals.is_empty() && created.shortfall.is_some());
    assert_eq!(in_pool(&created, &pools("spot")[0]), 2);
    fixture.proxy.set(Faults::default());
    fixture.proxy.show_hidden();
    // Seen at last, each in the slot that it was told with, and the very machine.
    assert_eq!(slots(&created.machines), slots(&listed(&fixture).await));
    let again = fixture.create(&create).await.expect("the same two");
    assert_eq!(slots(&again.machines), slots(&created.machines));
    let victims = crate::support::victims(&created);
    let request = DestroyRequest { fleet: &"uid".into(), scope: &scope(), victims: &victims };
    assert_eq!(fixture.provider.destroy(&request).await.expect("ended").ended.len(), 2);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_launch_template_is_made_once_and_goes_with_its_fleet() {
    let fixture = Fixture::new().await;
    let (one, two) = (any_of("t", 2, "spot"), any_of("u", 2, "on-demand"));
    let (a, b) = tokio::join!(fixture.create(&one), fixture.create(&two));
    let machines: Vec<Machine> =
        [a, b].into_iter().flat_map(|c| c.expect("two").machines).collect();
    assert_eq!(machines.len(), 4);
    assert_eq!(fixture.proxy.calls("CreateLaunchTemplate"), 2, "one of each market");
    let recorded = slots(&machines);
    assert_eq!(tidy(&fixture, &recorded, false).await, 0, "they are young, and wanted");
    fixture.create(&any_of("v", 1, "spot")).await.expect("one");
    assert_eq!(fixture.proxy.calls("CreateLaunchTemplate"), 2);
    assert_eq!(tidy(&fixture, &BTreeMap::new(), true).await, 2, "the fleet is gone");
    assert_eq!(tidy(&fixture, &BTreeMap::new(), true).await, 0);
    fixture.create(&any_of("w", 1, "spot")).await.expect("one");
    assert_eq!(fixture.proxy.calls("CreateLaunchTemplate"), 3, "made anew");
}
