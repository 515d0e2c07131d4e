//! How many from which pool, for fleets too large to count every outcome.
//!
//! What survives of many pools is close to normal. With its mean μ and deviation σ, what is missing of N
//! is about σ·G(x), x = (N − μ)/σ. Its slopes, λ for the mean and η for the variance, are prices: given
//! them, each pool answers for itself how many machines are worth it. So the search is for two numbers,
//! whatever the number of machines, and a look at every pool for each guess.

use crate::market::choice::{Choice, Step};
use crate::market::need::Need;
use crate::market::odds::Odds;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Guesses of x for one σ, at most. Each halves what is left between the bounds.
const GUESSES: usize = 24;
/// Bounds that are this near to each other, in units of the search, need no more guesses: machines are whole.
const FINE: f64 = 0.02;
/// Guesses of σ.
const DEVIATIONS: usize = 10;
/// A σ this near to what comes of it is right.
const NEAR: f64 = 0.01;
/// Beside the deviation of machines that fail each for itself, that of pools that fail as a whole is tried, as a
/// share of what is wanted.
const LUMPY: f64 = 0.1;
/// Beyond this nothing changes any more.
const FAR: f64 = 7.0;
/// So much more than another is more, whatever is lost to rounding.
const CLEARLY: f64 = 1e-9;

/// A way to stand, and the prices at which it is the best.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sketch {
    pub(super) counts: Vec<usize>,
    pub(super) on_demand: usize,
    prices: Prices,
}

/// What a unit more on average saves, and what a unit more of variance costs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Prices {
    mean: f64,
    variance: f64,
}

impl Sketch {
    /// How well the next machine of a pool would fit in, per unit. Less is better; below zero it pays.
    pub(super) fn appeal(&self, choice: &Choice) -> f64 {
        let Some(first) = choice.slot(0) else { return f64::INFINITY };
        let weight = choice.weight as f64;
        let variance = weight * weight * first.stays * (1.0 - first.stays);
        let net = first.cost - self.prices.mean * weight * first.stays;
        (net + self.prices.variance * variance) / weight
    }
}

/// Expected to be missing of `wanted`, if what survives has this mean and variance.
pub(super) fn missing(wanted: f64, (mean, variance): (f64, f64)) -> f64 {
    let deviation = variance.sqrt();
    if deviation <= 0.0 {
        return (wanted - mean).max(0.0);
    }
    let x = (wanted - mean) / deviation;
    deviation * (x * below(x) + density(x))
}

/// Chooses.
pub(super) fn sketch(choices: &[Choice], need: Need) -> Sketch {
    let wanted = need.wanted as f64;
    // How much on-demand pays once a unit is worth so much.
    let sold = |worth: f64| match need.on_demand {
        Some(price) if worth >= price + need.start => need.most,
        Some(price) if worth >= price => need.held.min(need.most),
        Some(_) | None => need.settled.min(need.most),
    };
    let stairs: Vec<Stairs> = choices.iter().map(Stairs::new).collect();
    let mut best = (f64::INFINITY, Prices::default());
    // The first guesses for one σ are mostly those for the one before.
    let mut normal = [Normal::at(f64::midpoint(-FAR, FAR)); GUESSES];
    // Where variance is taken to be small it is dear, little spot is bought, and it stays small: the guesses may end
    // at all on demand, though spot and its spares cost a third of that.
    let lumpy = (!need.is_small).then_some(LUMPY * wanted);
    for start in [Some(wanted.sqrt()), lumpy].into_iter().flatten() {
        let mut deviation = start.max(1.0);
        for _ in 0..DEVIATIONS {
            let (mut low, mut high) = (-FAR, FAR);
            let mut seen = Answer::default();
            for normal in &mut normal {
                let x = f64::midpoint(low, high);
                if normal.x != x {
                    *normal = Normal::at(x);
                }
                let prices = normal.prices(need.missing, deviation);
                seen = answer(&stairs, prices);
                let gap = wanted - seen.mean - x * deviation;
                let on_demand = gap.clamp(0.0, sold(prices.mean) as f64);
                let paid = seen.cost + need.bought(on_demand as usize);
                // What costs more before anything is missing is not the best: no need to count that.
                if paid <= best.0 * (1.0 + CLEARLY) {
                    let short = missing(wanted - on_demand, (seen.mean, seen.variance));
                    let cost = paid + need.missing * short;
                    if cost < best.0 {
                        best = (cost, prices);
                    }
                }
                if gap > on_demand {
                    low = x
                } else {
                    high = x
                }
                if (high - low) * deviation < FINE {
                    break;
                }
            }
            // Half way, because the next answer goes beyond what this one asks for.
            let then = seen.variance.sqrt().max(1.0);
            let near = (then / deviation - 1.0).abs() < NEAR;
            deviation = (deviation * then).sqrt();
            if near {
                break;
            }
        }
    }
    let prices = best.1;
    let counts = whole(choices, &stairs, prices);
    let on_demand = bridge(choices, &counts, need);
    Sketch { counts, on_demand, prices }
}

