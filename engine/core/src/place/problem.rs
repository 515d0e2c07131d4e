//! The candidates, and the limits they are taken under.

use crate::holdings::Inventory;
use crate::offers::{Candidate, Places, candidates};
use crate::place::shares::Caps;
use fleet_model::{Commitment, Desired, Inputs, Market, Offering, PoolId, Quota, Rejection};

/// The candidates and the limits they are taken under.
#[derive(Clone)]
pub(crate) struct Problem<'a> {
    pub(crate) desired: &'a Desired,
    /// In the order of pool ids.
    pub(crate) candidates: Vec<Candidate<'a>>,
    /// Offerings that the spec allows, and why nothing is bought from them now.
    pub(crate) not_now: Vec<(&'a Offering, Rejection)>,
    pub(super) places: Places,
    pub(super) quotas: &'a [Quota],
    pub(crate) commitments: Vec<Commitment>,
    pub(super) caps: Caps,
    /// Whether fills prove how good they are.
    pub(crate) certify: bool,
}

impl<'a> Problem<'a> {
    /// Everything on offer, and everything that stands, as a problem.
    pub(crate) fn new(
        inputs: &'a Inputs,
        inventory: &Inventory,
        commitments: Vec<Commitment>,
        certify: bool,
    ) -> Self {
        let held = inventory.holdings.iter().map(|holding| &holding.pool);
        let places = Places::new(inputs, held);
        let (candidates, not_now) = candidates(inputs, &places, &commitments);
        Problem {
            desired: &inputs.desired,
            candidates,
            not_now,
            places,
            quotas: &inputs.quotas,
            commitments,
            caps: Caps::new(&inputs.desired),
            certify,
        }
    }

    /// The same under another spec, which allows the same pools and sets the same shares.
    pub(crate) fn with_spec<'b>(&self, desired: &'b Desired) -> Problem<'b>
    where
        'a: 'b,
    {
        Problem { desired, ..self.clone() }
    }

    /// The quotas that a candidate counts toward: position, quota, and how much one machine uses.
    pub(super) fn quotas_of<'c>(
        &'c self,
        candidate: &'c Candidate<'a>,
    ) -> impl Iterator<Item = (usize, &'c Quota, u64)> + 'c {
        candidate.offering.quotas.iter().filter_map(|at| {
            let quota = self.quotas.get(*at as usize)?;
            Some((*at as usize, quota, quota.unit.of(&candidate.offering.kind)))
        })
    }

    /// The candidates of a market.
    pub(crate) fn of_market(&self, market: Market) -> impl Iterator<Item = u32> {
        let all = 0..self.candidates.len() as u32;
        all.filter(move |at| self.candidates[*at as usize].offering.pool.market == market)
    }

    /// The position of a pool.
    pub(crate) fn position(&self, pool: &PoolId) -> Option<u32> {
        self.candidates
            .binary_search_by(|candidate| candidate.offering.pool.cmp(pool))
            .ok()
            .map(|at| at as u32)
    }
}
