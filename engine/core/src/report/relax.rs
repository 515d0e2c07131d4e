//! Which constraint costs most: what the fleet would cost if one of them were relaxed.

use crate::decide::placement;
use crate::offers::{eligible, rejection, weight};
use fleet_model::{
    Catalog, Cloud, Desired, Inputs, MicroUsd, Pattern, Recorded, Region, Rejection, Share, Units,
};
use std::collections::BTreeMap;

/// Regions that are tried: those with the cheapest offers.
const REGIONS: usize = 6;

/// A constraint that could be relaxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relax {
    /// Allow a region.
    Region {
        /// Of which cloud.
        cloud: Cloud,
        /// Which.
        region: Region,
    },
    /// Do without a share limit: of a pool, zone, region or provider.
    Share {
        /// Of what.
        of: &'static str,
    },
    /// Do without a least number of zones.
    MinZones,
    /// Do without the highest spot price.
    MaxSpotPrice,
}

/// What a fleet would cost, bought anew, with one constraint relaxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relaxation {
    /// Which constraint.
    pub relax: Relax,
    /// Price per hour as the spec is.
    pub before: MicroUsd,
    /// Price per hour without it.
    pub after: MicroUsd,
    /// How much more is placed.
    pub gained: Units,
}

impl Relaxation {
    /// How much is saved.
    pub fn saved(&self) -> Share {
        let less = self.before.0.saturating_sub(self.after.0);
        let ppm = less.saturating_mul(1_000_000) / self.before.0.max(1);
        Share::from_ppm(ppm.min(1_000_000) as u32).unwrap_or(Share::NONE)
    }
}

/// The same fleet, to be bought anew.
fn anew(inputs: &Inputs) -> Inputs {
    let mut fresh = inputs.clone();
    fresh.recorded = Recorded { blocks: fresh.recorded.blocks, ..Recorded::default() };
    fresh.observed.machines.clear();
    fresh.desired.placement.hedge = None;
    fresh
}

/// How far from the least cost under its strategy a fleet bought anew may be at most, group by group,
/// as a share of it. `None` where nothing is bought or that cannot be proven: some strategies have an
/// order instead of a cost, and a hedge has risks of its own.
pub fn proven_gaps(inputs: &Inputs) -> [Option<f64>; 2] {
    let certificates = placement(&anew(inputs), true).certificates;
    let [base, burst] =
        certificates.map(|proof| proof.filter(|proof| proof.cost > 0.0).map(|proof| proof.gap()));
    [base, burst.filter(|_| inputs.desired.placement.hedge.is_none())]
}

/// Relaxations that place more or cost less, the most useful first.
pub fn relaxations(inputs: &Inputs, catalog: &Catalog) -> Vec<Relaxation> {
    let fresh = anew(inputs);
    let now = placement(&fresh, false);
    let mut found = Vec::new();
    for (relax, desired) in tries(&fresh.desired, catalog) {
        let mut other = fresh.clone();
        if matches!(relax, Relax::Region { .. }) {
            // Known offers keep what their cloud said of them; new ones have the catalog's word.
            let known: BTreeMap<_, _> =
                fresh.offerings.iter().map(|offering| (&offering.pool, offering)).collect();
            other.offerings = eligible(&desired, catalog).offerings;
            for offering in &mut other.offerings {
                if let Some(known) = known.get(&offering.pool) {
                    *offering = (*known).clone();
                }
                other.observed.complete.insert(offering.pool.place.scope());
            }
        }
        other.desired = desired;
        let then = placement(&other, false);
        let gained = now.short.saturating_sub(then.short);
        let cheaper = then.hourly < now.hourly && then.short <= now.short;
        if cheaper || !gained.is_zero() {
            found.push(Relaxation { relax, before: now.hourly, after: then.hourly, gained });
        }
    }
    found.sort_by_key(|one| (std::cmp::Reverse(one.gained), one.after));
    found
}

fn tries(desired: &Desired, catalog: &Catalog) -> Vec<(Relax, Desired)> {
    let mut all = Vec::new();
    let mut push = |relax: Relax, change: &dyn Fn(&mut Desired)| {
        let mut other = desired.clone();
        change(&mut other);
        if other != *desired {
            all.push((relax, other));
        }
    };
    push(Relax::Share { of: "pool" }, &|d| d.placement.spread.max_share_per_pool = None);
    push(Relax::Share { of: "zone" }, &|d| d.placement.spread.max_share_per_zone = None);
    push(Relax::Share { of: "region" }, &|d| d.placement.spread.max_share_per_region = None);
    push(Relax::Share { of: "provider" }, &|d| d.placement.spread.max_share_per_provider = None);
    push(Relax::MinZones, &|d| d.placement.spread.min_zones = 0);
    push(Relax::MaxSpotPrice, &|d| d.placement.max_spot_price = None);
    for (cloud, region) in cheapest_regions(desired, catalog) {
        let pattern = Pattern::new(region.as_str());
        let relax = Relax::Region { cloud, region };
        push(relax, &|d| {
            for rule in d.placement.clouds.iter_mut().filter(|rule| rule.cloud == cloud) {
                if !rule.regions.is_empty() {
                    rule.regions.push(pattern.clone());
                }
            }
        });
    }
    all
}

/// Regions of the spec's clouds that it does not name, the cheapest per unit first.
fn cheapest_regions(desired: &Desired, catalog: &Catalog) -> Vec<(Cloud, Region)> {
    let mut best: BTreeMap<(Cloud, Region), u64> = BTreeMap::new();
    let places: Vec<bool> = catalog
        .places
        .iter()
        .map(|place| desired.placement.clouds.iter().any(|rule| rule.cloud == place.cloud))
        .collect();
    for row in &catalog.rows {
        let place = catalog.place(row);
        if !places[row.place as usize] {
            continue;
        }
        let kind = catalog.kind(row);
        let Some(weight) = weight(desired, kind).filter(|w| !w.is_zero()) else { continue };
        let Some(price) = row.spot.or(row.on_demand) else { continue };
        let per_unit = price.0.saturating_mul(1000) / weight.0;
        let key = (place.cloud, place.region.clone());
        if best.get(&key).is_some_and(|best| *best <= per_unit) {
            continue;
        }
        if matches!(rejection(desired, place, kind), Some(Rejection::RegionNotAllowed)) {
            best.insert(key, per_unit);
        }
    }
    let mut sorted: Vec<_> = best.into_iter().map(|(key, price)| (price, key)).collect();
    sorted.sort();
    sorted.into_iter().take(REGIONS).map(|(_, key)| key).collect()
}
