//! What was bought ahead of time: machines that cost nothing more.
//!
//! A commitment is a matter of the bill, not of the launch: the machines are on-demand machines like
//! any others. So long as there are fewer of them than are paid for, one more costs nothing, and
//! comes before everything that is paid for by the hour.

use crate::field::{Field, Need, Taken, Usage};
use crate::ledger::{Holding, Standing};
use crate::place::Source;
use fleet_model::{Commitment, Group, Inputs, Market, MicroUsd, PoolId, Rejection, Units};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The commitments that hold now; those for the same machines are one.
pub(crate) fn in_force(inputs: &Inputs) -> Vec<Commitment> {
    let mut all: Vec<Commitment> = Vec::new();
    for one in &inputs.desired.placement.commitments {
        if one.until.is_some_and(|until| until <= inputs.now) {
            continue;
        }
        match all.iter_mut().find(|other| other.is_like(one)) {
            Some(other) => other.count = other.count.saturating_add(one.count),
            None => all.push(one.clone()),
        }
    }
    all
}

/// Which commitment is for machines of a pool.
pub(crate) fn commitment_for(commitments: &[Commitment], pool: &PoolId) -> Option<u32> {
    commitments.iter().position(|one| one.is_for(pool)).map(|at| at as u32)
}

/// The machines of one commitment, and what is to be paid for them besides. As on a bill, the dearest
/// are covered; so the order in which machines are counted does not matter.
#[derive(Debug, Clone)]
pub(crate) struct Covered {
    count: u64,
    /// Machines by price.
    prices: BTreeMap<MicroUsd, u64>,
}

impl Covered {
    pub(crate) fn new(count: u32) -> Self {
        Covered { count: count.into(), prices: BTreeMap::new() }
    }

    fn machines(&self) -> u64 {
        self.prices.values().sum()
    }

    /// How many more machines are paid for already.
    pub(crate) fn left(&self) -> u32 {
        self.count.saturating_sub(self.machines()) as u32
    }

    /// How many machines are paid for and there.
    pub(crate) fn used(&self) -> u32 {
        self.count.min(self.machines()) as u32
    }

    /// Counts machines; what that adds to the bill.
    pub(crate) fn add(&mut self, price: MicroUsd, count: u64) -> MicroUsd {
        let before = self.bill();
        *self.prices.entry(price).or_default() += count;
        self.bill() - before
    }

    /// Forgets a machine; what that takes off the bill.
    pub(crate) fn remove(&mut self, price: MicroUsd) -> MicroUsd {
        let before = self.bill();
        if let Some(count) = self.prices.get_mut(&price).filter(|count| **count > 0) {
            *count -= 1;
        }
        before - self.bill()
    }

    /// What is beyond the commitment.
    fn bill(&self) -> MicroUsd {
        let mut free = self.count;
        let by_price = self.prices.iter().rev();
        by_price
            .map(|(price, machines)| {
                let covered = free.min(*machines);
                free -= covered;
                *price * (machines - covered)
            })
            .sum()
    }
}

/// Marks the machines that are paid for: the dearest, the base before the burst, the oldest. On-demand
/// machines of a burst that buys spot alone are out of place once nothing covers them.
pub(crate) fn cover(inputs: &Inputs, commitments: &[Commitment], holdings: &mut [Holding]) {
    for commitment in commitments {
        let of_it = |at: &usize| {
            let holding = &holdings[*at];
            holding.standing.counts() && commitment.is_for(&holding.pool)
        };
        let mut held: Vec<usize> = (0..holdings.len()).filter(of_it).collect();
        held.sort_by_key(|at| {
            let holding = &holdings[*at];
            let dearest = Reverse(holding.price.unwrap_or_default());
            (dearest, holding.slot.name.group, holding.launched_at, holding.slot)
        });
        for at in held.into_iter().take(commitment.count as usize) {
            holdings[at].covered = true;
        }
    }
    if inputs.desired.placement.hedge.is_some() {
        return;
    }
    for holding in holdings {
        let in_place_of_spot =
            holding.slot.name.group == Group::Burst && holding.pool.market == Market::OnDemand;
        if in_place_of_spot && !holding.covered && holding.standing == Standing::Good {
            holding.standing = Standing::Disallowed(Rejection::NotCommitted);
        }
    }
}

impl Field<'_> {
    /// Counts what a machine that is held adds to the bill.
    pub(crate) fn pay(&self, usage: &mut Usage, pool: &PoolId, price: MicroUsd) {
        usage.spend += match commitment_for(self.commitments, pool) {
            Some(commitment) => usage.committed[commitment as usize].add(price, 1),
            None => price,
        };
    }

    /// Whether a machine less of a candidate takes nothing off the bill.
    pub(crate) fn saves_nothing(&self, usage: &Usage, at: u32) -> bool {
        let commitment = self.candidates[at as usize].commitment;
        commitment.is_some_and(|commitment| {
            let covered = &usage.committed[commitment as usize];
            covered.machines() <= covered.count
        })
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
