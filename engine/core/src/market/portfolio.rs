//! How many machines from which pool, and how many on demand.
//!
//! Minimises, per hour: price, what interruptions cost, what moving costs, and the price of what is
//! expected to be missing. Steepest descent over single machines: add one, remove one, move one.

/// One pool as the objective sees it. Chances are by slot, from the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Price of a machine per hour.
    pub price: f64,
    /// Machines held now.
    pub held: u32,
    /// The most that may be taken: the length of `stays`.
    pub stays: Vec<f64>,
    /// What the k-th machine costs per hour besides its price: being lost, being moved to.
    pub extra: Vec<f64>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Machines that should be there.
    pub wanted: u32,
    /// Price of one on demand per hour.
    pub on_demand: f64,
    /// What a missing machine costs per hour.
    pub missing: f64,
}

/// How many from each pool, how many on demand, and what that costs per hour, risks included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Portfolio {
    /// By pool.
    pub counts: Vec<u32>,
    /// On demand.
    pub on_demand: u32,
    /// Expected cost per hour.
    pub cost: f64,
}

/// Distribution of how many of `count` machines survive, as far as it matters: `d[j]` = chance of j.
fn survivors(choice: &Choice, count: u32) -> Vec<f64> {
    let count = count as usize;
    let mut chances = vec![0.0; count + 1];
    // Nested slots: the chance that at least j are up never rises with j.
    let mut at_least = 1.0f64;
    for j in 1..=count {
        let next = choice.stays.get(j - 1).copied().unwrap_or(0.0).min(at_least);
        chances[j - 1] = at_least - next;
        at_least = next;
    }
    chances[count] = at_least;
    chances
}

/// Adds independent numbers; what is above `cap` counts as `cap`.
fn convolve(a: &[f64], b: &[f64], cap: usize) -> Vec<f64> {
    let mut sum = vec![0.0; (a.len() + b.len() - 1).min(cap + 1)];
    let last = sum.len() - 1;
    for (i, x) in a.iter().enumerate() {
        if *x == 0.0 {
            continue;
        }
        for (j, y) in b.iter().enumerate() {
            sum[(i + j).min(last)] += x * y;
        }
    }
    sum
}

/// Expected number missing of `wanted`.
fn missing(chances: &[f64], wanted: usize) -> f64 {
    chances.iter().take(wanted).enumerate().map(|(j, p)| (wanted - j) as f64 * p).sum()
}

struct Search<'a> {
    choices: &'a [Choice],
    need: Need,
    counts: Vec<u32>,
    on_demand: u32,
}

