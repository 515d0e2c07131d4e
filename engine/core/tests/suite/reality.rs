//! Machines as clouds really leave them: gone, stopped, failed, back again, and two of each for a while.

use crate::world::{Row, at, catalog, checked, counts, desired, inputs, obey};
use fleet_core::{fold, plan};
use fleet_model::{
    Action, Budget, Cause, CauseKind, Cloud, Departure, Desired, Event, Hold, Inputs, MachineId,
    MachineState, Market, MicroUsd, Part, SlotState, Template, Unit, Vacated, Why,
};
use std::time::Duration;

const AZURE: &[Row<'_>] = &[
    ("azure/eastus/regional/d.4", 0, Some(100_000), Some(30_000)),
    ("azure/westus/regional/d.4", 0, Some(110_000), Some(31_000)),
];

fn fleet(on_demand: u64, spot: u64) -> Inputs {
    let wish = desired(on_demand + spot, on_demand, Unit::Instances);
    let mut world = inputs(wish, &catalog(AZURE));
    let first = plan(&world);
    obey(&mut world, &first, 3 * 3600);
    world
}

fn ids(world: &Inputs) -> Vec<MachineId> {
    let live = world.observed.machines.values().filter(|m| m.state.is_live());
    live.map(|machine| machine.id.clone()).collect()
}

/// Machines that stand: destroyed ones are gone in this world at once.
fn standing(world: &Inputs) -> usize {
    ids(world).len()
}

fn spend(world: &Inputs) -> MicroUsd {
    let live = world.observed.machines.values().filter(|m| m.state.is_live());
    live.filter_map(|machine| machine.price).sum()
}

fn vanish(world: &mut Inputs, id: &MachineId, cause: Option<Cause>) {
    world.observed.machines.remove(id);
    world.observed.gone.insert(id.clone(), cause);
}

#[test]
fn a_spot_storm_is_replaced_in_a_few_rounds_teaches_the_market_and_freezes_nothing() {
    let mut world = fleet(0, 10);
    for id in ids(&world).into_iter().take(4) {
        vanish(&mut world, &id, None);
    }
    let planned = checked(&world);
    // Two pools, and both took machines back: each is tried with one before it is asked for more.
    assert_eq!(counts(&planned), (2, 0), "{:?}", planned.report.held);
    assert!(planned.report.held.is_empty());
    assert!(planned.plan.vacate.iter().all(|gone| gone.how == Departure::Interrupted));
    let before = world.recorded.beliefs.clone();
    obey(&mut world, &planned, 5);
    assert_ne!(world.recorded.beliefs, before, "the pools are believed to be less reliable");
    let planned = checked(&world);
    assert_eq!(counts(&planned), (2, 0), "both granted it");
    obey(&mut world, &planned, 5);
    assert!(checked(&world).plan.is_empty());
}

#[test]
fn on_demand_that_nobody_can_explain_still_freezes_the_fleet() {
    let mut world = fleet(10, 0);
    for id in ids(&world).into_iter().take(4) {
        vanish(&mut world, &id, None);
    }
    assert_eq!(checked(&world).report.held, [Hold::Frozen { missing: 4, of: 10 }]);
    // With a word of the cloud's it is no mystery.
    let person = Some(Cause::new(CauseKind::Person, "delete"));
    world.observed.gone.values_mut().for_each(|cause| cause.clone_from(&person));
    let planned = checked(&world);
    assert_eq!(counts(&planned), (4, 0));
    assert!(planned.plan.vacate.iter().all(|gone| gone.how == Departure::EndedByOther));
}

#[test]
fn a_list_proves_nothing_of_what_is_not_in_it() {
    let mut world = fleet(10, 0);
    let id = ids(&world)[0].clone();
    world.observed.machines.remove(&id);
    let planned = checked(&world);
    assert!(planned.plan.is_empty() && planned.plan.vacate.is_empty(), "{:?}", planned.plan);
}

#[test]
fn a_stopped_machine_is_replaced_and_destroyed() {
    let mut world = fleet(10, 0);
    let id = ids(&world)[0].clone();
    world.observed.machines.get_mut(&id).expect("there").state = MachineState::Stopped;
    let planned = checked(&world);
    assert_eq!(counts(&planned), (1, 1));
    let destroys = |step: &&fleet_model::Step| step.why == Why::Stopped && step.after.is_empty();
    assert_eq!(planned.plan.steps.iter().filter(destroys).count(), 1, "it waits for nobody");
    world.limits.destroy_all = true;
    world.limits.allow_destroy = Some(10);
    assert_eq!(counts(&checked(&world)), (0, 10), "nothing is left after a destroy");
}

