//! What is asked for: fleets drawn by chance, and edits of them.

use crate::chance::Chance;
use fleet_model::{
    Bounds, Budget, CapacityGoal, Cloud, CloudRule, Desired, Fallback, Fulfilment, Health, Hedge,
    InstanceRules, Interruption, MicroUsd, OnNotice, OnRebalance, Part, PlacementRules, Probe,
    Share, Spread, Strategy, Template, Together, Unit, Units, UpdateStrategy, Updates, Weight,
    WeightOf, Window, digest,
};
use std::collections::BTreeMap;

/// The name of every fleet here: a world holds one.
pub(crate) const FLEET: &str = "herd";

/// Draws a fleet.
pub(crate) fn draw(chance: &mut Chance) -> Desired {
    let mut clouds = Cloud::ALL.to_vec();
    let count = chance.between(1, 3) as usize;
    while clouds.len() > count {
        let out = chance.below(clouds.len() as u64) as usize;
        clouds.remove(out);
    }
    let gpus = chance.percent(15);
    let unit = match chance.below(5) {
        0 if gpus => Unit::Gpus,
        1 => Unit::Vcpus,
        _ => Unit::Instances,
    };
    let target = match unit {
        Unit::Gpus => chance.between(1, 5) * 8,
        Unit::Vcpus => chance.between(4, 40),
        Unit::Instances | Unit::MemoryGib | Unit::Figure(_) | Unit::Work => chance.between(1, 14),
    };
    // Lambda sells no spot: with nothing else to buy from, all of it is base.
    let base = if clouds == [Cloud::Lambda] { target } else { chance.between(0, target) };
    let vcpus = if gpus {
        Bounds { min: Some(90), max: None }
    } else {
        Bounds { min: None, max: Some(if chance.percent(30) { 4 } else { 8 }) }
    };
    let percent = |share: f64| Share::from_percent(share);
    let several = clouds.len() > 1;
    let spread = Spread {
        max_share_per_pool: chance.percent(25).then(|| percent(50.0)).flatten(),
        max_share_per_provider: (several && chance.percent(15)).then(|| percent(70.0)).flatten(),
        ..Spread::default()
    };
    let weights = match unit {
        Unit::Vcpus if chance.percent(30) => {
            vec![Weight {
                types: "m6i.xlarge".into(),
                units: Units::whole(6),
                of: WeightOf::Machine,
            }]
        }
        _ => Vec::new(),
    };
    let mut desired = Desired {
        fleet: FLEET.into(),
        labels: BTreeMap::new(),
        capacity: goal(unit, target, base),
        instances: InstanceRules { vcpus, ..InstanceRules::default() },
        placement: PlacementRules {
            strategy: chance.pick(&Strategy::ALL).copied().unwrap_or(Strategy::LowestPrice),
            clouds: clouds.into_iter().map(rule).collect(),
            spread,
            priorities: Vec::new(),
            weights,
            max_spot_price: None,
            fulfilment: Fulfilment::ALL[usize::from(chance.percent(25))],
            together: None,
            hedge: None,
            lost_work_seconds: None,
            ignore_signals: fleet_model::SignalSet::default(),
            commitments: Vec::new(),
            traffic: fleet_model::Traffic::default(),
        },
        budget: Budget::default(),
        templates: BTreeMap::new(),
        max_destroy: Share::HALF,
        schedule: Vec::new(),
        expires: None,
        health: Health::default(),
        updates: Updates::default(),
        interruption: Interruption::default(),
        fallback: None,
        rebalance: None,
        approvals: Vec::new(),
        digest: digest("spec/1", []),
    };
    if chance.percent(25) {
        // Enough for most of it, so that it is reached now and then.
        let each = if gpus { 30_000_000 } else { 190_000 };
        let hourly = chance.between(1, target.max(1)) * each;
        desired.budget.hourly = Some(MicroUsd(hourly));
    }
    sealed(desired)
}

/// Now and then money for a part of it only: then every machine that costs nothing shows.
pub(crate) fn tighten(later: &mut Chance, desired: Desired) -> Desired {
    let mut desired = desired;
    if later.percent(20) {
        let gpus = desired.instances.vcpus.min.is_some();
        let each = if gpus { 10_000_000 } else { 60_000 };
        let machines = if gpus { 2 } else { desired.capacity.target.0 / 1000 };
        desired.budget.hourly = Some(MicroUsd(machines.max(1) * each));
        return sealed(desired);
    }
    desired
}

pub(crate) fn goal(unit: Unit, target: u64, base: u64) -> CapacityGoal {
    let (target, on_demand) = (Units::whole(target), Units::whole(base));
    CapacityGoal { unit, target, on_demand, spot: target - on_demand }
}

/// A cloud, anywhere in it.
pub(crate) fn rule(cloud: Cloud) -> CloudRule {
    CloudRule { cloud, regions: Vec::new(), zones: Vec::new(), accounts: Vec::new() }
}

