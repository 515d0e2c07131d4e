//! How many machines to take from which pool.
//!
//! Greedy: the best machine that still fits every limit, until the need is covered. A pool's key
//! rises as it fills, so the heap always knows the next best. What does not fit any more is set
//! aside with its reason.

use crate::place::need::{Need, Taken};
use crate::place::problem::Problem;
use crate::place::rank::{self, Key};
use crate::place::usage::Usage;
use fleet_model::{Market, Strategy, Units};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where machines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// What is sold by the hour in a market.
    Sold(Market),
    /// What is paid for already.
    Committed,
}

impl Problem<'_> {
    pub(crate) fn fill_by(
        &self,
        usage: &mut Usage,
        source: Source,
        wanted: Need,
        strategy: Strategy,
    ) -> Taken {
        let mut taken = Taken::default();
        let key = |usage: &Usage, at: u32, need: Units| -> Key {
            let candidate = &self.candidates[at as usize];
            let carried = usage.in_pool(at);
            let useful = candidate.weight.min(need);
            let target = self.desired.capacity.target;
            rank::key(strategy, candidate, at, carried, useful, target, source == Source::Committed)
        };
        let ours = |at: &u32| {
            let candidate = &self.candidates[*at as usize];
            match source {
                Source::Sold(market) => candidate.offering.pool.market == market,
                Source::Committed => candidate.commitment.is_some(),
            }
        };
        let all = 0..self.candidates.len() as u32;
        let mut need = self.reach_zones(usage, &mut taken, source, wanted, &|usage, at, need| {
            ours(&at).then(|| key(usage, at, need))
        });
        let mut heap: BinaryHeap<Reverse<Key>> = if need.is_zero() {
            BinaryHeap::new()
        } else {
            let keys: Vec<_> =
                all.clone().filter(ours).map(|at| Reverse(key(usage, at, need))).collect();
            keys.into()
        };
        while !need.is_zero() {
            let Some(mut best) = heap.peek_mut() else { break };
            let at = best.0.3;
            let fits = self.fits_from(usage, source, at);
            if fits == 0 {
                if let Some(misfit) = self.misfit(usage, at) {
                    *taken.refused.entry(misfit).or_default() += 1;
                }
                std::collections::binary_heap::PeekMut::pop(best);
                continue;
            }
            let candidate = &self.candidates[at as usize];
            if candidate.weight > need {
                // The last machine gives more than is needed: compare by useful units.
                let ours = all.clone().filter(ours);
                let Some(at) = self.last_machine(usage, source, ours, need, &key) else { break };
                need = self.take_some(usage, &mut taken, at, 1, need);
                continue;
            }
            // As many as are equally good: the pool stays the best until its key rises.
            let target = self.desired.capacity.target;
            let level = rank::machines_at_level(strategy, candidate, usage.in_pool(at), target);
            let whole = need.0 / candidate.weight.0.max(1);
            let count = fits.min(level).min(whole).max(1);
            need = self.take_some(usage, &mut taken, at, count, need);
            let next = key(usage, at, need);
            if best.0 != next {
                best.0 = next;
            }
        }
        taken.short = need;
        self.give_back(usage, &mut taken, wanted);
        if let Source::Sold(market) = source {
            self.solve_tail(usage, &mut taken, wanted, market, strategy);
            // A machine that held a zone may be too many now.
            self.give_back(usage, &mut taken, wanted);
        }
        taken
    }

    /// How many more machines of a candidate fit every limit and are to be had from a source.
    fn fits_from(&self, usage: &Usage, source: Source, at: u32) -> u64 {
        let fits = self.fits(usage, at);
        match source {
            Source::Sold(_) => fits,
            Source::Committed => fits.min(self.free(usage, at).into()),
        }
    }

    /// The best machine to end with, of those that fit.
    fn last_machine(
        &self,
        usage: &Usage,
        source: Source,
        ours: impl Iterator<Item = u32>,
        need: Units,
        key: &dyn Fn(&Usage, u32, Units) -> Key,
    ) -> Option<u32> {
        let mut best: Option<Key> = None;
        for at in ours {
            let found = key(usage, at, need);
            if best.is_none_or(|best| found < best) && self.fits_from(usage, source, at) > 0 {
                best = Some(found);
            }
        }
        best.map(|key| key.3)
    }

    /// Gives back machines that a later, larger one made superfluous, dearest per unit first.
    pub(super) fn give_back(&self, usage: &mut Usage, taken: &mut Taken, wanted: Need) {
        let weight = |at: u32| self.candidates[at as usize].weight;
        let mut spare = self.units(taken).saturating_sub(wanted.now);
        // Zones that this market gives up, the next one can still reach.
        let last_chance = wanted.later.is_zero();
        let mut order: Vec<u32> = taken.counts.keys().copied().collect();
        order.sort_by_key(|&at| {
            let candidate = &self.candidates[at as usize];
            let price = candidate.price.map(|p| p.0 * 1000 / candidate.weight.0.max(1));
            (self.saves_nothing(usage, at), price.is_some(), Reverse(price), Reverse(at))
        });
        for at in order {
            while weight(at) <= spare
                && taken.counts.contains_key(&at)
                && !(last_chance && self.holds_a_zone(usage, at))
            {
                spare = spare - weight(at);
                self.untake_one(usage, taken, at);
            }
        }
    }

    fn take_some(
        &self,
        usage: &mut Usage,
        taken: &mut Taken,
        at: u32,
        count: u64,
        need: Units,
    ) -> Units {
        self.take_for(usage, taken, at, count);
        need - Units(self.candidates[at as usize].weight.0.saturating_mul(count))
    }

    /// First one machine in each of as many zones as the spec asks for, best zones first.
    fn reach_zones(
        &self,
        usage: &mut Usage,
        taken: &mut Taken,
        source: Source,
        Need { now: mut need, later }: Need,
        key: &dyn Fn(&Usage, u32, Units) -> Option<Key>,
    ) -> Units {
        let wanted = self.desired.placement.spread.min_zones as usize;
        let mut used = self.zones_used(usage);
        if need.is_zero() || used >= wanted {
            return need;
        }
        while !need.is_zero() && used < wanted {
            // A machine so large that nothing is left for the other zones comes last.
            let share = Units((need + later).0.div_ceil((wanted - used) as u64));
            let mut best: Option<(bool, Key)> = None;
            for (at, candidate) in self.candidates.iter().enumerate() {
                if self.zone_is_used(usage, at as u32) {
                    continue;
                }
                let Some(key) = key(usage, at as u32, need) else { continue };
                let found = (candidate.weight > share, key);
                if best.is_none_or(|best| found < best)
                    && self.fits_from(usage, source, at as u32) > 0
                {
                    best = Some(found);
                }
            }
            let Some((_, best)) = best else { break };
            need = self.take_some(usage, taken, best.3, 1, need);
            used += 1;
        }
        need
    }
}
