//! What was bought ahead of time: machines that cost nothing more.
//!
//! A commitment is a matter of the bill, not of the launch: the machines are on-demand machines like
//! any others. So long as there are fewer of them than are paid for, one more costs nothing, and
//! comes before everything that is paid for by the hour.

use fleet_model::{Commitment, Inputs, MicroUsd, PoolId};
use std::collections::BTreeMap;

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

    /// Whether one machine less takes nothing off the bill.
    pub(crate) fn has_room(&self) -> bool {
        self.machines() <= self.count
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
