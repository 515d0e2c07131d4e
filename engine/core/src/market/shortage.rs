//! The distribution of what is lost, and what is missing then. Exact: pools fail independently of each
//! other, the slots of one pool together.
//!
//! Losses are counted, not survivors, and only as far as there are spares: what is missing beyond that
//! follows from the mean. So it costs as much as there are spares, however large the fleet is.

use crate::market::choice::Choice;

/// A pool is taken out of a sum by division where it is whole more often than this. Below, the error of
/// each term would grow into the next.
pub(super) const WHOLE: f64 = 0.6;

/// One pool in a sum: how much it loses, and how likely that is. What differs is listed, the least first.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    pub(super) whole: f64,
    pub(super) losses: Vec<(usize, f64)>,
    pub(super) mean: f64,
}

impl Pool {
    /// So many machines of a pool.
    pub(super) fn new(choice: &Choice, count: usize) -> Self {
        if count == 0 {
            return Pool { whole: 1.0, ..Pool::default() };
        }
        let carried = count * choice.weight;
        let mut losses: Vec<(usize, f64)> = Vec::with_capacity(choice.steps().len() + 1);
        let lost = choice.survivors(count).map(|(survive, chance)| (carried - survive, chance));
        losses.extend(lost);
        losses.reverse();
        let mean = losses.iter().map(|(lost, chance)| *lost as f64 * chance).sum();
        let whole = match losses.first() {
            Some((0, chance)) => *chance,
            _ => 0.0,
        };
        losses.retain(|(lost, _)| *lost > 0);
        Pool { whole, losses, mean }
    }
}

/// Chances of losses up to some amount, and their mean, which knows of those beyond.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) chances: Vec<f64>,
    pub(super) mean: f64,
    /// Sums of sums of chances, for questions about what is missing.
    pub(super) below: Vec<f64>,
}

impl Clone for Losses {
    fn clone(&self) -> Self {
        let mut other = Losses::default();
        other.clone_from(self);
        other
    }

    /// Into the place of what is there.
    fn clone_from(&mut self, of: &Self) {
        let Losses { chances, mean, below } = of;
        self.chances.clone_from(chances);
        self.mean = *mean;
        self.below.clone_from(below);
    }
}

impl Losses {
    /// Of some pools together, for questions about up to `most` spares.
    pub(super) fn of<'a>(pools: impl Iterator<Item = &'a Pool>, most: usize) -> Self {
        let mut losses = Losses::default();
        losses.fill(pools, most);
        losses
    }

    /// The same, in the place of what is here.
    pub(super) fn fill<'a>(&mut self, pools: impl Iterator<Item = &'a Pool>, most: usize) {
        for all in [&mut self.chances, &mut self.below] {
            all.clear();
            all.resize(most + 1, 0.0);
        }
        self.chances[0] = 1.0;
        self.mean = 0.0;
        for pool in pools {
            self.join(pool);
        }
        self.sum_up();
    }

    /// With one more pool. Sums are not brought up to date.
    pub(super) fn join(&mut self, pool: &Pool) {
        let Losses { chances, mean, below: before } = self;
        let most = chances.len() - 1;
        *mean += pool.mean;
        std::mem::swap(chances, before);
        for (then, now) in chances.iter_mut().zip(&*before) {
            *then = now * pool.whole;
        }
        for &(lost, chance) in pool.losses.iter().take_while(|(lost, _)| *lost <= most) {
            for (then, now) in chances[lost..].iter_mut().zip(&*before) {
                *then += now * chance;
            }
        }
    }

    /// What `all` are without one of their pools. `others` are the rest of them.
    pub(super) fn fill_without<'a>(
        &mut self,
        all: &Losses,
        pool: &Pool,
        others: impl Iterator<Item = &'a Pool>,
    ) {
        let most = all.chances.len() - 1;
        if pool.whole < WHOLE {
            self.fill(others, most);
            return;
        }
        let Losses { chances, mean, below } = self;
        chances.resize(most + 1, 0.0);
        below.resize(most + 1, 0.0);
        let per_whole = 1.0 / pool.whole;
        let (mut sum, mut of_sums, mut reaches) = (0.0, 0.0, 0);
        for (at, together) in all.chances.iter().enumerate() {
            while pool.losses.get(reaches).is_some_and(|(lost, _)| *lost <= at) {
                reaches += 1;
            }
            let (known, rest) = chances.split_at_mut(at);
            let mut found = *together;
            for (lost, chance) in pool.losses[..reaches].iter().rev() {
                found -= known[at - lost] * chance;
            }
            found *= per_whole;
            rest[0] = found;
            sum += found;
            of_sums += sum;
            below[at] = of_sums;
        }
        *mean = all.mean - pool.mean;
    }

    /// The most by which a sum of chances can grow when a pool is taken out of what is lost: a chance of
    /// what the others lose is in the sum of all together, times the chance that the pool is whole.
    pub(super) fn at_most_without(pool: &Pool) -> f64 {
        1.0 / pool.whole
    }

    pub(super) fn sum_up(&mut self) {
        let (mut sum, mut of_sums) = (0.0, 0.0);
        for (below, chance) in self.below.iter_mut().zip(&self.chances) {
            sum += chance;
            of_sums += sum;
            *below = of_sums;
        }
    }

    /// How much is expected to be missing with so many spares: losses beyond them. Below nought: so much
    /// is missing already.
    pub(super) fn beyond(&self, spares: isize) -> f64 {
        let met = match usize::try_from(spares) {
            Ok(0) | Err(_) => 0.0,
            Ok(spares) => self.below[spares - 1],
        };
        self.mean - spares as f64 + met
    }

    /// Chance that nothing is missing with so many spares.
    pub(super) fn whole(&self, spares: isize) -> f64 {
        let Ok(spares) = usize::try_from(spares) else { return 0.0 };
        self.chances[..=spares].iter().sum()
    }
}
