//! Laws: what holds for every world and every wish.

use crate::world::*;
use fleet_core::{check, plan};
use fleet_model::*;
use proptest::prelude::*;
use proptest::strategy::Strategy;

/// Some pools over four zones, each with two sizes.
pub(crate) fn worlds() -> impl Strategy<Value = Catalog> {
    let price = || prop::option::weighted(0.9, 50u64..5000);
    prop::collection::vec((price(), price(), 0u32..3), 8).prop_map(|rows| {
        let places = ["aws/r1/a", "aws/r1/b", "gcp/r2/c", "azure/r3/regional"];
        let named: Vec<(String, u32, Option<u64>, Option<u64>)> = rows
            .into_iter()
            .enumerate()
            .map(|(at, (on_demand, spot, size))| {
                let gpus = [1, 4, 8][size as usize];
                // One cloud's type of a name has one size everywhere.
                let name = format!("{}/t{gpus}.{gpus}", places[at % 4]);
                (name, gpus, on_demand, spot)
            })
            .collect();
        let rows: Vec<Row<'_>> =
            named.iter().map(|(name, gpus, od, spot)| (name.as_str(), *gpus, *od, *spot)).collect();
        catalog(&rows)
    })
}

/// Up to two commitments, for machines that may or may not be sold.
fn commitments() -> impl Strategy<Value = Vec<Commitment>> {
    let place =
        prop::sample::select(&[(Cloud::Aws, "r1"), (Cloud::Gcp, "r2"), (Cloud::Azure, "r3")][..]);
    let kind = prop::sample::select(&["t1.1", "t4.4", "t8.8"][..]);
    let one = (place, kind, 1u32..12).prop_map(|((cloud, region), kind, count)| Commitment {
        cloud,
        region: region.into(),
        instance_type: kind.into(),
        count,
        until: None,
        hourly: None,
    });
    prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(one, 1..3)]
}

pub(crate) fn wishes() -> impl Strategy<Value = Desired> {
    let share = || prop::option::of((20u32..=100).prop_map(|p| Share::from_percent(p.into())));
    (
        (0u64..80, 0u64..=100, prop::sample::select(&[Unit::Gpus, Unit::Instances][..])),
        (share(), share(), share(), share(), 0u32..4),
        prop::option::of(1u64..2000),
        prop::sample::select(&fleet_model::Strategy::ALL[..]),
        prop::sample::select(&Fulfilment::ALL[..]),
        prop::option::weighted(0.3, prop::sample::select(&[3_000u32, 10_000, 30_000][..])),
        commitments(),
    )
        .prop_map(
            |((target, base, unit), shares, budget, strategy, fulfilment, penalty, paid)| {
                let mut wish = desired(target, target * base / 100, unit);
                let (pool, zone, region, provider, min_zones) = shares;
                wish.placement.spread = Spread {
                    min_zones,
                    max_share_per_pool: pool.flatten(),
                    max_share_per_zone: zone.flatten(),
                    max_share_per_region: region.flatten(),
                    max_share_per_provider: provider.flatten(),
                };
                wish.placement.strategy = strategy;
                wish.placement.fulfilment = fulfilment;
                wish.budget.hourly = budget.map(MicroUsd::dollars);
                let hedge = Hedge::at;
                wish.placement.hedge = penalty.map(hedge);
                wish.placement.commitments = paid;
                wish
            },
        )
}

