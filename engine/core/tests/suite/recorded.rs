//! What the journal comes to, as far as money is concerned.

use crate::world::*;
use fleet_core::{add_extras, fold, plan, prices_seen};
use fleet_model::*;
use jiff::SignedDuration;

const ROWS: &[Row<'_>] = &[("aws/us-east-1/a/m.1", 0, Some(100), Some(40))];

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

/// A fleet of one machine, with a disk, traffic and a budget.
fn world() -> Inputs {
    let mut wish = desired(1, 1, Unit::Instances);
    wish.placement.clouds = vec![CloudRule::anywhere(Cloud::Aws)];
    wish.placement.traffic =
        Traffic { data: None, egress_milli_gib: 24_000, returned_milli_gib: 0 };
    wish.budget.calendar_month = Some(MicroUsd::dollars(1000));
    let disk = Disk { size_gib: Some(730), kind: None, encrypted: true };
    wish.templates = [(Cloud::Aws, Template { disk: Some(disk), ..Template::default() })].into();
    let mut world = inputs(wish, &catalog(ROWS));
    let desired = world.desired.clone();
    add_extras(&desired, &mut world.offerings);
    world.now = "2027-03-11T00:00:00Z".parse().expect("a moment");
    world.observed.taken_at = world.now;
    world
}

fn write(world: &mut Inputs, event: &Event) {
    let now = world.now;
    fold(&mut world.recorded, event, now);
}

/// Takes in a machine that somebody launched two days ago.
fn adopt(world: &mut Inputs) {
    let pool: PoolId = "aws/us-east-1/a/m.1/on-demand".parse().expect("a pool");
    let made_from = world.desired.templates[&Cloud::Aws].clone();
    world.recorded.templates.insert(made_from.digest(), made_from.fields());
    let machine = NewMachine {
        slot: "base-0.1".parse().expect("a slot"),
        machine: "i-1".into(),
        launched_at: world.now - hours(48),
        price: Some(MicroUsd::dollars(1)),
        pool: Some(pool.clone()),
    };
    let seen = Machine {
        id: "i-1".into(),
        place: pool.place,
        instance_type: pool.instance_type,
        market: pool.market,
        state: MachineState::Running,
        launched_at: machine.launched_at,
        price: None,
        owner: None,
        notice: None,
        cause: None,
        access: Default::default(),
    };
    world.observed.machines.insert(seen.id.clone(), seen);
    let template = made_from.digest();
    write(world, &Event::Adopted { machines: vec![machine], template, labels: 0 });
}

#[test]
fn what_somebody_else_launched_counts_from_its_adoption_and_nobody_knows_its_disk() {
    let mut world = world();
    adopt(&mut world);
    let priced = prices_seen(&world).expect("news");
    write(&mut world, &priced);
    assert_eq!(prices_seen(&world), None, "told once");
    world.now = world.now + hours(5);
    world.observed.taken_at = world.now;
    let report = plan(&world).report;
    let on = report.budgets[0].spent_on;
    // A second more is counted of what runs.
    let near = |got: MicroUsd, micros: u64| got.0 >= micros && got.0 < micros + 1_000;
    assert!(near(on.machine, 5_000_000) && near(on.egress, 5 * 90_000), "{on:?}");
    assert_eq!((on.disk, on.address), (MicroUsd(0), MicroUsd(0)));
    let told: Vec<(CostKind, NoPrice, u32)> =
        report.budget_uncounted.iter().map(|one| (one.kind, one.because, one.machines)).collect();
    let unknown = [CostKind::Disk, CostKind::Address].map(|kind| (kind, NoPrice::Adopted, 1));
    assert_eq!(told, unknown);
    // The same once it is gone.
    let gone = vec![Vacated {
        slot: "base-0".parse().expect("a slot"),
        machine: "i-1".into(),
        how: Departure::Vanished,
        started: None,
        at: None,
        deleted: None,
    }];
    write(&mut world, &Event::Vacated { gone });
    assert_eq!(world.recorded.spent.since(None), MicroUsd::dollars(5));
    let beside = world.recorded.spent_beside.keys().copied().collect::<Vec<_>>();
    assert_eq!(beside, [CostKind::Egress]);
}

#[test]
fn a_clock_that_is_behind_makes_nothing_count_twice() {
    let mut world = world();
    adopt(&mut world);
    let began = world.now;
    for later in [3, 1] {
        let egress = Extra::Hourly(MicroUsd(1_000 * later));
        let slots = vec!["base-0.1".parse().expect("a slot")];
        let extras = vec![ExtrasStep { slots, extras: Extras { egress, ..Extras::default() } }];
        world.now = began + hours(later as i64);
        write(&mut world, &Event::Priced { prices: vec![], commitments: None, extras });
    }
    let since = world.recorded.running().next().map(|open| open.extras_since);
    assert_eq!(since, Some(began + hours(3)));
}

#[test]
fn a_saved_plan_holds_whatever_machines_say_of_their_work() {
    let mut world = world();
    adopt(&mut world);
    let changes = world.recorded.changes;
    let busy = Busy { machine: "i-1".into(), from: world.now - hours(1), to: world.now, percent: 7 };
    write(&mut world, &Event::BusyTold { told: vec![busy] });
    assert_eq!(world.recorded.changes, changes);
}
