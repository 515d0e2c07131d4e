//! What is asked of a portfolio, and what it comes to.

use crate::market::moved::Fare;

/// The most that is counted out, in units of the search.
pub(super) const SMALL: usize = 512;
/// The same where pools are few: there the sum of what they lose is far from normal.
const SMALL_OF_FEW: usize = 4096;
/// So many pools are few.
const FEW: usize = 64;

/// Whether every outcome of so many units of the search in so many pools is counted.
pub(super) fn is_counted(wanted: usize, pools: usize) -> bool {
    wanted <= SMALL || (wanted <= SMALL_OF_FEW && pools <= FEW)
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// How much should be there.
    pub wanted: usize,
    /// Whether that is little enough, in few enough pools, for every outcome to be counted.
    pub is_small: bool,
    /// Price of one on-demand unit per hour; `None`: on-demand is not available.
    pub on_demand: Option<f64>,
    /// How much is held on demand now.
    pub held: usize,
    /// How much of that stays whatever is.
    pub settled: usize,
    /// The most that is available on-demand.
    pub most: usize,
    /// What starting one more on demand costs, spread over the hours that must pay for it.
    pub start: f64,
    /// What it costs to end some that are held for new ones, spread over the same hours.
    pub moving: Fare,
    /// What one missing costs per hour.
    pub missing: f64,
    /// How much better a new beginning must be than what is held, per hour.
    pub inertia: f64,
}

impl Need {
    /// Price and starts of so much on demand.
    pub(super) fn bought(&self, count: usize) -> f64 {
        let started = count.saturating_sub(self.held);
        let paid = count.saturating_sub(self.settled);
        self.on_demand.unwrap_or_default() * paid as f64 + self.start * started as f64
    }

    /// Whether so much is to be had on demand.
    pub(super) fn sells(&self, count: usize) -> bool {
        self.on_demand.is_some() && count <= self.most
    }
}

/// How many from each pool, how much on demand, and what that costs per hour, risks included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Portfolio {
    /// Machines by pool.
    pub counts: Vec<usize>,
    /// On demand.
    pub on_demand: usize,
    /// Expected cost per hour.
    pub cost: f64,
    /// Expected to be missing at any time.
    pub missing: f64,
    /// Chance that nothing is missing.
    pub whole: f64,
}
