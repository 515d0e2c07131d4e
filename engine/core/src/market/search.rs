//! The exact search: steepest descent over single machines. Add one, drop one, move one.
//!
//! Slots of a pool are nested, so one machine more helps exactly when all before it are up: what it saves
//! follows from what the *other* pools leave missing. Those distributions are made once for each step of
//! the search, and every question after that is two lookups.

use crate::market::choice::Choice;
use crate::market::moved::Moved;
use crate::market::need::{Need, Portfolio};
use crate::market::shortage::{Survival, all_but_one};

/// Less than this is nothing.
const LEAST: f64 = 1e-9;
/// Moves between two pools that both hold machines look at four distributions; so many are looked at
/// closely, those that save most at first sight.
const CLOSE_LOOKS: usize = 6;

/// One step of the search.
#[derive(Debug, Clone, Copy, Default)]
struct Move {
    add: Option<usize>,
    drop: Option<usize>,
    /// How much more, or less, on demand.
    on_demand: isize,
}

/// The best step so far, and what it changes.
struct Best {
    change: f64,
    step: Option<Move>,
    /// Before the step.
    moved: Moved,
}

impl Best {
    fn consider(&mut self, search: &Search<'_>, change: f64, step: Move) {
        // Asked only where it can matter: moving never saves anything by itself.
        if change < self.change + search.need.moved * search.need.wanted as f64 {
            let change = change + search.need.moved * search.more_moved(self.moved, step);
            if change < self.change {
                (self.change, self.step) = (change, Some(step));
            }
        }
    }
}

pub(super) struct Search<'a> {
    pub(super) choices: &'a [Choice],
    pub(super) need: Need,
    pub(super) counts: Vec<usize>,
    pub(super) on_demand: usize,
}

/// One pool that holds something, and what of the others survives.
struct Active {
    at: usize,
    others: Survival,
}

