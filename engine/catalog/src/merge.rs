//! Putting a cloud's own word of today into a catalog.
//!
//! Only rows of that cloud, in regions that were listed, are replaced. A region that was asked for
//! and listed nothing keeps its rows: a silent cloud is not an empty cloud.

use crate::assemble::Assembly;
use fleet_model::{Catalog, CatalogRow, Cloud, InstanceKind, MicroUsd, Pattern, Place, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One type in one place, as its cloud sells it today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold {
    /// What it is.
    pub kind: InstanceKind,
    /// Where.
    pub place: Place,
    /// On-demand price per hour; `None`: not known, so the catalog's stands.
    pub on_demand: Option<MicroUsd>,
    /// Spot price per hour; `None`: not known, so the catalog's stands.
    pub spot: Option<MicroUsd>,
    /// Whether it is sold as spot there at all.
    pub has_spot: bool,
}

/// What a merge changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Regions whose rows were replaced.
    pub regions: BTreeSet<String>,
    /// Regions of the catalog that were asked for and listed nothing: kept as they were.
    pub unlisted: BTreeSet<String>,
    /// Types that the cloud's catalog did not have.
    pub types_new: u32,
    /// Types that have other resources than the catalog said.
    pub types_changed: u32,
    /// Places that the cloud's catalog did not have.
    pub places_new: u32,
    /// Offers, one type in one place, that are new.
    pub offers_new: u32,
    /// Offers that are gone.
    pub offers_gone: u32,
    /// Offers that were listed.
    pub offers: u32,
    /// On-demand prices that differ from the catalog's, new ones included.
    pub on_demand_changed: u32,
    /// On-demand prices that were not listed: the catalog's stand.
    pub on_demand_kept: u32,
    /// Offers without an on-demand price, listed or known.
    pub unpriced: u32,
    /// Spot prices that differ from the catalog's, new ones included.
    pub spot_changed: u32,
    /// Spot prices that were not listed: the catalog's stand.
    pub spot_kept: u32,
}

/// The catalog with what a cloud listed for some regions, and what that changed.
///
/// Where a price is missing from the list the catalog's stands: unknown is not free, and not gone.
/// `regions` are those that were asked for; none: all.
pub fn merge(
    catalog: &Catalog,
    cloud: Cloud,
    regions: &[Pattern],
    listed: &[Sold],
    now: Timestamp,
) -> (Catalog, Merged) {
    let asked = |region: &str| regions.is_empty() || regions.iter().any(|r| r.matches(region));
    let listed: Vec<&Sold> = listed
        .iter()
        .filter(|sold| sold.kind.cloud == cloud && sold.place.cloud == cloud)
        .filter(|sold| asked(sold.place.region.as_str()))
        .collect();
    let mut merged = Merged {
        regions: listed.iter().map(|sold| sold.place.region.to_string()).collect(),
        ..Merged::default()
    };
    let replaced =
        |place: &Place| place.cloud == cloud && merged.regions.contains(place.region.as_str());
    let (old, kept): (Vec<&CatalogRow>, Vec<&CatalogRow>) =
        catalog.rows.iter().partition(|row| replaced(catalog.place(row)));
    let old: BTreeMap<(&Place, &str), &CatalogRow> = old
        .into_iter()
        .map(|row| ((catalog.place(row), catalog.kind(row).name.as_str()), row))
        .collect();

    let kinds = kinds(catalog, cloud, &listed, &mut merged);
    let mut all = Assembly::default();
    let mut used: BTreeMap<(Cloud, String), u32> = BTreeMap::new();
    let mut number = |all: &mut Assembly, kind: &InstanceKind| {
        let key = (kind.cloud, kind.name.to_string());
        *used.entry(key.clone()).or_insert_with(|| {
            let kind = kinds.get(&key).map_or_else(|| kind.clone(), |kind| (**kind).clone());
            all.add_kind(kind)
        })
    };
    for row in &kept {
        let (kind, place) = (catalog.kind(row), catalog.place(row));
        let kind = number(&mut all, kind);
        let place = all.place(place.cloud, place.region.as_str(), place.zone.as_str());
        all.rows.push(CatalogRow { kind, place, ..**row });
    }
    let known: BTreeSet<&Place> = catalog.places.iter().collect();
    let mut new_places: BTreeSet<&Place> = BTreeSet::new();
    let mut seen: BTreeSet<(&Place, &str)> = BTreeSet::new();
    for sold in listed {
        let key = (&sold.place, sold.kind.name.as_str());
        if !seen.insert(key) {
            continue;
        }
        let before = old.get(&key).copied();
        let row = row(sold, before, &mut merged);
        if !known.contains(&sold.place) {
            new_places.insert(&sold.place);
        }
        let kind = number(&mut all, &sold.kind);
        let place = &sold.place;
        let place = all.place(cloud, place.region.as_str(), place.zone.as_str());
        all.rows.push(CatalogRow { kind, place, ..row });
    }
    merged.offers = count(seen.len());
    merged.places_new = count(new_places.len());
    merged.offers_gone = count(old.keys().filter(|key| !seen.contains(*key)).count());
    let of_cloud = catalog.places.iter().filter(|place| place.cloud == cloud);
    merged.unlisted = of_cloud
        .map(|place| place.region.as_str())
        .filter(|region| asked(region) && !merged.regions.contains(*region))
        .map(str::to_owned)
        .collect();

    // The oldest fact is what a catalog is as of.
    let all_new = kept.is_empty() && merged.on_demand_kept == 0 && merged.spot_kept == 0;
    let as_of = if all_new { now } else { catalog.as_of };
    let source = source(&catalog.source, cloud, &merged.regions, now);
    (all.finish(source, as_of).0, merged)
}

