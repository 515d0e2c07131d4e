//! What comes beside the price of a machine: it is counted, compared and kept within the budget.

use crate::laws::{cases, wishes, worlds};
use crate::world::*;
use fleet_core::{add_extras, check, extras_of, fold, plan, prices_seen};
use fleet_model::*;
use proptest::prelude::*;

fn usd(dollars: f64) -> MicroUsd {
    MicroUsd::from_f64(dollars).expect("an amount")
}

/// Every line of a report, summed up.
fn sum(report: &Report) -> Change {
    sum_lines(&report.cost_lines, |_| ()).remove(&()).unwrap_or_default()
}

fn of(report: &Report, kind: CostKind) -> Change {
    sum_lines(&report.cost_lines, |line| line.kind).remove(&kind).unwrap_or_default()
}

fn total(report: &Report) -> Change {
    Change { before: report.cost.hourly_before, after: report.cost.hourly_after }
}

/// Puts some extras to every pool, known and unknown, from a number.
fn strew(inputs: &mut Inputs, seed: u64) {
    let extras = |pool: &PoolId| {
        let number = digest("extras", [pool.to_string().as_bytes(), &seed.to_be_bytes()]).as_u64();
        let extra = |shift: u64, most: u64, why: NoPrice| match (number >> shift) % 8 {
            0 => Extra::Unknown(why),
            1 => Extra::default(),
            2 => Extra::About(MicroUsd((number >> (shift + 3)) % most)),
            _ => Extra::Hourly(MicroUsd((number >> (shift + 3)) % most)),
        };
        Extras {
            disk: extra(0, 300_000, NoPrice::ImageDecides),
            address: extra(16, 10_000, NoPrice::SubnetDecides),
            egress: extra(32, 5_000_000, NoPrice::Route),
        }
    };
    for offering in &mut inputs.offerings {
        offering.extras = extras(&offering.pool);
    }
    for (pool, held) in &mut inputs.held_pools {
        held.extras = extras(pool);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// From one wish to another, with extras everywhere: lines add up, the budget holds, it settles.
    #[test]
    fn lines_add_up_and_budgets_hold(world in worlds(), from in wishes(), to in wishes(), seed: u64) {
        let mut inputs = inputs(from, &world);
        strew(&mut inputs, seed);
        let first = plan(&inputs);
        prop_assert_eq!(check(&inputs, &first), vec![], "{:?}", summary(&first));
        prop_assert_eq!(sum(&first.report), total(&first.report));
        obey(&mut inputs, &first, 600);
        respec(&mut inputs, to, &world);
        strew(&mut inputs, seed);
        let mut seen = Vec::new();
        for _ in 0..100 {
            let planned = plan(&inputs);
            let report = &planned.report;
            prop_assert_eq!(check(&inputs, &planned), vec![], "{:?}", summary(&planned));
            prop_assert_eq!(sum(report), total(report), "{:?} {:#?}", summary(&planned), report.cost_lines);
            let launches = report.groups.iter().any(|group| group.create > 0);
            if let (Some(limit), true) = (report.cost.hourly_limit, launches) {
                prop_assert!(report.cost.hourly_after <= limit);
            }
            if let Some(CostRange { low, expected, high, .. }) = report.cost.range {
                prop_assert!(low <= expected && high.is_none_or(|high| expected <= high));
            }
            seen.push(summary(&planned));
            if planned.plan.is_empty() && planned.plan.vacate.is_empty() { break; }
            obey(&mut inputs, &planned, 600);
        }
        let last = &seen[seen.len().saturating_sub(4)..];
        prop_assert!(last.last().is_some_and(Vec::is_empty), "still moving: {last:?}");
    }
}

const TWO_CLOUDS: &[Row<'_>] = &[
    ("aws/us-east-1/a/m.1", 0, Some(100), Some(40)),
    ("aws/us-west-2/b/m.1", 0, Some(95), Some(35)),
    ("gcp/us-central1/c/n.1", 0, Some(80), Some(30)),
];

/// A fleet that reads so many GiB a day from AWS in us-east-1.
fn reads(gib: u64, strategy: fleet_model::Strategy) -> Inputs {
    let mut wish = desired(10, 4, Unit::Instances);
    wish.placement.strategy = strategy;
    wish.placement.traffic = Traffic {
        data: Some((Cloud::Aws, "us-east-1".into())),
        egress_milli_gib: gib * 1000,
        returned_milli_gib: 0,
    };
    let mut inputs = inputs(wish, &catalog(TWO_CLOUDS));
    let desired = inputs.desired.clone();
    add_extras(&desired, &mut inputs.offerings);
    inputs
}

fn places(planned: &fleet_core::Planned) -> Vec<String> {
    let mut all: Vec<String> =
        planned.report.pools.iter().map(|line| line.pool.place.scope().to_string()).collect();
    all.dedup();
    all
}

#[test]
fn a_fleet_with_much_data_moves_next_to_it() {
    use fleet_model::Strategy::{LowestPrice, PriceCapacityOptimized};
    // $0.09 a GiB to Google: 24 GiB a day are $0.09 an hour.
    let traffic = of(&plan(&reads(24, LowestPrice)).report, CostKind::Egress).after;
    assert_eq!(traffic, usd(0.09));
    for strategy in [LowestPrice, PriceCapacityOptimized] {
        let light = plan(&reads(1, strategy));
        assert_eq!(places(&light), ["gcp/us-central1"], "{strategy:?}");
        // 2,400 GiB a day cost more than any machine here, also on the way to another region.
        let heavy = plan(&reads(2_400, strategy));
        assert_eq!(places(&heavy), ["aws/us-east-1"], "{strategy:?}");
        assert_eq!(of(&heavy.report, CostKind::Egress), Change::default());
    }
}

#[test]
fn rebalancing_stays_with_the_data() {
    let mut fleet = reads(2_400, fleet_model::Strategy::LowestPrice);
    fleet.desired.rebalance = Some(Rebalance {
        min_saving: Share::from_percent(5.0).expect("a share"),
        ..Rebalance::default()
    });
    for _ in 0..30 {
        let planned = plan(&fleet);
        assert_eq!(check(&fleet, &planned), []);
        let away =
            planned.report.pools.iter().any(|line| line.pool.place.region.name() != "us-east-1");
        assert!(!away, "{:?}", summary(&planned));
        obey(&mut fleet, &planned, 1200);
    }
}

#[test]
fn a_commitment_pays_for_the_machine_alone() {
    let mut wish = desired(3, 3, Unit::Instances);
    wish.placement.commitments = vec![Commitment {
        cloud: Cloud::Aws,
        region: "us-east-1".into(),
        instance_type: "m.1".into(),
        count: 2,
        until: None,
        hourly: None,
    }];
    wish.placement.clouds = vec![CloudRule {
        cloud: Cloud::Aws,
        regions: vec![Pattern::new("us-east-1")],
        zones: vec![],
        accounts: vec![],
    }];
    let mut world = inputs(wish, &catalog(TWO_CLOUDS));
    let spec = world.desired.clone();
    add_extras(&spec, &mut world.offerings);
    let planned = checked(&world);
    assert_eq!(of(&planned.report, CostKind::Machine).after, usd(1.0));
    assert_eq!(of(&planned.report, CostKind::Address).after, usd(0.015));
    assert_eq!(planned.report.cost.hourly_after, usd(1.015));
    // What comes beside is kept within the budget as well.
    for (limit, machines) in [(1.014, 2), (1.015, 3), (0.009, 1), (0.004, 0)] {
        world.desired.budget.hourly = Some(usd(limit));
        assert_eq!(counts(&checked(&world)).0, machines, "{limit}");
    }
}

#[test]
fn an_old_disk_is_paid_until_its_machine_is_replaced() {
    let disk = |gib| {
        let disk = Disk { size_gib: Some(gib), kind: None, encrypted: true };
        Template { disk: Some(disk), ..Template::default() }
    };
    let mut world = reads(0, fleet_model::Strategy::LowestPrice);
    let put = |world: &mut Inputs, gib| {
        world.desired.templates = Cloud::ALL.into_iter().map(|cloud| (cloud, disk(gib))).collect();
        let spec = world.desired.clone();
        add_extras(&spec, &mut world.offerings);
    };
    put(&mut world, 73);
    let first = checked(&world);
    // pd-balanced: 73 GiB × $0.10 / 730 h for ten machines.
    assert_eq!(of(&first.report, CostKind::Disk), Change { before: usd(0.0), after: usd(0.1) });
    obey(&mut world, &first, 600);
    let template = disk(73);
    world.recorded.templates.insert(template.digest(), template.fields());
    put(&mut world, 730);
    let second = checked(&world);
    assert_eq!(of(&second.report, CostKind::Disk).before, usd(0.1));
}

#[test]
fn what_has_no_price_is_named() {
    let mut world = reads(24, fleet_model::Strategy::LowestPrice);
    world.desired.placement.traffic.data = Some((Cloud::Azure, "eastus".into()));
    world.desired.placement.clouds = vec![CloudRule::anywhere(Cloud::Azure)];
    let catalog = catalog(&[("azure/westus/1/s.1", 0, Some(50), Some(10))]);
    let spec = world.desired.clone();
    respec(&mut world, spec.clone(), &catalog);
    world.observed.complete = catalog.places.iter().map(Place::scope).collect();
    add_extras(&spec, &mut world.offerings);
    let planned = checked(&world);
    let named: Vec<(CostKind, NoPrice, u32)> =
        planned.report.uncounted.iter().map(|one| (one.kind, one.because, one.machines)).collect();
    assert_eq!(
        named,
        [(CostKind::Disk, NoPrice::ImageDecides, 10), (CostKind::Egress, NoPrice::Route, 10)]
    );
    // No limit can be kept without that price.
    world.desired.budget.hourly = Some(usd(100.0));
    assert_eq!(counts(&checked(&world)), (0, 0));
    let pool = "azure/westus/1/s.1/spot".parse().expect("a pool");
    assert_eq!(extras_of(&spec, &pool, None).egress, Extra::Unknown(NoPrice::Route));
    // Nor is the share of a type that the catalog lacks nothing.
    let mut spec = spec;
    spec.placement.traffic.data = None;
    let egress = extras_of(&spec, &pool, None).egress;
    assert_eq!(egress, Extra::Unknown(NoPrice::UnknownType));
    spec.placement.traffic = Traffic::default();
    assert_eq!(extras_of(&spec, &pool, None).egress, Extra::default());
}

#[test]
fn the_range_is_as_documented() {
    let mut wish = desired(10, 4, Unit::Instances);
    wish.placement.strategy = fleet_model::Strategy::LowestPrice;
    let mut world = inputs(wish, &catalog(&[("aws/us-east-1/a/m.1", 0, Some(100), Some(40))]));
    let range = |world: &Inputs| checked(world).report.cost.range.expect("a range");
    let now = usd(4.0 * 1.0 + 6.0 * 0.4);
    let plain = range(&world);
    assert_eq!((plain.recorded, plain.unrecorded), (0, 6));
    // Nothing is recorded, so nothing is cheaper than now but what is missing.
    assert_eq!(plain.low, plain.expected);
    assert!(plain.expected < now);
    assert_eq!(plain.high, Some(usd(10.0)));
    // The price moved by a tenth: two of those below.
    for offering in &mut world.offerings {
        offering.signals.volatility = Share::from_percent(10.0);
    }
    let moved = range(&world);
    assert_eq!((moved.recorded, moved.low), (6, usd(4.0 + 6.0 * 0.32).min(moved.expected)));
    // Not more than the spec pays for spot, and not more than the budget.
    world.desired.placement.max_spot_price = Some(MaxSpotPrice::Hourly(usd(0.5)));
    assert_eq!(range(&world).high, Some(usd(7.0)));
    world.desired.budget.hourly = Some(usd(6.7));
    assert_eq!(range(&world).high, Some(usd(6.7)));
    // A fallback is on demand, whatever spot may cost at most.
    world.desired.budget.hourly = None;
    world.desired.fallback = Some(Fallback::default());
    let safe = range(&world);
    assert_eq!(safe.high, Some(usd(10.0)));
    assert!(safe.expected > moved.expected, "launches that are not granted are bought elsewhere");
    // Without spot there is nothing to vary.
    world.desired.capacity =
        CapacityGoal { on_demand: Units::whole(10), spot: Units(0), ..world.desired.capacity };
    assert_eq!(checked(&world).report.cost.range, None);
}

#[test]
fn fewer_machines_do_not_send_more_before_the_others_are_gone() {
    let mut wish = desired(10, 10, Unit::Instances);
    let expected = Traffic { data: None, egress_milli_gib: 1_000_000, returned_milli_gib: 0 };
    wish.placement.traffic = expected;
    wish.placement.clouds = vec![CloudRule::anywhere(Cloud::Aws)];
    wish.max_destroy = Share::ALL;
    let mut world = inputs(wish, &catalog(TWO_CLOUDS));
    let spec = world.desired.clone();
    add_extras(&spec, &mut world.offerings);
    let planned = checked(&world);
    let whole = of(&planned.report, CostKind::Egress).after;
    obey(&mut world, &planned, 600);
    let look = |world: &mut Inputs| {
        if let Some(priced) = prices_seen(world) {
            let now = world.now;
            fold(&mut world.recorded, &priced, now);
        }
        let all = world.recorded.running().filter_map(|open| open.extras?.egress.hourly());
        let all: Vec<MicroUsd> = all.collect();
        (all.len(), all.into_iter().sum::<MicroUsd>())
    };
    // Each share is rounded.
    let near = |sum: MicroUsd| sum.0.abs_diff(whole.0) <= 10;
    assert!(matches!(look(&mut world), (10, sum) if near(sum)));
    // The target is lowered; the machines stand until the next plan is obeyed.
    let mut wish = world.desired.clone();
    wish.capacity.target = Units::whole(1);
    wish.capacity.on_demand = Units::whole(1);
    respec(&mut world, wish.clone(), &catalog(TWO_CLOUDS));
    add_extras(&wish, &mut world.offerings);
    let seen = look(&mut world);
    assert!(seen.0 == 10 && near(seen.1), "{seen:?} of {whole}");
    assert_eq!(prices_seen(&world), None, "told once");
    // One apply destroys one of them; the others wait.
    for stand in (1..10).rev() {
        let planned = checked(&world);
        let Change { before, after } = of(&planned.report, CostKind::Egress);
        assert!(near(before) && near(after), "{stand}: {before} {after} of {whole}");
        obey(&mut world, &planned, 600);
        let gone = plan(&world).plan.vacate;
        assert_eq!(gone.len(), 1);
        let now = world.now;
        fold(&mut world.recorded, &Event::Vacated { gone }, now);
        let seen = look(&mut world);
        assert!(seen.0 == stand && near(seen.1), "{seen:?} of {whole}");
    }
    assert!(checked(&world).plan.is_empty());
}
