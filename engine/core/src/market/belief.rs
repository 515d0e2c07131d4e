//! From what was seen of a pool to chances: is a slot up now, and will it stay up?
//!
//! A refusal, a partial launch and an interruption say exactly how many slots are up; a machine that
//! lives on says that its slot still is; silence ages. The longer a slot has been up or down, the
//! longer it will stay so (a Lomax law), times a frailty of the pool that is learned from its own
//! interruptions.

use fleet_model::{MicroUsd, PoolBelief, SlotRun, Timestamp};

/// Shape of the law by which slots fail.
pub(crate) const SHAPE: f64 = 0.9;
/// Its scale in hours.
pub(crate) const SCALE: f64 = 0.45;
/// After this many hours, evidence of a pool's frailty counts half: markets are not stationary.
const HALF_LIFE: f64 = 24.0;
/// How much the prior frailty is worth, in expected interruptions.
const PRIOR_WEIGHT: f64 = 2.0;
/// What is taken for the age of a slot that is up and was never seen before, in hours.
pub(crate) const UNSEEN_AGE: f64 = 1.0;
/// Chance that a slot which nobody asked for is up.
const UNSEEN_UP: f64 = 0.7;
/// Ages this close are alike, in seconds.
const ALIKE: u64 = 60;
/// More runs than this say nothing that matters; the deepest are joined.
const MOST_RUNS: usize = 24;
const PPM: f64 = 1e6;

/// What is thought of a pool before anything was seen of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// How much likelier than usual it takes machines back.
    pub frailty: f64,
    /// Chance that a slot is up.
    pub up: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Prior { frailty: 1.0, up: UNSEEN_UP }
    }
}

/// Chance to last `more` hours after `age` hours.
fn lasts(age: f64, more: f64, frailty: f64) -> f64 {
    ((SCALE + age) / (SCALE + age + more)).powf(SHAPE * frailty)
}

fn hours(seconds: i64) -> f64 {
    seconds.max(0) as f64 / 3600.0
}

fn silence(run: &SlotRun, now: Timestamp) -> f64 {
    hours(now.as_second() - run.seen.as_second())
}

fn age(run: &SlotRun) -> f64 {
    run.age_seconds as f64 / 3600.0
}

/// How much likelier than usual this pool takes machines back, as of a moment.
pub fn frailty(belief: &PoolBelief, prior: Prior, now: Timestamp) -> f64 {
    posterior(prior.frailty, evidence(belief, now))
}

/// Interruptions seen, and to be expected of a usual pool, as far as they count still.
pub(crate) fn evidence(belief: &PoolBelief, now: Timestamp) -> (f64, f64) {
    let keep = kept(belief, now) / PPM;
    (belief.interruptions_ppm as f64 * keep, belief.exposure_ppm as f64 * keep)
}

/// A prior frailty after so many interruptions seen and to be expected.
pub(crate) fn posterior(prior: f64, (seen, usual): (f64, f64)) -> f64 {
    (PRIOR_WEIGHT * prior + seen) / (PRIOR_WEIGHT + usual)
}

fn kept(belief: &PoolBelief, now: Timestamp) -> f64 {
    0.5f64.powf(hours(now.as_second() - belief.as_of.as_second()) / HALF_LIFE)
}

/// The age that a slot has now, if it is up now.
fn age_if_up(run: &SlotRun, now: Timestamp, frailty: f64) -> f64 {
    let silent = silence(run, now);
    if run.up {
        let unbroken = lasts(age(run), silent, frailty);
        unbroken * (age(run) + silent) + (1.0 - unbroken) * silent / 2.0
    } else {
        // It came up at some time since it was seen down.
        silent / 2.0
    }
}

/// A machine was bought at a price. What used to be paid fades like all evidence. To be called before
/// the launch itself is learned from.
pub fn bought(belief: &mut PoolBelief, now: Timestamp, price: MicroUsd) {
    let usual = belief.usual_price.unwrap_or(price).0 as f64;
    let kept = kept(belief, now);
    belief.usual_price = Some(MicroUsd((kept * usual + (1.0 - kept) * price.0 as f64) as u64));
}

