//! What of a spec a recording does not have, and what stands in its place.
//!
//! A recording knows how many machines a zone would have carried. It knows one type of machine, and no
//! quota, image or discount. A replay that does not say so reads as if it had followed the spec.

use crate::engine::pool;
use crate::trace::Trace;
use fleet_model::{Cloud, CloudRule, Desired, InstanceRules, Market, Pattern, Strategy, Unit};
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
    let Desired { capacity, instances, placement, budget, .. } = desired;
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
    if let Some(limit) = budget.hourly {
        add("budget", format!("{limit} per hour"), "no budget");
    }
    found
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
