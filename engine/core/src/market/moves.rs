//! The steps of the search: what adding, dropping or moving some machines changes.
//!
//! Slots of a pool are nested, so one machine more helps exactly when all before it are up: what it saves
//! follows from what the *other* pools lose. Those distributions are made once for each step of the
//! search, and every question after that is a few lookups. They lie on a bench that all steps share:
//! a replay looks at thousands of them in a second.

use crate::market::apart::Apart;
use crate::market::choice::Step;
use crate::market::moved::Moved;
use crate::market::search::Search;
use crate::market::shortage::{Losses, Pool};
use crate::market::slots::Slots;

/// Less than this is nothing, as a share of what one missing costs: so much is lost to rounding.
const LEAST: f64 = 1e-12;
/// What may be lost to rounding of a bound.
const ROUNDED: f64 = 1.0 + 1e-9;
/// Moves between two pools that both hold machines look at what the others lose without both; so many are
/// looked at closely, those that save most at first sight.
const CLOSE_LOOKS: usize = 6;

/// One step of the search.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Move {
    pub(super) add: Option<usize>,
    pub(super) drop: Option<usize>,
    /// How many machines are added, dropped or moved.
    pub(super) size: usize,
    /// How much more, or less, on demand.
    pub(super) on_demand: isize,
}

/// What is used again from step to step.
#[derive(Default)]
pub(super) struct Bench {
    all: Losses,
    /// Without each of the pools that hold something, in their order.
    others: Vec<Losses>,
    apart: Apart,
    /// Without two of them.
    rest: Losses,
    coming: Slots,
    going: Slots,
    /// Positions of the pools that hold something, and of the others.
    active: Vec<usize>,
    idle: Vec<usize>,
    /// What one more of each that holds something would change.
    added: Vec<f64>,
    /// What is missing without some machines, with more and more of another pool.
    without: Vec<f64>,
}

impl Bench {
    /// Forgets the slots of pools: another search, or another number of machines at a time.
    pub(super) fn begin(&mut self, search: &Search<'_>, size: usize) {
        self.coming.clear(size, search.choices.len());
        self.going.clear(size, search.choices.len());
        (0..search.choices.len()).for_each(|at| self.changed(search, at));
    }

    /// The count of a pool is another one.
    pub(super) fn changed(&mut self, search: &Search<'_>, at: usize) {
        let (choice, count, size) = (&search.choices[at], search.counts[at], self.coming.size);
        self.coming.look_up(at, choice, Some(count));
        self.going.look_up(at, choice, count.checked_sub(size));
    }
}

/// The step of so many machines that saves most, if any does.
pub(super) fn best_move(
    search: &Search<'_>,
    pools: &[Pool],
    size: usize,
    bench: &mut Bench,
) -> Option<Move> {
    let counts = &search.counts;
    // No question is about more spares than there are once all that comes has come.
    let heaviest = search.choices.iter().map(|choice| choice.weight).max().unwrap_or(1).max(1);
    let have = search.have();
    let spares = search.spares(search.left());
    let most = usize::try_from(spares).unwrap_or(0) + size * heaviest;
    let Bench { all, others, rest, coming, going, active, idle, added, without, apart } = bench;
    active.clear();
    idle.clear();
    for (at, count) in counts.iter().enumerate() {
        if *count > 0 { active.push(at) } else { idle.push(at) }
    }
    all.fill(active.iter().map(|&at| &pools[at]), most);
    others.resize_with(others.len().max(active.len()), Losses::default);
    apart.fill(others, all, pools, active);
    let look = Look { search, pools, size, have, spares, all, others, coming, going, active, idle };
    let least = LEAST * search.need.missing;
    let moved = search.moved();
    let fare = search.need.moving.of(moved);
    let mut best = Best { change: -least, step: None, moved, fare };
    look.on_demand_alone(&mut best);
    // What one more of each pool that holds some would change, for moves between those.
    added.clear();
    let room = have + size - 1 < 2 * search.need.wanted;
    for (&at, others) in look.active.iter().zip(look.others) {
        added.push(look.add(at, others, room, &mut best));
    }
    for &at in look.idle {
        look.add(at, look.all, room, &mut best);
    }
    look.drops(added, without, rest, &mut best);
    best.step
}

/// The best step so far, and what it changes.
struct Best {
    change: f64,
    step: Option<Move>,
    /// Before the step, and what that costs.
    moved: Moved,
    fare: f64,
}

impl Best {
    /// Whether a step that changes so much may be the best: moving never saves more than it cost up to now.
    fn may_be(&self, change: f64) -> bool {
        change < self.change + self.fare
    }

