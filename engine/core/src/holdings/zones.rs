//! Zones that must not be left.

use crate::holdings::holding::Holding;
use fleet_model::Place;
use std::collections::BTreeMap;

/// How many machines stand in each zone. The last of a zone stays while the spec asks for that many
/// zones.
pub(crate) struct Zones<'a> {
    machines: BTreeMap<&'a Place, u32>,
    least: usize,
}

impl<'a> Zones<'a> {
    /// Counts those of the machines that are part of the fleet's capacity.
    pub(crate) fn new(stay: impl Iterator<Item = &'a Holding>, least: usize) -> Self {
        let mut machines = BTreeMap::new();
        // Where any zone may be left, nobody asks.
        let counted = stay.filter(|holding| least > 0 && holding.standing.counts());
        for holding in counted {
            *machines.entry(&holding.pool.place).or_default() += 1;
        }
        Zones { machines, least }
    }

    /// Takes a machine away, unless its zone is needed.
    pub(crate) fn leave(&mut self, place: &Place) -> bool {
        let Some(standing) = self.machines.get_mut(place) else { return true };
        if *standing > 1 {
            *standing -= 1;
            return true;
        }
        if self.machines.len() <= self.least {
            return false;
        }
        self.machines.remove(place);
        true
    }
}
