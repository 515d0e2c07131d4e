//! Where machines may stand, numbered.

use fleet_model::{Inputs, Place, PoolId};

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
        let mut push = |place: &Place| {
            // Offerings come place by place, so this keeps the list short before it is sorted.
            if zones.last() != Some(place) {
                zones.push(place.clone());
            }
        };
        inputs.offerings.iter().for_each(|offering| push(&offering.pool.place));
        held.for_each(|pool| push(&pool.place));
        zones.sort();
        zones.dedup();
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
