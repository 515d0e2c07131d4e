//! Hedged fleets whose machines do not all work: none that works goes before enough others do.

use crate::world::*;
use fleet_model::*;

const ROWS: &[Row<'_>] = &[
    ("aws/r1/a/m.1", 0, Some(100), Some(30)),
    ("aws/r1/b/m.1", 0, Some(100), Some(31)),
    ("aws/r2/a/m.1", 0, Some(110), Some(32)),
];
const MINUTES: i64 = 60;

/// Six machines on demand whose checks pass, and spot that is to be had from now on.
fn on_demand() -> Inputs {
    let mut wish = desired(6, 0, Unit::Instances);
    let hedge = Hedge::for_availability(Share::from_percent(99.0).expect("a share"));
    wish.placement.hedge = Some(Hedge { reconcile_every_seconds: 300, ..hedge });
    wish.health.probes = vec![Probe::Tcp { port: 22 }];
    wish.health.ready_within_seconds = Some(3000);
    let mut world = inputs(wish, &catalog(ROWS));
    let all = world.offerings.clone();
    world.offerings.retain(|offering| offering.pool.market == Market::OnDemand);
    look(&mut world, |_| true);
    look(&mut world, |_| true);
    world.offerings = all;
    world
}

fn on(world: &Inputs, market: Market) -> usize {
    let live = world.observed.machines.values().filter(|machine| machine.state.is_live());
    live.filter(|machine| machine.market == market).count()
}

fn live(world: &Inputs) -> impl Iterator<Item = &Machine> {
    world.observed.machines.values().filter(|machine| machine.state.is_live())
}

/// Checks, plans and obeys; six minutes go by. How many machines stand then whose checks passed.
fn look(world: &mut Inputs, works: impl Fn(&Machine) -> bool) -> usize {
    let probe = |machine: &Machine| match works(machine) {
        true => Probed::Passed,
        false => Probed::Failed { words: "refused".into() },
    };
    let all = world.observed.machines.iter();
    world.observed.probed = all.map(|(id, machine)| (id.clone(), probe(machine))).collect();
    let planned = checked(world);
    obey(world, &planned, 6 * MINUTES);
    let passed = |machine: &&Machine| {
        world.observed.probed.get(&machine.id).is_some_and(|said| *said == Probed::Passed)
    };
    live(world).filter(passed).count()
}

#[test]
fn none_that_works_goes_for_one_whose_checks_fail() {
    let mut world = on_demand();
    let on_demand = |machine: &Machine| machine.market == Market::OnDemand;
    // Through its time to come up, and long after.
    for nth in 0..30 {
        assert_eq!(look(&mut world, on_demand), 6, "look {nth}");
    }
    assert!(on(&world, Market::Spot) >= 6);
    // They come up: on demand is worth its price no more.
    for nth in 0..30 {
        assert!(look(&mut world, |_| true) >= 6, "look {nth}");
    }
    assert_eq!(on(&world, Market::OnDemand), 0);
    assert!(checked(&world).plan.is_empty());
}

#[test]
fn what_passed_its_checks_is_ready_whatever_its_age() {
    let mut world = on_demand();
    look(&mut world, |_| true);
    assert!(on(&world, Market::Spot) >= 6);
    world.now = Timestamp::from_second(world.now.as_second() - 5 * MINUTES).expect("a time");
    world.observed.taken_at = world.now;
    look(&mut world, |_| true);
    assert!(on(&world, Market::OnDemand) < 6, "a minute after the launch");
}

#[test]
fn what_never_works_holds_nothing_up() {
    let mut world = on_demand();
    let on_demand = |machine: &Machine| machine.market == Market::OnDemand;
    for _ in 0..30 {
        look(&mut world, on_demand);
    }
    // Half of them do: with what is on demand that is enough, and more goes.
    let spot: Vec<MachineId> = live(&world)
        .filter(|machine| machine.market == Market::Spot)
        .map(|machine| machine.id.clone())
        .collect();
    let half = &spot[..spot.len() / 2];
    let works = |machine: &Machine| on_demand(machine) || half.contains(&machine.id);
    for nth in 0..30 {
        assert!(look(&mut world, works) >= 6, "look {nth}");
    }
    assert_eq!(on(&world, Market::OnDemand), 6 - half.len());
    // With less wanted, what works is enough, and less of all is left.
    let mut wish = world.desired.clone();
    wish.capacity = desired(2, 0, Unit::Instances).capacity;
    respec(&mut world, wish, &catalog(ROWS));
    for nth in 0..30 {
        assert!(look(&mut world, works) >= 2, "look {nth}");
    }
    assert!(live(&world).count() <= 4);
}

/// A check that breaks says of all machines that they are of no use.
#[test]
fn a_check_that_breaks_costs_no_machine() {
    let mut world = on_demand();
    for _ in 0..30 {
        look(&mut world, |_| true);
    }
    let old: Vec<MachineId> = live(&world).map(|machine| machine.id.clone()).collect();
    // Where they stand, the price is three times what it was.
    for offering in &mut world.offerings {
        let there = live_in(&world.observed, &offering.pool);
        offering.price =
            offering.price.map(|MicroUsd(price)| MicroUsd(price * if there { 3 } else { 1 }));
    }
    let kept = |world: &Inputs| live(world).filter(|machine| old.contains(&machine.id)).count();
    let before = kept(&world);
    for _ in 0..3 {
        look(&mut world, |_| false);
    }
    assert_eq!(kept(&world), before);
}

fn live_in(observed: &Observed, pool: &PoolId) -> bool {
    let mut live = observed.machines.values().filter(|machine| machine.state.is_live());
    live.any(|machine| {
        machine.place == pool.place
            && machine.market == pool.market
            && machine.instance_type == pool.instance_type
    })
}
