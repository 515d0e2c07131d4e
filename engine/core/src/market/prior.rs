//! What is thought of a pool before its own evidence: the cloud's word, its region, its price.
//!
//! Pools of a region fall together now and then, so for some hours a fall of one is a sign for the others. Markets
//! differ in how much they take back, so what all pools of a fleet showed speaks for each of them. A price far
//! above what we used to pay is a weak sign of scarcity; capacity swings under flat prices, so a flat one says
//! nothing.

use crate::market::belief::{self, Chance, Prior};
use crate::market::evidence::{latest, refreshed};
use crate::market::signals;
use crate::offers::find_offering;
use crate::offers::trust::Trust;

use fleet_model::{Inputs, MicroUsd, Offering, PoolBelief, PoolId, Scope, Timestamp};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Just after another pool of its region fell, a pool is likelier to fall by this much: once more, so twice
/// as likely.
const SHAKEN: f64 = 1.0;
/// After so many hours, a fall says nothing of other pools.
const FORGOTTEN: f64 = 12.0;
/// How much the usual market is worth, in expected interruptions, against what the fleet's own pools showed. A pool
/// alone weighs its prior much less.
const MARKET_WEIGHT: f64 = 16.0;
/// The same where nothing was lost in a time in which usual pools would have taken so many machines. Such markets are
/// of another kind, and an hour's calm is no proof.
const CALM_WEIGHT: f64 = 4.0;
/// Of interruptions that count half after a day, fewer than this are none: four days without one.
const NOTHING_LOST: f64 = 0.05;
/// The power of a price's rise that is taken for a rise of frailty.
const PRICE: f64 = 0.25;
/// The most that a price may say, either way.
const MOST: f64 = 2.0;

/// What pools tell of each other.
pub(crate) struct Siblings<'a> {
    pub(super) trust: Trust,
    /// The latest falls in a region, of two pools.
    falls: BTreeMap<Scope, Vec<(Timestamp, PoolId)>>,
    /// Interruptions of each pool of this fleet up to now, and those to be expected of a usual one in its place.
    own: BTreeMap<&'a PoolId, (f64, f64)>,
    /// Of all of them together.
    all: (f64, f64),
}

impl<'a> Siblings<'a> {
    /// `lost`: machines that pools took back just now.
    pub(crate) fn new(inputs: &'a Inputs, lost: &BTreeMap<PoolId, u32>) -> Self {
        let mut falls: BTreeMap<Scope, Vec<(Timestamp, PoolId)>> = BTreeMap::new();
        let mut fell = |pool: &PoolId, at| {
            let latest = falls.entry(pool.place.scope()).or_default();
            latest.retain(|(_, known)| known != pool);
            latest.push((at, pool.clone()));
            latest.sort_unstable_by_key(|(at, _)| Reverse(*at));
            latest.truncate(2);
        };
        let others =
            inputs.beliefs.keys().filter(|pool| !inputs.recorded.beliefs.contains_key(pool));
        for pool in inputs.recorded.beliefs.keys().chain(others) {
            if let Some(at) = latest(inputs, pool).and_then(|belief| belief.fell) {
                fell(pool, at);
            }
        }
        for pool in lost.keys() {
            fell(pool, inputs.now);
        }
        let own = inputs.recorded.beliefs.iter();
        let own: BTreeMap<&PoolId, (f64, f64)> =
            own.map(|(pool, belief)| (pool, counted(belief, inputs.now))).collect();
        let all = own.values().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Siblings { trust: Trust::of(inputs), falls, own, all }
    }

    /// What is thought of a pool before its own evidence.
    pub(crate) fn prior(&self, inputs: &Inputs, pool: &PoolId) -> Prior {
        self.prior_of(inputs, pool, find_offering(inputs, pool))
    }

    /// The same, where its offering is at hand.
    pub(super) fn prior_of(
        &self,
        inputs: &Inputs,
        pool: &PoolId,
        offering: Option<&Offering>,
    ) -> Prior {
        let prior = offering
            .map_or_else(Prior::default, |o| signals::prior(&o.signals, &self.trust, inputs.now));
        let own = latest(inputs, pool);
        let price = offering.and_then(|o| o.price).zip(own.and_then(|belief| belief.usual_price));
        let dearer = price.map_or(1.0, |(now, usual)| dearer(now, usual));
        let of_siblings = self.others(pool);
        let shaken = self.shaken(pool, inputs.now);
        Prior { frailty: prior.frailty * dearer * of_siblings, shaken, ..prior }
    }

    /// How much likelier than usual this fleet's other pools take machines back.
    fn others(&self, pool: &PoolId) -> f64 {
        let own = self.own.get(pool).copied().unwrap_or_default();
        let [seen, usual] = [self.all.0 - own.0, self.all.1 - own.1].map(|others| others.max(0.0));
        let is_calm = self.all.0 < NOTHING_LOST && self.all.1 >= CALM_WEIGHT;
        let weight = if is_calm { CALM_WEIGHT } else { MARKET_WEIGHT };
        (weight + seen) / (weight + usual)
    }

    /// By how much a pool is likelier now to take machines back, for what fell beside it.
    fn shaken(&self, pool: &PoolId, now: Timestamp) -> f64 {
        let falls = self.falls.get(&pool.place.scope()).into_iter().flatten();
        let last = falls.filter(|(_, other)| other != pool).map(|(at, _)| *at).max();
        let since = last.map(|at| (now.as_second() - at.as_second()).max(0) as f64 / 3600.0);
        let lately = since.filter(|hours| *hours < FORGOTTEN);
        lately.map_or(0.0, |hours| SHAKEN * (-hours / belief::CALMS).exp())
    }
}

/// Of one of them. What runs is evidence also while nothing happens that would be written down.
fn counted(belief: &PoolBelief, now: Timestamp) -> (f64, f64) {
    match belief.held {
        0 => belief::counted(belief, now),
        held => belief::counted_with(belief, now, held),
    }
}

/// What is to be expected of the first slots of some pools, of each as many as it holds, in the next hours, by all
/// that is known.
pub fn foreseen<'a, const N: usize>(
    inputs: &Inputs,
    held: impl IntoIterator<Item = (&'a PoolId, u32)>,
    hours: [f64; N],
) -> Vec<[Vec<Chance>; N]> {
    let siblings = Siblings::new(inputs, &BTreeMap::new());
    let of = |(pool, held): (&PoolId, u32)| {
        let (prior, belief) = (siblings.prior(inputs, pool), refreshed(inputs, pool, held, 0));
        hours.map(|hours| belief::chances(&belief, prior, inputs.now, hours, held as usize))
    };
    held.into_iter().map(of).collect()
}

/// How much likelier a pool takes machines back at a price than at what we used to pay.
fn dearer(now: MicroUsd, usual: MicroUsd) -> f64 {
    if usual.0 == 0 {
        return 1.0;
    }
    let ratio = now.0 as f64 / usual.0 as f64;
    ratio.powf(PRICE).clamp(1.0 / MOST, MOST)
}
