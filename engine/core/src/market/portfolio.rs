//! How many machines from which pool, and how much on demand.
//!
//! Minimises, per hour: price, what interruptions cost, what moving costs, and the price of what is
//! expected to be missing. Steepest descent over single machines: add one, drop one, move one. The
//! shortage is convex in each pool's count, and the expectation is exact: pools fail independently
//! of each other, the slots of one pool together.

/// One pool as the objective sees it. Chances are by slot, from the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Price of a machine per hour.
    pub price: f64,
    /// What a machine counts for.
    pub weight: usize,
    /// Machines held now.
    pub held: usize,
    /// Chance that each slot is up for as long as a replacement takes. No more may be taken.
    pub stays: Vec<f64>,
    /// What each slot costs per hour besides its price: being lost.
    pub extra: Vec<f64>,
    /// What moving to each slot costs, spread over the hours that must pay for it. Those that are
    /// held were moved to already.
    pub start: Vec<f64>,
}

impl Choice {
    /// What one more slot costs per hour, after the first `count`.
    fn next(&self, count: usize) -> f64 {
        let start = if count < self.held { 0.0 } else { self.start[count] };
        self.price + self.extra[count] + start
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// How much should be there.
    pub wanted: usize,
    /// Price of one on demand per hour; `None`: there is none to be had.
    pub on_demand: Option<f64>,
    /// How much is held on demand now.
    pub held: usize,
    /// The most that is to be had on demand.
    pub most: usize,
    /// What starting one more on demand costs, spread over the hours that must pay for it.
    pub start: f64,
    /// What one missing costs per hour.
    pub missing: f64,
    /// How much better a new beginning must be than what is held, per hour.
    pub inertia: f64,
}

/// How many from each pool, how much on demand, and what that costs per hour, risks included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Portfolio {
    /// Machines by pool.
    pub counts: Vec<usize>,
    /// On demand.
    pub on_demand: usize,
    /// Expected cost per hour.
    pub cost: f64,
    /// Expected to be missing at any time.
    pub missing: f64,
    /// Chance that nothing is missing.
    pub whole: f64,
}

/// Times that a full house of spot is tried anew.
const ANEW: usize = 4;
/// So many times the price of on-demand is a cheap price for what is missing.
const CHEAP: f64 = 5.0;
/// From one degree of dearness to the next.
const DEGREE: f64 = 2.0;

/// The best portfolio that is found from what is held, and from full houses of spot.
///
/// Several beginnings, because one spare machine alone may not pay where two together do. Each
/// builds on the best so far, so that what was chosen once is not overthrown by the next look.
pub fn portfolio(choices: &[Choice], need: Need) -> Portfolio {
    let held: Vec<usize> = choices.iter().map(|c| c.held.min(c.stays.len())).collect();
    let stood = if need.on_demand.is_some() { need.held.min(need.most) } else { 0 };
    let stay = Search { choices, need, counts: held.clone(), on_demand: stood }.portfolio();
    let mut best = descend(choices, need, held, stood);
    for _ in 0..ANEW {
        let full = filled(choices, need, best.counts.clone());
        let fresh = by_degrees(choices, need, full);
        if fresh.cost >= best.cost - need.inertia {
            break;
        }
        best = fresh;
    }
    // Not for a trifle: a look a moment later would find another.
    if best.cost < stay.cost - need.inertia { best } else { stay }
}

/// The best portfolio that would be chosen again once it stands: a launch is not to be the first of
/// several steps, each of which pays only after the one before.
pub fn settled(choices: &[Choice], need: Need) -> Portfolio {
    let mut found = portfolio(choices, need);
    for _ in 0..ANEW {
        let stand = |(choice, &count): (&Choice, &usize)| Choice {
            held: choice.held.max(count),
            ..choice.clone()
        };
        let stood: Vec<Choice> = choices.iter().zip(&found.counts).map(stand).collect();
        let then = portfolio(&stood, Need { held: need.held.max(found.on_demand), ..need });
        if then.counts == found.counts && then.on_demand == found.on_demand {
            break;
        }
        found = then;
    }
    found
}

/// Takes the cheapest next machines until there are enough, if all of them stay.
fn filled(choices: &[Choice], need: Need, mut counts: Vec<usize>) -> Vec<usize> {
    let mut have: usize = counts.iter().zip(choices).map(|(n, c)| n * c.weight).sum();
    let instead = need.on_demand.unwrap_or(need.missing);
    while have < need.wanted {
        let next = |at: usize| {
            let (choice, k) = (&choices[at], counts[at]);
            let risk = (1.0 - choice.stays[k]) * instead * choice.weight as f64;
            (choice.next(k) + risk) / choice.weight as f64
        };
        let open = (0..choices.len()).filter(|&at| counts[at] < choices[at].stays.len());
        let Some(at) = open.min_by(|&a, &b| next(a).total_cmp(&next(b))) else { break };
        counts[at] += 1;
        have += choices[at].weight;
    }
    counts
}

