//! Spread limits that can never be met, as far as the spec alone tells.
//!
//! The catalog knows better how many zones and types there are; the caller asks it later. Here
//! only what is written out counts: one wildcard or `any`, and the number is not known.

use crate::reader::{Field, Reader};
use fleet_model::{
    CapacityGoal, Cloud, CloudRule, InstanceRules, Pattern, PlacementRules, Share, Unit,
};
use std::collections::BTreeSet;

pub(super) fn check(
    reader: &mut Reader<'_>,
    spread: &Field<'_>,
    rules: &PlacementRules,
    instances: &InstanceRules,
    capacity: &CapacityGoal,
) {
    let field = |name: &str| spread.entries().find(|(key, _)| *key == name).map(|(_, inner)| inner);
    let zones = sum(rules, zones);
    let limits = rules.spread;
    if let (Some(zones), Some(field)) = (zones, field("minZones"))
        && u64::from(limits.min_zones) > zones
    {
        let message = format!("minZones is {}, and only {zones} are listed", limits.min_zones);
        let hint = format!("lower minZones to {zones}, or allow more zones or regions");
        reader.error(&field, message, Some(hint));
    }
    if capacity.target.is_zero() {
        return;
    }
    let machines = (capacity.unit == Unit::Instances && rules.weights.is_empty())
        .then_some(capacity.target.0 / 1000);
    if let (Some(machines), Some(field)) = (machines, field("minZones"))
        && u64::from(limits.min_zones) > machines
    {
        let message = format!("{machines} machines cannot stand in {} zones", limits.min_zones);
        let hint = format!("lower minZones to {machines}, or raise the target");
        reader.error(&field, message, Some(hint));
    }
    let clouds: BTreeSet<Cloud> = rules.clouds.iter().map(|rule| rule.cloud).collect();
    let checks = [
        ("maxSharePerProvider", limits.max_share_per_provider, Some(clouds.len() as u64), "clouds"),
        ("maxSharePerRegion", limits.max_share_per_region, sum(rules, regions), "regions"),
        ("maxSharePerZone", limits.max_share_per_zone, zones, "zones"),
        ("maxSharePerPool", limits.max_share_per_pool, pools(zones, instances, capacity), "pools"),
    ];
    for (name, share, places, what) in checks {
        let (Some(share), Some(places), Some(field)) = (share, places, field(name)) else {
            continue;
        };
        let most = u64::from(share.ppm()).saturating_mul(places);
        if places > 0 && most < u64::from(Share::ALL.ppm()) {
            let reached = Share::from_ppm(most as u32).unwrap_or(Share::ALL);
            let message = match places {
                1 => format!("1 {} holds {reached} of the target at most", &what[..what.len() - 1]),
                _ => {
                    format!("{places} {what} at {share} each hold {reached} of the target at most")
                }
            };
            let least = u64::from(Share::ALL.ppm()).div_ceil(places).div_ceil(10_000);
            let hint = format!("raise {name} to {least}%, or allow more {what}");
            reader.error(&field, message, Some(hint));
        }
    }
}

/// A count over all clouds; `None` if any of them is open.
fn sum(rules: &PlacementRules, count: fn(&CloudRule) -> Option<u64>) -> Option<u64> {
    // What two accounts have in one region are two regions to us.
    let accounts = |rule: &CloudRule| rule.accounts.len().max(1) as u64;
    rules.clouds.iter().map(|rule| Some(count(rule)?.saturating_mul(accounts(rule)))).sum()
}

/// How many names a list holds; `None` with a wildcard, or if it is open.
fn literal(patterns: &[Pattern]) -> Option<u64> {
    let wild = patterns.iter().any(|pattern| pattern.as_str().contains(['*', '?']));
    (!patterns.is_empty() && !wild).then_some(patterns.len() as u64)
}

fn regions(rule: &CloudRule) -> Option<u64> {
    literal(&rule.regions)
}

/// Zones at most. On AWS and GCP a zone's name says its region; elsewhere each region may have it.
fn zones(rule: &CloudRule) -> Option<u64> {
    match rule.cloud {
        Cloud::Aws | Cloud::Gcp => literal(&rule.zones),
        Cloud::Azure => Some(literal(&rule.zones)?.saturating_mul(literal(&rule.regions)?)),
        Cloud::Lambda => literal(&rule.regions),
    }
}

/// Pools at most: zones × types × the markets that are used.
fn pools(zones: Option<u64>, instances: &InstanceRules, capacity: &CapacityGoal) -> Option<u64> {
    if !instances.families.is_empty() {
        return None;
    }
    let markets = [capacity.on_demand, capacity.spot];
    let markets = markets.iter().filter(|units| !units.is_zero()).count() as u64;
    Some(zones?.saturating_mul(literal(&instances.types)?).saturating_mul(markets.max(1)))
}
