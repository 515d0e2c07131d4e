//! What is thought of a pool before its own evidence: the cloud's word, its siblings, its price.
//!
//! A fleet asks for machines that are alike, so what its other pools show is the best guess for one more:
//! where nothing was lost all day, a new pool is no stormy one either. Pools of a region fail together now
//! and then, so those count more. Pools of other fleets say less, and only those of the region. A price far above what we used to pay is a weak sign of scarcity; capacity
//! swings under flat prices, so a flat one says nothing.

use crate::market::belief::{self, Chance, Prior};
use crate::market::evidence::{latest, refreshed};
use crate::market::signals;
use crate::offers::find_offering;
use crate::offers::trust::Trust;

use fleet_model::{Inputs, MicroUsd, Offering, PoolBelief, PoolId, Scope};
use std::collections::BTreeMap;

/// What the evidence of the fleet's pools in other regions counts for, as a share of a pool's own. In the
/// region it is as good.
const ELSEWHERE: f64 = 0.5;
/// What the evidence of another fleet's pool counts for, in the region.
const OTHERS: f64 = 0.25;
/// The most that siblings may say, either way: unlike machines are among them now and then.
const MOST_OF_SIBLINGS: f64 = 4.0;
/// The power of a price's rise that is taken for a rise of frailty.
const PRICE: f64 = 0.25;
/// The most that a price may say, either way.
const MOST: f64 = 2.0;

/// Interruptions seen and to be expected of a usual pool.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    seen: f64,
    usual: f64,
}

impl Counted {
    fn add(&mut self, (seen, usual): (f64, f64)) {
        self.seen += seen;
        self.usual += usual;
    }

    /// The same without a part of it.
    fn without(self, part: Counted) -> Counted {
        let left = |all: f64, part: f64| (all - part).max(0.0);
        Counted { seen: left(self.seen, part.seen), usual: left(self.usual, part.usual) }
    }

    /// So much of it.
    fn times(self, weight: f64) -> (f64, f64) {
        (weight * self.seen, weight * self.usual)
    }
}

/// What the pools of a fleet and of its neighbours show together.
pub(crate) struct Siblings {
    pub(super) trust: Trust,
    /// All pools that this fleet itself has seen.
    all: Counted,
    /// The same, region by region.
    own: BTreeMap<Scope, Counted>,
    /// Pools that only others have seen, region by region.
    others: BTreeMap<Scope, Counted>,
}

impl Siblings {
    pub(crate) fn new(inputs: &Inputs) -> Self {
        let (mut all, mut own) = (Counted::default(), BTreeMap::<Scope, Counted>::new());
        for pool in inputs.recorded.beliefs.keys() {
            let Some(belief) = latest(inputs, pool) else { continue };
            let counted = counted(inputs, pool, belief);
            all.add(counted);
            own.entry(pool.place.scope()).or_default().add(counted);
        }
        let mut others: BTreeMap<Scope, Counted> = BTreeMap::new();
        for (pool, belief) in &inputs.beliefs {
            if !inputs.recorded.beliefs.contains_key(pool) {
                let region = others.entry(pool.place.scope()).or_default();
                region.add(counted(inputs, pool, belief));
            }
        }
        Siblings { trust: Trust::of(inputs), all, own, others }
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
        let prior =
            offering.map_or_else(Prior::default, |o| signals::prior(&o.signals, &self.trust));
        let seen = latest(inputs, pool);
        let price = offering.and_then(|o| o.price).zip(seen.and_then(|belief| belief.usual_price));
        let dearer = price.map_or(1.0, |(now, usual)| dearer(now, usual));
        let of_siblings = self.frailty(inputs, pool, seen);
        Prior { frailty: prior.frailty * dearer * of_siblings, ..prior }
    }

    /// How much likelier than usual the siblings of a pool take machines back.
    fn frailty(&self, inputs: &Inputs, pool: &PoolId, seen: Option<&PoolBelief>) -> f64 {
        let scope = pool.place.scope();
        let of = |map: &BTreeMap<Scope, Counted>| map.get(&scope).copied().unwrap_or_default();
        let (own, others) = (of(&self.own), of(&self.others));
        let mut itself = Counted::default();
        if let Some(belief) = seen {
            itself.add(counted(inputs, pool, belief));
        }
        let is_own = inputs.recorded.beliefs.contains_key(pool);
        let (near, foreign) = match is_own {
            true => (own.without(itself), others),
            false => (own, others.without(itself)),
        };
        let mut siblings = near;
        siblings.add(self.all.without(own).times(ELSEWHERE));
        siblings.add(foreign.times(OTHERS));
        let frailty = belief::posterior(1.0, siblings.times(1.0));
        frailty.clamp(1.0 / MOST_OF_SIBLINGS, MOST_OF_SIBLINGS)
    }
}

/// What a pool shows up to now. What runs is evidence also while nothing happens that would be written
/// down.
fn counted(inputs: &Inputs, pool: &PoolId, belief: &PoolBelief) -> (f64, f64) {
    match inputs.recorded.beliefs.get(pool).map_or(0, |own| own.held) {
        0 => belief::counted(belief, inputs.now),
        held => belief::counted(&refreshed(inputs, pool, held, 0), inputs.now),
    }
}

/// What is to be expected of the first slots of some pools in the next hours, by all that is known.
pub fn foreseen<const N: usize>(
    inputs: &Inputs,
    held: &[(&PoolId, u32)],
    hours: [f64; N],
) -> Vec<[Vec<Chance>; N]> {
    let siblings = Siblings::new(inputs);
    let of = |&(pool, held): &(&PoolId, u32)| {
        let prior = siblings.prior(inputs, pool);
        let belief = refreshed(inputs, pool, held, 0);
        hours.map(|hours| belief::chances(&belief, prior, inputs.now, hours, held as usize))
    };
    held.iter().map(of).collect()
}

/// How much likelier a pool takes machines back at a price than at what we used to pay.
fn dearer(now: MicroUsd, usual: MicroUsd) -> f64 {
    if usual.0 == 0 {
        return 1.0;
    }
    let ratio = now.0 as f64 / usual.0 as f64;
    ratio.powf(PRICE).clamp(1.0 / MOST, MOST)
}