/// The row of an offer, with the old prices where the list has none.
fn row(sold: &Sold, before: Option<&CatalogRow>, merged: &mut Merged) -> CatalogRow {
    // A price of nothing is no price.
    let real = |price: Option<MicroUsd>| price.filter(|price| price.0 > 0);
    let (old_on_demand, old_spot) = before.map_or((None, None), |row| (row.on_demand, row.spot));
    let (listed_on_demand, listed_spot) = (real(sold.on_demand), real(sold.spot));
    let on_demand = listed_on_demand.or(old_on_demand);
    let spot = if sold.has_spot { listed_spot.or(old_spot) } else { None };
    merged.offers_new += u32::from(before.is_none());
    merged.on_demand_changed += u32::from(on_demand != old_on_demand);
    merged.on_demand_kept += u32::from(listed_on_demand.is_none() && on_demand.is_some());
    merged.unpriced += u32::from(on_demand.is_none());
    merged.spot_changed += u32::from(spot != old_spot);
    merged.spot_kept += u32::from(listed_spot.is_none() && spot.is_some());
    CatalogRow { kind: 0, place: 0, on_demand, spot, has_spot: sold.has_spot }
}

/// What the cloud's types are: as listed today, else as the catalog has them.
fn kinds(
    catalog: &Catalog,
    cloud: Cloud,
    listed: &[&Sold],
    merged: &mut Merged,
) -> BTreeMap<(Cloud, String), Arc<InstanceKind>> {
    let of_cloud = catalog.kinds.iter().filter(|kind| kind.cloud == cloud);
    let mut kinds: BTreeMap<(Cloud, String), Arc<InstanceKind>> =
        of_cloud.map(|kind| ((cloud, kind.name.to_string()), kind.clone())).collect();
    let mut looked: BTreeSet<&str> = BTreeSet::new();
    for sold in listed {
        if !looked.insert(sold.kind.name.as_str()) {
            continue;
        }
        let key = (cloud, sold.kind.name.to_string());
        match kinds.get(&key) {
            None => merged.types_new += 1,
            Some(known) if **known != sold.kind => merged.types_changed += 1,
            Some(_) => continue,
        }
        kinds.insert(key, Arc::new(sold.kind.clone()));
    }
    kinds
}

