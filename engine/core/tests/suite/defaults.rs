//! What a spec that does not say otherwise leaves out, and how a fleet stands together.

use crate::world::{Row, at, catalog, desired, inputs, obey, summary};
use fleet_core::{check, eligible, eligible_beside, plan, rejection};
use fleet_model::*;
use std::sync::Arc;

/// One type of each sort, in one zone.
fn shelf() -> Catalog {
    let mut catalog = catalog(&[
        ("aws/us-east-1/use1-az1/m7i.large", 0, Some(10), Some(4)),
        ("aws/us-east-1/use1-az1/m7g.large", 0, Some(8), Some(3)),
        ("aws/us-east-1/use1-az1/t3.large", 0, Some(6), Some(2)),
        ("aws/us-east-1/use1-az1/c7i.medium", 0, Some(5), Some(2)),
        ("aws/us-east-1/use1-az1/p5.48xlarge", 8, Some(900), Some(300)),
        ("aws/us-gov-west-1/usgw1-az1/m7i.large", 0, Some(9), Some(3)),
    ]);
    for kind in &mut catalog.kinds {
        let kind = Arc::make_mut(kind);
        if kind.name.as_str().starts_with("m7g") {
            kind.resources.architecture = Architecture::Arm64;
        }
        if kind.name.as_str().ends_with("medium") {
            kind.resources.vcpus = Some(1);
        }
    }
    catalog
}

fn wish(unit: Unit) -> Desired {
    Desired { instances: InstanceRules::default(), ..desired(8, 0, unit) }
}

/// What is left, by type and region.
fn left(desired: &Desired, catalog: &Catalog) -> Vec<String> {
    let offerings = eligible(desired, catalog).offerings;
    offerings.iter().map(|o| format!("{} {}", o.kind.name, o.pool.place.region)).collect()
}

#[test]
fn experts_choices_are_the_default() {
    let shelf = shelf();
    assert_eq!(left(&wish(Unit::Vcpus), &shelf), ["m7i.large us-east-1"]);
    let found = eligible(&wish(Unit::Vcpus), &shelf).rejected;
    let rules: Vec<DefaultRule> = found
        .iter()
        .filter_map(|(why, _)| match why {
            Rejection::NotByDefault { rule } => Some(rule.clone()),
            _ => None,
        })
        .collect();
    for rule in [
        DefaultRule::Burstable,
        DefaultRule::Small,
        DefaultRule::Accelerated,
        DefaultRule::RestrictedRegion,
        DefaultRule::Architecture { fleet: Architecture::X86_64 },
    ] {
        assert!(rules.contains(&rule), "{rule:?} is not in {rules:?}");
    }
}

#[test]
fn what_is_named_is_allowed() {
    let shelf = shelf();
    let with = |change: &dyn Fn(&mut Desired)| {
        let mut wish = wish(Unit::Vcpus);
        change(&mut wish);
        left(&wish, &shelf)
    };
    let families = |names: &[&str]| {
        let names: Vec<Pattern> = names.iter().map(|name| Pattern::from(*name)).collect();
        with(&|wish| wish.instances.families = names.clone())
    };
    assert_eq!(families(&["t3"]), ["t3.large us-east-1"]);
    assert_eq!(families(&["p5"]), ["p5.48xlarge us-east-1"]);
    assert_eq!(families(&["m7i", "m7g"]), ["m7g.large us-east-1", "m7i.large us-east-1"]);
    // A pattern that says nothing of the name names nothing.
    assert_eq!(families(&["*.large"]), ["m7i.large us-east-1"]);
    // Neither does a family name its smallest size.
    assert_eq!(families(&["c7i"]), Vec::<String>::new());
    let types = with(&|wish| wish.instances.types = vec!["c7i.medium".into()]);
    assert_eq!(types, ["c7i.medium us-east-1"]);
    let small = with(&|wish| wish.instances.vcpus.min = Some(1));
    assert_eq!(small, ["c7i.medium us-east-1", "m7i.large us-east-1"]);
    let arm = with(&|wish| wish.instances.architectures = [Architecture::Arm64].into());
    assert_eq!(arm, ["m7g.large us-east-1"]);
    let gov = with(&|wish| wish.placement.clouds[0].regions = vec!["us-gov-*".into()]);
    assert_eq!(gov, ["m7i.large us-gov-west-1"]);
}

#[test]
fn a_default_replaces_nothing_that_stands() {
    let shelf = shelf();
    let wish = wish(Unit::Vcpus);
    for (row, kind) in shelf.rows.iter().map(|row| (row, shelf.kind(row))) {
        assert_eq!(rejection(&wish, shelf.place(row), kind), None, "{}", kind.name);
    }
}

