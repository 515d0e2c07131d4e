//! How much of a fleet is moved: ended here and launched anew there.
//!
//! The work on a machine ends with it, so moving has a price that is paid once. A machine that comes
//! because some are missing, or goes because it is one too many, is no move.

use crate::market::choice::Choice;

/// What moving costs, per hour of those that must pay for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fare {
    /// Of one unit: the work that ends with it.
    pub work: f64,
    /// Of one unit, for each look: until somebody looks again it is paid for beside its successor.
    pub overlap: f64,
    /// Only so many end at a look; the next ones are paid for twice as long, and so on.
    pub at_once: f64,
}

impl Fare {
    /// Nothing costs anything.
    #[cfg(test)]
    pub(super) const FREE: Self = Fare { work: 0.0, overlap: 0.0, at_once: 1.0 };

    /// Of so many units.
    pub(super) fn of(self, units: f64) -> f64 {
        let Fare { work, overlap, at_once } = self;
        let looks = (units / at_once).floor();
        let rest = units - looks * at_once;
        let beside = (at_once * looks / 2.0 + rest) * (looks + 1.0);
        work * units + overlap * beside
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_its_turn_is_paid_for_longer() {
        let fare = Fare { work: 1.0, overlap: 10.0, at_once: 2.0 };
        let found: Vec<f64> = (0..6).map(|units| fare.of(f64::from(units))).collect();
        // Two at the next look, two at the one after, and so on.
        assert_eq!(found, [0.0, 11.0, 22.0, 43.0, 64.0, 95.0]);
        assert_eq!(Fare::FREE.of(7.0), 0.0);
    }
}
