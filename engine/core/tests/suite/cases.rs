//! Cases: a world, a wish, and the plan that must come of them.

use crate::world::*;
use fleet_core::{check, fold, plan, stale};
use fleet_model::*;
use std::collections::BTreeSet;

const WORLD: &[Row<'_>] = &[
    ("aws/us-east-1/a/g.8", 8, Some(4000), Some(1500)),
    ("aws/us-east-1/b/g.8", 8, Some(4000), Some(1600)),
    ("aws/us-west-2/a/g.8", 8, Some(4400), Some(1400)),
    ("gcp/us-central1/c/h-8", 8, Some(3900), Some(2000)),
    ("gcp/us-central1/c/h-1", 1, Some(500), Some(300)),
    ("lambda/us-tx-1/regional/gpu_8x", 8, Some(3000), None),
];

/// Plans a fleet from nothing.
fn case(change: impl FnOnce(&mut Inputs), expect: &[&str]) {
    let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
    change(&mut world);
    // What the change asks for must be reflected in what is on offer.
    let wish = world.desired.clone();
    respec(&mut world, wish, &catalog(WORLD));
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    assert_eq!(summary(&planned), expect);
}

#[test]
fn by_default_the_cheapest_until_it_is_crowded() {
    case(
        |_| {},
        &[
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+1 aws/us-east-1/a/g.8/spot",
            "+1 aws/us-east-1/b/g.8/spot",
            "+1 aws/us-west-2/a/g.8/spot",
        ],
    );
}

#[test]
fn lowest_price_takes_the_cheapest_per_unit() {
    case(
        |world| world.desired.placement.strategy = Strategy::LowestPrice,
        &["+1 lambda/us-tx-1/regional/gpu_8x/on-demand", "+3 aws/us-west-2/a/g.8/spot"],
    );
}

#[test]
fn a_clear_signal_beats_the_price() {
    let mut world = inputs(desired(16, 0, Unit::Gpus), &catalog(WORLD));
    for offering in &mut world.offerings {
        let percent = if offering.kind.name.as_str() == "h-8" { 95 } else { 30 };
        let source = SignalSource::CapacityAdvice;
        offering.signals.obtainability = Some(Obtainability { percent, source });
    }
    assert_eq!(summary(&plan(&world)), ["+2 gcp/us-central1/c/h-8/spot"]);
}

#[test]
fn prices_that_are_not_of_this_minute_are_told_with_their_age() {
    let told = |seconds: i64| {
        let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
        for offering in &mut world.offerings {
            let at = world.now.as_second() - seconds;
            offering.signals.price_as_of = Timestamp::from_second(at).ok();
        }
        let mut notices = plan(&world).report.notices;
        notices.retain(|notice| matches!(notice, Notice::OldPrices { .. }));
        notices
    };
    assert_eq!(told(60), []);
    assert_eq!(told(-5), []);
    let old = |cloud| Notice::OldPrices { cloud, seconds: 61 };
    assert_eq!(told(61), [old(Cloud::Aws), old(Cloud::Gcp), old(Cloud::Lambda)]);
}

#[test]
fn a_pool_limit_spreads() {
    case(
        |world| world.desired.placement.spread.max_share_per_pool = Share::from_percent(25.0),
        &[
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+1 aws/us-east-1/a/g.8/spot",
            "+1 aws/us-east-1/b/g.8/spot",
            "+1 aws/us-west-2/a/g.8/spot",
        ],
    );
}

