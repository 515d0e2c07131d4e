//! Fleets with a price on what is missing, at sizes where outcomes are no longer counted one by one.

use crate::world::*;
use fleet_core::{Planned, check, plan};
use fleet_model::*;

/// Four sizes in each of some zones. A GPU costs a dollar on demand, and about a third of that as spot.
fn market(zones: &[&str]) -> Catalog {
    let mut rows = Vec::new();
    for (nth, zone) in zones.iter().enumerate() {
        for (step, gpus) in [1u32, 2, 4, 8].into_iter().enumerate() {
            let spot = u64::from(gpus) * (28 + (nth * 3 + step * 2) as u64 % 9);
            rows.push((format!("aws/r1/{zone}/t{gpus}.{gpus}"), gpus, u64::from(gpus) * 100, spot));
        }
    }
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(id, gpus, od, spot)| (id.as_str(), *gpus, Some(*od), Some(*spot)))
        .collect();
    catalog(&rows)
}

/// What a target costs for each GPU, and what is launched.
fn bought(
    target: u64,
    market: &Catalog,
    wish: impl FnOnce(&mut Desired),
) -> (f64, Inputs, Planned) {
    let mut desired = desired(target, 0, Unit::Gpus);
    desired.placement.hedge = Some(Hedge::at(30_000));
    wish(&mut desired);
    let inputs = inputs(desired, market);
    let planned = plan(&inputs);
    assert_eq!(check(&inputs, &planned), []);
    let dollars = planned.report.cost.hourly_after.0 as f64 / 1e6;
    (dollars / target as f64, inputs, planned)
}

fn short(planned: &Planned) -> u64 {
    planned.report.unplaced.iter().map(|shortfall| shortfall.missing.0).sum()
}

/// At 2,000 vCPUs of one region everything was bought twice: once on demand, and once more as spot.
#[test]
fn a_larger_fleet_does_not_pay_more_for_each_unit() {
    let zones = ["a", "b", "c", "d", "e", "f"];
    for zones in [&zones[..1], &zones[..3], &zones[..]] {
        let market = market(zones);
        let mut before: Option<f64> = None;
        // In four pools nothing larger is counted, and what is not counted is far from normal.
        let most = if zones.len() > 1 { 40_000 } else { 4_000 };
        let targets = [400, 500, 520, 1_000, 2_000, 4_000, 10_000, 40_000];
        for target in targets.into_iter().filter(|target| *target <= most) {
            let (each, _, planned) = bought(target, &market, |_| {});
            assert_eq!(short(&planned), 0, "{target} in {zones:?}");
            // Nobody pays more for the risk of spot than for none of it.
            assert!(each <= 1.01, "{target} in {zones:?}: ${each} each");
            assert!(
                before.is_none_or(|before| each < 1.15 * before),
                "{target} in {zones:?}: ${each} after {before:?}"
            );
            before = Some(each);
        }
    }
}

/// Where the money is not enough for spares, it is spent on the target.
#[test]
fn the_target_comes_before_spares() {
    let market = market(&["a", "b", "c"]);
    for target in [300, 3_000] {
        let (all_spot, _, _) = bought(target, &market, |wish| wish.placement.hedge = None);
        for more in [1.02, 1.1, 1.3] {
            let limit = MicroUsd((all_spot * more * target as f64 * 1e6) as u64);
            let (_, _, planned) = bought(target, &market, |wish| wish.budget.hourly = Some(limit));
            assert_eq!(short(&planned), 0, "{target} for {more} times the least");
        }
        let (_, _, planned) = bought(target, &market, |wish| {
            wish.budget.hourly = Some(MicroUsd((all_spot * 0.5 * target as f64 * 1e6) as u64));
        });
        // Half of the money is for half of it, and a little more than half of the cheapest.
        let missing = short(&planned);
        assert!(missing > 0 && missing < target * 1000 * 55 / 100, "{missing} of {target} missing");
    }
}

/// A look a few minutes after a launch ended a tenth of it.
#[test]
fn what_was_launched_stands() {
    let market = market(&["a", "b", "c", "d", "e", "f"]);
    for target in [100, 2_000, 20_000] {
        let (_, mut inputs, planned) = bought(target, &market, |_| {});
        obey(&mut inputs, &planned, 12 * 60);
        let next = plan(&inputs);
        assert_eq!(summary(&next), Vec::<String>::new(), "{target}");
        // The target of somebody who wants less is heeded at once all the same.
        inputs.recorded.goal = Some(inputs.desired.capacity);
        let half = desired(target / 2, 0, Unit::Gpus).capacity;
        inputs.desired.capacity = half;
        assert!(summary(&plan(&inputs)).iter().any(|line| line.starts_with('-')), "{target}");
    }
}
