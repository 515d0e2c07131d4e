//! Where machines may stand, numbered.

use fleet_model::{Inputs, Place, PoolId, Scope};

/// Zones and regions, numbered densely: counters become arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    zones: Vec<Place>,
    regions: Vec<Scope>,
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
        let mut regions: Vec<Scope> = zones.iter().map(Place::scope).collect();
        regions.dedup();
        Places { zones, regions }
    }

    pub(crate) fn zones(&self) -> usize {
        self.zones.len()
    }

    pub(crate) fn regions(&self) -> usize {
        self.regions.len()
    }

    /// The numbers of a place and of its region. Every place asked for was given to `new`.
    pub(crate) fn number(&self, place: &Place) -> Option<(u32, u32)> {
        let zone = self.zones.binary_search(place).ok()?;
        let region = self.regions.binary_search(&place.scope()).ok()?;
        Some((zone as u32, region as u32))
    }
}
