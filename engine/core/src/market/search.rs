//! The exact search: steepest descent over single machines. Add one, drop one, move one. Where many steps
//! lead one way in a large fleet, several machines at a time, and single ones at the end.
//!
//! Slots of a pool are nested, so one machine more helps exactly when all before it are up: what it saves
//! follows from what the *other* pools lose. Those distributions are made once for each step of the
//! search, and every question after that is a few lookups.

use crate::market::choice::{Choice, Step};
use crate::market::moved::Moved;
use crate::market::need::{Need, Portfolio};
use crate::market::shortage::{Losses, Pool};

/// Less than this is nothing, as a share of what one missing costs: so much is lost to rounding.
const LEAST: f64 = 1e-12;
/// Moves between two pools that both hold machines look at what the others lose without both; so many are
/// looked at closely, those that save most at first sight.
const CLOSE_LOOKS: usize = 6;

/// Up to twice as many machines, all steps are single ones: then they are few enough.
const SINGLE: usize = 48;
/// After so many steps that led somewhere, twice as many machines at a time.
const STEPS: usize = 4;

/// One step of the search.
#[derive(Debug, Clone, Copy, Default)]
struct Move {
    add: Option<usize>,
    drop: Option<usize>,
    /// How many machines are added, dropped or moved.
    size: usize,
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

/// One pool that holds something, and what the others lose.
struct Active<'a> {
    at: usize,
    pool: &'a Pool,
    others: Losses,
}