impl Search<'_> {
    /// Goes down as far as single steps lead.
    pub(super) fn descend(mut self) -> Portfolio {
        let most = 4 * (self.need.wanted + self.choices.len()) + 64;
        for _ in 0..most {
            let Some(step) = self.best_move() else { break };
            self.take(step);
        }
        self.portfolio()
    }

    /// What it comes to.
    pub(super) fn portfolio(self) -> Portfolio {
        let all = self.survival(None).summed();
        let left = self.need.wanted.saturating_sub(self.on_demand);
        let missing = all.missing(left);
        Portfolio {
            cost: self.paid() + self.need.missing * missing + self.need.moved * self.moved().both(),
            missing,
            whole: (1.0 - all.short(left)).clamp(0.0, 1.0),
            counts: self.counts,
            on_demand: self.on_demand,
        }
    }

    fn paid(&self) -> f64 {
        let some = self.counts.iter().zip(self.choices).filter(|(count, _)| **count > 0);
        let pools: f64 = some.map(|(count, choice)| choice.cost(*count)).sum();
        pools + self.need.bought(self.on_demand)
    }

    fn moved(&self) -> Moved {
        Moved::of(self.choices, &self.counts, (self.need.held, self.on_demand))
    }

    /// How much more is moved after a step.
    fn more_moved(&self, before: Moved, step: Move) -> f64 {
        let then = self.on_demand.saturating_add_signed(step.on_demand);
        let mut after = before.with(self.need.held, 1, (self.on_demand, then));
        for (at, more) in [(step.add, 1), (step.drop, -1)] {
            let Some(at) = at else { continue };
            let (choice, count) = (&self.choices[at], self.counts[at]);
            let then = count.saturating_add_signed(more);
            after = after.with(choice.held, choice.weight, (count, then));
        }
        after.both() - before.both()
    }

    /// What survives of all of it, after a step.
    fn survival(&self, step: Option<Move>) -> Survival {
        let step = step.unwrap_or_default();
        let mut sum = Survival::nothing(self.need.wanted);
        for (at, choice) in self.choices.iter().enumerate() {
            let mut count = self.counts[at] + usize::from(step.add == Some(at));
            count -= usize::from(step.drop == Some(at));
            if count > 0 {
                sum = sum.with(choice, count);
            }
        }
        sum
    }

    fn take(&mut self, step: Move) {
        if let Some(at) = step.add {
            self.counts[at] += 1;
        }
        if let Some(at) = step.drop {
            self.counts[at] -= 1;
        }
        self.on_demand = self.on_demand.saturating_add_signed(step.on_demand);
    }

    /// The single step that saves most, if any does.
    fn best_move(&self) -> Option<Move> {
        let held: Vec<usize> = (0..self.counts.len()).filter(|&at| self.counts[at] > 0).collect();
        let pools: Vec<_> = held.iter().map(|&at| (&self.choices[at], self.counts[at])).collect();
        let others = all_but_one(&pools, self.need.wanted);
        let all = match (held.first(), others.first()) {
            (Some(&at), Some(others)) => others.with(&self.choices[at], self.counts[at]),
            _ => Survival::nothing(self.need.wanted),
        };
        let all = all.summed();
        let active: Vec<Active> =
            held.into_iter().zip(others).map(|(at, others)| Active { at, others }).collect();
        let mut best = Best { change: -LEAST, step: None, moved: self.moved() };
        self.on_demand_alone(&all, &mut best);
        // What one more of each pool that holds some would change, for moves between those.
        let mut added = Vec::with_capacity(active.len());
        let room = self.have() < 2 * self.need.wanted;
        for pool in &active {
            added.push(self.add(pool.at, &pool.others, &all, room, &mut best));
        }
        for at in (0..self.choices.len()).filter(|&at| self.counts[at] == 0) {
            self.add(at, &all, &all, room, &mut best);
        }
        self.drops(&active, &all, &added, &mut best);
        best.step
    }

    fn have(&self) -> usize {
        self.counts.iter().zip(self.choices).map(|(n, c)| n * c.weight).sum()
    }

    fn left(&self) -> usize {
        self.need.wanted.saturating_sub(self.on_demand)
    }

    /// More or less on demand, and nothing else.
    fn on_demand_alone(&self, all: &Survival, best: &mut Best) {
        let bought = self.need.bought(self.on_demand);
        let now = all.missing(self.left());
        if self.need.sells(self.on_demand + 1) {
            let on_demand = self.on_demand + 1;
            let left = self.need.wanted.saturating_sub(on_demand);
            let change = self.need.bought(on_demand) - bought
                + self.need.missing * (all.missing(left) - now);
            best.consider(self, change, Move { on_demand: 1, ..Move::default() });
        }
        if let Some(on_demand) = self.on_demand.checked_sub(1) {
            let left = self.need.wanted.saturating_sub(on_demand);
            let change = self.need.bought(on_demand) - bought
                + self.need.missing * (all.missing(left) - now);
            best.consider(self, change, Move { on_demand: -1, ..Move::default() });
        }
    }

    /// One more of a pool, alone and in the place of on-demand. Tells what it changes alone.
    fn add(
        &self,
        at: usize,
        others: &Survival,
        all: &Survival,
        room: bool,
        best: &mut Best,
    ) -> f64 {
        let choice = &self.choices[at];
        let Some(slot) = choice.slot(self.counts[at]) else { return f64::INFINITY };
        if !room {
            return slot.cost;
        }
        let carried = self.counts[at] * choice.weight;
        let saved = |left: usize| {
            slot.stays * others.missing_without(left.saturating_sub(carried), choice.weight)
        };
        let left = self.left();
        let add = Move { add: Some(at), ..Move::default() };
        let alone = slot.cost - self.need.missing * saved(left);
        best.consider(self, alone, add);
        let swap = choice.weight.min(self.on_demand);
        if swap > 0 {
            let less = self.on_demand - swap;
            let wider = self.need.wanted.saturating_sub(less);
            let short = all.missing(wider) - saved(wider) - all.missing(left);
            let paid = self.need.bought(less) - self.need.bought(self.on_demand);
            let change = slot.cost + paid + self.need.missing * short;
            best.consider(self, change, Move { on_demand: -(swap as isize), ..add });
        }
        alone
    }

    /// One less of a pool: alone, for on-demand, and for one more of another.
    fn drops(&self, active: &[Active], all: &Survival, added: &[f64], best: &mut Best) {
        let left = self.left();
        let now = all.missing(left);
        let mut between: Vec<(f64, Move)> = Vec::new();
        for pool in active {
            let at = pool.at;
            let choice = &self.choices[at];
            let count = self.counts[at];
            let Some(slot) = choice.slot(count - 1) else { continue };
            let drop = Move { drop: Some(at), ..Move::default() };
            let without = pool.others.with(choice, count - 1).summed();
            let alone = self.need.missing * (without.missing(left) - now) - slot.cost;
            best.consider(self, alone, drop);
            if self.need.sells(self.on_demand + choice.weight) {
                let more = self.on_demand + choice.weight;
                let narrower = self.need.wanted.saturating_sub(more);
                let short = without.missing(narrower) - now;
                let paid = self.need.bought(more) - self.need.bought(self.on_demand);
                let change = paid - slot.cost + self.need.missing * short;
                best.consider(self, change, Move { on_demand: choice.weight as isize, ..drop });
            }
            for (to, other) in self.choices.iter().enumerate() {
                if to == at || self.counts[to] > 0 {
                    continue;
                }
                let Some(first) = other.slot(0) else { continue };
                let saved = first.stays * without.missing_without(left, other.weight);
                let change = alone + first.cost - self.need.missing * saved;
                best.consider(self, change, Move { add: Some(to), ..drop });
            }
            for (to, change) in active.iter().zip(added) {
                if to.at != at && change.is_finite() {
                    between.push((alone + change, Move { add: Some(to.at), ..drop }));
                }
            }
        }
        between.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for &(_, step) in between.iter().take(CLOSE_LOOKS) {
            let (Some(add), Some(drop)) = (step.add, step.drop) else { continue };
            let (added, dropped) = (
                self.choices[add].slot(self.counts[add]),
                self.choices[drop].slot(self.counts[drop] - 1),
            );
            let (Some(added), Some(dropped)) = (added, dropped) else { continue };
            let short = self.survival(Some(step)).summed().missing(left) - now;
            best.consider(self, added.cost - dropped.cost + self.need.missing * short, step);
        }
    }
}
