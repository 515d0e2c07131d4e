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

/// The only machine is there no longer.
fn vanish(world: &mut Inputs) {
    let gone = vec![Vacated {
        slot: "base-0".parse().expect("a slot"),
        machine: "i-1".into(),
        how: Departure::Vanished,
        started: None,
        at: None,
        deleted: None,
    }];
    write(world, &Event::Vacated { gone });
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
    world.now += hours(5);
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
    vanish(&mut world);
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

/// A launch in doubt that may come from either of two pools.
fn doubt(world: &mut Inputs, known: [Option<Extras>; 2]) {
    let pools: [PoolId; 2] = ["aws/us-east-1/a/m.1/spot", "aws/us-east-1/a/m.2/spot"]
        .map(|id| id.parse().expect("a pool"));
    for (pool, extras) in pools.iter().zip(known) {
        world.recorded.extras.extend(extras.map(|extras| (pool.clone(), extras)));
    }
    let [pool, other] = pools;
    let price = Some(MicroUsd(400_000));
    let create = Create {
        pool,
        others: vec![OtherPool { pool: other, price, max_price: None }],
        slots: vec!["burst-0.1".parse().expect("a slot"), "burst-1.1".parse().expect("a slot")],
        token: Token::new("t"),
        price,
        max_price: None,
        template: digest("test", []),
        image: None,
    };
    write(world, &Event::CreateIntended { create });
}

#[test]
fn a_launch_in_doubt_counts_at_the_dearest_of_each_kind_and_says_what_it_does_not_know() {
    let mut world = world();
    let hourly = |micros| Extra::Hourly(MicroUsd(micros));
    let none = Extra::Unknown(NoPrice::ImageDecides);
    let one = Extras { disk: hourly(300_000), address: hourly(1_000), egress: hourly(0) };
    let other = Extras { disk: none, address: hourly(9_000), egress: hourly(0) };
    doubt(&mut world, [Some(one), Some(other)]);
    world.now += hours(1);
    let report = plan(&world).report;
    let on = report.budgets[0].spent_on;
    let near = |got: MicroUsd, micros: u64| got.0 >= micros && got.0 < micros + 1_000;
    assert!(near(on.disk, 600_000) && near(on.address, 18_000), "{on:?}");
    let told = |report: &Report| -> Vec<(CostKind, NoPrice, u32)> {
        report.budget_uncounted.iter().map(|one| (one.kind, one.because, one.machines)).collect()
    };
    assert_eq!(told(&report), [(CostKind::Disk, NoPrice::ImageDecides, 2)]);
    // Nobody wrote anything down: nothing of it is known.
    let mut world = self::world();
    doubt(&mut world, [None, None]);
    let unknown = CostKind::BESIDE.map(|kind| (kind, NoPrice::NotRecorded, 2));
    assert_eq!(told(&plan(&world).report), unknown);
    // A fleet that expects no traffic lacks none.
    world.desired.placement.traffic = Traffic::default();
    assert_eq!(told(&plan(&world).report), unknown[..2]);
}

#[test]
fn machines_without_a_price_are_those_of_the_month_each_once() {
    let mut world = world();
    adopt(&mut world);
    let machines = |world: &Inputs| {
        let all = plan(world).report.budget_uncounted;
        all.iter().filter(|one| one.kind == CostKind::Disk).map(|one| one.machines).sum::<u32>()
    };
    // The share of the traffic is another each day; the disk is the same unknown one.
    for day in 1..5 {
        let seen = prices_seen(&world).expect("news");
        write(&mut world, &seen);
        world.now += hours(24);
        for offering in &mut world.offerings {
            offering.extras.egress = Extra::Hourly(MicroUsd(day));
        }
    }
    assert_eq!(machines(&world), 1);
    vanish(&mut world);
    world.observed.machines.clear();
    assert_eq!(machines(&world), 1);
    world.now = "2027-04-02T00:00:00Z".parse().expect("a moment");
    adopt(&mut world);
    assert_eq!(machines(&world), 1, "not the one of the month before");
}

#[test]
fn a_saved_plan_holds_whatever_machines_say_of_their_work() {
    let mut world = world();
    adopt(&mut world);
    let changes = world.recorded.changes;
    let busy =
        Busy { machine: "i-1".into(), from: world.now - hours(1), to: world.now, percent: 7 };
    write(&mut world, &Event::BusyTold { told: vec![busy] });
    assert_eq!(world.recorded.changes, changes);
}
