//! From what was seen of a pool to chances: is a slot up now, and will it stay up?
//!
//! A refusal, a partial launch and an interruption say exactly how many slots are up; a machine that
//! lives on says that its slot still is; silence ages. Two laws say how long a slot stays up: by its
//! age, and by the rate at which its pool interrupts. They are mixed by how well each predicted of
//! late. What else is learned is a pool's frailty, from its own interruptions.

mod ages;
mod mix;
mod observe;
mod rates;
#[cfg(test)]
mod tests;

use fleet_model::{PoolBelief, SlotRun, Timestamp};
pub use observe::{alive, bought, exactly, interrupted, stacked};
use rates::Rate;
use std::fmt;

/// After this many hours, evidence of a pool's frailty counts half: markets are not stationary.
const HALF_LIFE: f64 = 24.0;
/// How much the prior frailty is worth, in expected interruptions.
pub(crate) const PRIOR_WEIGHT: f64 = 2.5;
/// A slot that stood while those above it fell is taken to be this many times as old as the fall is.
const STOOD: f64 = 2.0;
/// Slots of one age are divided into so many parts, and each part has one chance.
const PARTS: usize = 3;
/// The part of falls that takes everything. The others end at any level alike.
const LEAST: f64 = 0.2;
/// Hours for which the law counts more that foretold better of late.
const NEXT: f64 = 1.0;
/// What is taken for the age of a slot that is up and was never seen before, in hours.
pub(crate) const UNSEEN_AGE: f64 = 2.0;
/// After so many hours, a third is left of what a pool is shaken by.
pub(crate) const CALMS: f64 = 2.0;
/// Chance that a slot which nobody asked for is up.
const UNSEEN_UP: f64 = 0.7;
const PPM: f64 = 1e6;

/// What is thought of a pool before anything was seen of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// How much likelier than usual it takes machines back.
    pub frailty: f64,
    /// By how much more just now; that fades.
    pub shaken: f64,
    /// Chance that a slot is up.
    pub up: f64,
    /// Age of a slot that is up, in hours.
    pub age: f64,
    /// Hours in which it is known to have taken nothing back, as far as they count still.
    pub watched: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Prior { frailty: 1.0, shaken: 0.0, up: UNSEEN_UP, age: UNSEEN_AGE, watched: 0.0 }
    }
}

impl Prior {
    /// The same, for so many hours: what it is shaken by is spread over them.
    fn over(self, ahead: f64) -> Self {
        let still = if ahead > 0.0 { -(-ahead / CALMS).exp_m1() * CALMS / ahead } else { 1.0 };
        Prior { frailty: self.frailty * (1.0 + self.shaken * still), ..self }
    }
}

fn hours(seconds: i64) -> f64 {
    seconds.max(0) as f64 / 3600.0
}

fn silence(run: &SlotRun, now: Timestamp) -> f64 {
    hours(now.as_second() - run.seen.as_second())
}

fn hours_since(belief: &PoolBelief, now: Timestamp) -> f64 {
    hours(now.as_second() - belief.as_of.as_second())
}

fn age(run: &SlotRun) -> f64 {
    run.age_seconds as f64 / 3600.0
}

fn kept(belief: &PoolBelief, now: Timestamp) -> f64 {
    0.5f64.powf(hours_since(belief, now) / HALF_LIFE)
}

/// How much likelier than usual this pool takes machines back, as of a moment.
pub fn frailty(belief: &PoolBelief, prior: Prior, now: Timestamp) -> f64 {
    posterior(prior.frailty, counted(belief, now))
}

/// Interruptions seen, and to be expected of a usual pool, as far as they count still.
pub(crate) fn counted(belief: &PoolBelief, now: Timestamp) -> (f64, f64) {
    let keep = kept(belief, now) / PPM;
    (belief.interruptions_ppm as f64 * keep, belief.exposure_ppm as f64 * keep)
}

/// The same, where `count` machines of ours have been alive up to now.
pub(crate) fn counted_with(belief: &PoolBelief, now: Timestamp, count: u32) -> (f64, f64) {
    let (seen, mut usual) = counted(belief, now);
    let mut before = 0;
    for run in &belief.runs {
        let slots = run.slots.min(count - before);
        usual += exposed(run, slots, count, now);
        before += slots;
    }
    (seen, usual)
}

/// Interruptions to be expected of a usual pool since a run was last seen, where `slots` of `count` machines
/// stand in it.
fn exposed(run: &SlotRun, slots: u32, count: u32, now: Timestamp) -> f64 {
    let share = f64::from(slots) / f64::from(count);
    if run.up { share * ages::usual(age(run), silence(run, now)) } else { 0.0 }
}

