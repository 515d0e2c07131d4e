//! What is left of the catalog after a spec's filters, and which filter leaves nothing.

use crate::render::explain::by_kind;
use crate::review::family_of;
use crate::sentences::{rejection, relax};
use crate::text::{count, thousands};
use fleet_catalog::similar;
use fleet_core::eligible;
use fleet_model::{Bounds, Catalog, Cloud, Desired, LocalDiskRule, Pattern, Rejection, Unit};
use fleet_spec::{Diagnostic, LoadedFleet};
use std::collections::BTreeSet;

/// A filter: where it stands in the spec, and how to do without it.
type Filter = (&'static str, fn(&mut Desired));

/// Every filter that can leave nothing, in the order in which people should doubt them.
const FILTERS: [Filter; 14] = [
    ("spec.instances.families", |d| {
        d.instances.families.clear();
        d.instances.types.clear();
    }),
    ("spec.instances.accelerators.names", |d| d.instances.accelerators.names.clear()),
    ("spec.instances.accelerators.perInstance", |d| {
        d.instances.accelerators.count_milli = Bounds::default();
    }),
    ("spec.instances.accelerators.memoryGiB", |d| {
        d.instances.accelerators.memory_mib = Bounds::default();
    }),
    ("spec.instances.accelerators.makers", |d| d.instances.accelerators.makers.clear()),
    ("spec.instances.vcpus", |d| d.instances.vcpus = Bounds::default()),
    ("spec.instances.memoryGiB", |d| d.instances.memory_mib = Bounds::default()),
    ("spec.instances.gibPerVcpu", |d| d.instances.mib_per_vcpu = Bounds::default()),
    ("spec.instances.architectures", |d| d.instances.architectures.clear()),
    ("spec.instances.localDisk", |d| d.instances.local_disk = LocalDiskRule::Any),
    ("spec.instances.exclude", |d| d.instances.exclude.clear()),
    ("spec.placement.clouds", |d| {
        for rule in &mut d.placement.clouds {
            rule.regions.clear();
            rule.zones.clear();
        }
    }),
    ("spec.capacity.burst", |d| {
        d.capacity.on_demand = d.capacity.target;
        d.capacity.spot = fleet_model::Units(0);
    }),
    ("spec.capacity.unit", |d| d.capacity.unit = Unit::Instances),
];

/// An error if nothing of the catalog is left for a fleet that wants something.
pub(crate) fn nothing_left(fleet: &LoadedFleet, catalog: &Catalog) -> Option<Diagnostic> {
    let desired = &fleet.desired;
    if desired.capacity.target.is_zero() {
        return None;
    }
    let found = eligible(desired, catalog);
    if !found.offerings.is_empty() || unapproved(fleet, catalog).is_some() {
        return None;
    }
    let culprits: Vec<(&str, usize)> = FILTERS
        .iter()
        .filter_map(|(path, relax)| {
            let mut relaxed = desired.clone();
            relax(&mut relaxed);
            let left = eligible(&relaxed, catalog).offerings.len();
            (left > 0).then_some((*path, left))
        })
        .collect();
    let reasons = by_kind(found.rejected.iter().map(|(why, pools)| (why, *pools)));
    let reasons: Vec<String> = reasons
        .iter()
        .take(3)
        .map(|(kind, _, pools)| format!("{}: {kind}", count(*pools, "pool")))
        .collect();
    let message =
        format!("nothing in the catalog is left after the filters ({})", reasons.join("; "));
    // A misspelt name is the likeliest cause, and the easiest to mend.
    let misspelt = unknown_names(fleet, catalog).into_iter().find(|(_, _, near)| near.is_some());
    let (path, hint) = match (misspelt, culprits.first()) {
        (Some((path, name, Some(near))), _) => {
            (path, format!("the catalog does not know `{name}`; did you mean `{near}`?"))
        }
        // Spot is what is bought where the spec does not say, so there may be nothing to leave out.
        (_, Some((path @ "spec.capacity.burst", left))) => {
            let pools = count(*left as u64, "pool");
            let hint = format!("on-demand there are {pools}: write `base: {{ onDemand: 100% }}`");
            ((*path).to_owned(), hint)
        }
        (_, Some((path, left))) => {
            let short = path.trim_start_matches("spec.");
            let pools = thousands(*left as u64);
            ((*path).to_owned(), format!("without `{short}` there would be {pools} pools"))
        }
        (_, None) => (
            "spec.instances".to_owned(),
            "no filter alone is to blame; loosen several, or import a larger catalog".to_owned(),
        ),
    };
    Some(fleet.error_at(&path, message, hint))
}

/// An error if everything that is left of the catalog needs an approval that the fleet does not have. Only
/// `validate` refuses such a fleet: a plan launches nothing for it, says why, and cares for what stands.
pub(crate) fn unapproved(fleet: &LoadedFleet, catalog: &Catalog) -> Option<Diagnostic> {
    let desired = &fleet.desired;
    if desired.approvals.is_empty() || desired.capacity.target.is_zero() {
        return None;
    }
    let mut approved = desired.clone();
    approved.approvals.clear();
    let found = eligible(desired, catalog);
    if !found.offerings.is_empty() || eligible(&approved, catalog).offerings.is_empty() {
        return None;
    }
    let asked = |why: &Rejection| matches!(why, Rejection::NeedsApproval { .. });
    let (why, _) = found.rejected.iter().find(|(why, _)| asked(why))?;
    let message = format!("nothing is left that it may launch: {}", rejection(why));
    let path =
        if fleet.place_of("metadata.labels").is_some() { "metadata.labels" } else { "metadata" };
    Some(fleet.error_at(path, message, relax(why)))
}

/// Names that nothing in the catalog answers to: where, what, and what may have been meant.
pub(crate) fn unknown_names(
    fleet: &LoadedFleet,
    catalog: &Catalog,
) -> Vec<(String, String, Option<String>)> {
    let desired = &fleet.desired;
    let clouds: BTreeSet<Cloud> = desired.placement.clouds.iter().map(|rule| rule.cloud).collect();
    let kinds = || catalog.kinds.iter().filter(|kind| clouds.contains(&kind.cloud));
    let mut found = Vec::new();
    let mut note = |path: String, pattern: &Pattern, near: Vec<&str>| {
        let near = near.first().map(|near| (*near).to_owned());
        found.push((path, pattern.as_str().to_owned(), near));
    };
    let known = |pattern: &Pattern| {
        kinds().any(|kind| {
            pattern.matches(kind.name.as_str())
                || kind.cloud.is_family(pattern.as_str(), &kind.name)
        })
    };
    let lists = [("families", &desired.instances.families), ("types", &desired.instances.types)];
    for (list, patterns) in lists {
        for (at, pattern) in patterns.iter().enumerate().filter(|(_, p)| !known(p)) {
            let families: BTreeSet<&str> =
                kinds().map(|kind| family_of(kind.cloud, &kind.name)).collect();
            let mut near = similar(pattern.as_str(), families);
            near.extend(similar(pattern.as_str(), kinds().map(|kind| kind.name.as_str())));
            note(format!("spec.instances.{list}[{at}]"), pattern, near);
        }
    }
    let accelerators = fleet_catalog::accelerator_names(catalog);
    for (at, pattern) in desired.instances.accelerators.names.iter().enumerate() {
        if !accelerators.iter().any(|name| pattern.matches(name)) {
            let near = similar(pattern.as_str(), accelerators.iter().copied());
            note(format!("spec.instances.accelerators.names[{at}]"), pattern, near);
        }
    }
    for (at, rule) in desired.placement.clouds.iter().enumerate() {
        let places = || catalog.places.iter().filter(|place| place.cloud == rule.cloud);
        let regions: BTreeSet<&str> = places().map(|place| place.region.as_str()).collect();
        let zones: BTreeSet<&str> = places().map(|place| place.zone.as_str()).collect();
        let lists = [("regions", &rule.regions, regions), ("zones", &rule.zones, zones)];
        for (list, patterns, names) in lists {
            for (nth, pattern) in patterns.iter().enumerate() {
                if !names.iter().any(|name| pattern.matches(name)) {
                    let near = similar(pattern.as_str(), names.iter().copied());
                    note(format!("spec.placement.clouds[{at}].{list}[{nth}]"), pattern, near);
                }
            }
        }
    }
    if let Some((cloud, region)) = &desired.placement.traffic.data {
        let places = catalog.places.iter().filter(|place| place.cloud == *cloud);
        let regions: BTreeSet<&str> = places.map(|place| place.region.as_str()).collect();
        if !regions.contains(region.as_str()) {
            let near: Vec<String> = similar(region, regions.iter().copied())
                .into_iter()
                .map(|near| format!("{cloud}/{near}"))
                .collect();
            let near = near.iter().map(String::as_str).collect();
            let pattern = Pattern::new(format!("{cloud}/{region}"));
            note("spec.placement.dataRegion".into(), &pattern, near);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_as_people_write_them() {
        let check = |cloud, name: &str, expect: &str| {
            assert_eq!(family_of(cloud, &name.into()), expect);
            assert!(cloud.is_family(expect, &name.into()), "{name}");
        };
        check(Cloud::Aws, "p5.48xlarge", "p5");
        check(Cloud::Gcp, "a3-highgpu-8g", "a3-highgpu");
        check(Cloud::Azure, "Standard_ND96isr_H100_v5", "Standard_ND96");
        check(Cloud::Lambda, "gpu_8x_h100_sxm5", "gpu_8x");
    }
}
