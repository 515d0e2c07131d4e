//! Each of some pools taken out of what all of them lose. Most are divided out: several pools side by side, because
//! each of them alone would wait for its own last term. What comes of that is the same to the last bit. Pools that
//! lose something more often than not are left out instead: half of them at a time, so that what the others lose is
//! summed up a few times and not once for each.

use crate::market::shortage::{Losses, Pool, WHOLE};
use std::array;

/// So many pools side by side.
const ABREAST: usize = 4;

/// What is used again from step to step of a search.
#[derive(Default)]
pub(super) struct Apart {
    /// Pools that are done side by side, by their positions among those that are taken out.
    some: Vec<usize>,
    /// Chances of what is lost by each of them, the most first, with a nought for what is never lost.
    losses: Vec<[f64; ABREAST]>,
    /// What the others lose.
    known: Vec<[f64; ABREAST]>,
    /// Pools that cannot be divided out, by their positions among those that are taken out.
    frail: Vec<usize>,
    /// What is lost by all but some of them, one for each time that they are halved.
    but_some: Vec<Losses>,
}

impl Apart {
    /// What `all` are without each of the active pools, in their order.
    pub(super) fn fill(
        &mut self,
        without: &mut [Losses],
        all: &Losses,
        pools: &[Pool],
        active: &[usize],
    ) {
        self.some.clear();
        self.frail.clear();
        for nth in 0..active.len() {
            let whole = pools[active[nth]].whole >= WHOLE;
            if whole { self.some.push(nth) } else { self.frail.push(nth) }
        }
        if !self.frail.is_empty() {
            let depth = usize::BITS - self.frail.len().leading_zeros();
            self.but_some.resize_with(self.but_some.len().max(depth as usize + 1), Losses::default);
            let sturdy = self.some.iter().map(|&nth| &pools[active[nth]]);
            self.but_some[0].fill(sturdy, all.chances.len() - 1);
            halve(&mut self.but_some, &self.frail, without, &|nth| &pools[active[nth]]);
        }
        let some = std::mem::take(&mut self.some);
        for abreast in some.chunks(ABREAST) {
            let mut their = [&pools[active[abreast[0]]]; ABREAST];
            for (pool, nth) in their.iter_mut().zip(abreast) {
                *pool = &pools[active[*nth]];
            }
            let their = &their[..abreast.len()];
            if self.look_up(their, all.chances.len() - 1) {
                self.abreast(without, all, their, abreast);
            } else {
                abreast.iter().for_each(|&nth| alone(&mut without[nth], all, pools, active, nth));
            }
        }
        self.some = some;
    }

    /// Looks up what pools lose. Says whether that is dense enough to be worth it.
    fn look_up(&mut self, pools: &[&Pool], most: usize) -> bool {
        let counted = |pool: &&Pool| pool.losses.partition_point(|(lost, _)| *lost <= most);
        let counts = pools.iter().map(counted);
        let reach = pools.iter().zip(counts.clone());
        let reach = reach.filter_map(|(pool, count)| Some(pool.losses[..count].last()?.0));
        let reach = reach.max().unwrap_or(0);
        if reach > counts.clone().sum() {
            return false;
        }
        self.losses.clear();
        self.losses.resize(reach, [0.0; ABREAST]);
        for (lane, (pool, count)) in pools.iter().zip(counts).enumerate() {
            for (lost, chance) in &pool.losses[..count] {
                self.losses[reach - lost][lane] = *chance;
            }
        }
        true
    }

    /// Some pools side by side.
    fn abreast(&mut self, without: &mut [Losses], all: &Losses, pools: &[&Pool], at: &[usize]) {
        let reach = self.losses.len();
        let mut per_whole = [1.0; ABREAST];
        for (per_whole, pool) in per_whole.iter_mut().zip(pools) {
            *per_whole = 1.0 / pool.whole;
        }
        self.known.clear();
        self.known.reserve(all.chances.len());
        for together in &all.chances {
            let mut found = [*together; ABREAST];
            let near = self.known.len().min(reach);
            let before = &self.known[self.known.len() - near..];
            for (known, chance) in before.iter().zip(&self.losses[reach - near..]) {
                found = array::from_fn(|lane| found[lane] - known[lane] * chance[lane]);
            }
            self.known.push(array::from_fn(|lane| found[lane] * per_whole[lane]));
        }
        for (lane, (&nth, pool)) in at.iter().zip(pools).enumerate() {
            let Losses { chances, mean, below } = &mut without[nth];
            chances.clear();
            chances.extend(self.known.iter().map(|known| known[lane]));
            let (mut sum, mut of_sums) = (0.0, 0.0);
            below.clear();
            below.extend(chances.iter().map(|chance| {
                sum += chance;
                of_sums += sum;
                of_sums
            }));
            *mean = all.mean - pool.mean;
        }
    }
}

/// `but`: what is lost by all but `frail`, and room for what comes of it. Without each of those in turn.
fn halve<'a>(
    but: &mut [Losses],
    frail: &[usize],
    without: &mut [Losses],
    pool: &impl Fn(usize) -> &'a Pool,
) {
    let [all, rest @ ..] = but else { return };
    if let [nth] = frail {
        without[*nth].clone_from(all);
        without[*nth].sum_up();
        return;
    }
    let (first, second) = frail.split_at(frail.len() / 2);
    for (taken_out, left_in) in [(first, second), (second, first)] {
        rest[0].clone_from(all);
        left_in.iter().for_each(|&nth| rest[0].join(pool(nth)));
        halve(rest, taken_out, without, pool);
    }
}

fn alone(without: &mut Losses, all: &Losses, pools: &[Pool], active: &[usize], nth: usize) {
    let at = active[nth];
    let others = active.iter().filter(|other| **other != at).map(|&at| &pools[at]);
    without.fill_without(all, &pools[at], others);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::choice::{Choice, Step};

    #[test]
    fn side_by_side_or_alone_it_is_the_same() {
        let pool = |nth: usize| {
            let step = |slots, stays| Step { slots, stays, cost: 1.0 };
            let (stays, more) = (0.99 - 0.05 * nth as f64, 1 + nth % 3);
            let steps = [step(1, stays), step(more, stays - 0.02), step(2, stays - 0.05)];
            Pool::new(&Choice::new(1 + nth / 6, 0, steps), 1 + nth % 5)
        };
        let pools: Vec<Pool> = (0..9).map(pool).collect();
        let active: Vec<usize> = (0..9).filter(|at| *at != 2).collect();
        for most in [0, 1, 3, 20] {
            let all = Losses::of(active.iter().map(|&at| &pools[at]), most);
            let mut found = vec![Losses::default(); active.len()];
            Apart::default().fill(&mut found, &all, &pools, &active);
            for (nth, found) in found.iter().enumerate() {
                let mut expected = Losses::default();
                alone(&mut expected, &all, &pools, &active, nth);
                let close = |a: &[f64], b: &[f64]| {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
                };
                assert!(close(&found.chances, &expected.chances), "{most}: {nth}");
                assert!(close(&found.below, &expected.below), "{most}: {nth}");
                assert!(close(&[found.mean], &[expected.mean]), "{most}: {nth}");
                let divided = pools[active[nth]].whole >= WHOLE;
                assert!(!divided || found.chances == expected.chances, "{most}: {nth}");
            }
        }
    }
}
