//! The end of a fill, solved anew.
//!
//! Greedy by cost per unit is the best as long as machines can be cut into units (`bound.rs`). What
//! whole machines cost beyond that is decided at the end of the fill. There the dearest machines
//! are released, the cheapest next ones are offered, and the small covering knapsack that is left
//! is solved by dynamic programming. What that leaves to be gained, `exact.rs` finds.

use crate::place::need::{Need, Taken};
use crate::place::problem::Problem;
use crate::place::rank;
use crate::place::usage::Usage;
use fleet_model::{Market, Strategy, Units};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Machines given back before the end is solved anew.
const RELEASED: usize = 96;
/// Machines offered in their place.
const OFFERED: usize = 256;
/// The longest table of the dynamic program.
const STATES: u64 = 8192;

impl Problem<'_> {
    pub(crate) fn cost_of_next(&self, strategy: Strategy, at: u32, carried: Units) -> Option<u64> {
        let target = self.desired.capacity.target;
        rank::machine_cost(strategy, &self.candidates[at as usize], carried, target)
    }

    /// Solves the end of a fill exactly. For strategies that minimise a cost; others have an order.
    pub(crate) fn solve_tail(
        &self,
        usage: &mut Usage,
        taken: &mut Taken,
        wanted: Need,
        market: Market,
        strategy: Strategy,
    ) {
        let ours = |at: u32| self.candidates[at as usize].offering.pool.market == market;
        let mut weights =
            (0..self.candidates.len() as u32).filter(|at| ours(*at)).map(|at| self.weight(at));
        let Some(first) = weights.next() else { return };
        if !taken.short.is_zero() || weights.all(|weight| weight == first) {
            return;
        }
        let before = (usage.clone(), taken.clone());
        let Some(given) = self.release(usage, taken, strategy) else { return };
        let got: u64 = taken.counts.iter().map(|(&at, &n)| self.weight(at) * u64::from(n)).sum();
        let left = wanted.now.0.saturating_sub(got);
        let offered = self.offer(usage, strategy, left, &ours);
        match cover(&offered, left) {
            Some((cost, chosen)) if cost < given => {
                for at in chosen {
                    self.take_for(usage, taken, at, 1);
                }
            }
            Some(_) | None => (*usage, *taken) = before,
        }
    }

    pub(crate) fn weight(&self, at: u32) -> u64 {
        self.candidates[at as usize].weight.0.max(1)
    }

    /// Gives back the dearest machines; what they cost.
    fn release(&self, usage: &mut Usage, taken: &mut Taken, strategy: Strategy) -> Option<u64> {
        let last = |usage: &Usage, at: u32| {
            let carried = usage.in_pool(at) - Units(self.weight(at));
            let cost = self.cost_of_next(strategy, at, carried)?;
            Some((per_unit(cost, self.weight(at)), cost, at))
        };
        let mut dearest: BinaryHeap<(u64, u64, u32)> =
            taken.counts.keys().map(|&at| last(usage, at)).collect::<Option<Vec<_>>>()?.into();
        let mut given = 0u64;
        for _ in 0..RELEASED {
            let Some((_, cost, at)) = dearest.pop() else { break };
            if self.holds_a_zone(usage, at) {
                continue;
            }
            self.untake_one(usage, taken, at);
            given += cost;
            if taken.counts.contains_key(&at) {
                dearest.push(last(usage, at)?);
            }
        }
        Some(given)
    }

    /// The cheapest next machines, such that any choice among them keeps every limit.
    fn offer(
        &self,
        usage: &Usage,
        strategy: Strategy,
        left: u64,
        ours: &dyn Fn(u32) -> bool,
    ) -> Vec<Offer> {
        let next = |carried: Units, at: u32| {
            let cost = self.cost_of_next(strategy, at, carried)?;
            Some(Reverse((per_unit(cost, self.weight(at)), cost, at)))
        };
        let all = (0..self.candidates.len() as u32).filter(|at| ours(*at));
        let mut heads: Vec<_> = all.filter_map(|at| next(usage.in_pool(at), at)).collect();
        if heads.len() > 4 * OFFERED {
            heads.select_nth_unstable_by(4 * OFFERED, |a, b| b.cmp(a));
            heads.truncate(4 * OFFERED);
        }
        let mut heap: BinaryHeap<_> = heads.into();
        let mut scratch = usage.clone();
        let mut offered: Vec<Offer> = Vec::with_capacity(OFFERED);
        while offered.len() < OFFERED {
            let Some(Reverse((_, cost, at))) = heap.pop() else { break };
            if self.fits(&scratch, at) == 0 {
                continue;
            }
            let mut spare = Taken::default();
            self.take_for(&mut scratch, &mut spare, at, 1);
            offered.push(Offer { at, weight: self.weight(at), cost });
            let carried = scratch.in_pool(at) - usage.in_pool(at);
            // More copies than cover everything are of no use.
            if carried.0 < left + self.weight(at) {
                heap.extend(next(scratch.in_pool(at), at));
            }
        }
        offered
    }
}