    /// What a step changes together with what moving costs.
    fn with_fare(&self, search: &Search<'_>, change: f64, step: Move) -> f64 {
        let then = search.need.moving.of(then_moved(search, self.moved, step));
        change + then - self.fare
    }

    #[inline]
    fn consider(&mut self, search: &Search<'_>, change: f64, step: Move) {
        if self.may_be(change) {
            self.weigh(search, change, step);
        }
    }

    fn weigh(&mut self, search: &Search<'_>, change: f64, step: Move) {
        let change = self.with_fare(search, change, step);
        if change < self.change {
            (self.change, self.step) = (change, Some(step));
        }
    }
}

/// How much is moved after a step.
fn then_moved(search: &Search<'_>, before: Moved, step: Move) -> Moved {
    let then = search.on_demand.saturating_add_signed(step.on_demand);
    let mut after = before.with_on_demand(search.need.held, (search.on_demand, then));
    let size = step.size as isize;
    for (at, more) in [(step.add, size), (step.drop, -size)] {
        let Some(at) = at else { continue };
        let (choice, count) = (&search.choices[at], search.counts[at]);
        let then = count.saturating_add_signed(more);
        after = after.with(choice.held, choice.weight, (count, then));
    }
    after
}

/// Where the search stands, and what every question about a step is answered from.
struct Look<'a> {
    search: &'a Search<'a>,
    pools: &'a [Pool],
    size: usize,
    have: usize,
    /// How much more is held than is wanted beside on-demand.
    spares: isize,
    all: &'a Losses,
    others: &'a [Losses],
    coming: &'a Slots,
    going: &'a Slots,
    active: &'a [usize],
    idle: &'a [usize],
}