impl Search<'_> {
    /// Goes down as far as single steps lead.
    pub(super) fn descend(mut self) -> Portfolio {
        let most = 4 * (self.need.wanted + self.choices.len()) + 64;
        let mut pools = self.pools();
        let largest = (self.need.wanted / SINGLE).max(1);
        let (mut size, mut steps) = (1, 0);
        for _ in 0..most {
            let Some(step) = self.best_move(&pools, size) else {
                if size == 1 {
                    break;
                }
                (size, steps) = (size / 2, 0);
                continue;
            };
            self.take(step);
            for at in [step.add, step.drop].into_iter().flatten() {
                pools[at] = Pool::new(&self.choices[at], self.counts[at]);
            }
            steps += 1;
            if steps == STEPS && 2 * size <= largest {
                (size, steps) = (2 * size, 0);
            }
        }
        self.come_to(&pools)
    }

    /// What it comes to.
    pub(super) fn portfolio(self) -> Portfolio {
        let pools = self.pools();
        self.come_to(&pools)
    }

    fn pools(&self) -> Vec<Pool> {
        let all = self.choices.iter().zip(&self.counts);
        all.map(|(choice, count)| Pool::new(choice, *count)).collect()
    }

    fn come_to(self, pools: &[Pool]) -> Portfolio {
        let spares = self.spares(self.left());
        let all = Losses::of(pools.iter(), usize::try_from(spares).unwrap_or(0));
        let missing = all.beyond(spares).max(0.0);
        Portfolio {
            cost: self.paid() + self.need.missing * missing + self.need.moved * self.moved().both(),
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

    fn moved(&self) -> Moved {
        Moved::of(self.choices, &self.counts, (self.need.held, self.on_demand))
    }

    /// How much more is moved after a step.
    fn more_moved(&self, before: Moved, step: Move) -> f64 {
        let then = self.on_demand.saturating_add_signed(step.on_demand);
        let mut after = before.with(self.need.held, 1, (self.on_demand, then));
        let size = step.size as isize;
        for (at, more) in [(step.add, size), (step.drop, -size)] {
            let Some(at) = at else { continue };
            let (choice, count) = (&self.choices[at], self.counts[at]);
            let then = count.saturating_add_signed(more);
            after = after.with(choice.held, choice.weight, (count, then));
        }
        after.both() - before.both()
    }

    fn take(&mut self, step: Move) {
        if let Some(at) = step.add {
            self.counts[at] += step.size;
        }
        if let Some(at) = step.drop {
            self.counts[at] -= step.size;
        }
        self.on_demand = self.on_demand.saturating_add_signed(step.on_demand);
    }

    /// The step of so many machines that saves most, if any does.
    fn best_move(&self, pools: &[Pool], size: usize) -> Option<Move> {
        // No step changes the number of spares by more than what comes and what goes.
        let heaviest = self.choices.iter().map(|choice| choice.weight).max().unwrap_or(1).max(1);
        let most = usize::try_from(self.spares(self.left())).unwrap_or(0) + 2 * size * heaviest;
        let held = |at: &usize| self.counts[*at] > 0;
        let all = Losses::of((0..pools.len()).filter(held).map(|at| &pools[at]), most);
        let active = |at: usize| {
            let others = (0..pools.len()).filter(|&other| held(&other) && other != at);
            let others = all.without(&pools[at], others.map(|at| &pools[at]));
            Active { at, pool: &pools[at], others }
        };
        let active: Vec<Active<'_>> = (0..pools.len()).filter(held).map(active).collect();
        let least = LEAST * self.need.missing;
        let mut best = Best { change: -least, step: None, moved: self.moved() };
        self.on_demand_alone(&all, size, &mut best);
        // What one more of each pool that holds some would change, for moves between those.
        let mut added = Vec::with_capacity(active.len());
        let room = self.have() + size - 1 < 2 * self.need.wanted;
        for pool in &active {
            added.push(self.add((pool.at, size), &pool.others, &all, room, &mut best));
        }
        for at in (0..self.choices.len()).filter(|&at| self.counts[at] == 0) {
            self.add((at, size), &all, &all, room, &mut best);
        }
        self.drops(&active, size, &all, &added, &mut best);
        best.step
    }

    fn have(&self) -> usize {
        self.counts.iter().zip(self.choices).map(|(n, c)| n * c.weight).sum()
    }

    fn left(&self) -> usize {
        self.need.wanted.saturating_sub(self.on_demand)
    }

    /// How much more than this is held. Below nought: less.
    fn spares(&self, left: usize) -> isize {
        self.have() as isize - left as isize
    }

    /// More or less on demand, and nothing else.
    fn on_demand_alone(&self, all: &Losses, size: usize, best: &mut Best) {
        let bought = self.need.bought(self.on_demand);
        let now = all.beyond(self.spares(self.left()));
        let mut consider = |on_demand: usize, step: isize| {
            let left = self.need.wanted.saturating_sub(on_demand);
            let short = all.beyond(self.spares(left)) - now;
            let change = self.need.bought(on_demand) - bought + self.need.missing * short;
            best.consider(self, change, Move { on_demand: step, ..Move::default() });
        };
        if self.need.sells(self.on_demand + size) {
            consider(self.on_demand + size, size as isize);
        }
        if let Some(on_demand) = self.on_demand.checked_sub(size) {
            consider(on_demand, -(size as isize));
        }
    }

    /// The slots after the first `count` of a pool, if there are so many.
    fn next(
        &self,
        at: usize,
        count: usize,
        size: usize,
    ) -> Option<impl Iterator<Item = Step> + Clone> {
        let choice = &self.choices[at];
        choice.slot(count + size - 1)?;
        Some((count..count + size).filter_map(|nth| choice.slot(nth)))
    }

    /// More of a pool, alone and in the place of on-demand. Tells what it changes alone.
    fn add(
        &self,
        (at, size): (usize, usize),
        others: &Losses,
        all: &Losses,
        room: bool,
        best: &mut Best,
    ) -> f64 {
        let choice = &self.choices[at];
        let Some(slots) = self.next(at, self.counts[at], size) else { return f64::INFINITY };
        let cost: f64 = slots.clone().map(|slot| slot.cost).sum();
        let saved = |spares| saved(slots.clone(), choice.weight, spares, |s| others.beyond(s));
        let spares = self.spares(self.left());
        let add = Move { add: Some(at), size, ..Move::default() };
        let alone = cost - self.need.missing * saved(spares);
        if !room {
            return alone;
        }
        best.consider(self, alone, add);
        let swap = (size * choice.weight).min(self.on_demand);
        if swap > 0 {
            let less = self.on_demand - swap;
            let fewer = self.spares(self.need.wanted.saturating_sub(less));
            let short = all.beyond(fewer) - saved(fewer) - all.beyond(spares);
            let paid = self.need.bought(less) - self.need.bought(self.on_demand);
            let change = cost + paid + self.need.missing * short;
            best.consider(self, change, Move { on_demand: -(swap as isize), ..add });
        }
        alone
    }

    /// Less of a pool: alone, for on-demand, and for as many more of another.
    fn drops(
        &self,
        active: &[Active<'_>],
        size: usize,
        all: &Losses,
        added: &[f64],
        best: &mut Best,
    ) {
        let spares = self.spares(self.left());
        let now = all.beyond(spares);
        let mut closest = Closest::default();
        for (from, pool) in active.iter().enumerate() {
            let at = pool.at;
            let choice = &self.choices[at];
            let Some(count) = self.counts[at].checked_sub(size) else { continue };
            let Some(slots) = self.next(at, count, size) else { continue };
            let cost: f64 = slots.clone().map(|slot| slot.cost).sum();
            let drop = Move { drop: Some(at), size, ..Move::default() };
            let carried = (size * choice.weight) as isize;
            // Missing without them. Each matters exactly when it is up.
            let without = |spares: isize| {
                let fewer = spares - carried;
                let lost = saved(slots.clone(), choice.weight, fewer, |s| pool.others.beyond(s));
                all.beyond(spares) + lost
            };
            let alone = self.need.missing * (without(spares) - now) - cost;
            best.consider(self, alone, drop);
            let more = self.on_demand + size * choice.weight;
            if self.need.sells(more) {
                let narrower = self.spares(self.need.wanted.saturating_sub(more));
                let short = without(narrower) - now;
                let paid = self.need.bought(more) - self.need.bought(self.on_demand);
                let change = paid - cost + self.need.missing * short;
                best.consider(self, change, Move { on_demand: carried, ..drop });
            }
            for (to, other) in self.choices.iter().enumerate() {
                if to == at || self.counts[to] > 0 {
                    continue;
                }
                let Some(first) = self.next(to, 0, size) else { continue };
                let cost: f64 = first.clone().map(|slot| slot.cost).sum();
                let change =
                    alone + cost - self.need.missing * saved(first, other.weight, spares, without);
                best.consider(self, change, Move { add: Some(to), ..drop });
            }
            for (to, change) in added.iter().enumerate() {
                if to != from && change.is_finite() {
                    closest.consider(Between { from, to, change: alone + change });
                }
            }
        }
        for between in closest.0 {
            let (from, to) = (&active[between.from], &active[between.to]);
            let change = between.change + self.need.missing * self.cross(active, size, from, to);
            let step = Move { add: Some(to.at), drop: Some(from.at), size, on_demand: 0 };
            best.consider(self, change, step);
        }
    }

    /// What is missing because slots of a move matter at once: those that go, and those that come.
    fn cross(&self, active: &[Active<'_>], size: usize, from: &Active<'_>, to: &Active<'_>) -> f64 {
        let rest = active.iter().filter(|one| one.at != from.at && one.at != to.at);
        let rest = from.others.without(to.pool, rest.map(|one| one.pool));
        let going = self.next(from.at, self.counts[from.at] - size, size);
        let coming = self.next(to.at, self.counts[to.at], size);
        let (Some(going), Some(coming)) = (going, coming) else { return 0.0 };
        let (source, target) = (self.choices[from.at].weight, self.choices[to.at].weight);
        let spares = self.spares(self.left());
        // What those that come save without those that go, and what they save beside them.
        let without = |spares: isize| {
            let fewer = spares - (size * source) as isize;
            saved(going.clone(), source, fewer, |s| rest.beyond(s))
        };
        -saved(coming, target, spares, without)
    }
}

/// What slots save one after the other, where `missing` tells what is missing with so many spares: each
/// helps exactly when it is up.
fn saved(
    slots: impl Iterator<Item = Step>,
    weight: usize,
    spares: isize,
    missing: impl Fn(isize) -> f64,
) -> f64 {
    let weight = weight as isize;
    slots
        .zip(0..)
        .map(|(slot, nth)| {
            let before = spares + nth * weight;
            slot.stays * (missing(before) - missing(before + weight))
        })
        .sum()
}

/// A move between two pools that hold machines, by their positions among those, and what it changes at
/// first sight.
#[derive(Debug, Clone, Copy)]
struct Between {
    from: usize,
    to: usize,
    change: f64,
}

/// The moves that save most at first sight, the best first.
#[derive(Default)]
struct Closest(Vec<Between>);

impl Closest {
    fn consider(&mut self, between: Between) {
        let full = self.0.len() == CLOSE_LOOKS;
        if full && self.0.last().is_some_and(|last| last.change <= between.change) {
            return;
        }
        let rank = self.0.partition_point(|other| other.change <= between.change);
        self.0.truncate(CLOSE_LOOKS - 1);
        self.0.insert(rank, between);
    }
}
