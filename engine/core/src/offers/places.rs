//! Where machines may stand, numbered.

use fleet_model::{Inputs, Place, PoolId};
use std::collections::BTreeSet;

/// Zones and regions, numbered densely: counters become arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    zones: Vec<Place>,
    /// The number of each zone's region.
    region_of: Vec<u32>,
    regions: usize,
}

impl Places {
    /// Numbers every place of the offerings, and of what is held elsewhere.
    pub(crate) fn new<'a>(inputs: &Inputs, held: impl Iterator<Item = &'a PoolId>) -> Self {
        let mut zones: Vec<Place> = Vec::new();
        for place in inputs.offerings.iter().map(|offering| &offering.pool.place) {
            // Offerings come place by place, so this keeps the list short before it is sorted.
            if zones.last() != Some(place) {
                zones.push(place.clone());
            }
        }
        zones.sort();
        zones.dedup();
        // Nearly all that is held stands where something is on offer.
        let elsewhere = held.map(|pool| &pool.place).filter(|at| zones.binary_search(at).is_err());
        let elsewhere: BTreeSet<&Place> = elsewhere.collect();
        if !elsewhere.is_empty() {
            zones.extend(elsewhere.into_iter().cloned().collect::<Vec<_>>());
            zones.sort();
        }
        let (mut region_of, mut last) = (Vec::with_capacity(zones.len()), None);
        let mut regions = 0;
        for region in zones.iter().map(Place::scope) {
            if last.as_ref() != Some(&region) {
                regions += 1;
                last = Some(region);
            }
            region_of.push(regions as u32 - 1);
        }
        Places { zones, region_of, regions }
    }

    pub(crate) fn zones(&self) -> usize {
        self.zones.len()
    }

    pub(crate) fn regions(&self) -> usize {
        self.regions
    }

    /// The numbers of a place and of its region. Every place asked for was given to `new`.
    pub(crate) fn number(&self, place: &Place) -> Option<(u32, u32)> {
        let zone = self.zones.binary_search(place).ok()?;
        Some((zone as u32, self.region_of[zone]))
    }
}