#[test]
fn every_pool_has_its_reason() {
    let reasons = |change: &dyn Fn(&mut Desired)| -> Vec<String> {
        let mut wish = desired(32, 8, Unit::Gpus);
        change(&mut wish);
        let planned = plan(&inputs(wish, &catalog(WORLD)));
        let launched = planned.report.pools.into_iter().filter(|line| line.create > 0);
        let reason = |line: PoolLine| {
            let reason = format!("{:?}", line.reason.expect("a reason"));
            format!("{} {}", line.pool, reason.split(' ').next().expect("a word"))
        };
        launched.map(reason).collect()
    };
    let base = "lambda/us-tx-1/regional/gpu_8x/on-demand Best";
    let crowded = reasons(&|_| {});
    let (a, b) =
        ("aws/us-east-1/a/g.8/spot OthersCrowded", "aws/us-east-1/b/g.8/spot OthersCrowded");
    assert_eq!(crowded, [a, b, "aws/us-west-2/a/g.8/spot Best", base]);
    let full = reasons(&|wish| {
        wish.placement.strategy = Strategy::LowestPrice;
        wish.placement.spread.max_share_per_zone = Share::from_percent(50.0);
    });
    let next = "aws/us-east-1/a/g.8/spot OthersFull";
    assert_eq!(full, [next, "aws/us-west-2/a/g.8/spot Best", base]);
    let even = reasons(&|wish| wish.placement.strategy = Strategy::Diversified);
    assert!(even.iter().all(|line| line.ends_with(" Even")), "{even:?}");
    let hedged = reasons(&|wish| {
        wish.placement.hedge = Some(Hedge::at(10_000).watched());
    });
    assert!(hedged.iter().any(|line| line.ends_with("/spot Hedge")), "{hedged:?}");
}

#[test]
fn zones_are_reached_first() {
    case(
        |world| world.desired.placement.spread.min_zones = 4,
        &[
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+1 aws/us-east-1/a/g.8/spot",
            "+1 aws/us-east-1/b/g.8/spot",
            "+1 aws/us-west-2/a/g.8/spot",
        ],
    );
}

#[test]
fn zones_are_not_bought_with_machines_beyond_the_target() {
    let rows = [
        ("aws/r1/a/t1.1", 1, Some(50), None),
        ("aws/r1/b/t8.8", 8, Some(50), None),
        ("azure/r3/regional/t1.1", 1, Some(606), None),
        ("azure/r3/regional/t8.8", 8, Some(50), None),
    ];
    let mut wish = desired(3, 3, Unit::Gpus);
    wish.placement.strategy = Strategy::PriceCapacityOptimized;
    wish.placement.spread.min_zones = 3;
    let world = inputs(wish, &catalog(&rows));
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    // Two of eight would be cheaper, and five times what is wanted.
    let steps = ["+1 aws/r1/a/t1.1", "+1 aws/r1/b/t8.8", "+1 azure/r3/regional/t1.1"];
    assert_eq!(summary(&planned), steps.map(|step| format!("{step}/on-demand")));
}

#[test]
fn a_provider_limit_holds_over_both_tiers() {
    case(
        |world| {
            world.desired.placement.strategy = Strategy::LowestPrice;
            world.desired.placement.spread.max_share_per_provider = Share::from_percent(50.0);
        },
        &[
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+2 aws/us-west-2/a/g.8/spot",
            "+1 gcp/us-central1/c/h-8/spot",
        ],
    );
}

/// The cheapest places on demand are the only ones that sell spot, and shares are small: the base has to
/// stand where no spot is sold.
#[test]
fn the_base_leaves_shares_to_the_burst() {
    let rows: &[Row<'_>] = &[
        ("aws/us-east-1/a/g.1", 1, Some(100), Some(30)),
        ("azure/eastus/regional/n.1", 1, Some(300), Some(45)),
        ("gcp/us-central1/c/h-1", 1, Some(110), Some(40)),
        ("lambda/us-tx-1/regional/gpu_1x", 1, Some(900), None),
    ];
    let mut wish = desired(64, 32, Unit::Gpus);
    wish.placement.spread.max_share_per_provider = Share::from_percent(25.0);
    let mut world = inputs(wish, &catalog(rows));
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    assert_eq!(planned.report.unplaced, []);
    let steps = summary(&planned);
    let lambda = "+16 lambda/us-tx-1/regional/gpu_1x/on-demand".to_owned();
    assert!(steps.contains(&lambda), "{steps:?}");
    obey(&mut world, &planned, 600);
    assert!(plan(&world).plan.is_empty(), "and it stays so");
}