/// The normal law at one point.
#[derive(Debug, Clone, Copy)]
struct Normal {
    x: f64,
    below: f64,
    density: f64,
}

impl Normal {
    fn at(x: f64) -> Self {
        Normal { x, below: below(x), density: density(x) }
    }

    fn prices(&self, missing: f64, deviation: f64) -> Prices {
        let variance = missing * self.density / (2.0 * deviation);
        Prices { mean: missing * self.below, variance }
    }
}

/// What pools give at some prices: what it costs, and mean and variance of what survives.
#[derive(Debug, Clone, Copy, Default)]
struct Answer {
    cost: f64,
    mean: f64,
    variance: f64,
}

fn answer(stairs: &[Stairs], prices: Prices) -> Answer {
    stairs.iter().fold(Answer::default(), |sum, stairs| {
        let part = stairs.worth(prices);
        Answer {
            cost: sum.cost + part.cost,
            mean: sum.mean + part.mean,
            variance: sum.variance + part.variance,
        }
    })
}

/// Machines of a pool that are worth it, cut in parts.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    count: f64,
    cost: f64,
    mean: f64,
    variance: f64,
}

/// So many machines of a pool, from the first: what they cost, and what of them survives, in machines.
#[derive(Debug, Clone, Copy, Default)]
struct Height {
    count: f64,
    cost: f64,
    mean: f64,
    square: f64,
}

impl Height {
    /// With some more of a step.
    fn with(self, step: &Step, more: f64) -> Self {
        Height {
            count: self.count + more,
            cost: self.cost + more * step.cost,
            mean: self.mean + more * step.stays,
            square: self.square + more * step.stays * (2.0 * self.count + more),
        }
    }
}

/// One step of a pool, and what comes before it.
#[derive(Debug, Clone, Copy)]
struct Stair {
    step: Step,
    slots: f64,
    before: Height,
    /// What a machine adds to the variance, in squares of weights: `first` at the beginning of the step,
    /// `slope` more with each, `last` at its end.
    first: f64,
    slope: f64,
    last: f64,
}

/// The steps of a pool, summed up once for all prices.
struct Stairs {
    weight: f64,
    stairs: Vec<Stair>,
    top: Height,
}

impl Stairs {
    fn new(choice: &Choice) -> Self {
        let mut top = Height::default();
        let stair = |step: &Step| {
            let (stays, slots, before) = (step.stays, step.slots as f64, top);
            top = before.with(step, slots);
            let first = stays * (2.0 * (before.count - before.mean) + 1.0 - stays);
            let slope = 2.0 * stays * (1.0 - stays);
            Stair { step: *step, slots, before, first, slope, last: first + slope * slots }
        };
        let stairs = choice.steps().iter().map(stair).collect();
        Stairs { weight: choice.weight as f64, stairs, top }
    }

    /// How many machines are worth their cost. The k-th adds to the variance in proportion to k, so in
    /// each step it is one division.
    fn worth(&self, prices: Prices) -> Part {
        let weight = self.weight;
        let (per_machine, dear) = (prices.mean * weight, prices.variance * weight * weight);
        let ends_before =
            |stair: &&Stair| stair.step.cost + dear * stair.last > per_machine * stair.step.stays;
        let reached = self.stairs.iter().find(ends_before).map_or(self.top, |stair| {
            let room = per_machine * stair.step.stays - stair.step.cost - dear * stair.first;
            let more = room / (dear * stair.slope);
            if room > 0.0 {
                stair.before.with(&stair.step, more.min(stair.slots))
            } else {
                stair.before
            }
        });
        let Height { count, cost, mean, square } = reached;
        let variance = (square - mean * mean).max(0.0) * weight * weight;
        Part { count, cost, mean: mean * weight, variance }
    }
}