/// The same fleet as somebody might edit it.
pub(crate) fn edit(chance: &mut Chance, from: &Desired) -> Desired {
    let mut to = from.clone();
    let whole = from.capacity.target.0 / 1000;
    let base = from.capacity.on_demand.0 / 1000;
    let all_base = from.placement.clouds.iter().all(|rule| rule.cloud == Cloud::Lambda);
    match chance.below(5) {
        // Another template: every machine is to be replaced.
        0 => {
            let image = format!("image-{}", chance.below(100));
            let of = |rule: &CloudRule| {
                (rule.cloud, Template { image: Some(image.clone()), ..Template::default() })
            };
            to.templates = to.placement.clouds.iter().map(of).collect();
        }
        // Another mix.
        1 if !all_base => {
            to.capacity = goal(from.capacity.unit, whole, chance.between(0, whole));
        }
        // A region less.
        2 if !all_base => {
            for rule in to.placement.clouds.iter_mut().filter(|rule| rule.cloud == Cloud::Aws) {
                rule.regions = vec!["us-west-2".into()];
            }
        }
        // More or less of it.
        _ => {
            let step = if from.capacity.unit == Unit::Gpus { 8 } else { 1 };
            let target = (chance.between(0, whole * 3 / 2 + 2) / step * step).min(20.max(whole));
            let base = if all_base { target } else { base.min(target) };
            to.capacity = goal(from.capacity.unit, target, base);
        }
    }
    if !from.labels.is_empty() {
        return labelled(to);
    }
    sealed(to)
}

/// The same, with spares and on-demand in the place of spot as far as that pays.
pub(crate) fn hedged(chance: &mut Chance, mut desired: Desired) -> Desired {
    let penalty = chance.pick(&[3_000, 10_000, 30_000]).copied().unwrap_or(10_000);
    let every = chance.pick(&[300, 3600]).copied().unwrap_or(3600);
    desired.placement.hedge = Some(Hedge { reconcile_every_seconds: every, ..Hedge::at(penalty) });
    desired.placement.lost_work_seconds = chance.percent(30).then_some(1200);
    sealed(desired)
}

/// The same fleet with labels, which change with its size. Without a draw of its own: worlds of before
/// there were labels stay as they are.
pub(crate) fn labelled(mut desired: Desired) -> Desired {
    let CapacityGoal { target, on_demand, .. } = desired.capacity;
    desired.labels = BTreeMap::from([("size".to_owned(), target.to_string())]);
    if on_demand.0 / 1000 % 2 == 1 {
        desired.labels.insert("odd".to_owned(), "yes".to_owned());
    }
    sealed(desired)
}

/// With the fingerprint that goes with it.
pub(crate) fn sealed(mut desired: Desired) -> Desired {
    desired.digest = digest("spec/1", []);
    let text = format!("{desired:?}");
    desired.digest = digest("spec/1", [text.as_bytes()]);
    desired
}

/// How some fleets are kept right: their checks, their rollouts, their answer to notices.
pub(crate) fn upkeep(chance: &mut Chance, mut desired: Desired) -> Desired {
    if chance.percent(40) {
        let part = |chance: &mut Chance, least: u64| match chance.percent(50) {
            true => Part::Machines(chance.between(least, 3) as u32),
            false => Part::Share(Share::TENTH),
        };
        let updates = &mut desired.updates;
        updates.canary = chance.below(3) as u32;
        updates.max_surge = part(chance, 1);
        updates.max_unavailable = Part::Machines(chance.below(3) as u32);
        updates.pause_seconds = [0, 0, 120][chance.below(3) as usize];
        updates.health_gate = chance.percent(90);
        if chance.percent(10) {
            updates.strategy = UpdateStrategy::Recreate;
        }
        if chance.percent(30) {
            let cron = "0 */2 * * *".parse().unwrap_or_else(|_| panic!("a cron time"));
            updates.windows = vec![Window { cron, time_zone: "UTC".into(), lasts_seconds: 3600 }];
        }
    }
    if chance.percent(30) {
        desired.health.probes = vec![Probe::Tcp { port: 22 }];
        desired.health.unhealthy_after_seconds = 120;
    }
    if chance.percent(20) {
        let notices = [OnNotice::Replace, OnNotice::Drain, OnNotice::Ignore];
        let notice = chance.pick(&notices).copied().unwrap_or_default();
        desired.interruption.on_notice = notice;
        desired.interruption.drain = vec!["drain".into()];
        desired.interruption.grace_seconds = 30;
        if chance.percent(50) {
            desired.interruption.on_rebalance = OnRebalance::Replace;
        }
    }
    if chance.percent(25) {
        let unfilled_seconds = [60, 900][chance.below(2) as usize];
        let losses = Some(chance.between(1, 3) as u32);
        desired.fallback = Some(Fallback { losses, unfilled_seconds, ..Fallback::default() });
    }
    sealed(desired)
}

/// Some fleets stand together.
pub(crate) fn stand_together(chance: &mut Chance, mut desired: Desired) -> Desired {
    if desired.placement.spread.max_share_per_provider.is_none() && chance.percent(12) {
        desired.placement.together = chance.pick(&Together::ALL).copied();
    }
    sealed(desired)
}