#[test]
fn the_last_machine_is_the_one_that_fits() {
    // 9 GPUs on spot: eight at once and one alone beat sixteen.
    case(
        |world| world.desired.capacity = desired(9, 0, Unit::Gpus).capacity,
        &["+1 aws/us-west-2/a/g.8/spot", "+1 gcp/us-central1/c/h-1/spot"],
    );
}

#[test]
fn priorities_decide() {
    case(
        |world| {
            world.desired.placement.strategy = Strategy::Prioritized;
            world.desired.placement.priorities = vec!["h-8".into()];
        },
        &["+1 gcp/us-central1/c/h-8/on-demand", "+3 gcp/us-central1/c/h-8/spot"],
    );
}

#[test]
fn a_budget_buys_the_cheapest_and_tells_the_rest() {
    let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
    world.desired.budget.hourly = Some(MicroUsd::dollars(60));
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    let expect = [
        "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
        "+1 aws/us-east-1/a/g.8/spot",
        "+1 aws/us-west-2/a/g.8/spot",
    ];
    assert_eq!(summary(&planned), expect);
    assert_eq!(planned.report.cost.hourly_after, MicroUsd::dollars(59));
    let [short] = planned.report.unplaced.as_slice() else { panic!("{planned:#?}") };
    assert_eq!(short.missing, Units::whole(8));
    assert!(
        short.because.iter().any(|(r, _)| matches!(r, Rejection::BudgetReached { .. })),
        "{:?}",
        short.because
    );
}

#[test]
fn at_the_cap_a_cautious_fleet_waits() {
    let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
    world.desired.budget =
        Budget { hourly: Some(MicroUsd::dollars(60)), at_cap: AtCap::Hold, ..Budget::default() };
    let planned = plan(&world);
    assert!(planned.plan.is_empty());
    assert_eq!(
        planned.report.held,
        [Hold::Budget {
            limit: MicroUsd::dollars(60),
            needed: MicroUsd::dollars(75),
            cap: Cap::Hourly
        }]
    );
}

#[test]
fn quotas_cap_and_blocked_pools_wait() {
    let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
    world.quotas = vec![Quota {
        cloud: Cloud::Aws,
        region: "us-west-2".into(),
        market: Market::Spot,
        name: "spot".into(),
        unit: QuotaUnit::Vcpus,
        limit: 200,
        used: 100,
    }];
    for offering in &mut world.offerings {
        let pool = &offering.pool;
        if pool.place.region.as_str() == "us-west-2" && pool.market == Market::Spot {
            offering.quotas = vec![0];
        }
    }
    let pool: PoolId = "aws/us-east-1/a/g.8/spot".parse().expect("a pool");
    world.recorded.blocks = vec![Block {
        scope: BlockScope::Pool { pool },
        until: at(60),
        code: "InsufficientInstanceCapacity".into(),
    }];
    let planned = plan(&world);
    assert_eq!(
        summary(&planned),
        [
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+1 aws/us-east-1/b/g.8/spot",
            "+1 aws/us-west-2/a/g.8/spot",
            "+1 gcp/us-central1/c/h-8/spot"
        ]
    );
    world.now = at(61);
    let later = plan(&world);
    assert!(summary(&later).contains(&"+1 aws/us-east-1/a/g.8/spot".to_owned()), "{later:#?}");
}

#[test]
fn nothing_is_planned_in_a_gap() {
    let mut world = inputs(desired(32, 8, Unit::Gpus), &catalog(WORLD));
    let scope = Scope { cloud: Cloud::Aws, region: "us-west-2".into() };
    world.observed.complete.remove(&scope);
    let (cause, detail) = (GapCause::Unreachable, String::new());
    world.observed.gaps = vec![Gap { scope: scope.clone(), cause, detail }];
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    assert!(planned.plan.steps.iter().all(|step| step.action.pool().place.scope() != scope));
    assert_eq!(planned.report.groups[1].after, Units::whole(24));
}

