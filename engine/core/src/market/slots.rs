//! The slots of each pool that a step of the search would take or give. They change only where a count does.

use crate::market::choice::{Choice, Step};

const NO_SLOT: Step = Step { slots: 0, stays: 0.0, cost: 0.0 };

/// The slots of all pools, one pool after the other.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) size: usize,
    slots: Vec<Step>,
    /// What they cost together, where there are so many.
    cost: Vec<Option<f64>>,
}

impl Slots {
    /// None, of so many pools.
    pub(super) fn clear(&mut self, size: usize, pools: usize) {
        self.size = size;
        self.slots.clear();
        self.slots.resize(size * pools, NO_SLOT);
        self.cost.clear();
        self.cost.resize(pools, None);
    }

    /// The slots of a pool after the first so many.
    pub(super) fn look_up(&mut self, at: usize, choice: &Choice, first: Option<usize>) {
        let size = self.size;
        let first = first.filter(|first| first + size <= choice.most());
        self.cost[at] = first.map(|first| {
            let slots = &mut self.slots[at * size..][..size];
            for (nth, slot) in slots.iter_mut().enumerate() {
                *slot = choice.slot(first + nth).unwrap_or(NO_SLOT);
            }
            slots.iter().map(|slot| slot.cost).sum()
        });
    }

    /// Those of a pool and what they cost together, if there are so many.
    pub(super) fn of(&self, at: usize) -> Option<(&[Step], f64)> {
        Some((&self.slots[at * self.size..][..self.size], self.cost[at]?))
    }
}
