//! What is to be expected of every pool on offer: whether a launch succeeds and the machine lasts.

use crate::holdings::{Holding, Inventory, by_pool};
use crate::market::belief::{self, Chance, Evidence, Prior};
use crate::market::boot;
use crate::market::evidence::{latest, lost_now, refreshed, throttle};
use crate::market::prior::Siblings;
use crate::market::throttle::allowed;
use crate::offers::{BEST, Prospect, usual_odds};
use fleet_model::{Hedge, Inputs, Market, Offering, PoolBelief, PoolId};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A machine that lasts so many hours was worth launching. Of two free slots that are both as good as
/// certain to last an hour, the one that has been free for a day outlives the other.
const LASTS: f64 = 12.0;
/// Of the first hours, a slow start takes its part.
const FIRST: f64 = 1.0;

/// What is known of pools at a moment, for one question per pool.
pub(crate) struct Prospects<'a> {
    inputs: &'a Inputs,
    /// Made when somebody asks: where nothing is ranked and no cloud has a word, nobody does.
    siblings: OnceCell<Siblings<'a>>,
    /// Machines that each pool took back just now.
    lost: BTreeMap<PoolId, u32>,
    /// Machines that stand in each pool.
    held: BTreeMap<&'a PoolId, u32>,
    /// Whether anybody asks for an order. A hedged burst is chosen by what it is expected to cost; what is paid
    /// for, and one place for all, have an order all the same.
    ranked: bool,
}

impl<'a> Prospects<'a> {
    pub(crate) fn new(inputs: &'a Inputs, inventory: &'a Inventory) -> Self {
        let spot =
            |holding: &Holding| holding.standing.counts() && holding.pool.market == Market::Spot;
        let stand = inventory.holdings.iter().enumerate().filter(|(_, holding)| spot(holding));
        let held = by_pool(stand).into_iter().map(|(pool, all)| (pool, all.len() as u32)).collect();
        let lost = lost_now(inputs, &inventory.vacate);
        let rules = &inputs.desired.placement;
        let ranked =
            rules.hedge.is_none() || rules.together.is_some() || !rules.commitments.is_empty();
        Prospects { inputs, siblings: OnceCell::new(), lost, held, ranked }
    }

    fn siblings(&self) -> &Siblings<'a> {
        self.siblings.get_or_init(|| Siblings::new(self.inputs, &self.lost))
    }

    /// What is to be expected of one pool.
    pub(crate) fn of(&self, offering: &Offering) -> Prospect {
        let pool = &offering.pool;
        let usual = usual_odds(pool.market);
        let word = offering.signals.obtainability;
        let odds = word.map_or(usual, |word| self.siblings().trust.odds(word, usual));
        if pool.market != Market::Spot {
            return Prospect::even(odds);
        }
        let (held, lost) = self.moved(pool);
        let throttle = throttle(self.inputs, pool);
        let few = if lost > 0 { Some(1) } else { allowed(throttle, self.inputs.now) };
        let tried = |prospect: Prospect| few.map_or(prospect, |few| prospect.at_most(held + few));
        if !self.ranked {
            return tried(Prospect::even(odds));
        }
        let prior = self.siblings().prior_of(self.inputs, pool, Some(offering));
        let known = held > 0 || lost > 0 || latest(self.inputs, pool).is_some();
        if !known && prior == (Prior { up: prior.up, ..Prior::default() }) {
            return Prospect::even(odds);
        }
        let belief = refreshed(self.inputs, pool, held, lost);
        let seen: u32 = belief.runs.iter().map(|run| run.slots).sum();
        let mut scores = self.scores(&belief, prior, odds, seen as usize + 1);
        let deeper = scores.pop().unwrap_or_default();
        let scores = scores.into_iter().map(|score| (1, score));
        tried(Prospect::new(scores.chain([(u32::MAX, deeper)])))
    }

    /// What is to be expected of one more machine in a spot pool: for each number of hours, and what was
    /// seen there.
    pub(crate) fn of_one_more<const N: usize>(
        &self,
        offering: &Offering,
        hours: [f64; N],
    ) -> ([Chance; N], Evidence) {
        let pool = &offering.pool;
        let (held, lost) = self.moved(pool);
        let belief = refreshed(self.inputs, pool, held, lost);
        let prior = self.siblings().prior_of(self.inputs, pool, Some(offering));
        let next = |hours: f64| {
            let slots = held as usize + 1;
            belief::chances(&belief, prior, self.inputs.now, hours, slots)[held as usize]
        };
        (hours.map(next), belief::evidence(&belief))
    }

    /// What is to be expected of the last machine that stands in a spot pool, for each number of hours.
    pub(crate) fn of_the_last<const N: usize>(
        &self,
        offering: &Offering,
        hours: [f64; N],
    ) -> [Chance; N] {
        let pool = &offering.pool;
        let (held, lost) = self.moved(pool);
        let belief = refreshed(self.inputs, pool, held, lost);
        let prior = self.siblings().prior_of(self.inputs, pool, Some(offering));
        let slots = (held as usize).max(1);
        hours.map(|hours| belief::chances(&belief, prior, self.inputs.now, hours, slots)[slots - 1])
    }

    /// Machines that stand in a pool, and those that it took back just now.
    fn moved(&self, pool: &PoolId) -> (u32, u32) {
        let held = self.held.get(pool).copied().unwrap_or_default();
        (held, self.lost.get(pool).copied().unwrap_or_default())
    }

    /// For each of the first slots: what the cloud says, or is usual, times what was seen of the slot
    /// against one that nobody has seen.
    fn scores(&self, belief: &PoolBelief, prior: Prior, odds: u8, slots: usize) -> Vec<u16> {
        let now = self.inputs.now;
        let chances = belief::chances(belief, prior, now, LASTS, slots);
        let unseen =
            prior.up * belief::survival(&PoolBelief::default(), Prior::default(), now, LASTS);
        let of_use = 1.0 - boot::late(belief, Hedge::READY_AFTER_SECONDS) / FIRST;
        let score = |chance: &Chance| {
            let better = of_use.max(0.0) * chance.up * chance.stays / unseen.max(f64::MIN_POSITIVE);
            (f64::from(odds) * better).round().min(f64::from(BEST)) as u16
        };
        chances.iter().map(score).collect()
    }
}