/// Where the facts come from: what was said before, then each refreshed region with its day.
fn source(before: &str, cloud: Cloud, regions: &BTreeSet<String>, now: Timestamp) -> String {
    let head = format!("{cloud} refreshed ");
    let mut days: BTreeMap<String, String> = BTreeMap::new();
    let mut parts: Vec<String> = Vec::new();
    for part in before.split("; ") {
        match part.strip_prefix(&head).and_then(|rest| rest.split_once(" in ")) {
            Some((day, old)) => {
                days.extend(old.split(", ").map(|region| (region.to_owned(), day.to_owned())));
            }
            None => parts.push(part.to_owned()),
        }
    }
    let today = now.strftime("%Y-%m-%d").to_string();
    days.extend(regions.iter().map(|region| (region.clone(), today.clone())));
    let mut by_day: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (region, day) in days {
        by_day.entry(day).or_default().push(region);
    }
    let lists =
        by_day.into_iter().map(|(day, regions)| format!("{head}{day} in {}", regions.join(", ")));
    parts.extend(lists);
    parts.join("; ")
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small;
    use crate::validate;

    fn now() -> Timestamp {
        "2026-11-15T05:00:00Z".parse().expect("a time")
    }

    /// The catalog's own rows of a cloud and region, as if the cloud had listed them.
    fn as_sold(catalog: &Catalog, cloud: Cloud, region: &str) -> Vec<Sold> {
        let here = |row: &&CatalogRow| {
            let place = catalog.place(row);
            place.cloud == cloud && place.region.as_str() == region
        };
        let sold = |row: &CatalogRow| Sold {
            kind: (**catalog.kind(row)).clone(),
            place: catalog.place(row).clone(),
            on_demand: row.on_demand,
            spot: row.spot,
            has_spot: row.has_spot,
        };
        catalog.rows.iter().filter(here).map(sold).collect()
    }

    fn price(catalog: &Catalog, place: &str, kind: &str) -> Option<(Option<u64>, Option<u64>)> {
        let row = catalog.rows.iter().find(|row| {
            catalog.place(row).to_string() == place && catalog.kind(row).name.as_str() == kind
        })?;
        Some((row.on_demand.map(|p| p.0), row.spot.map(|p| p.0)))
    }

    #[test]
    fn the_same_list_changes_nothing_but_its_day() {
        let before = small();
        let listed = as_sold(&before, Cloud::Aws, "us-east-1");
        let (after, merged) = merge(&before, Cloud::Aws, &["us-east-1".into()], &listed, now());
        assert_eq!(validate(&after), Ok(()));
        assert_eq!(
            (&after.rows, &after.kinds, &after.places),
            (&before.rows, &before.kinds, &before.places)
        );
        assert_eq!(after.as_of, before.as_of);
        assert_eq!(after.source, "a test; aws refreshed 2026-11-15 in us-east-1");
        let quiet =
            (merged.offers_new, merged.offers_gone, merged.on_demand_changed, merged.spot_changed);
        assert_eq!(quiet, (0, 0, 0, 0));
        assert_eq!(merged.offers as usize, listed.len());
    }

    #[test]
    fn only_listed_regions_of_the_cloud_are_replaced() {
        let before = small();
        let mut listed = as_sold(&before, Cloud::Aws, "us-east-1");
        listed.retain(|sold| sold.kind.name.as_str() == "m5.large");
        listed[0].on_demand = Some(MicroUsd(99_000));
        listed[1].on_demand = None;
        listed[1].spot = Some(MicroUsd(0));
        let (after, merged) = merge(&before, Cloud::Aws, &[], &listed, now());
        assert_eq!(validate(&after), Ok(()));
        // Sold, and sold no more.
        assert_eq!(
            price(&after, &listed[0].place.to_string(), "m5.large").map(|p| p.0),
            Some(Some(99_000))
        );
        assert_eq!(price(&after, "aws/us-east-1/use1-az1", "m6g.large"), None);
        // Not listed: the catalog's own, never free.
        assert_eq!(
            price(&after, "aws/us-east-1/use1-az1", "m5.large"),
            Some((Some(96_000), Some(38_400)))
        );
        // Elsewhere.
        for (place, kind) in [
            ("aws/us-west-2/usw2-az1", "m6g.large"),
            ("gcp/us-central1/us-central1-f", "a2-highgpu-1g"),
        ] {
            assert_eq!(price(&after, place, kind), price(&before, place, kind), "{place}");
        }
        assert_eq!((merged.on_demand_changed, merged.on_demand_kept, merged.spot_kept), (1, 1, 1));
        assert_eq!(merged.offers_gone, 3);
        assert_eq!(merged.unlisted, BTreeSet::from(["us-west-2".to_owned()]));
    }

    #[test]
    fn what_is_new_is_added_and_what_changed_is_corrected_everywhere() {
        let before = small();
        let mut listed = as_sold(&before, Cloud::Aws, "us-west-2");
        let mut wide = listed[0].clone();
        wide.kind.name = "m9.huge".into();
        wide.place.zone = "usw2-az9".into();
        wide.on_demand = None;
        wide.spot = None;
        listed.push(wide.clone());
        listed.push(wide);
        let m5 = |sold: &&mut Sold| sold.kind.name.as_str() == "m5.large";
        listed.iter_mut().filter(m5).for_each(|sold| sold.kind.resources.generation = Some(6));
        let (after, merged) = merge(&before, Cloud::Aws, &["us-west-*".into()], &listed, now());
        assert_eq!(validate(&after), Ok(()));
        assert_eq!((merged.types_new, merged.types_changed, merged.places_new), (1, 1, 1));
        assert_eq!((merged.offers_new, merged.unpriced), (1, 3));
        assert_eq!(price(&after, "aws/us-west-2/usw2-az9", "m9.huge"), Some((None, None)));
        let m5: Vec<_> = after.kinds.iter().filter(|k| k.name.as_str() == "m5.large").collect();
        assert_eq!(m5.len(), 1);
        assert_eq!(m5[0].resources.generation, Some(6));
    }

    #[test]
    fn a_list_of_nothing_and_lists_of_others_change_nothing() {
        let before = small();
        let listed = as_sold(&before, Cloud::Gcp, "us-central1");
        let (after, merged) = merge(&before, Cloud::Aws, &[], &listed, now());
        assert_eq!(after, before);
        assert_eq!(merged.unlisted.len(), 2);
    }

    #[test]
    fn when_nothing_old_is_left_the_catalog_is_new() {
        let mut before = small();
        let listed = as_sold(&before, Cloud::Lambda, "us-south-1");
        before.rows.retain(|row| before.places[row.place as usize].cloud == Cloud::Lambda);
        let (after, _) = merge(&before, Cloud::Lambda, &[], &listed, now());
        assert_eq!(after.as_of, now());
    }

    #[test]
    fn each_region_is_named_with_its_last_day() {
        let regions = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let first = source("CSV", Cloud::Aws, &regions(&["a", "b"]), now());
        let later = "2026-11-20T00:00:00Z".parse().expect("a time");
        let second = source(&first, Cloud::Aws, &regions(&["b"]), later);
        assert_eq!(second, "CSV; aws refreshed 2026-11-15 in a; aws refreshed 2026-11-20 in b");
        let third = source(&second, Cloud::Gcp, &regions(&["c"]), later);
        assert_eq!(third, format!("{second}; gcp refreshed 2026-11-20 in c"));
    }
}
