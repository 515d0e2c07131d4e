//! What is to be covered, and what was taken for it.

use fleet_model::{Market, Rejection, Strategy, Units};
use std::collections::BTreeMap;

/// What one market must cover now, and others will cover after it.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    pub(crate) now: Units,
    pub(crate) later: Units,
}

/// What was taken for one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    /// Machines per candidate.
    pub(crate) counts: BTreeMap<u32, u32>,
    /// What could not be covered.
    pub(crate) short: Units,
    /// Why each candidate that was tried in vain did not fit, and how many share that reason.
    pub(crate) refused: BTreeMap<Rejection, u32>,
    /// How good it is, if that was asked for and the strategy minimises a cost.
    pub(crate) certificate: Option<Certificate>,
}

impl Taken {
    /// Adds what was taken elsewhere.
    pub(crate) fn join(&mut self, other: Taken) {
        for (at, count) in other.counts {
            *self.counts.entry(at).or_default() += count;
        }
        for (reason, pools) in other.refused {
            *self.refused.entry(reason).or_default() += pools;
        }
    }
}

/// What is to be covered.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) market: Market,
    pub(crate) need: Units,
    /// What other markets will cover after it.
    pub(crate) later: Units,
    pub(crate) strategy: Strategy,
}

/// What a fill costs under its strategy, and what no fill can be cheaper than.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Certificate {
    /// The objective.
    pub cost: f64,
    /// The bound: quotas, budget and the least number of zones aside.
    pub bound: f64,
}

impl Certificate {
    /// How far the fill may be from the best, as a share of it.
    pub fn gap(&self) -> f64 {
        if self.bound > 0.0 { ((self.cost - self.bound) / self.bound).max(0.0) } else { 0.0 }
    }
}
