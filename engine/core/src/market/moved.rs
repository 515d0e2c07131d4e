//! How much of a fleet is moved: ended here and launched anew there.
//!
//! The work on a machine ends with it, so moving has a price that is paid once. A machine that comes
//! because some are missing, or goes because it is one too many, is no move.

use crate::market::choice::Choice;

/// Units that are new, and held ones that go. What is both is moved.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    new: usize,
    gone: usize,
}

impl Moved {
    /// Of all pools, and of what was and is on demand.
    pub(super) fn of(choices: &[Choice], counts: &[usize], (held, count): (usize, usize)) -> Self {
        let mut moved = Moved::default();
        moved.count(held, count, 1);
        for (choice, count) in choices.iter().zip(counts) {
            moved.count(choice.held, *count, choice.weight);
        }
        moved
    }

    fn count(&mut self, held: usize, count: usize, weight: usize) {
        self.new += count.saturating_sub(held) * weight;
        self.gone += held.saturating_sub(count) * weight;
    }

    /// The same, with the count of one pool no longer `count` but another.
    pub(super) fn with(
        mut self,
        held: usize,
        weight: usize,
        (count, then): (usize, usize),
    ) -> Self {
        self.new -= count.saturating_sub(held) * weight;
        self.gone -= held.saturating_sub(count) * weight;
        self.count(held, then, weight);
        self
    }

    /// As many as are new go: those are moved. What only comes, or only goes, is not.
    pub(super) fn both(self) -> f64 {
        self.new.min(self.gone) as f64
    }
}