/// Cost of a unit, fine enough to order by.
pub(crate) fn per_unit(cost: u64, weight: u64) -> u64 {
    cost.saturating_mul(1000) / weight
}

/// One machine that may be taken.
#[derive(Debug, Clone, Copy)]
struct Offer {
    at: u32,
    weight: u64,
    cost: u64,
}

/// The cheapest choice that covers `need`; its cost, and which.
///
/// Weights that have little in common, such as TFLOPS, would need too long a table: it is made coarser, and
/// each machine counts for a little less than it is. What is found then covers the need, and may not be the
/// very cheapest.
fn cover(offered: &[Offer], need: u64) -> Option<(u64, Vec<u32>)> {
    let grain = offered.iter().fold(0, |grain, offer| gcd(grain, offer.weight)).max(1);
    let grain = grain.max(need.div_ceil(STATES));
    let states = need.div_ceil(grain) as usize;
    let mut least = vec![u64::MAX; states + 1];
    least[0] = 0;
    let mut used = vec![false; offered.len() * (states + 1)];
    for (nth, offer) in offered.iter().enumerate() {
        let step = (offer.weight / grain) as usize;
        for state in (1..=states).rev() {
            let from = least[state.saturating_sub(step)];
            let cost = from.saturating_add(offer.cost);
            if cost < least[state] {
                least[state] = cost;
                used[nth * (states + 1) + state] = true;
            }
        }
    }
    let cost = Some(least[states]).filter(|cost| *cost < u64::MAX)?;
    let mut chosen = Vec::new();
    let mut state = states;
    for (nth, offer) in offered.iter().enumerate().rev() {
        if state > 0 && used[nth * (states + 1) + state] {
            chosen.push(offer.at);
            state = state.saturating_sub((offer.weight / grain) as usize);
        }
    }
    Some((cost, chosen))
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_cover_is_found() {
        let offer = |at, weight, cost| Offer { at, weight, cost };
        let check = |offered: &[Offer], need, cost, chosen: &[u32]| {
            let (found, mut which) = cover(offered, need).expect("a cover");
            which.sort_unstable();
            assert_eq!((found, which.as_slice()), (cost, chosen), "{need}");
        };
        let three = [offer(0, 8, 80), offer(1, 4, 44), offer(2, 1, 15)];
        check(&three, 8, 80, &[0]);
        check(&three, 4, 44, &[1]);
        check(&three, 5, 59, &[1, 2]);
        check(&three, 9, 95, &[0, 2]);
        check(&three, 13, 139, &[0, 1, 2]);
        check(&[offer(0, 8, 10), offer(1, 1, 9)], 1, 9, &[1]);
        check(&[offer(0, 8, 10), offer(1, 1, 11)], 1, 10, &[0]);
        assert!(cover(&three, 14).is_none());
        // Too fine for a table: still covered, and never by less.
        let odd = [offer(0, 7_915_201, 90), offer(1, 2_496_001, 30), offer(2, 2_496_001, 30)];
        check(&odd, 9_000_000, 120, &[0, 1]);
        check(&odd, 4_980_000, 60, &[1, 2]);
        check(&odd, 4_992_100, 90, &[0]);
    }
}