/// Applies until nothing changes, as often as said; the most that ever stood.
fn reconcile(world: &mut Inputs, times: usize, fails: bool) -> usize {
    let mut most = standing(world);
    for _ in 0..times {
        let planned = checked(world);
        let failed = planned.plan.failed.clone();
        if !failed.is_empty() {
            fold(&mut world.recorded, &Event::Failed { failed }, world.now);
        }
        let before = ids(world);
        obey(world, &planned, 600);
        most = most.max(standing(world));
        for (id, machine) in &mut world.observed.machines {
            if fails && machine.state.is_live() && !before.contains(id) {
                machine.state = MachineState::Failed;
                let cause = Cause::new(CauseKind::NeverReady, "OSProvisioningTimedOut");
                machine.cause = Some(cause);
            }
        }
    }
    most
}

fn fail_some(world: &mut Inputs, count: usize) -> Vec<MachineId> {
    let mut some = ids(world);
    some.truncate(count);
    for id in &some {
        let machine = world.observed.machines.get_mut(id).expect("there");
        machine.state = MachineState::Failed;
        machine.cause = Some(Cause::new(CauseKind::Unwell, "VMExtensionProvisioningError"));
    }
    some
}

#[test]
fn one_in_five_that_fail_while_they_run_are_replaced_within_the_surge() {
    let mut world = fleet(10, 0);
    let failed = fail_some(&mut world, 2);
    let most = reconcile(&mut world, 20, false);
    assert!(most <= 11, "{most} stood");
    let left = failed.iter().filter(|id| world.observed.machines[*id].state.is_live()).count();
    assert_eq!((left, standing(&world)), (0, 10));
}

/// An agent that a policy installs makes every machine of a subscription `Failed`, and all of them work.
#[test]
fn more_than_one_in_five_that_fail_are_left_alone_and_told() {
    let mut world = fleet(10, 0);
    fail_some(&mut world, 3);
    let planned = checked(&world);
    assert!(planned.plan.is_empty(), "{:?}", planned.plan);
    assert_eq!(planned.plan.failed.len(), 3, "it is written down: young ones rest their group");
    let held = Hold::ManyUnhealthy { unhealthy: 3, of: 10 };
    assert_eq!(planned.report.held, [held]);
    world.limits.destroy_all = true;
    world.limits.allow_destroy = Some(10);
    assert_eq!(counts(&checked(&world)), (0, 10), "a fleet that is to go goes");
}

#[test]
fn an_image_that_never_comes_up_buys_three_machines_and_rests() {
    let mut world = fleet(10, 0);
    fail_some(&mut world, 2);
    let before = world.observed.machines.len();
    let mut held = false;
    for _ in 0..6 {
        let most = reconcile(&mut world, 1, true);
        assert!(most <= 11, "{most} stood");
        held |= checked(&world).report.held.iter().any(|h| matches!(h, Hold::BootFailures { .. }));
    }
    let bought = world.observed.machines.len() - before;
    assert!(held && bought <= 4, "bought {bought}");
}

/// A cloud's clock tells when a machine was launched, and ours when others were seen to have failed.
#[test]
fn a_machine_from_about_the_time_of_failures_does_not_prove_that_launches_work() {
    for (later, rests) in [(20, true), (400, false)] {
        let mut world = fleet(10, 0);
        let all = ids(&world);
        for id in &all[..3] {
            let machine = world.observed.machines.get_mut(id).expect("there");
            machine.state = MachineState::Failed;
            machine.cause = Some(Cause::new(CauseKind::NeverReady, "OSProvisioningTimedOut"));
        }
        let failed = plan(&world).plan.failed;
        fold(&mut world.recorded, &Event::Failed { failed }, world.now);
        let launched = world.now + Duration::from_secs(later);
        world.now += Duration::from_secs(1200);
        let slot = world.recorded.slots.values_mut().find_map(|record| match &mut record.state {
            SlotState::Filled { machine, launched_at, .. } if *machine == all[3] => {
                Some(launched_at)
            }
            _ => None,
        });
        *slot.expect("on record") = launched;
        vanish(&mut world, &all[3], Some(Cause::new(CauseKind::Person, "delete")));
        let held = checked(&world).report.held;
        let resting = held.iter().any(|hold| matches!(hold, Hold::BootFailures { .. }));
        assert_eq!(resting, rests, "launched {later} s later: {held:?}");
    }
}

/// A record of a machine that is gone may come after its slot was filled again.
#[test]
fn the_end_of_a_machine_says_nothing_of_its_successor() {
    let mut world = fleet(0, 1);
    let (slot, _) = world.recorded.slots.iter().next().expect("a slot");
    let (slot, before) = (*slot, world.recorded.clone());
    for how in [Departure::Ended, Departure::Interrupted, Departure::Vanished] {
        let gone = vec![Vacated {
            slot,
            machine: "one before".into(),
            how,
            started: None,
            at: None,
            deleted: None,
        }];
        fold(&mut world.recorded, &Event::Vacated { gone }, world.now);
        assert_eq!(world.recorded.beliefs, before.beliefs, "{how:?}");
        assert_eq!(world.recorded.slots, before.slots, "{how:?}");
    }
}

