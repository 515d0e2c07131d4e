//! What is paid for is used first, costs nothing more, and never more of it than there is.

use crate::laws::{wishes, worlds};
use crate::world::*;
use fleet_core::{check, plan};
use fleet_model::*;
use proptest::prelude::*;

const WORLD: &[Row<'_>] = &[
    ("aws/r1/a/t8.8", 8, Some(4000), Some(1200)),
    ("aws/r1/b/t8.8", 8, Some(4000), Some(1000)),
    ("aws/r2/c/t8.8", 8, Some(3000), Some(900)),
    ("gcp/r3/d/t4.4", 4, Some(1500), Some(500)),
];

fn paid(region: &str, kind: &str, count: u32) -> Commitment {
    let cloud = if region == "r3" { Cloud::Gcp } else { Cloud::Aws };
    let (region, instance_type) = (region.to_owned(), kind.into());
    Commitment { cloud, region, instance_type, count, until: None, hourly: None }
}

/// A fleet of GPUs, planned from nothing.
fn planned(
    target: u64,
    base: u64,
    change: impl FnOnce(&mut Desired),
) -> (Inputs, Vec<String>, u64) {
    let mut wish = desired(target, base, Unit::Gpus);
    wish.placement.strategy = fleet_model::Strategy::LowestPrice;
    change(&mut wish);
    let inputs = inputs(wish, &catalog(WORLD));
    let planned = plan(&inputs);
    assert_eq!(check(&inputs, &planned), []);
    let cents = planned.report.cost.hourly_after.0 / 10_000;
    (inputs, summary(&planned), cents)
}

#[test]
fn paid_machines_come_first_in_the_base_and_in_the_burst() {
    let two = |wish: &mut Desired| wish.placement.commitments = vec![paid("r1", "t8.8", 2)];
    // The base takes them although others are cheaper by the hour; the rest is bought as ever.
    let (_, steps, cents) = planned(32, 24, two);
    let base =
        ["+2 aws/r1/a/t8.8/on-demand", "+1 aws/r2/c/t8.8/on-demand", "+1 aws/r2/c/t8.8/spot"];
    assert_eq!((steps, cents), (base.map(String::from).to_vec(), 3000 + 900));
    // A burst takes them before spot, and pays for the rest.
    let (_, steps, cents) = planned(32, 0, two);
    let burst = ["+2 aws/r1/a/t8.8/on-demand", "+2 aws/r2/c/t8.8/spot"];
    assert_eq!((steps, cents), (burst.map(String::from).to_vec(), 2 * 900));
    // So does a hedged one.
    let (_, steps, _) = planned(16, 0, |wish| {
        two(wish);
        wish.placement.hedge =
            Some(Hedge::for_availability(Share::from_percent(99.0).expect("a share")));
    });
    assert_eq!(steps, ["+2 aws/r1/a/t8.8/on-demand"]);
}

#[test]
fn a_budget_does_not_count_what_is_paid_for() {
    let (_, steps, cents) = planned(24, 24, |wish| {
        wish.placement.commitments = vec![paid("r1", "t8.8", 3)];
        wish.budget.hourly = Some(MicroUsd(1));
    });
    assert_eq!((steps, cents), (vec!["+3 aws/r1/a/t8.8/on-demand".to_owned()], 0));
}

#[test]
fn zones_that_no_commitment_reaches_are_left_something() {
    let (_, steps, _) = planned(24, 24, |wish| {
        wish.placement.commitments = vec![paid("r2", "t8.8", 3)];
        wish.placement.spread.min_zones = 2;
    });
    assert_eq!(steps, ["+2 aws/r2/c/t8.8/on-demand", "+2 gcp/r3/d/t4.4/on-demand"]);
}

#[test]
fn what_ends_is_told_and_its_machines_make_way_for_spot() {
    let until = Some(at(3600));
    let (mut inputs, steps, _) = planned(8, 0, |wish| {
        wish.placement.commitments = vec![Commitment { until, ..paid("r1", "t8.8", 2) }];
    });
    assert_eq!(steps, ["+1 aws/r1/a/t8.8/on-demand"]);
    let first = plan(&inputs);
    let unused =
        |planned: &fleet_core::Planned| {
            planned.report.notices.iter().any(|notice| {
                matches!(notice, Notice::CommitmentUnused { count: 2, unused: 1, .. })
            })
        };
    assert!(unused(&first), "{:?}", first.report.notices);
    obey(&mut inputs, &first, 1800);
    assert!(plan(&inputs).plan.is_empty());
    // Half an hour later it has ended: on demand it would cost three times as much as spot.
    let nothing = plan(&inputs);
    obey(&mut inputs, &nothing, 1800);
    let then = plan(&inputs);
    assert_eq!(summary(&then), ["+1 aws/r2/c/t8.8/spot"]);
    obey(&mut inputs, &then, 600);
    assert_eq!(summary(&plan(&inputs)), ["-1 aws/r1/a/t8.8/on-demand"]);
}

#[test]
fn a_smaller_fleet_keeps_what_is_paid_for() {
    let (mut inputs, _, _) = planned(40, 40, |_| {});
    let first = plan(&inputs);
    obey(&mut inputs, &first, 600);
    // All five stand in r2, where on-demand is cheapest; two of them turn out to be paid for.
    let mut wish = inputs.desired.clone();
    wish.placement.commitments = vec![paid("r2", "t8.8", 2)];
    (wish.capacity.target, wish.capacity.on_demand) = (Units::whole(16), Units::whole(16));
    inputs.limits.allow_destroy = Some(3);
    respec(&mut inputs, wish, &catalog(WORLD));
    let then = plan(&inputs);
    assert_eq!(summary(&then), ["-3 aws/r2/c/t8.8/on-demand"]);
    assert_eq!(then.report.cost.hourly_before, MicroUsd::dollars(3 * 30));
    assert_eq!((then.report.cost.hourly_after, then.report.cost.committed), (MicroUsd(0), 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A commitment never makes a fleet dearer or smaller, and covers no more than it says.
    #[test]
    fn a_commitment_never_costs(world in worlds(), wish in wishes()) {
        let mut wish = wish;
        wish.placement.hedge = None;
        // Where machines differ in size, or limits bind, taking what is paid for first may leave
        // room for other machines than before.
        wish.capacity.unit = Unit::Instances;
        wish.placement.spread = Spread::default();
        wish.placement.strategy = fleet_model::Strategy::LowestPrice;
        let with = plan(&inputs(wish.clone(), &world));
        let most: u32 = wish.placement.commitments.iter().map(|one| one.count).sum();
        prop_assert!(with.report.cost.committed <= most);
        let unpaid = Desired {
            placement: PlacementRules { commitments: Vec::new(), ..wish.placement.clone() },
            ..wish
        };
        let without = plan(&inputs(unpaid, &world));
        let placed = |planned: &fleet_core::Planned| -> Units {
            planned.report.groups.iter().map(|group| group.after).sum()
        };
        prop_assert!(placed(&with) >= placed(&without));
        if placed(&with) == placed(&without) {
            prop_assert!(with.report.cost.hourly_after <= without.report.cost.hourly_after);
        }
    }
}
