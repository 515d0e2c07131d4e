//! Which machine stands for an accelerator on a cloud.

use super::committed::Offer;
use fleet_model::{
    Accelerators, Catalog, CatalogRow, Chip, Cloud, InstanceKind, Market, MicroUsd, Pattern, Place,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Names of accelerators or chips, or patterns over them.
    pub gpus: Vec<Pattern>,
    /// Clouds; empty: all.
    pub clouds: Vec<Cloud>,
    /// Regions; empty: all that any account can use.
    pub regions: Vec<Pattern>,
    /// Accelerators in a node.
    pub count: u32,
    /// Nodes.
    pub nodes: u32,
}

/// A machine type in the region where it is cheapest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// The accelerator's name, as fine as it is known: `H100-NVL`.
    pub accelerator: String,
    /// The type.
    pub kind: Arc<InstanceKind>,
    /// Where it is cheapest.
    pub place: Place,
    /// How it is bought.
    pub market: Market,
    /// Machines in all.
    pub machines: u32,
    /// Of those, machines that make one node: more than one where no machine is large enough.
    pub per_node: u32,
    /// Accelerators in all, in thousandths.
    pub accelerators_milli: u64,
    /// The price of one machine an hour.
    pub each: MicroUsd,
    /// The commitment that the price is of.
    pub offer: Option<Arc<Offer>>,
}

/// Why an accelerator is not listed on a cloud in a market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absent {
    /// It is sold there, and no price is known.
    Unpriced,
    /// It is not sold in this market.
    NotSold,
}

/// What was found, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// One for each accelerator, cloud and market.
    pub picked: Vec<Picked>,
    /// What could not be listed: accelerator, cloud, market, why.
    pub absent: Vec<(String, Cloud, Market, Absent)>,
}

/// What an accelerator of a kind is called, as finely as it is known.
pub fn accelerator_name(kind: &InstanceKind) -> Option<&str> {
    let coarse = kind.resources.accelerators.as_ref()?.name.as_deref();
    Chip::of(kind).map(|chip| chip.name).or(coarse)
}

impl Wanted {
    /// Whether a kind has an accelerator that is looked for: by its chip's name, or by the catalog's.
    pub fn names(&self, kind: &InstanceKind) -> bool {
        let Some(has) = kind.resources.accelerators.as_ref() else { return false };
        let names = [accelerator_name(kind), has.name.as_deref()];
        self.gpus.iter().any(|gpu| {
            let canonical = Pattern::new(Accelerators::canonical(gpu.as_str()));
            names.iter().flatten().any(|name| canonical.matches(name))
        })
    }

    /// Whether a place is looked at. What an account must ask for first is named, or left out.
    pub(super) fn allows(&self, place: &Place) -> bool {
        let cloud = self.clouds.is_empty() || self.clouds.contains(&place.cloud);
        if self.regions.is_empty() {
            return cloud && !place.is_restricted() && !place.needs_opt_in();
        }
        cloud && self.regions.iter().any(|region| region.matches(place.region.name()))
    }

    /// Machines for one node; `None` for fractions of an accelerator: nodes are made of whole ones.
    pub(super) fn per_node(&self, kind: &InstanceKind) -> Option<u32> {
        let has = kind.resources.accelerators.as_ref()?.count_milli;
        (has >= 1000).then(|| (u64::from(self.count) * 1000).div_ceil(has.into()) as u32)
    }
}

/// How well a type fits: one machine before several, then as few accelerators as possible, then the price.
type Fit<'a> = (bool, u64, MicroUsd, &'a Place, &'a str);

/// For each accelerator, cloud and market the type that fits best, where it is cheapest.
pub fn pick(catalog: &Catalog, wanted: &Wanted) -> Found {
    let named: Vec<bool> = catalog.kinds.iter().map(|kind| wanted.names(kind)).collect();
    let places: Vec<bool> = catalog.places.iter().map(|place| wanted.allows(place)).collect();
    let mut best: BTreeMap<(&str, Cloud, Market), (Fit<'_>, Picked)> = BTreeMap::new();
    let mut absent: BTreeMap<(&str, Cloud, Market), Absent> = BTreeMap::new();
    let open = |row: &&CatalogRow| named[row.kind as usize] && places[row.place as usize];
    for row in catalog.rows.iter().filter(open) {
        let (kind, place) = (catalog.kind(row), catalog.place(row));
        let (Some(name), Some(per_node)) = (accelerator_name(kind), wanted.per_node(kind)) else {
            continue;
        };
        let has = kind.resources.accelerators.as_ref().map_or(0, |has| has.count_milli);
        let machines = per_node.saturating_mul(wanted.nodes);
        let accelerators_milli = u64::from(has) * u64::from(machines);
        for market in [Market::OnDemand, Market::Spot] {
            let key = (name, kind.cloud, market);
            let (sold, price) = match market {
                Market::Spot => (row.has_spot, row.spot),
                Market::OnDemand | Market::Reserved => (true, row.on_demand),
            };
            let Some(each) = price.filter(|_| sold) else {
                let why = if sold { Absent::Unpriced } else { Absent::NotSold };
                absent.entry(key).and_modify(|known| *known = why.min(*known)).or_insert(why);
                continue;
            };
            let all = each * u64::from(per_node);
            let fit = (per_node > 1, accelerators_milli, all, place, kind.name.as_str());
            if best.get(&key).is_some_and(|(known, _)| *known <= fit) {
                continue;
            }
            let picked = Picked {
                accelerator: name.to_owned(),
                kind: Arc::clone(kind),
                place: place.clone(),
                market,
                machines,
                per_node,
                accelerators_milli,
                each,
                offer: None,
            };
            best.insert(key, (fit, picked));
        }
    }
    absent.retain(|key, _| !best.contains_key(key));
    let absent = absent
        .into_iter()
        .map(|((name, cloud, market), why)| (name.to_owned(), cloud, market, why));
    let absent = absent.collect();
    Found { picked: best.into_values().map(|(_, picked)| picked).collect(), absent }
}