#[test]
fn a_machine_that_comes_back_has_its_slot_again_or_is_destroyed() {
    let mut world = fleet(4, 0);
    let id = ids(&world)[0].clone();
    let machine = world.observed.machines[&id].clone();
    vanish(&mut world, &id, None);
    let gone = plan(&world).plan.vacate;
    fold(&mut world.recorded, &Event::Vacated { gone }, world.now);
    let mut refilled = world.clone();
    // Before anybody filled the slot again.
    world.observed.gone.clear();
    world.observed.machines.insert(id.clone(), machine.clone());
    let planned = checked(&world);
    assert_eq!((planned.plan.readopt.len(), counts(&planned)), (1, (0, 0)));
    // After somebody did.
    let planned = checked(&refilled);
    obey(&mut refilled, &planned, 60);
    refilled.observed.machines.insert(id.clone(), machine);
    let planned = checked(&refilled);
    assert_eq!((planned.plan.readopt.len(), counts(&planned)), (0, (0, 1)));
    // Somebody else's machine under the same id is left alone.
    refilled.observed.machines.get_mut(&id).expect("there").launched_at = at(77);
    assert_eq!(counts(&checked(&refilled)), (0, 0));
}

fn with_template(wish: &Desired, data: &str) -> Desired {
    let mut wish = wish.clone();
    let template = Template { key: Some(data.into()), ..Template::default() };
    wish.templates.insert(Cloud::Azure, template);
    wish
}

#[test]
fn two_generations_stay_within_surge_and_budget() {
    // Room for all, for one more, and for none more.
    for room in [None, Some(13), Some(12)] {
        let mut world = fleet(12, 0);
        let each = MicroUsd(spend(&world).0 / 12);
        let budget = room.map(|machines: u64| each * machines);
        world.desired = with_template(&world.desired, "new");
        world.desired.budget = Budget { hourly: budget, ..Budget::default() };
        if room == Some(12) {
            // Without room for a successor, one machine has to be missed.
            world.desired.updates.max_unavailable = Part::Machines(1);
        }
        for _ in 0..80 {
            let planned = checked(&world);
            if planned.plan.is_empty() {
                break;
            }
            // Launches come first: this is the moment at which most stand.
            let (created, destroyed) = counts(&planned);
            obey(&mut world, &planned, 60);
            assert!(
                standing(&world) + destroyed <= 13,
                "{created} launched, {destroyed} destroyed"
            );
            let most = spend(&world) + each * destroyed as u64;
            assert!(budget.is_none_or(|limit| most <= limit), "{most} of {budget:?}");
        }
        let digest = world.desired.templates[&Cloud::Azure].digest();
        let new = world.recorded.slots.values().filter(
            |slot| matches!(&slot.state, SlotState::Filled { template, .. } if *template == digest),
        );
        assert_eq!(new.count(), 12, "under {budget:?} all are new in the end");
    }
}

#[test]
fn after_a_crash_the_spec_of_now_decides() {
    let wish = desired(12, 12, Unit::Instances);
    let mut world = inputs(wish, &catalog(AZURE));
    world.recorded.uid = Some(world.uid.clone());
    for step in plan(&world).plan.steps {
        let Action::Create(create) = step.action else { panic!("a launch") };
        fold(&mut world.recorded, &Event::CreateIntended { create }, at(0));
    }
    let price = plan(&world).report.pools.first().and_then(|line| line.price);
    let each =
        price.or_else(|| world.recorded.in_doubt.values().next()?.create.price).expect("a price");
    let resent = |world: &Inputs| {
        let planned = checked(world);
        let keep: u32 = planned.report.groups.iter().map(|line| line.keep).sum();
        assert_eq!(keep, 0, "nobody knows of a machine to keep");
        planned.plan.resend.len()
    };
    assert_eq!(resent(&world), 12);
    let mut smaller = world.clone();
    smaller.desired.capacity = desired(4, 4, Unit::Instances).capacity;
    assert_eq!(resent(&smaller), 0, "all twelve may be there");
    let mut poorer = world.clone();
    poorer.desired.budget.hourly = Some(each);
    assert_eq!(resent(&poorer), 0, "and all may cost money");
    let mut larger = world.clone();
    larger.desired.capacity = desired(20, 20, Unit::Instances).capacity;
    assert_eq!(resent(&larger), 12);
    let mut other = world.clone();
    other.desired = with_template(&other.desired, "other");
    assert_eq!(resent(&other), 0, "another template is another request");
    let mut labelled = world.clone();
    labelled.desired.labels.insert("team".into(), "shop".into());
    assert_eq!(resent(&labelled), 0, "so are other labels");
    let mut spot = world.clone();
    spot.offerings.retain(|offering| offering.pool.market == Market::Spot);
    assert_eq!(resent(&spot), 0, "the spec no longer allows the pools");
    world.limits.destroy_all = true;
    assert_eq!(resent(&world), 0);
}
