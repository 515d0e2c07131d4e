//! What is paid for already comes before everything that is paid for by the hour.

use crate::place::greedy::Source;
use crate::place::need::{Need, Taken};
use crate::place::problem::Problem;
use crate::place::usage::Usage;
use fleet_model::{Market, Units};
use std::collections::BTreeSet;

impl Problem<'_> {
    /// Whether a machine less of a candidate takes nothing off the bill.
    pub(crate) fn saves_nothing(&self, usage: &Usage, at: u32) -> bool {
        let commitment = self.candidates[at as usize].commitment;
        commitment.is_some_and(|commitment| usage.committed[commitment as usize].has_room())
    }

    /// Covers a need with what is paid for already, as far as that goes, and tells what is left.
    pub(crate) fn fill_committed(&self, usage: &mut Usage, market: Market, wanted: Need) -> Taken {
        if usage.committed.iter().all(|one| one.left() == 0) || wanted.now.is_zero() {
            return Taken { short: wanted.now, ..Taken::default() };
        }
        let kept = self.kept_for_zones(usage, market, wanted);
        let now = wanted.now.saturating_sub(kept);
        let strategy = self.desired.placement.strategy;
        let mut taken = self.fill_by(usage, Source::Committed, Need { now, ..wanted }, strategy);
        // What is left for other zones is not to be covered by a last machine that is too large.
        while !kept.is_zero() && self.units(&taken) > now {
            let Some(largest) = taken.counts.keys().copied().max_by_key(|&at| self.weight(at))
            else {
                break;
            };
            self.untake_one(usage, &mut taken, largest);
        }
        taken.short = wanted.now.saturating_sub(self.units(&taken));
        taken.refused.clear();
        taken
    }

    /// What must be left for zones that the spec asks for and no commitment reaches.
    fn kept_for_zones(&self, usage: &Usage, market: Market, wanted: Need) -> Units {
        let least = self.desired.placement.spread.min_zones as usize;
        let missing = least.saturating_sub(self.zones_used(usage));
        if missing == 0 {
            return Units(0);
        }
        let paid_for = (0..self.candidates.len() as u32).filter(|&at| self.free(usage, at) > 0);
        let unused =
            paid_for.filter(|&at| !self.zone_is_used(usage, at) && self.fits(usage, at) > 0);
        let zones: BTreeSet<u32> = unused.map(|at| self.candidates[at as usize].zone).collect();
        let machines: u64 = usage.committed.iter().map(|one| u64::from(one.left())).sum();
        let reached = missing.min(zones.len()).min(machines as usize);
        let smallest = self.of_market(market).map(|at| self.weight(at)).min().unwrap_or_default();
        let rest = Units(smallest.saturating_mul((missing - reached) as u64));
        rest.saturating_sub(wanted.later)
    }
}