#[test]
fn a_fleet_of_gpus_has_one_sort() {
    let rows: &[Row<'_>] = &[
        ("aws/r1/a/p5.48xlarge", 8, Some(900), Some(300)),
        ("aws/r1/a/g6.xlarge", 1, Some(80), Some(30)),
        ("aws/r1/b/g6.xlarge", 1, Some(80), Some(30)),
    ];
    let mut shelf = catalog(rows);
    for kind in &mut shelf.kinds {
        let kind = Arc::make_mut(kind);
        if kind.name.as_str().starts_with("g6")
            && let Some(has) = &mut kind.resources.accelerators
        {
            has.name = Some("L4".into());
        }
    }
    let wish = wish(Unit::Gpus);
    // The one that is sold most widely, until the fleet has another.
    assert_eq!(left(&wish, &shelf), ["g6.xlarge r1", "g6.xlarge r1"]);
    let mut held = inputs(
        Desired {
            instances: InstanceRules { families: vec!["p5".into()], ..Default::default() },
            ..wish.clone()
        },
        &shelf,
    );
    let first = plan(&held);
    obey(&mut held, &first, 60);
    let kinds = eligible_beside(&wish, &shelf, &held.recorded).offerings;
    assert!(kinds.iter().all(|o| o.kind.name.as_str() == "p5.48xlarge"), "{kinds:?}");
    // Names in the spec say which belong together.
    let mut both = wish;
    both.instances.accelerators.names = vec!["H100".into(), "L4".into()];
    assert_eq!(left(&both, &shelf).len(), 3);
}

/// Two zones of one region and one far away; the cheapest is alone.
const WORLD: &[Row<'static>] = &[
    ("aws/r1/a/p5.8", 8, Some(900), Some(300)),
    ("aws/r1/b/p5.8", 8, Some(950), Some(350)),
    ("gcp/r2/c/p5.8", 8, Some(800), Some(200)),
];

fn together(target: u64, together: Together) -> Inputs {
    let mut wish = desired(target, 0, Unit::Instances);
    wish.placement.strategy = Strategy::Diversified;
    wish.placement.together = Some(together);
    inputs(wish, &catalog(WORLD))
}

#[test]
fn a_fleet_stands_together_where_the_spec_says_so() {
    let steps = |how| {
        let inputs = together(4, how);
        let planned = plan(&inputs);
        assert_eq!(check(&inputs, &planned), []);
        summary(&planned)
    };
    assert_eq!(steps(Together::Zone), ["+4 gcp/r2/c/p5.8/spot"]);
    assert_eq!(steps(Together::Region), ["+4 gcp/r2/c/p5.8/spot"]);
    assert_eq!(steps(Together::Provider), ["+4 gcp/r2/c/p5.8/spot"]);
}

#[test]
fn what_grows_grows_where_it_stands() {
    let mut inputs = together(4, Together::Zone);
    let first = plan(&inputs);
    obey(&mut inputs, &first, 60);
    // Another zone is far cheaper now.
    for offering in &mut inputs.offerings {
        if offering.pool.place.region.as_str() == "r1" {
            offering.price = Some(MicroUsd(10_000));
        }
    }
    inputs.desired.capacity.target = Units::whole(6);
    inputs.desired.capacity.spot = Units::whole(6);
    assert_eq!(summary(&plan(&inputs)), ["+2 gcp/r2/c/p5.8/spot"]);
}

#[test]
fn a_remnant_follows_the_others_and_half_a_fleet_stays() {
    // One of four came up before the zone was full: the fleet moves to a zone with room for all.
    let block = |inputs: &mut Inputs| {
        let pool = "gcp/r2/c/p5.8/spot".parse().expect("a pool");
        inputs.recorded.blocks.push(Block {
            scope: BlockScope::Pool { pool },
            until: at(10_000),
            code: "full".into(),
        });
    };
    let mut few = together(1, Together::Zone);
    let first = plan(&few);
    obey(&mut few, &first, 60);
    let grow = |inputs: &mut Inputs, target: u64| {
        inputs.desired.capacity.target = Units::whole(target);
        inputs.desired.capacity.spot = Units::whole(target);
    };
    grow(&mut few, 4);
    block(&mut few);
    let moved = plan(&few);
    assert_eq!(summary(&moved), ["+4 aws/r1/a/p5.8/spot"]);
    obey(&mut few, &moved, 600);
    assert_eq!(summary(&plan(&few)), ["-1 gcp/r2/c/p5.8/spot"]);
    // Two of four stay, and wait for the others to come.
    let mut half = together(2, Together::Zone);
    let first = plan(&half);
    obey(&mut half, &first, 60);
    grow(&mut half, 4);
    block(&mut half);
    assert_eq!(summary(&plan(&half)), Vec::<String>::new());
}