/// `PROPTEST_CASES` asks for more.
pub(crate) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn same_inputs_same_plan(world in worlds(), wish in wishes()) {
        let inputs = inputs(wish, &world);
        prop_assert_eq!(plan(&inputs), plan(&inputs.clone()));
    }

    #[test]
    fn every_plan_passes_the_linter_and_keeps_the_limits(world in worlds(), wish in wishes()) {
        let inputs = inputs(wish.clone(), &world);
        let planned = plan(&inputs);
        prop_assert_eq!(check(&inputs, &planned), vec![], "{:?}", summary(&planned));
        if let Some(limit) = wish.budget.hourly {
            prop_assert!(planned.report.cost.hourly_after <= limit);
        }
        let target = wish.capacity.target.0;
        if let Some(share) = wish.placement.spread.max_share_per_pool {
            for line in &planned.report.pools {
                let held = line.weight.0 * u64::from(line.keep + line.create);
                prop_assert!(held <= share.floor_of(target), "{line:?}");
            }
        }
    }

    #[test]
    fn apply_then_plan_is_empty(world in worlds(), wish in wishes()) {
        // A cloud that chose cheaper pools than the plan meant leaves money for more; and a hedge
        // changes its mind as it learns which pools keep their machines.
        let at_once = wish.placement.fulfilment == Fulfilment::Exact && wish.placement.hedge.is_none();
        let rounds = if at_once { 1 } else { 40 };
        let mut inputs = inputs(wish, &world);
        let mut seen = Vec::new();
        for _ in 0..=rounds {
            let next = plan(&inputs);
            prop_assert_eq!(check(&inputs, &next), vec![], "{:?} then {:?}", seen, summary(&next));
            seen.push(summary(&next));
            if next.plan.is_empty() { break; }
            obey(&mut inputs, &next, 600);
        }
        prop_assert!(seen.last().is_some_and(Vec::is_empty), "still moving: {seen:?}");
    }

    #[test]
    fn apply_then_plan_at_once_is_empty(world in worlds(), wish in wishes()) {
        let mut wish = wish;
        wish.placement.fulfilment = Fulfilment::Exact;
        let hedged = wish.placement.hedge.is_some();
        let committed = !wish.placement.commitments.is_empty();
        let mut inputs = inputs(wish, &world);
        let first = plan(&inputs);
        obey(&mut inputs, &first, 5);
        let mut next = plan(&inputs);
        // In one world of some thousands, where several limits bind at once, a hedge has second thoughts:
        // it searches step by step, and what stands is where it begins. In one of some 70,000, with a
        // commitment, a least number of zones and a share per pool, what is paid for is found only then.
        let mut thoughts = if hedged { 3 } else { u32::from(committed) };
        while thoughts > 0 && !next.plan.is_empty() {
            // More may be launched then. What was launched a moment ago stands.
            let ends: u32 = next.report.groups.iter().map(|group| group.destroy).sum();
            prop_assert_eq!(ends, 0, "{:?} then {:?}", summary(&first), summary(&next));
            obey(&mut inputs, &next, 5);
            next = plan(&inputs);
            thoughts -= 1;
        }
        prop_assert!(next.plan.is_empty(), "{:?} then {:?}", summary(&first), summary(&next));
    }

    #[test]
    fn any_change_of_mind_settles(world in worlds(), from in wishes(), to in wishes()) {
        let mut inputs = inputs(from, &world);
        let first = plan(&inputs);
        obey(&mut inputs, &first, 600);
        respec(&mut inputs, to, &world);
        let mut seen = Vec::new();
        for _ in 0..100 {
            let planned = plan(&inputs);
            prop_assert_eq!(check(&inputs, &planned), vec![], "{:?}", summary(&planned));
            let ends: usize = planned.report.groups.iter().map(|g| g.destroy as usize).sum();
            let live = inputs.recorded.slots.values()
                .filter(|s| matches!(s.state, SlotState::Filled { ending: false, .. })).count();
            prop_assert!(ends <= (live / 10).max(1), "{ends} of {live} ended at once");
            seen.push(summary(&planned));
            if planned.plan.is_empty() && planned.plan.vacate.is_empty() { break; }
            obey(&mut inputs, &planned, 600);
        }
        let last = &seen[seen.len().saturating_sub(4)..];
        prop_assert!(last.last().is_some_and(Vec::is_empty), "still moving: {last:?}");
    }

    #[test]
    fn a_silent_scope_is_left_alone(world in worlds(), from in wishes(), to in wishes(), which in 0usize..3) {
        let mut inputs = inputs(from, &world);
        let first = plan(&inputs);
        obey(&mut inputs, &first, 600);
        respec(&mut inputs, to, &world);
        let scopes: Vec<Scope> = inputs.observed.complete.iter().cloned().collect();
        let silent = scopes[which % scopes.len()].clone();
        inputs.observed.complete.remove(&silent);
        inputs.observed.machines.retain(|_, m| m.place.scope() != silent);
        let gap = Gap { scope: silent.clone(), cause: GapCause::Unreachable, detail: String::new() };
        inputs.observed.gaps.push(gap);
        let planned = plan(&inputs);
        prop_assert_eq!(check(&inputs, &planned), vec![], "{:?}", summary(&planned));
        prop_assert!(planned.plan.steps.iter().all(|s| s.action.pool().place.scope() != silent));
        for vacated in &planned.plan.vacate {
            let SlotState::Filled { pool, .. } = &inputs.recorded.slots[&vacated.slot].state else {
                panic!("vacated a slot that was not filled");
            };
            prop_assert!(pool.place.scope() != silent, "forgot {vacated:?}");
        }
    }
}