/// Machines of ours are alive in the first `count` slots.
pub fn alive(belief: &mut PoolBelief, now: Timestamp, count: u32) {
    let frailty = frailty(belief, Prior::default(), now);
    let keep = kept(belief, now);
    let mut exposure = belief.exposure_ppm as f64 * keep;
    belief.interruptions_ppm = (belief.interruptions_ppm as f64 * keep) as u64;
    split(&mut belief.runs, count);
    let mut before = 0;
    for run in &mut belief.runs {
        if before >= count {
            break;
        }
        before += run.slots;
        if run.up {
            let grown = (SCALE + age(run) + silence(run, now)) / (SCALE + age(run));
            let share = f64::from(run.slots) / f64::from(count);
            exposure += PPM * SHAPE * grown.ln() * share;
        }
        let hours = age_if_up(run, now, frailty);
        *run = up(run.slots, hours, now);
    }
    if before < count {
        belief.runs.push(up(count - before, UNSEEN_AGE, now));
    }
    belief.exposure_ppm = exposure as u64;
    belief.as_of = belief.as_of.max(now);
    join(&mut belief.runs);
}

fn up(slots: u32, hours: f64, now: Timestamp) -> SlotRun {
    SlotRun { slots, up: true, age_seconds: (hours * 3600.0).round() as u64, seen: now }
}

/// The pool carries exactly `count`, and refused to carry `asked`.
pub fn exactly(belief: &mut PoolBelief, now: Timestamp, count: u32, asked: u32) {
    alive(belief, now, count);
    split(&mut belief.runs, count);
    let mut before = 0;
    for run in &mut belief.runs {
        before += run.slots;
        if before <= count {
            continue;
        }
        let silent = (now.as_second() - run.seen.as_second()).max(0) as u64;
        let age_seconds = if run.up { 0 } else { run.age_seconds + silent };
        *run = SlotRun { slots: run.slots, up: false, age_seconds, seen: now };
    }
    if before < asked {
        let slots = asked - before;
        belief.runs.push(SlotRun { slots, up: false, age_seconds: 0, seen: now });
    }
    join(&mut belief.runs);
}

/// Of `held` machines the pool took some back, and `left` are left.
pub fn interrupted(belief: &mut PoolBelief, now: Timestamp, held: u32, left: u32) {
    // Until just now they lived: that is evidence too.
    alive(belief, now, held);
    exactly(belief, now, left, held);
    let lost = f64::from(held.saturating_sub(left)) / f64::from(held.max(1));
    belief.interruptions_ppm += (lost * PPM) as u64;
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
    let frailty = frailty(belief, prior, now);
    let mut all = Vec::with_capacity(slots);
    for run in &belief.runs {
        let silent = silence(run, now);
        let known = if run.up { lasts(age(run), silent, frailty) } else { 0.0 };
        let forgotten = if run.up { 1.0 - known } else { 1.0 - lasts(age(run), silent, 1.0) };
        let up = known + forgotten * prior.up;
        let stays = lasts(age_if_up(run, now, frailty), ahead, frailty);
        let more = (run.slots as usize).min(slots - all.len());
        all.extend(std::iter::repeat_n(Chance { up, stays }, more));
    }
    let unseen = Chance { up: prior.up, stays: lasts(UNSEEN_AGE, ahead, frailty) };
    all.resize(slots, unseen);
    all
}

/// How many more hours half of the machines in a slot live, if it is up now.
pub fn median_life(belief: &PoolBelief, prior: Prior, now: Timestamp) -> f64 {
    let frailty = frailty(belief, prior, now);
    let age = belief.runs.first().map_or(UNSEEN_AGE, |run| age_if_up(run, now, frailty));
    (SCALE + age) * (2f64.powf(1.0 / (SHAPE * frailty).max(0.01)) - 1.0)
}

/// How many interruptions a slot that is up now is to be expected to see, if it is filled again each
/// time: the hazard falls as the slot grows older, so a day has far less than 24 first hours.
pub fn interruptions(stays: f64) -> f64 {
    // The hazard, summed over a while, is what the chance to last that while is the power of.
    -stays.max(f64::MIN_POSITIVE).ln()
}

/// Makes a run end after `at` slots.
fn split(runs: &mut Vec<SlotRun>, at: u32) {
    let mut before = 0;
    for nth in 0..runs.len() {
        let run = runs[nth];
        if before < at && at < before + run.slots {
            runs[nth].slots = at - before;
            runs.insert(nth + 1, SlotRun { slots: before + run.slots - at, ..run });
            return;
        }
        before += run.slots;
    }
}

/// Joins neighbours that are alike.
fn join(runs: &mut Vec<SlotRun>) {
    runs.retain(|run| run.slots > 0);
    runs.dedup_by(|next, run| {
        let alike = run.up == next.up
            && run.seen == next.seen
            && run.age_seconds.abs_diff(next.age_seconds) < ALIKE;
        if alike {
            run.slots += next.slots;
        }
        alike
    });
    while runs.len() > MOST_RUNS {
        let Some(last) = runs.pop() else { break };
        if let Some(run) = runs.last_mut() {
            run.slots += last.slots;
        }
    }
}
