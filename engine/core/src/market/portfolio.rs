//! How many machines from which pool, and how much on demand.
//!
//! Minimises, per hour: price, what interruptions cost, what moving costs, and the price of what is
//! expected to be missing. Small fleets are counted out exactly; for large ones the sum of many pools is
//! near enough to normal.

use crate::market::at_size;
use crate::market::choice::Choice;
use crate::market::descent::{Trail, descend};
use crate::market::moved::Moved;
use crate::market::moves::Bench;
use crate::market::need::{Need, Portfolio};
use crate::market::search::Search;
use std::borrow::Cow;

/// Pools that a small fleet looks at, beside those that hold something or are worth it at first sight.
const POOLS: usize = 32;
/// So many times the price of on-demand is a cheap price for what is missing.
const CHEAP: f64 = 10.0;
/// From one degree of dearness to the next.
const DEGREE: f64 = 3.0;
/// So many times what the normal law expects to be missing is too much to leave it at that, and the most that is
/// believed of it: far from the middle, where next to nothing is missing, ratios say little.
const LOPSIDED: f64 = 1.1;
const MOST_LOPSIDED: f64 = 4.0;
/// A fleet is not moved for a smaller part of its bill.
const TRIFLE: f64 = 0.002;

/// The best portfolio that is found, from what is held and from new beginnings.
pub(super) fn portfolio(choices: &[Choice], need: Need, bench: &mut Bench) -> Portfolio {
    if need.is_small { counted(choices, need, bench) } else { estimated(choices, need) }
}

/// Every outcome counted, over the pools that matter.
fn counted(choices: &[Choice], need: Need, bench: &mut Bench) -> Portfolio {
    let worth_a_look = worth_a_look(choices, need);
    let some: Cow<'_, [Choice]> = match worth_a_look.len() == choices.len() {
        true => choices.into(),
        false => worth_a_look.iter().map(|&at| choices[at].clone()).collect(),
    };
    let begin = |counts: Vec<usize>, on_demand| Search { choices: &some, need, counts, on_demand };
    let held: Vec<usize> = some.iter().map(|choice| choice.held.min(choice.most())).collect();
    let stood = if need.on_demand.is_some() { need.held.min(need.most) } else { 0 };
    let stay = begin(held.clone(), stood).portfolio();
    let trail = Trail::blaze(begin(held, stood), bench);
    let anew = by_degrees(&some, need, &trail, bench);
    let mut best = trail.into_end();
    // What is there is not overthrown for a trifle: a look a moment later would find another.
    if anew.cost < best.cost - inertia(need, &anew) {
        best = anew;
    }
    if best.cost >= stay.cost - inertia(need, &best) {
        best = stay;
    }
    let mut counts = vec![0; choices.len()];
    for (at, count) in worth_a_look.into_iter().zip(best.counts) {
        counts[at] = count;
    }
    Portfolio { counts, ..best }
}

/// Descends from a sketch, with what is missing cheap at first and dearer by and by.
///
/// Where a missing machine costs a hundred times its price, any first step toward safety saves about
/// the same, and on-demand a little more than the rest: step by step everything ends up on demand,
/// from where no single step leads back. Spares in several pools are found while their price counts.
fn by_degrees(choices: &[Choice], need: Need, trail: &Trail, bench: &mut Bench) -> Portfolio {
    let dearest = need.on_demand.unwrap_or(need.missing);
    let mut missing = need.missing;
    let mut degrees = vec![missing];
    while missing > CHEAP * dearest {
        missing /= DEGREE;
        degrees.push(missing);
    }
    let sketch = at_size::sketch(choices, Need { missing, ..need });
    let mut found =
        Portfolio { counts: sketch.counts, on_demand: sketch.on_demand, ..Portfolio::default() };
    let search = |from: Portfolio, missing| {
        let Portfolio { counts, on_demand, .. } = from;
        Search { choices, need: Need { missing, ..need }, counts, on_demand }
    };
    for missing in degrees.split_off(1).into_iter().rev() {
        found = descend(search(found, missing), bench);
    }
    trail.join(search(found, need.missing), bench)
}

