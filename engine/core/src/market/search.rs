//! Where the exact search stands: so many machines of each pool, so much on demand, and what that comes to.

use crate::market::choice::Choice;
use crate::market::moved::Moved;
use crate::market::need::{Need, Portfolio};
use crate::market::shortage::{Losses, Pool};

pub(super) struct Search<'a> {
    pub(super) choices: &'a [Choice],
    pub(super) need: Need,
    pub(super) counts: Vec<usize>,
    pub(super) on_demand: usize,
}

impl Search<'_> {
    /// What it comes to.
    pub(super) fn portfolio(self) -> Portfolio {
        let pools = self.pools();
        self.come_to(&pools)
    }

    pub(super) fn pools(&self) -> Vec<Pool> {
        let all = self.choices.iter().zip(&self.counts);
        all.map(|(choice, count)| Pool::new(choice, *count)).collect()
    }

    pub(super) fn come_to(self, pools: &[Pool]) -> Portfolio {
        let spares = self.spares(self.left());
        let all = Losses::of(pools.iter(), usize::try_from(spares).unwrap_or(0));
        let missing = all.beyond(spares).max(0.0);
        Portfolio {
            cost: self.paid() + self.need.missing * missing + self.need.moving.of(self.moved()),
            missing,
            whole: all.whole(spares).clamp(0.0, 1.0),
            counts: self.counts,
            on_demand: self.on_demand,
        }
    }

    fn paid(&self) -> f64 {
        let some = self.counts.iter().zip(self.choices).filter(|(count, _)| **count > 0);
        let pools: f64 = some.map(|(count, choice)| choice.cost(*count)).sum();
        pools + self.need.bought(self.on_demand)
    }

    pub(super) fn moved(&self) -> Moved {
        Moved::of(self.choices, &self.counts, (self.need.held, self.on_demand))
    }

    pub(super) fn have(&self) -> usize {
        self.counts.iter().zip(self.choices).map(|(n, c)| n * c.weight).sum()
    }

    pub(super) fn left(&self) -> usize {
        self.need.wanted.saturating_sub(self.on_demand)
    }

    /// How much more than this is held. Below nought: less.
    pub(super) fn spares(&self, left: usize) -> isize {
        self.have() as isize - left as isize
    }
}
