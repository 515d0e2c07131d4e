//! The distribution of what survives, and what is missing then. Exact: pools fail independently of each
//! other, the slots of one pool together.

use crate::market::choice::Choice;

/// Chances of what survives, up to what is wanted; what is more counts as that.
#[derive(Debug, Clone)]
pub(super) struct Survival {
    chances: Vec<f64>,
    /// Sums of sums of chances, for questions about what is missing.
    below: Vec<f64>,
}

impl Survival {
    /// Nothing, of at most `wanted`.
    pub(super) fn nothing(wanted: usize) -> Self {
        let mut chances = vec![0.0; wanted + 1];
        chances[0] = 1.0;
        Survival { chances, below: Vec::new() }
    }

    /// The same, with `count` machines of a pool besides.
    pub(super) fn with(&self, choice: &Choice, count: usize) -> Self {
        let wanted = self.chances.len() - 1;
        let mut chances = vec![0.0; wanted + 1];
        for (survive, chance) in choice.survivors(count) {
            if survive > wanted {
                chances[wanted] += chance;
                continue;
            }
            let (low, high) = self.chances.split_at(wanted + 1 - survive);
            for (sum, before) in chances[survive..].iter_mut().zip(low) {
                *sum += before * chance;
            }
            chances[wanted] += chance * high.iter().sum::<f64>();
        }
        Survival { chances, below: Vec::new() }
    }

    /// Ready for questions.
    pub(super) fn summed(mut self) -> Self {
        let (mut sum, mut of_sums) = (0.0, 0.0);
        let add = |chance: &f64| {
            sum += chance;
            of_sums += sum;
            of_sums
        };
        self.below = self.chances.iter().map(add).collect();
        self
    }

    /// How much of `wanted` is expected to be missing.
    pub(super) fn missing(&self, wanted: usize) -> f64 {
        match wanted {
            0 => 0.0,
            wanted => self.below[wanted - 1],
        }
    }

    /// How much less of `wanted` is missing if `more` is there for certain.
    pub(super) fn missing_without(&self, wanted: usize, more: usize) -> f64 {
        self.missing(wanted) - self.missing(wanted.saturating_sub(more))
    }

    /// Chance that less than `wanted` survives.
    pub(super) fn short(&self, wanted: usize) -> f64 {
        match wanted {
            0 => 0.0,
            1 => self.below[0],
            wanted => self.below[wanted - 1] - self.below[wanted - 2],
        }
    }
}

/// What survives of all of some pools but one, for each of them. Half of them are added at a time, so
/// that every sum is used for as many as possible.
pub(super) fn all_but_one(pools: &[(&Choice, usize)], wanted: usize) -> Vec<Survival> {
    let mut found = Vec::with_capacity(pools.len());
    halves(pools, Survival::nothing(wanted), &mut found);
    found
}

fn halves(pools: &[(&Choice, usize)], others: Survival, found: &mut Vec<Survival>) {
    match pools {
        [] => {}
        [_] => found.push(others.summed()),
        _ => {
            let (first, second) = pools.split_at(pools.len() / 2);
            let with = |some: &[(&Choice, usize)]| {
                some.iter().fold(others.clone(), |sum, (choice, count)| sum.with(choice, *count))
            };
            halves(first, with(second), found);
            halves(second, with(first), found);
        }
    }
}
