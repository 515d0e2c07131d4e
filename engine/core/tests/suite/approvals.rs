//! Machines that a policy wants an approval for: none is launched without it, and none that stands goes.

use crate::world::{at, catalog, checked, desired, inputs, obey, respec};
use fleet_core::{afresh, eligible, plan, rejection};
use fleet_model::*;

fn shelf() -> Catalog {
    catalog(&[
        ("aws/us-east-1/use1-az1/m5.large", 0, Some(10), Some(4)),
        ("aws/us-east-1/use1-az1/p5.48xlarge", 8, Some(9), Some(3)),
        ("gcp/us-central1/us-central1-a/p5-like", 8, Some(9), Some(3)),
    ])
}

fn wish(target: u64) -> Desired {
    let families = ["m5", "p5"].map(Pattern::from).to_vec();
    let instances = InstanceRules { families, ..InstanceRules::default() };
    Desired { instances, ..desired(target, target, Unit::Instances) }
}

fn unapproved(machines: &[&str], clouds: &[Cloud]) -> Approval {
    Approval {
        policy: "org".into(),
        machines: machines.iter().map(|one| Pattern::from(*one)).collect(),
        clouds: clouds.iter().copied().collect(),
        label: "approved-by".into(),
        value: None,
        message: None,
    }
}

fn types(desired: &Desired) -> Vec<String> {
    let found = eligible(desired, &shelf()).offerings;
    found.iter().map(|offering| offering.pool.instance_type.to_string()).collect()
}

#[test]
fn what_needs_an_approval_is_not_on_offer() {
    let with = |approval: Approval| Desired { approvals: vec![approval], ..wish(4) };
    assert_eq!(types(&wish(4)), ["m5.large", "p5.48xlarge", "p5-like"]);
    assert_eq!(types(&with(unapproved(&["p5"], &[]))), ["m5.large"]);
    assert_eq!(types(&with(unapproved(&["p5.48*"], &[]))), ["m5.large", "p5-like"]);
    assert_eq!(types(&with(unapproved(&["p5"], &[Cloud::Gcp]))), ["m5.large", "p5.48xlarge"]);
    assert_eq!(types(&with(unapproved(&[], &[Cloud::Aws]))), ["p5-like"]);
    assert!(types(&with(unapproved(&[], &[]))).is_empty());
}

#[test]
fn what_stands_stays_and_what_else_is_allowed_is_launched() {
    let shelf = shelf();
    let mut world = inputs(wish(2), &shelf);
    let first = plan(&world);
    obey(&mut world, &first, 600);
    let held = plan(&world).report.pools;
    assert!(held.iter().any(|line| line.pool.instance_type.as_str().starts_with("p5")), "{held:?}");
    let more = Desired { approvals: vec![unapproved(&["p5"], &[])], ..wish(4) };
    for pool in held.iter().map(|line| &line.pool) {
        let kind = shelf.kinds.iter().find(|kind| kind.name == pool.instance_type).expect("it");
        assert_eq!(rejection(&more, &pool.place, kind), None);
    }
    respec(&mut world, more, &shelf);
    let planned = checked(&world);
    let lines = &planned.report.pools;
    for line in lines {
        let p5 = line.pool.instance_type.as_str().starts_with("p5");
        assert_eq!((line.destroy, p5 && line.create > 0), (0, false), "{line:?}");
    }
    assert_eq!(lines.iter().map(|line| line.create).sum::<u32>(), 2);
    let told = |notice: &Notice| matches!(notice, Notice::NeedsApproval { pools: 2, .. });
    assert!(planned.report.notices.iter().any(told), "{:?}", planned.report.notices);
}

/// What a spec asks for does not depend on what stands.
#[test]
fn bought_afresh_a_fleet_is_whole() {
    let shelf = shelf();
    let mut world = inputs(wish(4), &shelf);
    let first = plan(&world);
    obey(&mut world, &first, 600);
    world.recorded.freeze = Some(Freeze { reason: "a holiday".into(), since: at(0), until: None });
    assert!(plan(&world).plan.is_empty());
    let anew = plan(&afresh(&world));
    assert_eq!(anew.report.cost.hourly_after, first.report.cost.hourly_after);
    assert_eq!(anew.report.pools.iter().map(|line| line.create).sum::<u32>(), 4);
    assert!(anew.report.held.is_empty());
}