/// Whole machines: rounded down first, then one more where most was cut off, until the mean is reached.
fn whole(choices: &[Choice], stairs: &[Stairs], prices: Prices) -> Vec<usize> {
    let parts: Vec<f64> = stairs.iter().map(|stairs| stairs.worth(prices).count).collect();
    let mut counts: Vec<usize> = parts.iter().map(|part| *part as usize).collect();
    let cut = |at: usize| parts[at] - counts[at] as f64;
    let stays = |at: usize| choices[at].slot(counts[at]).map_or(0.0, |slot| slot.stays);
    let mean = |at: usize| choices[at].weight as f64 * stays(at);
    let mut order: Vec<usize> = (0..choices.len()).filter(|&at| cut(at) > 1e-6).collect();
    let mut missing: f64 = order.iter().map(|&at| cut(at) * mean(at)).sum();
    order.sort_by(|&a, &b| cut(b).total_cmp(&cut(a)).then(a.cmp(&b)));
    let mut more = Vec::new();
    for at in order {
        if missing <= 0.0 {
            break;
        }
        missing -= mean(at);
        more.push(at);
    }
    for at in more {
        counts[at] += 1;
    }
    counts
}

/// What is worth having on demand beside so many machines.
fn bridge(choices: &[Choice], counts: &[usize], need: Need) -> usize {
    let Some(price) = need.on_demand else { return 0 };
    let (mean, variance) = moments(choices, counts);
    let worth_having = |price: f64| {
        let x = quantile((price / need.missing).clamp(0.0, 1.0));
        (need.wanted as f64 - mean - x * variance.sqrt()).ceil().max(0.0) as usize
    };
    let held = need.held.min(need.most);
    let anew = worth_having(price + need.start).min(need.most);
    // What is held already need not be started.
    if anew >= held { anew } else { worth_having(price).clamp(anew, held) }
}

/// Mean and variance of what survives of so many machines.
pub(super) fn moments(choices: &[Choice], counts: &[usize]) -> (f64, f64) {
    let some = choices.iter().zip(counts).filter(|(_, count)| **count > 0);
    some.map(|(choice, count)| choice.moments(*count))
        .fold((0.0, 0.0), |(mean, variance), (m, v)| (mean + m, variance + v))
}

/// Chance of less than so many deviations above the mean.
fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// The other way round.
fn quantile(chance: f64) -> f64 {
    let (mut low, mut high) = (-FAR, FAR);
    for _ in 0..50 {
        let x = f64::midpoint(low, high);
        if below(x) < chance { low = x } else { high = x }
    }
    f64::midpoint(low, high)
}

/// Steps in which outcomes are counted where they are shown to people. The normal law understates how
/// often a fleet is short: losses of pools are lopsided.
const STEPS: usize = 1024;

/// Expected to be missing of `wanted`, and the chance that nothing is.
pub(super) fn outcome(choices: &[Choice], counts: &[usize], wanted: f64) -> (f64, f64) {
    if wanted <= 0.0 {
        return (0.0, 1.0);
    }
    let some = choices.iter().zip(counts.iter().copied()).filter(|(_, count)| *count > 0);
    let carried = |(choice, count): &(&Choice, usize)| (choice.weight * count) as f64;
    let all: f64 = some.clone().map(|one| carried(&one)).sum();
    // Losses are counted, not survivors: they are few.
    let mut losses = Odds::new(all, STEPS);
    for one in some {
        let (choice, count) = one;
        let survivors = choice.survivors(count);
        let lost: Vec<(f64, f64)> =
            survivors.map(|(survive, chance)| (chance, carried(&one) - survive as f64)).collect();
        losses.add(&lost);
    }
    // What is not there at all is missing for certain.
    let (missing, short) = losses.above(all - wanted);
    (missing.min(wanted), 1.0 - short)
}