impl Search<'_> {
    fn separable(&self, at: usize, count: u32) -> f64 {
        let choice = &self.choices[at];
        let extra: f64 = choice.extra.iter().take(count as usize).sum();
        choice.price * f64::from(count) + extra
    }

    fn cap(&self) -> usize {
        self.need.wanted as usize
    }

    /// Distribution of survivors of all pools but those given.
    fn others(&self, but: &[usize]) -> Vec<f64> {
        let mut sum = vec![1.0];
        for (at, choice) in self.choices.iter().enumerate() {
            if !but.contains(&at) && self.counts[at] > 0 {
                sum = convolve(&sum, &survivors(choice, self.counts[at]), self.cap());
            }
        }
        sum
    }

    fn shortage(&self, chances: &[f64], on_demand: u32) -> f64 {
        let wanted = self.need.wanted.saturating_sub(on_demand) as usize;
        self.need.missing * missing(chances, wanted)
    }

    fn cost(&self) -> f64 {
        let pools: f64 =
            self.counts.iter().enumerate().map(|(at, &n)| self.separable(at, n)).sum();
        pools
            + self.need.on_demand * f64::from(self.on_demand)
            + self.shortage(&self.others(&[]), self.on_demand)
    }

    /// Takes the best single step; whether there was one.
    fn step(&mut self) -> bool {
        const LEAST: f64 = 1e-9;
        let all = self.others(&[]);
        let now = self.shortage(&all, self.on_demand);
        let mut best: (f64, Option<Move>) = (-LEAST, None);
        // `None` in a move that adds or removes stands for on-demand; a move of one pool alone
        // pairs with itself.
        let pools = self.choices.len();
        let on_demand = self.need.on_demand;
        consider(&mut best, on_demand + self.shortage(&all, self.on_demand + 1) - now, None, Some(usize::MAX));
        if self.on_demand > 0 {
            let less = self.shortage(&all, self.on_demand - 1) - on_demand - now;
            consider(&mut best, less, Some(usize::MAX), None);
        }
        for at in 0..pools {
            let rest = self.others(&[at]);
            let count = self.counts[at];
            let here = self.separable(at, count);
            let with = |n: u32| convolve(&rest, &survivors(&self.choices[at], n), self.cap());
            if (count as usize) < self.choices[at].stays.len() {
                let more = self.separable(at, count + 1) - here;
                let chances = with(count + 1);
                consider(&mut best, more + self.shortage(&chances, self.on_demand) - now, Some(at), Some(usize::MAX));
                if self.on_demand > 0 {
                    let change =
                        more - on_demand + self.shortage(&chances, self.on_demand - 1) - now;
                    consider(&mut best, change, Some(at), None);
                }
            }
            if count > 0 {
                let less = self.separable(at, count - 1) - here;
                let chances = with(count - 1);
                consider(&mut best, less + self.shortage(&chances, self.on_demand) - now, Some(usize::MAX), Some(at));
                let change = less + on_demand + self.shortage(&chances, self.on_demand + 1) - now;
                consider(&mut best, change, None, Some(at));
                for to in (0..pools).filter(|to| *to != at) {
                    let n = self.counts[to];
                    if (n as usize) >= self.choices[to].stays.len() {
                        continue;
                    }
                    let cheaper = self.separable(to, n + 1) - self.separable(to, n) + less;
                    // Moving cannot save more than all shortage and the difference of price.
                    if cheaper - now >= best.0 {
                        continue;
                    }
                    let two = convolve(
                        &convolve(&self.others(&[at, to]), &survivors(&self.choices[at], count - 1), self.cap()),
                        &survivors(&self.choices[to], n + 1),
                        self.cap(),
                    );
                    let change = cheaper + self.shortage(&two, self.on_demand) - now;
                    if change < best.0 {
                        best = (change, Some((Some(to), Some(at))));
                    }
                }
            }
        }
        let Some((add, remove)) = best.1 else { return false };
        match add {
            None => self.on_demand += 1,
            Some(usize::MAX) => {}
            Some(at) => self.counts[at] += 1,
        }
        match remove {
            None => self.on_demand -= 1,
            Some(usize::MAX) => {}
            Some(at) => self.counts[at] -= 1,
        }
        true
    }
}

type Move = (Option<usize>, Option<usize>);

fn consider(best: &mut (f64, Option<Move>), change: f64, add: Option<usize>, remove: Option<usize>) {
    if change < best.0 {
        *best = (change, Some((add, remove)));
    }
}

/// The best portfolio that is found from what is held, and from a full house of spot.
///
/// Two beginnings, because one spare machine alone may not pay where two together do.
pub fn portfolio(choices: &[Choice], need: Need, on_demand: u32) -> Portfolio {
    let held: Vec<u32> = choices.iter().map(|c| c.held.min(c.stays.len() as u32)).collect();
    let kept = descend(choices, need, held.clone(), on_demand);
    let full = fill(choices, need, held);
    let fresh = descend(choices, need, full, 0);
    if fresh.cost < kept.cost - 1e-9 { fresh } else { kept }
}

/// Takes the cheapest next machines until the need is met twice over by their number.
fn fill(choices: &[Choice], need: Need, mut counts: Vec<u32>) -> Vec<u32> {
    let mut have: u32 = counts.iter().sum();
    while have < need.wanted {
        let open = (0..choices.len()).filter(|&at| (counts[at] as usize) < choices[at].stays.len());
        let next = |at: &usize| {
            let k = counts[*at] as usize;
            let choice = &choices[*at];
            choice.price + choice.extra[k] + (1.0 - choice.stays[k]) * need.on_demand
        };
        let Some(at) = open.min_by(|a, b| next(a).total_cmp(&next(b))) else { break };
        counts[at] += 1;
        have += 1;
    }
    counts
}

fn descend(choices: &[Choice], need: Need, counts: Vec<u32>, on_demand: u32) -> Portfolio {
    let mut search = Search { choices, need, counts, on_demand };
    let most = 4 * (need.wanted as usize + choices.len()) + 64;
    for _ in 0..most {
        if !search.step() {
            break;
        }
    }
    let cost = search.cost();
    Portfolio { counts: search.counts, on_demand: search.on_demand, cost }
}
