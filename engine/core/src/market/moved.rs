//! How much of a fleet is moved: ended here and launched anew there.
//!
//! The work on a machine ends with it, so moving has a price that is paid once. A machine that comes
//! because some are missing, or goes because it is one too many, is no move.

use crate::market::choice::Choice;

/// From on-demand back to spot, what is paid twice counts for so much: it must pay within twelve hours and
/// not three. What spot saves lasts; within three hours nobody who looks once an hour would ever come back.
const FROM_ON_DEMAND: f64 = 0.25;

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

    /// Of what is moved.
    pub(super) fn of(self, moved: Moved) -> f64 {
        let all = moved.both() as f64;
        self.work * all + self.beside(all - (1.0 - FROM_ON_DEMAND) * moved.released() as f64)
    }

    /// Of so many units, the time that they are paid for beside their successors.
    fn beside(self, units: f64) -> f64 {
        let Fare { overlap, at_once, .. } = self;
        let looks = (units / at_once).floor();
        let rest = units - looks * at_once;
        overlap * (at_once * looks / 2.0 + rest) * (looks + 1.0)
    }
}

/// Units that are new, and held ones that go. What is both is moved.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    new: usize,
    gone: usize,
    /// What of `gone` was on demand.
    released: usize,
}

impl Moved {
    /// Of all pools, and of what was and is on demand.
    pub(super) fn of(choices: &[Choice], counts: &[usize], (held, count): (usize, usize)) -> Self {
        let mut moved = Moved::default();
        moved.release(held, count);
        for (choice, count) in choices.iter().zip(counts) {
            moved.count(choice.held, *count, choice.weight);
        }
        moved
    }

    fn release(&mut self, held: usize, count: usize) {
        self.count(held, count, 1);
        self.released = held.saturating_sub(count);
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

    /// The same, with so much on demand in the place of `count`.
    pub(super) fn with_on_demand(mut self, held: usize, (count, then): (usize, usize)) -> Self {
        self = self.with(held, 1, (count, then));
        self.released = held.saturating_sub(then);
        self
    }

    /// As many as are new go: those are moved. What only comes, or only goes, is not.
    fn both(self) -> usize {
        self.new.min(self.gone)
    }

    /// How many of those that are moved were on demand.
    fn released(self) -> usize {
        self.released.min(self.both())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_its_turn_is_paid_for_longer() {
        let fare = Fare { work: 1.0, overlap: 10.0, at_once: 2.0 };
        let moved = |units| Moved { new: units, gone: units, released: 0 };
        let found: Vec<f64> = (0..6).map(|units| fare.of(moved(units))).collect();
        // Two at the next look, two at the one after, and so on.
        assert_eq!(found, [0.0, 11.0, 22.0, 43.0, 64.0, 95.0]);
        assert_eq!(Fare::FREE.of(moved(7)), 0.0);
        // Four that were on demand wait like one, and lose as much work as others. What only goes costs nothing.
        assert_eq!(fare.of(Moved { released: 4, ..moved(4) }), 4.0 + 10.0);
        assert_eq!(fare.of(Moved { new: 0, gone: 4, released: 4 }), 0.0);
    }
}