impl Look<'_> {
    /// How many spares there are with so much on demand.
    fn spares(&self, on_demand: usize) -> isize {
        self.have as isize - self.search.need.wanted.saturating_sub(on_demand) as isize
    }

    /// More or less on demand, and nothing else.
    fn on_demand_alone(&self, best: &mut Best) {
        let &Look { search, size, all, .. } = self;
        let need = &search.need;
        let bought = need.bought(search.on_demand);
        let now = all.beyond(self.spares);
        let mut consider = |on_demand: usize, step: isize| {
            let short = all.beyond(self.spares(on_demand)) - now;
            let change = need.bought(on_demand) - bought + need.missing * short;
            best.consider(search, change, Move { on_demand: step, ..Move::default() });
        };
        if need.sells(search.on_demand + size) {
            consider(search.on_demand + size, size as isize);
        }
        if let Some(on_demand) = search.on_demand.checked_sub(size) {
            consider(on_demand, -(size as isize));
        }
    }

    /// More of a pool, alone and in the place of on-demand. Tells what it changes alone.
    fn add(&self, at: usize, others: &Losses, room: bool, best: &mut Best) -> f64 {
        let &Look { search, size, all, spares, .. } = self;
        let need = &search.need;
        let weight = search.choices[at].weight;
        let Some((slots, cost)) = self.coming.of(at) else { return f64::INFINITY };
        let saved = |spares| saved(slots, weight, spares, |s| others.beyond(s));
        let add = Move { add: Some(at), size, ..Move::default() };
        let alone = cost - need.missing * saved(spares);
        if !room {
            return alone;
        }
        best.consider(search, alone, add);
        let swap = (size * weight).min(search.on_demand);
        if swap > 0 {
            let less = search.on_demand - swap;
            let fewer = self.spares(less);
            let short = all.beyond(fewer) - saved(fewer) - all.beyond(spares);
            let paid = need.bought(less) - need.bought(search.on_demand);
            let change = cost + paid + need.missing * short;
            best.consider(search, change, Move { on_demand: -(swap as isize), ..add });
        }
        alone
    }

    /// Less of a pool: alone, for on-demand, and for as many more of another.
    fn drops(
        &self,
        added: &[f64],
        without_these: &mut Vec<f64>,
        rest: &mut Losses,
        best: &mut Best,
    ) {
        let &Look { search, size, all, spares, .. } = self;
        let need = &search.need;
        let now = all.beyond(spares);
        let mut closest = Closest::default();
        for (from, (&at, others)) in self.active.iter().zip(self.others).enumerate() {
            let weight = search.choices[at].weight;
            let Some((slots, cost)) = self.going.of(at) else { continue };
            let drop = Move { drop: Some(at), size, ..Move::default() };
            let carried = (size * weight) as isize;
            // Missing without them. Each matters exactly when it is up.
            let without = |spares: isize| {
                let lost = saved(slots, weight, spares - carried, |s| others.beyond(s));
                all.beyond(spares) + lost
            };
            let alone = need.missing * (without(spares) - now) - cost;
            best.consider(search, alone, drop);
            let more = search.on_demand + size * weight;
            if need.sells(more) {
                let short = without(self.spares(more)) - now;
                let paid = need.bought(more) - need.bought(search.on_demand);
                let change = paid - cost + need.missing * short;
                best.consider(search, change, Move { on_demand: carried, ..drop });
            }
            // Pools of one weight ask for the same few numbers of spares.
            let mut weighed = 0;
            for &to in self.idle {
                let Some((first, cost)) = self.coming.of(to) else { continue };
                let other = search.choices[to].weight;
                if other != weighed {
                    weighed = other;
                    without_these.clear();
                    let more = (0..=size).map(|nth| without(spares + (nth * other) as isize));
                    without_these.extend(more);
                }
                let pairs = first.iter().zip(without_these.windows(2));
                let saved = pairs.map(|(slot, pair)| slot.stays * (pair[0] - pair[1])).sum::<f64>();
                let change = alone + cost - need.missing * saved;
                best.consider(search, change, Move { add: Some(to), ..drop });
            }
            for (to, added) in added.iter().enumerate() {
                let change = alone + added;
                if change < closest.below && to != from {
                    closest.insert(Between { from, to, change });
                }
            }
        }
        for between in closest.best {
            let add = Some(self.active[between.to]);
            let step = Move { add, drop: Some(self.active[between.from]), size, on_demand: 0 };
            // Many of them cannot be the best, whatever a closer look shows.
            let at_most = need.missing * (self.cross_at_most(between) * ROUNDED + LEAST);
            let at_least = best.with_fare(search, between.change - at_most, step);
            if at_most.is_finite() && at_least >= best.change {
                continue;
            }
            let change = between.change + need.missing * self.cross(between, rest);
            best.consider(search, change, step);
        }
    }

    /// What is missing because slots of a move matter at once: those that go, and those that come.
    fn cross(&self, between: Between, rest: &mut Losses) -> f64 {
        let pools = self.pools;
        let (from, to) = (self.active[between.from], self.active[between.to]);
        let third = self.active.iter().filter(|at| **at != from && **at != to);
        let without_one = &self.others[between.from];
        rest.fill_without(without_one, &pools[to], third.map(|&at| &pools[at]));
        -self.saved_at_once(between, rest)
    }

    /// The most that it can be below nought. It is a sum of chances of what all others lose, and of those
    /// something is known before the pool to which machines come is taken out of them.
    fn cross_at_most(&self, between: Between) -> f64 {
        let to = &self.pools[self.active[between.to]];
        self.saved_at_once(between, &self.others[between.from]) * Losses::at_most_without(to)
    }

    /// What those that come save without those that go, beyond what they save beside them.
    fn saved_at_once(&self, between: Between, others: &Losses) -> f64 {
        let &Look { search, size, spares, .. } = self;
        let (from, to) = (self.active[between.from], self.active[between.to]);
        let (Some((going, _)), Some((coming, _))) = (self.going.of(from), self.coming.of(to))
        else {
            return 0.0;
        };
        let (source, target) = (search.choices[from].weight, search.choices[to].weight);
        let without = |spares: isize| {
            let fewer = spares - (size * source) as isize;
            saved(going, source, fewer, |s| others.beyond(s))
        };
        saved(coming, target, spares, without)
    }
}

/// What slots save one after the other, where `missing` tells what is missing with so many spares: each
/// helps exactly when it is up.
fn saved(
    slots: &[Step],
    weight: usize,
    spares: isize,
    mut missing: impl FnMut(isize) -> f64,
) -> f64 {
    let (mut spares, mut sum) = (spares, 0.0);
    let mut before = missing(spares);
    for slot in slots {
        spares += weight as isize;
        let after = missing(spares);
        sum += slot.stays * (before - after);
        before = after;
    }
    sum
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
struct Closest {
    best: Vec<Between>,
    /// Only what changes less than this is among them.
    below: f64,
}

impl Default for Closest {
    fn default() -> Self {
        Closest { best: Vec::with_capacity(CLOSE_LOOKS), below: f64::INFINITY }
    }
}

impl Closest {
    fn insert(&mut self, between: Between) {
        let rank = self.best.partition_point(|other| other.change <= between.change);
        self.best.truncate(CLOSE_LOOKS - 1);
        self.best.insert(rank, between);
        if let [.., last] = self.best[..]
            && self.best.len() == CLOSE_LOOKS
        {
            self.below = last.change;
        }
    }
}