/// Positions of the pools that hold something, that are worth it at size, and the next best.
fn worth_a_look(choices: &[Choice], need: Need) -> Vec<usize> {
    if choices.len() <= POOLS {
        return (0..choices.len()).collect();
    }
    let sketch = at_size::sketch(choices, need);
    let known = |at: &usize| choices[*at].held > 0 || sketch.counts[*at] > 0;
    let (mut some, mut others): (Vec<usize>, Vec<usize>) = (0..choices.len()).partition(known);
    if others.len() > POOLS {
        let appeal = |at: &usize| sketch.appeal(&choices[*at]);
        others.select_nth_unstable_by(POOLS, |a, b| appeal(a).total_cmp(&appeal(b)).then(a.cmp(b)));
        others.truncate(POOLS);
    }
    some.extend(others);
    some.sort_unstable();
    some
}

/// What it comes to to stand like this.
pub(super) fn come_to(
    choices: &[Choice],
    need: Need,
    counts: Vec<usize>,
    on_demand: usize,
) -> Portfolio {
    match need.is_small {
        true => Search { choices, need, counts, on_demand }.portfolio(),
        false => estimate(choices, need, counts, on_demand),
    }
}

/// A few ways to stand, found with the sum of many pools taken for normal, and judged by outcomes that are counted.
fn estimated(choices: &[Choice], need: Need) -> Portfolio {
    let held: Vec<usize> = choices.iter().map(|choice| choice.held.min(choice.most())).collect();
    let stood = if need.on_demand.is_some() { need.held.min(need.most) } else { 0 };
    let mut ways = vec![sketched(choices, need)];
    if need.on_demand.is_some() {
        // Spot that costs more than none of it is not worth its risk.
        let none = vec![0; choices.len()];
        ways.push(estimate(choices, need, none, need.wanted.min(need.most)));
    }
    if stood > 0 || held.iter().any(|held| *held > 0) {
        // What stands stays, and what is worth it comes besides: a few that were lost are no reason to move others.
        let free: Vec<Choice> = choices.iter().map(Choice::with_held_free).collect();
        let more = sketched(&free, Need { settled: stood, ..need });
        ways.push(estimate(choices, need, more.counts, more.on_demand));
    }
    let cheapest = ways.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    let stay = estimate(choices, need, held, stood);
    let worth_it = |way: &Portfolio| way.cost < stay.cost - inertia(need, way);
    cheapest.filter(worth_it).unwrap_or(stay)
}

/// As the sketch says. Losses of pools are lopsided, and the normal law takes what is missing for less than it is: as
/// much dearer as it is more, it is looked at once again.
fn sketched(choices: &[Choice], need: Need) -> Portfolio {
    let found = |missing: f64| {
        let sketch = at_size::sketch(choices, Need { missing, ..need });
        estimate(choices, need, sketch.counts, sketch.on_demand)
    };
    let first = found(need.missing);
    let left = need.wanted.saturating_sub(first.on_demand) as f64;
    let normal = at_size::missing(left, at_size::moments(choices, &first.counts));
    let more = first.missing / normal.max(f64::MIN_POSITIVE);
    if more < LOPSIDED {
        return first;
    }
    let second = found(need.missing * more.min(MOST_LOPSIDED));
    if second.cost < first.cost { second } else { first }
}

/// How much better than what is held another way to stand must be.
fn inertia(need: Need, other: &Portfolio) -> f64 {
    need.inertia.max(TRIFLE * other.cost)
}

