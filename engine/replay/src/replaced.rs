//! What of a spec a recording does not have, and what stands in its place.
//!
//! A recording knows how many machines a zone would have carried. It knows one type of machine, and no
//! quota, image or discount. A replay that does not say so reads as if it had followed the spec.

use crate::engine::pool;
use crate::trace::Trace;
use fleet_model::{
    Cloud, CloudRule, Desired, Hedge, InstanceRules, Market, Pattern, Strategy, Unit,
};
use std::collections::BTreeSet;
use std::fmt;

/// A part of a spec that a replay does not follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The field, as the spec names it.
    pub field: &'static str,
    /// What the spec asks for.
    pub wanted: String,
    /// What the replay uses in its place.
    pub used: String,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; replayed as {}", self.field, self.wanted, self.used)
    }
}

/// Everything of a spec that these recordings cannot follow. Empty: it is followed to the letter.
pub fn replaced(desired: &Desired, traces: &[Trace]) -> Vec<Replaced> {
    let Desired { capacity, instances, placement, budget, schedule, expires, .. } = desired;
    let mut found = Vec::new();
    let mut add = |field, wanted: String, used: &str| {
        found.push(Replaced { field, wanted, used: used.to_owned() });
    };
    if capacity.unit != Unit::Instances {
        let wanted = format!("{} {}", capacity.target, capacity.unit);
        let machines = capacity.target.0.div_ceil(1000);
        add("capacity.unit", wanted, &format!("{machines} machines of one unit each"));
    }
    if *instances != InstanceRules::default() {
        add("instances", types(instances), "the one type that was recorded");
    }
    if let Some((wanted, used)) = places(&placement.clouds, traces) {
        add("placement.clouds", wanted, &used);
    }
    let ordered = match placement.strategy {
        Strategy::Prioritized | Strategy::CapacityOptimizedPrioritized => true,
        Strategy::CapacityOptimized
        | Strategy::PriceCapacityOptimized
        | Strategy::LowestPrice
        | Strategy::Diversified => false,
    };
    if ordered && !placement.priorities.is_empty() {
        add("placement.priorities", names(&placement.priorities), "no order of types");
    }
    if !placement.weights.is_empty() {
        let weights = format!("{} weights", placement.weights.len());
        add("instances.weights", weights, "one unit for every machine");
    }
    if !placement.commitments.is_empty() {
        let commitments = format!("{} commitments", placement.commitments.len());
        add("placement.commitments", commitments, "nothing that is paid for already");
    }
    let limits = [
        budget.hourly.map(|limit| format!("{limit} per hour")),
        budget.calendar_month.map(|limit| format!("{limit} a month")),
        budget.lifetime.map(|limit| format!("{limit} in all")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        add("budget", limits.join(", "), "no budget");
    }
    if !schedule.is_empty() {
        let used = format!("a target of {} throughout", capacity.target.0.div_ceil(1000));
        add("schedule", format!("{} entries", schedule.len()), &used);
    }
    if let Some(end) = expires {
        add("expires", end.to_string(), "a fleet without end");
    }
    let every = placement.hedge.map(|hedge| hedge.reconcile_every_seconds);
    let every = every.or(budget.reconcile_every_seconds);
    // Unset, it is an hour as well; then only the assumptions say how often a replay reconciles.
    if let Some(every) = every.filter(|every| *every != Hedge::RECONCILE_EVERY_SECONDS) {
        add("capacity.reconcileEvery", span(every), "a reconcile at every sample");
    }
    found
}

/// A time as specs write it.
fn span(seconds: u32) -> String {
    match seconds {
        s if s % 86_400 == 0 => format!("{}d", s / 86_400),
        s if s % 3600 == 0 => format!("{}h", s / 3600),
        s if s % 60 == 0 => format!("{}m", s / 60),
        s => format!("{s}s"),
    }
}

fn names(patterns: &[Pattern]) -> String {
    patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The types that a spec asks for, in a few words.
fn types(rules: &InstanceRules) -> String {
    let named = [rules.families.as_slice(), &rules.types, &rules.accelerators.names].concat();
    if named.is_empty() { "its requirements of machines".into() } else { names(&named) }
}

/// Clouds, regions and zones of a spec that no recording has, or `None` if each has some; and the zones
/// that are used.
fn places(rules: &[CloudRule], traces: &[Trace]) -> Option<(String, String)> {
    let everything = rules.iter().all(|rule| rule.regions.is_empty() && rule.zones.is_empty())
        && Cloud::ALL.iter().all(|cloud| rules.iter().any(|rule| rule.cloud == *cloud));
    if everything {
        return None;
    }
    let recorded: BTreeSet<(Cloud, &str, &str)> = traces
        .iter()
        .flat_map(|trace| {
            (0..trace.zones.len()).map(|zone| {
                let cloud = pool(trace, zone, Market::Spot).place.cloud;
                (cloud, trace.regions[zone].as_str(), trace.zones[zone].as_str())
            })
        })
        .collect();
    let any = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    let allows = |rule: &CloudRule, (cloud, region, zone): &(Cloud, &str, &str)| {
        rule.cloud == *cloud && any(&rule.regions, region) && any(&rule.zones, zone)
    };
    let missing: Vec<String> = rules
        .iter()
        .filter(|rule| !recorded.iter().any(|place| allows(rule, place)))
        .map(|rule| {
            let place = [rule.regions.as_slice(), &rule.zones].concat();
            format!("{} {}", rule.cloud, names(&place)).trim_end().to_owned()
        })
        .collect();
    let beyond = recorded.iter().any(|place| !rules.iter().any(|rule| allows(rule, place)));
    if missing.is_empty() && !beyond {
        return None;
    }
    let wanted =
        if missing.is_empty() { "the places of the spec".into() } else { missing.join("; ") };
    let zones: Vec<&str> = recorded.iter().map(|(_, _, zone)| *zone).collect();
    Some((wanted, format!("the zones that were recorded ({})", zones.join(", "))))
}
