//! Small worlds with limits against a solver that somebody else wrote: what the optimiser finds is
//! the least, its bound says so, and where it finds no cover there is none.

use crate::laws::cases;
use crate::optimum::{pools, world};
use fleet_core::placement;
use fleet_model::*;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolutionStatus};
use proptest::prelude::*;
use std::time::Duration;

enum Solved {
    At(f64),
    Never,
    NotInTime,
}

/// The least cost in cents of covering a target, with at most so many units per pool and per zone.
fn solved(pools: &[(u32, u64)], target: u64, per_pool: u64, per_zone: u64) -> Solved {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let counts: Vec<_> = pools
        .iter()
        .map(|(gpus, cents)| {
            let most = (per_pool / u64::from(*gpus)) as i32;
            (problem.add_integer_var(*cents as f64, (0, most)), f64::from(*gpus))
        })
        .collect();
    problem.add_constraint(&counts, ComparisonOp::Ge, target as f64);
    for zone in 0..3 {
        let here: Vec<_> = counts.iter().skip(zone).step_by(3).copied().collect();
        problem.add_constraint(&here, ComparisonOp::Le, per_zone as f64);
    }
    // A rare world keeps it busy for minutes, and proves no more than the others.
    problem.set_time_limit(Duration::from_secs(2));
    match problem.solve() {
        Ok(outcome) => match outcome.solution() {
            Some(best) if best.status() == SolutionStatus::Optimal => Solved::At(best.objective()),
            _ => Solved::NotInTime,
        },
        Err(_) => Solved::Never,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_leave_nothing_cheaper(
        pools in pools(6..16),
        target in 20u64..120,
        pool_share in 10u32..60,
        zone_share in 34u32..80,
    ) {
        let mut inputs = world(&pools, target, fleet_model::Strategy::LowestPrice);
        let of = |percent: u32| Share::from_percent(percent.into()).expect("a share");
        let spread = &mut inputs.desired.placement.spread;
        spread.max_share_per_pool = Some(of(pool_share));
        spread.max_share_per_zone = Some(of(zone_share));
        let units = |percent| of(percent).floor_of(target * 1000) / 1000;
        let placed = placement(&inputs, true);
        let best = match solved(&pools, target, units(pool_share), units(zone_share)) {
            Solved::At(best) => best,
            Solved::Never => {
                prop_assert!(!placed.short.is_zero(), "there is no cover, and one was found");
                return Ok(());
            }
            Solved::NotInTime => return Ok(()),
        };
        prop_assert!(placed.short.is_zero(), "{:?} short, and there is a cover", placed.short);
        let found = placed.hourly.0 as f64 / 10_000.0;
        prop_assert!((found - best).abs() < 0.01, "{found} is not the least, {best}");
        let proof = placed.certificates[1].expect("a proof");
        prop_assert!(proof.bound <= proof.cost && proof.gap() < 1e-9, "{proof:?}");
    }
}