/// Interruptions to be expected of a usual pool in the first `hours` of a machine.
pub(crate) fn usual_interruptions(hours: f64) -> f64 {
    ages::usual(UNSEEN_AGE, hours)
}

/// A prior frailty after so many interruptions seen and to be expected.
pub(crate) fn posterior(prior: f64, (seen, usual): (f64, f64)) -> f64 {
    (PRIOR_WEIGHT * prior + seen) / (PRIOR_WEIGHT + usual)
}

fn rate(belief: &PoolBelief, prior: Prior, now: Timestamp) -> Rate {
    let keep = kept(belief, now) / PPM;
    let (seen, hours) = (belief.interruptions_ppm as f64, belief.watched_ppm as f64);
    // Hours of others and our own are mostly the same hours.
    Rate::new(prior.frailty, seen * keep, (hours * keep).max(prior.watched))
}

/// What so many hours of watching count still, at their end.
pub(crate) fn remembered(hours: f64) -> f64 {
    let full = HALF_LIFE / std::f64::consts::LN_2;
    full * (1.0 - 0.5f64.powf(hours.max(0.0) / HALF_LIFE))
}

/// What was seen of a pool, in full: what a report can show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Hours in which machines of ours were seen to run, summed over machines.
    pub machine_hours: f64,
    /// Machines that the pool took back.
    pub interruptions: u64,
}

/// What was seen of a pool since the first machine there.
pub fn evidence(belief: &PoolBelief) -> Evidence {
    Evidence { machine_hours: belief.machine_seconds as f64 / 3600.0, interruptions: belief.lost }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.interruptions == 1 { "" } else { "s" };
        let Evidence { machine_hours, interruptions } = self;
        write!(f, "{interruptions} interruption{plural} in {machine_hours:.1} machine-hours")
    }
}

/// Chance that a slot which was seen up never fell since.
fn unbroken(run: &SlotRun, now: Timestamp, frailty: f64) -> f64 {
    if run.up { ages::lasts(age(run), silence(run, now), frailty) } else { 0.0 }
}

/// The age that a slot has now, if it is up now.
fn age_if_up(run: &SlotRun, now: Timestamp, frailty: f64) -> f64 {
    age_then(run, now, unbroken(run, now, frailty))
}

/// The same, where the chance that it never fell is at hand.
fn age_then(run: &SlotRun, now: Timestamp, unbroken: f64) -> f64 {
    let silent = silence(run, now);
    if run.up {
        aged(age(run), silent, unbroken)
    } else {
        // It came up at some time since it was seen down.
        silent / 2.0
    }
}

/// The age of something that is up, so many hours after it was of some age: if it did not stay up, it came
/// up again at some time since.
fn aged(age: f64, silent: f64, unbroken: f64) -> f64 {
    unbroken * (age + silent) + (1.0 - unbroken) * silent / 2.0
}

/// The same, where nothing else is known of it.
pub(crate) fn age_after(age: f64, silent: f64) -> f64 {
    aged(age, silent, ages::lasts(age, silent, 1.0))
}

/// What is taken for the age of a slot that is up and was never seen before, where that of the slot below
/// it is known. It came up no earlier than that one, and the two mostly came up together.
fn unseen_age(prior: Prior, below: Option<f64>) -> f64 {
    below.map_or(prior.age, |age| (prior.age * age).sqrt().min(age))
}

/// Both laws and their weights, for one pool at one moment and so many hours ahead.
struct Outlook {
    frailty: f64,
    ahead: f64,
    /// Chance to last the next hour by the law of rates, and all of them: it is the same for all slots.
    by_rate: (f64, f64),
    by_age: f64,
    /// Hours since the pool was last seen to fall, and how many slots are up.
    fall: Option<(f64, f64)>,
}

impl Outlook {
    fn new(belief: &PoolBelief, prior: Prior, now: Timestamp, ahead: f64) -> Self {
        let prior = prior.over(ahead);
        let rate = rate(belief, prior, now);
        let next = rate.lasts(ahead.min(NEXT));
        Outlook {
            frailty: frailty(belief, prior, now),
            ahead,
            by_rate: (next, if ahead <= NEXT { next } else { rate.lasts(ahead) }),
            by_age: mix::weight(belief, hours_since(belief, now)),
            fall: belief.fell.map(|at| {
                let up = belief.runs.iter().take_while(|run| run.up).map(|run| run.slots);
                (hours(now.as_second() - at.as_second()), f64::from(up.sum::<u32>()))
            }),
        }
    }