fn estimate(choices: &[Choice], need: Need, counts: Vec<usize>, on_demand: usize) -> Portfolio {
    let some = choices.iter().zip(&counts).filter(|(_, count)| **count > 0);
    let paid: f64 = some.map(|(choice, count)| choice.cost(*count)).sum();
    let left = need.wanted.saturating_sub(on_demand) as f64;
    let moved = need.moving.of(Moved::of(choices, &counts, (need.held, on_demand)));
    let (missing, whole) = at_size::outcome(choices, &counts, left);
    let cost = paid + need.bought(on_demand) + need.missing * missing + moved;
    Portfolio { counts, on_demand, cost, missing, whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::choice::Step;
    use crate::market::moved::Fare;
    use crate::market::need::SMALL;

    /// A pool at a third of the on-demand price, of which one slot in twenty is lost meanwhile.
    fn pool() -> Choice {
        Choice::new(1, 0, [Step { slots: 8, stays: 0.95, cost: 0.3 }])
    }

    fn need(wanted: usize, missing: f64) -> Need {
        let on_demand = Some(1.0);
        Need {
            wanted,
            is_small: wanted <= SMALL,
            on_demand,
            held: 0,
            settled: 0,
            most: wanted,
            start: 0.0,
            moving: Fare::FREE,
            missing,
            inertia: 0.0,
        }
    }

    #[test]
    fn however_dear_it_is_to_be_short_spares_in_many_pools_beat_on_demand() {
        let with =
            |missing: f64| portfolio(&vec![pool(); 10], need(8, missing), &mut Bench::default());
        for missing in [10.0, 30.0, 300.0, 3000.0] {
            let found = with(missing);
            assert!(found.cost < 8.0 * 0.75, "{missing}: {found:?}");
            assert!(found.counts.iter().sum::<usize>() > 8, "{missing}: {found:?}");
        }
        assert!(with(300.0).missing < with(10.0).missing);
    }

    /// Numbers that look random and are the same each time.
    struct Dice(u64);

    impl Dice {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 40) as f64 / (1u64 << 24) as f64
        }

        fn below(&mut self, most: usize) -> usize {
            (self.next() * most as f64) as usize
        }

        fn pools(&mut self, pools: usize, deep: usize) -> Vec<Choice> {
            let mut pool = |_| {
                let weight = 1 + self.below(2);
                let price = (0.2 + 0.5 * self.next()) * weight as f64;
                let stays = 0.6 + 0.39 * self.next();
                let step = |slots, stays| Step { slots, stays, cost: price * (2.0 - stays) };
                let first = self.below(deep + 1);
                let steps = [step(first, stays), step(deep - first, stays * self.next())];
                Choice::new(weight, 0, steps)
            };
            (0..pools).map(&mut pool).collect()
        }
    }

    /// The best of all.
    fn enumerated(choices: &[Choice], need: Need) -> f64 {
        let mut best = f64::INFINITY;
        let mut counts = vec![0; choices.len()];
        loop {
            for on_demand in 0..=need.most {
                let found = Search { choices, need, counts: counts.clone(), on_demand };
                best = best.min(found.portfolio().cost);
            }
            let Some(at) = (0..counts.len()).find(|&at| counts[at] < choices[at].most()) else {
                return best;
            };
            counts[at] += 1;
            counts[..at].fill(0);
        }
    }

    #[test]
    fn small_fleets_stand_as_well_as_can_be() {
        let mut dice = Dice(7);
        let (mut worst, mut missed): (f64, u32) = (1.0, 0);
        for case in 0..120 {
            let choices = dice.pools(3, 4);
            let need = need(2 + dice.below(4), [1.5, 3.0, 10.0, 30.0][case % 4]);
            let (found, best) =
                (portfolio(&choices, need, &mut Bench::default()).cost, enumerated(&choices, need));
            worst = worst.max(found / best);
            missed += u32::from(found > best * (1.0 + 1e-9));
        }
        assert!(missed <= 2 && worst < 1.02, "{missed} of 120, the worst {worst} times the best");
    }

    #[test]
    fn what_is_estimated_is_close_to_what_is_counted() {
        let mut dice = Dice(3);
        for missing in [3.0, 10.0, 30.0] {
            let choices = dice.pools(40, 60);
            let need = need(SMALL, missing);
            let counted = portfolio(&choices, need, &mut Bench::default());
            let sketch = at_size::sketch(&choices, need);
            let (counts, on_demand) = (sketch.counts, sketch.on_demand);
            let estimated = Search { choices: &choices, need, counts, on_demand }.portfolio();
            let ratio = estimated.cost / counted.cost;
            assert!(ratio < 1.03, "{missing}: {ratio}");
        }
    }
}