#[test]
fn spot_dearer_than_on_demand_is_not_bought() {
    let rows: &[Row<'_>] = &[("aws/r/a/m.1", 0, Some(100), Some(120))];
    let world = inputs(desired(1, 0, Unit::Instances), &catalog(rows));
    let planned = plan(&world);
    assert!(planned.plan.is_empty());
    assert_eq!(planned.report.unplaced[0].because, [(Rejection::SpotNotCheaper, 1)]);
}

#[test]
fn unpriced_is_the_last_resort_and_no_resort_under_a_budget() {
    let rows: &[Row<'_>] = &[("aws/r/a/m.1", 0, None, None), ("aws/r/b/m.1", 0, Some(900), None)];
    let mut wish = desired(1, 1, Unit::Instances);
    let world = inputs(wish.clone(), &catalog(rows));
    assert_eq!(summary(&plan(&world)), ["+1 aws/r/b/m.1/on-demand"]);
    wish.budget.hourly = Some(MicroUsd::dollars(1));
    let poor = plan(&inputs(wish, &catalog(rows)));
    assert!(poor.plan.is_empty());
    let because = &poor.report.unplaced[0].because;
    assert!(because.contains(&(Rejection::Unpriced, 1)), "{because:?}");
}

#[test]
fn a_smaller_target_ends_the_dearest_within_the_limit() {
    let rows = catalog(WORLD);
    let mut wish = desired(32, 8, Unit::Gpus);
    wish.placement.spread.max_share_per_pool = Share::from_percent(25.0);
    let mut world = inputs(wish, &rows);
    let first = plan(&world);
    obey(&mut world, &first, 600);
    respec(&mut world, desired(16, 8, Unit::Gpus), &rows);
    let planned = plan(&world);
    assert_eq!(summary(&planned), ["-1 aws/us-east-1/b/g.8/spot"]);
    assert_eq!(
        planned.report.held,
        [Hold::DestroyLimit { allowed: 1, wanted: 2, held: 1, said: None, lowered: 0 }]
    );
    world.limits.allow_destroy = Some(2);
    let expect = ["-1 aws/us-east-1/a/g.8/spot", "-1 aws/us-east-1/b/g.8/spot"];
    assert_eq!(summary(&plan(&world)), expect);
}

#[test]
fn what_the_spec_no_longer_allows_is_replaced_create_first() {
    let rows = catalog(WORLD);
    let mut world = inputs(desired(32, 8, Unit::Gpus), &rows);
    let first = plan(&world);
    obey(&mut world, &first, 600);
    let mut wish = desired(32, 8, Unit::Gpus);
    wish.instances.exclude = vec!["gpu_8x".into()];
    respec(&mut world, wish, &rows);
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    assert_eq!(summary(&planned), ["+1 gcp/us-central1/c/h-8/on-demand"]);
    assert!(matches!(planned.report.held[..], [Hold::SuccessorsNotUp { starting: 0, .. }]));
    assert_eq!(planned.report.groups[0].after, Units::whole(8), "the old is on its way out");
    let before: BTreeSet<MachineId> = world.observed.machines.keys().cloned().collect();
    obey(&mut world, &planned, 30);
    let new = |world: &mut Inputs, state: MachineState| {
        let new = world.observed.machines.values_mut().filter(|one| !before.contains(&one.id));
        new.for_each(|one| one.state = state);
    };
    new(&mut world, MachineState::Pending);
    assert!(plan(&world).plan.is_empty(), "the new one is not up yet");
    new(&mut world, MachineState::Running);
    assert_eq!(summary(&plan(&world)), ["-1 lambda/us-tx-1/regional/gpu_8x/on-demand"]);
}

#[test]
fn premises_break_one_by_one() {
    let rows = catalog(WORLD);
    let world = inputs(desired(32, 8, Unit::Gpus), &rows);
    let saved = plan(&world).plan;
    assert_eq!(stale(&saved, &world, world.now), None);
    let broken = |change: &dyn Fn(&mut Inputs)| {
        let mut later = world.clone();
        change(&mut later);
        stale(&saved, &later, later.now).map(|broken| broken.to_string()).unwrap_or_default()
    };
    assert!(broken(&|w| w.desired.digest = digest("spec/1", [b"x".as_slice()])).contains("spec"));
    assert!(broken(&|w| w.recorded.changes += 1).contains("somebody changed the fleet"));
    assert!(broken(&|w| w.now = at(3601)).contains("expired"));
    assert!(broken(&|w| w.recorded.uid = Some("other".into())).contains("another fleet"));
    assert!(
        broken(&|w| w.offerings.iter_mut().for_each(|o| o.price = o.price.map(|p| p * 2)))
            .contains("now costs")
    );
    assert!(broken(&|w| w.offerings.clear()).contains("no longer on offer"));
}

#[test]
fn a_cloud_that_may_choose_is_asked_once_per_region() {
    let flexible = |budget: Option<u64>| {
        move |world: &mut Inputs| {
            world.desired.placement.fulfilment = Fulfilment::Flexible;
            world.desired.budget.hourly = budget.map(|cents| MicroUsd(cents * 10_000));
        }
    };
    let together = [
        "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
        "+2 aws/us-east-1/a/g.8/spot",
        "+1 aws/us-west-2/a/g.8/spot",
    ];
    case(flexible(None), &together);
    // The plan means 75 dollars; if both come from the dearer pool, it is 76.
    case(flexible(Some(7600)), &together);
    case(
        flexible(Some(7599)),
        &[
            "+1 lambda/us-tx-1/regional/gpu_8x/on-demand",
            "+1 aws/us-east-1/a/g.8/spot",
            "+1 aws/us-east-1/b/g.8/spot",
            "+1 aws/us-west-2/a/g.8/spot",
        ],
    );
}

#[test]
fn a_choice_in_doubt_counts_at_its_dearest_and_the_linter_knows_a_bad_one() {
    let rows = catalog(WORLD);
    let mut wish = desired(32, 8, Unit::Gpus);
    wish.placement.fulfilment = Fulfilment::Flexible;
    let mut world = inputs(wish, &rows);
    let mut planned = plan(&world);
    let two = |step: &Step| step.action.count() == 2;
    let which = planned.plan.steps.iter().position(two).expect("a choice");
    let Action::Create(create) = &planned.plan.steps[which].action else { panic!("a create") };
    let create = create.clone();
    assert_eq!(create.price_in(&create.others[0].pool), Some(MicroUsd::dollars(16)));
    fold(&mut world.recorded, &Event::CreateIntended { create: create.clone() }, at(0));
    let cost = plan(&world).report.cost;
    assert_eq!(cost.hourly_before, MicroUsd::dollars(32), "two at the dearer price");

    let mut worse = create;
    worse.others[0].pool = "aws/us-west-2/a/g.8/spot".parse().expect("a pool");
    planned.plan.steps[which].action = Action::Create(worse);
    let world = inputs(world.desired.clone(), &rows);
    let found: Vec<String> = check(&world, &planned).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["step #1 leaves a choice between pools that are not alike"]);
}

#[test]
fn a_day_has_far_less_than_24_first_hours() {
    let catalog = catalog(&[("aws/r1/a/t.1", 1, Some(400), Some(100))]);
    let mut inputs = inputs(desired(4, 0, Unit::Instances), &catalog);
    let expected = |inputs: &Inputs| plan(inputs).report.outlook.expect("spot is planned");
    // A slot that nobody has seen before is taken to have been up for two hours. It lasts an hour with
    // (2.1 / 3.1)^0.7 = 0.761 by its age, 4 / 5 by the rate of a usual pool, and a day with
    // (2.1 / 26.1)^0.7 = 0.171 and 4 / 14.45 = 0.277, since a rate fades: 1 + 6 ln(1 + 23 / 6) = 10.45 hours.
    // Half of each: 0.224.
    let first = expected(&inputs);
    assert_eq!(first.interruptions_per_day_milli, 5983); // -4 ln 0.260
    // All four or none, with a chance of seven in ten.
    let whole = MicroUsd::dollars(4);
    let money = [first.hourly_p10, first.hourly_p50, first.hourly_p90];
    assert_eq!(money, [MicroUsd(0), whole, whole]);
    // A day later they are still there, which is as good as a promise.
    let planned = plan(&inputs);
    obey(&mut inputs, &planned, 24 * 3600);
    let then = expected(&inputs);
    assert!(then.interruptions_per_day_milli < first.interruptions_per_day_milli / 3, "{then:?}");
    assert_eq!([then.hourly_p10, then.hourly_p90], [whole, whole]);
}

/// Two pools alike but for what is believed; a hedged fleet of one.
fn hedged(believe: impl FnOnce(&mut Beliefs)) -> Vec<String> {
    let rows = [
        ("aws/r1/a/t.1", 1, Some(400), None),
        ("aws/r1/b/t.1", 1, Some(400), Some(100)),
        ("aws/r2/a/t.1", 1, Some(400), Some(100)),
    ];
    let mut wish = desired(1, 0, Unit::Instances);
    wish.placement.hedge = Some(Hedge::at(3_000).watched());
    let mut inputs = inputs(wish, &catalog(&rows));
    believe(&mut inputs.recorded.beliefs);
    summary(&plan(&inputs))
}

#[test]
fn a_fall_next_door_and_a_price_that_rose_are_signs() {
    let believed = |pool: &str, belief: PoolBelief| {
        let pool: PoolId = format!("{pool}/spot").parse().expect("a pool");
        hedged(|beliefs| {
            beliefs.insert(pool, PoolBelief { as_of: at(0), ..belief });
        })
    };
    assert_eq!(hedged(|_| {}), ["+1 aws/r1/b/t.1/spot"]);
    // The zone next door took machines back a moment ago. A day later that is forgotten.
    let fell = |hours: i64| {
        let at = at(-3600 * hours);
        PoolBelief { fell: Some(at), ..PoolBelief::default() }
    };
    assert_eq!(believed("aws/r1/a/t.1", fell(0)), ["+1 aws/r2/a/t.1/spot"]);
    assert_eq!(believed("aws/r1/a/t.1", fell(24)), ["+1 aws/r1/b/t.1/spot"]);
    // We used to pay half as much.
    let usual_price = Some(MicroUsd(500_000));
    let dearer = PoolBelief { usual_price, ..PoolBelief::default() };
    assert_eq!(believed("aws/r1/b/t.1", dearer), ["+1 aws/r2/a/t.1/spot"]);
    // Machines take eight minutes there, or as long as everywhere.
    let slow = |boot_seconds| PoolBelief { boot_seconds, ..PoolBelief::default() };
    assert_eq!(believed("aws/r1/b/t.1", slow(Some(480))), ["+1 aws/r2/a/t.1/spot"]);
    assert_eq!(believed("aws/r1/b/t.1", slow(Some(300))), ["+1 aws/r1/b/t.1/spot"]);
    assert_eq!(believed("aws/r2/a/t.1", slow(Some(480))), ["+1 aws/r1/b/t.1/spot"]);
}

/// Two pools, the cheaper of which takes machines back every hour: a fleet that loses little with them stands there.
#[test]
fn whoever_loses_much_work_stands_where_machines_last() {
    let rows =
        [("aws/r1/a/t.1", 1, Some(400), Some(80)), ("aws/r2/a/t.1", 1, Some(400), Some(120))];
    let with = |lost_work_seconds: Option<u32>| {
        let mut wish = desired(1, 0, Unit::Instances);
        wish.placement.hedge = Some(Hedge::at(1_000).watched());
        wish.placement.lost_work_seconds = lost_work_seconds;
        let mut inputs = inputs(wish, &catalog(&rows));
        let frail = PoolBelief {
            as_of: at(0),
            interruptions_ppm: 12_000_000,
            exposure_ppm: 2_000_000,
            watched_ppm: 12_000_000,
            ..PoolBelief::default()
        };
        let pool: PoolId = "aws/r1/a/t.1/spot".parse().expect("a pool");
        inputs.recorded.beliefs.insert(pool, frail);
        summary(&plan(&inputs))
    };
    assert_eq!(with(None), ["+1 aws/r1/a/t.1/spot"]);
    assert_eq!(with(Some(60)), ["+1 aws/r1/a/t.1/spot"]);
    assert_eq!(with(Some(600)), ["+1 aws/r2/a/t.1/spot"]);
}

/// A hedged fleet whose first machine takes ten minutes to pass its check, looked at every minute: the
/// journal teaches that, and the next one comes from elsewhere.
#[test]
fn a_pool_that_boots_slowly_is_chosen_less() {
    let next_after = |boot_minutes: i64| {
        let rows =
            [("aws/r1/b/t.1", 1, Some(400), Some(100)), ("aws/r2/a/t.1", 1, Some(400), Some(100))];
        let mut wish = desired(1, 0, Unit::Instances);
        wish.placement.hedge = Some(Hedge::at(3_000).watched());
        wish.health.probes = vec![Probe::Tcp { port: 22 }];
        let mut inputs = inputs(wish, &catalog(&rows));
        let planned = plan(&inputs);
        assert_eq!(summary(&planned), ["+1 aws/r1/b/t.1/spot"]);
        obey(&mut inputs, &planned, 60);
        for minute in 1..=boot_minutes {
            let probed = match minute == boot_minutes {
                true => Probed::Passed,
                false => Probed::Failed { words: "refused".into() },
            };
            let ids: Vec<MachineId> = inputs.observed.machines.keys().cloned().collect();
            inputs.observed.probed = ids.into_iter().map(|id| (id, probed.clone())).collect();
            let planned = plan(&inputs);
            obey(&mut inputs, &planned, 60);
            let (now, spec) = (inputs.now, inputs.desired.digest);
            let round = Event::RoundStarted {
                spec,
                create: 0,
                destroy: 0,
                hourly_after: MicroUsd(0),
                heard: vec![],
                worth: vec![],
            };
            fold(&mut inputs.recorded, &round, now);
        }
        // The fleet begins anew, with what it learned.
        inputs.recorded.slots.clear();
        inputs.observed.machines.clear();
        let learned: Vec<Option<u32>> =
            inputs.recorded.beliefs.values().map(|belief| belief.boot_seconds).collect();
        // What else was seen of the pool is the same in both cases but for its time.
        for belief in inputs.recorded.beliefs.values_mut() {
            *belief = PoolBelief {
                boot_seconds: belief.boot_seconds,
                as_of: inputs.now,
                ..PoolBelief::default()
            };
        }
        (learned, summary(&plan(&inputs)))
    };
    let (learned, next) = next_after(10);
    assert!(learned[0].is_some_and(|seconds| seconds > 400), "{learned:?}");
    assert_eq!(next, ["+1 aws/r2/a/t.1/spot"]);
    let (learned, next) = next_after(5);
    assert_eq!((learned, next), (vec![None], vec!["+1 aws/r1/b/t.1/spot".to_owned()]));
}

/// A spec that is gone is not a target that somebody lowered: also where some machines are gone already, one
/// in ten is destroyed, at least one. Swarm seed 1939.
#[test]
fn a_fleet_without_a_spec_is_destroyed_within_the_usual_limit() {
    let pools: &[Row<'_>] = &[("aws/us-east-1/a/d.4", 0, Some(100_000), Some(30_000))];
    let mut world = inputs(desired(8, 8, Unit::Instances), &catalog(pools));
    let planned = checked(&world);
    obey(&mut world, &planned, 600);
    world.recorded.goal = Some(world.desired.capacity);
    let gone: Vec<MachineId> = world.observed.machines.keys().take(5).cloned().collect();
    for id in gone {
        world.observed.machines.remove(&id);
        let cause = Cause::new(CauseKind::Interrupted, "taken back");
        world.observed.gone.insert(id, Some(cause));
    }
    let fleet = world.desired.fleet.clone();
    world.desired = Desired::without_spec(fleet, [Cloud::Aws]);
    assert_eq!(counts(&checked(&world)), (0, 1));
}