/// Descends from spot alone, with what is missing cheap at first and dearer by and by.
///
/// Where a missing machine costs a hundred times its price, any first step toward safety saves about
/// the same, and on-demand a little more than the rest: step by step everything ends up on demand,
/// from where no single step leads back. Spares in several pools are found while their price counts.
fn by_degrees(choices: &[Choice], need: Need, counts: Vec<usize>) -> Portfolio {
    let dearest = need.on_demand.unwrap_or(need.missing);
    let mut missing = need.missing;
    let mut degrees = vec![missing];
    while missing > CHEAP * dearest {
        missing /= DEGREE;
        degrees.push(missing);
    }
    let mut found = Portfolio { counts, ..Portfolio::default() };
    for missing in degrees.into_iter().rev() {
        found = descend(choices, Need { missing, ..need }, found.counts, found.on_demand);
    }
    found
}

fn descend(choices: &[Choice], need: Need, counts: Vec<usize>, on_demand: usize) -> Portfolio {
    let mut search = Search { choices, need, counts, on_demand };
    let most = 4 * (need.wanted + choices.len()) + 64;
    for _ in 0..most {
        let Some(best) = search.best_move() else { break };
        search.take(best);
    }
    search.portfolio()
}

/// One step of the search. `None` for a pool stands for on-demand.
#[derive(Clone, Copy)]
struct Move {
    add: Option<usize>,
    drop: Option<usize>,
    /// How much more, or less, on demand.
    on_demand: isize,
}

struct Search<'a> {
    choices: &'a [Choice],
    need: Need,
    counts: Vec<usize>,
    on_demand: usize,
}

impl Search<'_> {
    /// Price and extras of the first `count` machines of a pool.
    fn separable(&self, at: usize, count: usize) -> f64 {
        let choice = &self.choices[at];
        (0..count).map(|k| choice.next(k)).sum()
    }

    /// Price and starts of so much on demand.
    fn bought(&self, count: usize) -> f64 {
        let started = count.saturating_sub(self.need.held);
        self.need.on_demand.unwrap_or_default() * count as f64 + self.need.start * started as f64
    }

    /// Distribution of what survives of all pools but those given.
    fn others(&self, but: [usize; 2]) -> Vec<f64> {
        let mut sum = vec![1.0];
        for (at, &count) in self.counts.iter().enumerate() {
            if count > 0 && !but.contains(&at) {
                sum = self.with(&sum, at, count);
            }
        }
        sum
    }

    /// The same, with so many machines of a pool besides.
    fn with(&self, sum: &[f64], at: usize, count: usize) -> Vec<f64> {
        convolve(sum, &self.choices[at], count, self.need.wanted)
    }

    fn shortage(&self, chances: &[f64], on_demand: usize) -> f64 {
        self.need.missing * missing(chances, self.need.wanted.saturating_sub(on_demand))
    }

    fn portfolio(self) -> Portfolio {
        let all = self.others([usize::MAX; 2]);
        let left = self.need.wanted.saturating_sub(self.on_demand);
        let pools: f64 = self.counts.iter().enumerate().map(|(at, &n)| self.separable(at, n)).sum();
        let bought = self.bought(self.on_demand);
        let missing = missing(&all, left);
        let short: f64 = all.iter().take(left).sum();
        Portfolio {
            cost: pools + bought + self.need.missing * missing,
            missing,
            whole: (1.0 - short).clamp(0.0, 1.0),
            counts: self.counts,
            on_demand: self.on_demand,
        }
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
        const LEAST: f64 = 1e-9;
        let none = Move { add: None, drop: None, on_demand: 0 };
        let all = self.others([usize::MAX; 2]);
        let now = self.shortage(&all, self.on_demand);
        let have: usize = self.counts.iter().zip(self.choices).map(|(n, c)| n * c.weight).sum();
        let sold =
            |count| self.need.on_demand.is_some() && self.on_demand + count <= self.need.most;
        let bought = self.bought(self.on_demand);
        let mut best: (f64, Option<Move>) = (-LEAST, None);
        let mut consider = |change: f64, step: Move| {
            if change < best.0 {
                best = (change, Some(step));
            }
            best.0
        };
        if sold(1) {
            let more = self.bought(self.on_demand + 1) - bought;
            consider(
                more + self.shortage(&all, self.on_demand + 1) - now,
                Move { on_demand: 1, ..none },
            );
        }
        if self.on_demand > 0 {
            let less = self.bought(self.on_demand - 1) - bought;
            consider(
                less + self.shortage(&all, self.on_demand - 1) - now,
                Move { on_demand: -1, ..none },
            );
        }
        for (at, choice) in self.choices.iter().enumerate() {
            let count = self.counts[at];
            let here = self.separable(at, count);
            // Most pools hold nothing: without them all is as it is.
            let without;
            let rest = if count == 0 {
                &all
            } else {
                without = self.others([at, usize::MAX]);
                &without
            };
            let room = have < 2 * self.need.wanted;
            if count < choice.stays.len() && room {
                let more = self.separable(at, count + 1) - here;
                let chances = self.with(rest, at, count + 1);
                let add = Move { add: Some(at), ..none };
                consider(more + self.shortage(&chances, self.on_demand) - now, add);
                let swap = choice.weight.min(self.on_demand);
                if swap > 0 {
                    let short = self.shortage(&chances, self.on_demand - swap);
                    let saved = bought - self.bought(self.on_demand - swap);
                    consider(
                        more - saved + short - now,
                        Move { on_demand: -(swap as isize), ..add },
                    );
                }
            }
            if count == 0 {
                continue;
            }
            let less = self.separable(at, count - 1) - here;
            let chances = self.with(rest, at, count - 1);
            let drop = Move { drop: Some(at), ..none };
            let mut bar = consider(less + self.shortage(&chances, self.on_demand) - now, drop);
            if sold(choice.weight) {
                let short = self.shortage(&chances, self.on_demand + choice.weight);
                let paid = self.bought(self.on_demand + choice.weight) - bought;
                bar = consider(
                    less + paid + short - now,
                    Move { on_demand: choice.weight as isize, ..drop },
                );
            }
            for (to, other) in self.choices.iter().enumerate() {
                let n = self.counts[to];
                if to == at || n >= other.stays.len() {
                    continue;
                }
                let saved = self.separable(to, n + 1) - self.separable(to, n) + less;
                // A move saves at most the difference of price and all that is missing now.
                if saved - now >= bar {
                    continue;
                }
                let moved = if n == 0 {
                    self.with(&chances, to, 1)
                } else {
                    let neither = self.others([at, to]);
                    self.with(&self.with(&neither, at, count - 1), to, n + 1)
                };
                let short = self.shortage(&moved, self.on_demand);
                bar = consider(saved + short - now, Move { add: Some(to), ..drop });
            }
        }
        best.1
    }
}

