//! Fleets that are counted in useful work: mixed accelerators are bought by what their work costs.

use crate::world::*;
use fleet_core::{check, eligible, plan, weight};
use fleet_model::{Strategy, *};
use proptest::prelude::*;
use std::sync::Arc;

/// Eight H100, eight A100 and eight T4, at prices in cents. A T4 has no bf16.
fn mixed(h100: u64, a100: u64, t4: u64) -> Catalog {
    let mut rows = catalog(&[
        ("aws/r1/a/a8.8", 8, Some(a100), None),
        ("aws/r1/a/h8.8", 8, Some(h100), None),
        ("aws/r1/a/t8.8", 8, Some(t4), None),
    ]);
    for kind in &mut rows.kinds {
        let chip = match &kind.name.as_str()[..1] {
            "h" => "H100",
            "a" => "A100",
            _ => "T4",
        };
        let mut one = InstanceKind::clone(kind);
        one.resources.accelerators = Some(Accelerators::named(chip, 8000));
        *kind = Arc::new(one);
    }
    rows
}

fn wish(tflops: u64) -> Desired {
    let mut wish = desired(tflops, tflops, Unit::Figure(Figure::Bf16));
    wish.placement.strategy = Strategy::LowestPrice;
    wish
}

/// Machines of each type, and what they cost in cents.
fn bought(wish: Desired, catalog: &Catalog) -> (Vec<String>, u64) {
    let inputs = inputs(wish, catalog);
    let planned = plan(&inputs);
    assert_eq!(check(&inputs, &planned), []);
    (summary(&planned), planned.report.cost.hourly_after.0 / 10_000)
}

#[test]
fn the_cheaper_work_is_bought_not_the_cheaper_machine() {
    // 7,915.2 TFLOPS for $80 are cheaper than 2,496 for $30; for $20 they are not.
    let (steps, _) = bought(wish(15_000), &mixed(8000, 3000, 100));
    assert_eq!(steps, ["+2 aws/r1/a/h8.8/on-demand"]);
    let (steps, _) = bought(wish(15_000), &mixed(8000, 2000, 100));
    assert_eq!(steps, ["+7 aws/r1/a/a8.8/on-demand"]);
    // A little more than one board needs: the smaller machine is cheaper for the rest.
    let (steps, cents) = bought(wish(9_000), &mixed(8000, 3000, 100));
    assert_eq!(steps, ["+1 aws/r1/a/a8.8/on-demand", "+1 aws/r1/a/h8.8/on-demand"]);
    assert_eq!(cents, 11_000);
}

#[test]
fn what_has_no_figure_is_ruled_out_with_a_reason() {
    let unit = Unit::Figure(Figure::Bf16);
    let found = eligible(&wish(100), &mixed(8000, 3000, 1));
    assert_eq!(found.rejected, [(Rejection::NoWeight { unit }, 1)]);
    // In fp16 a T4 counts.
    let mut fp16 = wish(100);
    fp16.capacity.unit = Unit::Figure(Figure::Fp16);
    assert_eq!(bought(fp16, &mixed(8000, 3000, 1)).0, ["+1 aws/r1/a/t8.8/on-demand"]);
}

#[test]
fn a_table_of_the_user_counts_for_what_it_names() {
    let row = |name: &str, units: u64, of| Weight { types: name.into(), units: Units(units), of };
    let mut own = wish(0);
    own.capacity.unit = Unit::Work;
    own.placement.weights = vec![
        row("a8.8", 9_000_500, WeightOf::Machine),
        row("H100", 1_900_000, WeightOf::Accelerator),
        row("A100", 1_000_000, WeightOf::Accelerator),
    ];
    let rows = mixed(1, 1, 1);
    let weights: Vec<Option<Units>> = rows.kinds.iter().map(|kind| weight(&own, kind)).collect();
    assert_eq!(weights, [Some(Units(9_000_500)), Some(Units::whole(15_200)), None]);
    // Accelerators that the table weighs against each other may be mixed, whatever the spec leaves open.
    own.instances = InstanceRules::default();
    own.capacity.on_demand = Units::whole(1);
    assert_eq!(eligible(&own, &rows).offerings.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The target is reached, and no fleet of one accelerator alone would have been cheaper, but for what
    /// the search leaves: it is exact at the end of a fill alone.
    #[test]
    fn a_mixed_fleet_costs_no_more_than_either(
        h100 in 1_000u64..20_000, a100 in 1_000u64..20_000, tflops in 1u64..200_000,
    ) {
        let catalog = mixed(h100, a100, 50);
        let world = inputs(wish(tflops), &catalog);
        let planned = plan(&world);
        prop_assert_eq!(check(&world, &planned), vec![]);
        let report = &planned.report;
        let got: u64 = report.pools.iter().map(|line| line.weight.0 * u64::from(line.create)).sum();
        prop_assert!(got >= tflops * 1000, "{} of {}", got, tflops);
        let alone = |each: u64, cents: u64| (tflops * 1000).div_ceil(each) * cents;
        let best = alone(7_915_200, h100).min(alone(2_496_000, a100));
        let cents = report.cost.hourly_after.0 / 10_000;
        prop_assert!(cents <= best + best / 100, "{} cents, {} alone", cents, best);
    }
}
