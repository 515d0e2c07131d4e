//! The exact search: steepest descent over single machines. Add one, drop one, move one. Where many steps
//! lead one way in a large fleet, several machines at a time, and single ones at the end.

use crate::market::moves::{Bench, Move, best_move};
use crate::market::need::Portfolio;
use crate::market::search::Search;
use crate::market::shortage::Pool;

/// Up to twice as many machines, all steps are single ones: then they are few enough.
const SINGLE: usize = 48;
/// After so many steps that led somewhere, twice as many machines at a time.
const STEPS: usize = 4;

/// Where a search has been, if it went by single machines, and where it ended.
#[derive(Default)]
pub(super) struct Trail {
    been: Vec<(Vec<usize>, usize)>,
    end: Portfolio,
}

impl Trail {
    /// Goes down as far as single steps lead, and remembers the way.
    pub(super) fn blaze(search: Search<'_>, bench: &mut Bench) -> Self {
        let mut trail = Trail::default();
        trail.end = walk(search, bench, |at| {
            trail.been.push((at.counts.clone(), at.on_demand));
            None
        });
        trail
    }

    /// Where it ended.
    pub(super) fn into_end(self) -> Portfolio {
        self.end
    }

    /// Goes down from elsewhere. Who comes upon the trail need not walk the rest of it.
    pub(super) fn join(&self, search: Search<'_>, bench: &mut Bench) -> Portfolio {
        let on_it = |at: &Search<'_>| {
            let been = self
                .been
                .iter()
                .any(|(counts, on_demand)| *on_demand == at.on_demand && *counts == at.counts);
            been.then(|| self.end.clone())
        };
        walk(search, bench, on_it)
    }
}

/// Goes down as far as single steps lead.
pub(super) fn descend(search: Search<'_>, bench: &mut Bench) -> Portfolio {
    walk(search, bench, |_| None)
}

/// Goes down, and asks before each step by single machines whether the end is known.
fn walk(
    mut search: Search<'_>,
    bench: &mut Bench,
    mut known: impl FnMut(&Search<'_>) -> Option<Portfolio>,
) -> Portfolio {
    let most = 4 * (search.need.wanted + search.choices.len()) + 64;
    let mut pools = search.pools();
    let largest = (search.need.wanted / SINGLE).max(1);
    let (mut size, mut steps) = (1, 0);
    bench.begin(&search, size);
    for _ in 0..most {
        // By more than one machine at a time, the next step does not follow from where one is alone.
        if largest == 1
            && let Some(end) = known(&search)
        {
            return end;
        }
        let Some(step) = best_move(&search, &pools, size, bench) else {
            if size == 1 {
                break;
            }
            (size, steps) = (size / 2, 0);
            bench.begin(&search, size);
            continue;
        };
        take(&mut search, step);
        for at in [step.add, step.drop].into_iter().flatten() {
            pools[at] = Pool::new(&search.choices[at], search.counts[at]);
            bench.changed(&search, at);
        }
        steps += 1;
        if steps == STEPS && 2 * size <= largest {
            (size, steps) = (2 * size, 0);
            bench.begin(&search, size);
        }
    }
    search.come_to(&pools)
}

fn take(search: &mut Search<'_>, step: Move) {
    if let Some(at) = step.add {
        search.counts[at] += step.size;
    }
    if let Some(at) = step.drop {
        search.counts[at] -= step.size;
    }
    search.on_demand = search.on_demand.saturating_add_signed(step.on_demand);
}
