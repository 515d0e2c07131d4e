//! The candidates, and the limits they are taken under.

use crate::holdings::Inventory;
use crate::offers::{Candidate, Places, Prospect, candidates};
use crate::place::shares::Caps;
use fleet_model::{
    Commitment, Desired, Inputs, Market, Offering, Place, PoolId, Quota, Rejection, Share, Units,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

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
    /// What a zone has its fair share with, where the spec asks for several zones: no machine more
    /// goes there before the others have theirs.
    pub(super) fair: Option<(Share, Units)>,
    /// Whether fills prove how good they are.
    pub(crate) certify: bool,
}

impl<'a> Problem<'a> {
    /// Everything on offer, and everything that stands, as a problem.
    pub(crate) fn new(
        inputs: &'a Inputs,
        inventory: &Inventory,
        commitments: Vec<Commitment>,
        prospect: &dyn Fn(&Offering) -> Prospect,
        certify: bool,
    ) -> Self {
        let held = inventory.holdings.iter().map(|holding| &holding.pool);
        let places = Places::new(inputs, held);
        let (candidates, not_now) = candidates(inputs, &places, &commitments, prospect);
        let fair = fair_share(&inputs.desired, &candidates);
        Problem {
            desired: &inputs.desired,
            fair,
            candidates,
            not_now,
            places,
            quotas: &inputs.quotas,
            commitments,
            caps: Caps::new(&inputs.desired),
            certify,
        }
    }

    /// The same with some of the candidates; the others have a reason.
    pub(crate) fn only(
        mut self,
        keep: impl Fn(&Place) -> bool,
        why: impl Fn() -> Rejection,
    ) -> Self {
        let (kept, others): (Vec<_>, Vec<_>) =
            self.candidates.into_iter().partition(|one| keep(&one.offering.pool.place));
        self.candidates = kept;
        self.not_now.extend(others.into_iter().map(|candidate| (candidate.offering, why())));
        self
    }

    /// The same with the candidates of one stretch of places alone, to try what they can give.
    pub(crate) fn within(&self, side: impl Fn(&Place) -> Ordering) -> Self {
        let of = |candidate: &Candidate<'_>| side(&candidate.offering.pool.place);
        let start = self.candidates.partition_point(|one| of(one) == Ordering::Less);
        let end = self.candidates.partition_point(|one| of(one) != Ordering::Greater);
        Problem {
            desired: self.desired,
            candidates: self.candidates[start..end].to_vec(),
            not_now: Vec::new(),
            places: self.places.clone(),
            quotas: self.quotas,
            commitments: self.commitments.clone(),
            caps: self.caps.clone(),
            fair: self.fair,
            certify: false,
        }
    }

    /// The same without regard for how even zones are.
    pub(super) fn without_fair_shares(&self) -> Self {
        Problem { fair: None, ..self.clone() }
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

    /// How many pools there must be at least, so that none has more than its share.
    pub(crate) fn fewest_pools(&self) -> usize {
        let share = self.caps.pool.as_ref().map_or(Share::ALL, |(share, _)| *share);
        Share::ALL.ppm().div_ceil(share.ppm().max(1)) as usize
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

/// The share of each zone if as many carry the fleet as the spec asks for and can be had.
fn fair_share(desired: &Desired, candidates: &[Candidate<'_>]) -> Option<(Share, Units)> {
    let wanted = desired.placement.spread.min_zones;
    if wanted < 2 {
        return None;
    }
    let zones: BTreeSet<u32> = candidates.iter().map(|candidate| candidate.zone).collect();
    let zones = u32::try_from(zones.len()).unwrap_or(u32::MAX).min(wanted);
    let share = Share::from_ppm(Share::ALL.ppm().div_ceil(zones.max(1)))?;
    Some((share, Units(desired.capacity.target.0.div_ceil(zones.max(1).into()))))
}