    /// Chance that a slot of that age lasts all the hours ahead. Slots count from 1.
    ///
    /// Capacity falls again soon after it fell, and what stood through it is next: on every recording a
    /// slot of any age was ten times as likely to be lost in the half hour after a fall as six hours after
    /// it. How far it falls is anybody's guess, so the lowest slots are the safest.
    ///
    /// Which law foretold the last hours better tells of the next one, and little of those after: there
    /// both count alike, each as far as the slot would have lasted an hour by it. Nor does an age tell as
    /// much of them, since an old slot meets the bad hours of its pool too, and a burst ends: it counts
    /// half, and half counts the usual one.
    fn lasts(&self, age: f64, slot: f64) -> f64 {
        let (age, frailty) = match self.fall {
            Some((since, level)) if since < age => {
                let depth = (slot / level.max(1.0)).min(1.0);
                (STOOD * since, self.frailty * (LEAST + (1.0 - LEAST) * depth))
            }
            _ => (age, self.frailty),
        };
        let by_age = ages::lasts(age, self.ahead.min(NEXT), frailty);
        let (by_rate, later_by_rate) = self.by_rate;
        let next = self.by_age * by_age + (1.0 - self.by_age) * by_rate;
        if self.ahead <= NEXT {
            return next;
        }
        let age = (age + UNSEEN_AGE) / 2.0;
        let by_age = |hours: f64| ages::lasts(age, hours, frailty);
        next * (by_age(self.ahead) + later_by_rate)
            / (by_age(NEXT) + by_rate).max(f64::MIN_POSITIVE)
    }
}

/// What is to be expected of one slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// That it is up now.
    pub up: f64,
    /// That it is up for a while, if it is up now.
    pub stays: f64,
}

/// What is to be expected of the first `slots` slots in the next hours.
pub fn chances(
    belief: &PoolBelief,
    prior: Prior,
    now: Timestamp,
    ahead: f64,
    slots: usize,
) -> Vec<Chance> {
    let outlook = Outlook::new(belief, prior, now, ahead);
    let frailty = outlook.frailty;
    let mut all = Vec::with_capacity(slots);
    for run in &belief.runs {
        let silent = silence(run, now);
        let known = unbroken(run, now, frailty);
        let forgotten = if run.up { 1.0 - known } else { 1.0 - ages::lasts(age(run), silent, 1.0) };
        let up = known + forgotten * prior.up;
        let more = (run.slots as usize).min(slots - all.len());
        let age = age_then(run, now, known);
        // A few parts, each by its middle slot: the search costs time for every one.
        let part = more.div_ceil(PARTS).max(1);
        for start in (0..more).step_by(part) {
            let slots = part.min(more - start);
            let middle = (all.len() + 1) as f64 + (slots - 1) as f64 / 2.0;
            let stays = outlook.lasts(age, middle);
            all.extend(std::iter::repeat_n(Chance { up, stays }, slots));
        }
    }
    let below = belief.runs.last().filter(|run| run.up).map(|run| age_if_up(run, now, frailty));
    let stays = outlook.lasts(unseen_age(prior, below), all.len() as f64 + 1.0);
    all.resize(slots, Chance { up: prior.up, stays });
    all
}

/// Chance that a machine in the first slot lasts so many hours, if it is up now.
pub fn survival(belief: &PoolBelief, prior: Prior, now: Timestamp, hours: f64) -> f64 {
    let outlook = Outlook::new(belief, prior, now, hours);
    let first = belief.runs.first();
    let age = first.map_or(prior.age, |run| age_if_up(run, now, outlook.frailty));
    outlook.lasts(age, 1.0)
}

/// How many more hours half of the machines in a slot live, if it is up now.
pub fn median_life(belief: &PoolBelief, prior: Prior, now: Timestamp) -> f64 {
    /// Longer than this nobody looks ahead.
    const MOST: f64 = 1e6;
    let half = |hours| survival(belief, prior, now, hours) <= 0.5;
    let (mut least, mut most) = (0.0, 1.0);
    while !half(most) && most < MOST {
        (least, most) = (most, 2.0 * most);
    }
    // Halved until a second no longer matters.
    while most - least > 1.0 / 3600.0 && most - least > 1e-6 * most {
        let middle = (least + most) / 2.0;
        if half(middle) { most = middle } else { least = middle }
    }
    most
}

/// How many interruptions a slot that is up now is to be expected to see, if it is filled again each
/// time: the hazard falls as the slot grows older, so a day has far less than 24 first hours.
pub fn interruptions(stays: f64) -> f64 {
    // The hazard, summed over a while, is what the chance to last that while is the power of.
    -stays.max(f64::MIN_POSITIVE).ln()
}