/// Adds what survives of `count` machines of a pool; what is above `wanted` counts as that.
fn convolve(sum: &[f64], choice: &Choice, count: usize, wanted: usize) -> Vec<f64> {
    let size = (sum.len() + count * choice.weight).min(wanted + 1);
    let mut more = vec![0.0; size];
    // Nested slots: the chance that at least j are up never rises with j.
    let mut at_least = 1.0f64;
    for j in 0..=count {
        let next = match choice.stays.get(j) {
            Some(stays) if j < count => stays.min(at_least),
            _ => 0.0,
        };
        let exactly = at_least - next;
        at_least = next;
        if exactly <= 0.0 {
            continue;
        }
        for (i, chance) in sum.iter().enumerate() {
            more[(i + j * choice.weight).min(size - 1)] += chance * exactly;
        }
    }
    more
}

/// Expected number missing of `wanted`.
fn missing(chances: &[f64], wanted: usize) -> f64 {
    chances.iter().take(wanted).enumerate().map(|(j, p)| (wanted - j) as f64 * p).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool at a third of the on-demand price, of which one slot in twenty is lost meanwhile.
    fn pool() -> Choice {
        let slots = 8;
        Choice {
            price: 0.3,
            weight: 1,
            held: 0,
            stays: vec![0.95; slots],
            extra: vec![0.0; slots],
            start: vec![0.0; slots],
        }
    }

    fn with(missing: f64) -> Portfolio {
        let choices = vec![pool(); 10];
        let on_demand = Some(1.0);
        let need =
            Need { wanted: 8, on_demand, held: 0, most: 8, start: 0.0, missing, inertia: 0.02 };
        portfolio(&choices, need)
    }

    #[test]
    fn however_dear_it_is_to_be_short_spares_in_many_pools_beat_on_demand() {
        for missing in [10.0, 30.0, 300.0, 3000.0] {
            let found = with(missing);
            assert!(found.cost < 8.0 * 0.75, "{missing}: {found:?}");
            assert!(found.counts.iter().sum::<usize>() > 8, "{missing}: {found:?}");
        }
        assert!(with(300.0).missing < with(10.0).missing);
    }
}
