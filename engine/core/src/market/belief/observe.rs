//! What an observation does to a belief.

use super::{
    PPM, UNSEEN_AGE, age, age_if_up, exposed, frailty, hours_since, kept, mix, rate, silence,
};
use crate::market::belief::Prior;
use fleet_model::{MicroUsd, PoolBelief, SlotRun, Timestamp};

/// Ages this close are alike, in seconds.
const ALIKE: u64 = 60;
/// More runs than this say nothing that matters; the deepest are joined.
const MOST_RUNS: usize = 24;

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
    let rate = rate(belief, Prior::default(), now);
    let keep = kept(belief, now);
    let mut exposure = belief.exposure_ppm as f64 * keep;
    let mut watched = belief.watched_ppm as f64 * keep;
    let mut lead = mix::aged(belief, hours_since(belief, now));
    belief.interruptions_ppm = (belief.interruptions_ppm as f64 * keep) as u64;
    split(&mut belief.runs, count);
    let mut before = 0;
    for run in &mut belief.runs {
        if before >= count {
            break;
        }
        before += run.slots;
        if run.up {
            let (aged, silent) = (age(run), silence(run, now));
            let share = f64::from(run.slots) / f64::from(count);
            exposure += PPM * exposed(run, run.slots, count, now);
            watched += PPM * share * silent;
            lead += share * mix::lasted(aged, silent, frailty, rate);
            belief.machine_seconds += u64::from(run.slots) * (silent * 3600.0).round() as u64;
        }
        let hours = age_if_up(run, now, frailty);
        *run = up(run.slots, hours, now);
    }
    if before < count {
        belief.runs.push(up(count - before, UNSEEN_AGE, now));
    }
    belief.exposure_ppm = exposure as u64;
    belief.watched_ppm = watched as u64;
    belief.ages_lead_ppm = mix::ppm(lead);
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
    let mut fell_at = belief.fell;
    for run in &mut belief.runs {
        before += run.slots;
        if before <= count {
            continue;
        }
        let silent = (now.as_second() - run.seen.as_second()).max(0) as u64;
        let age_seconds = if run.up { 0 } else { run.age_seconds + silent };
        if run.up {
            // It fell at some time since it was last seen up.
            let ago = i64::try_from(silent / 2).unwrap_or_default();
            let fell = Timestamp::from_second(now.as_second() - ago).unwrap_or(now);
            fell_at = fell_at.max(Some(fell));
        }
        *run = SlotRun { slots: run.slots, up: false, age_seconds, seen: now };
    }
    belief.fell = fell_at;
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
    let foretold = foretold(belief, now, held, left);
    exactly(belief, now, left, held);
    let lost = held.saturating_sub(left);
    belief.interruptions_ppm += (f64::from(lost) / f64::from(held.max(1)) * PPM) as u64;
    belief.ages_lead_ppm = mix::ppm(belief.ages_lead_ppm as f64 / PPM + foretold);
    belief.lost += u64::from(lost);
}

/// How much better ages foretold than rates that the slots from `left` to `held` are lost now.
fn foretold(belief: &PoolBelief, now: Timestamp, held: u32, left: u32) -> f64 {
    let frailty = frailty(belief, Prior::default(), now);
    let rate = rate(belief, Prior::default(), now);
    let (mut before, mut lead) = (0, 0.0);
    for run in &belief.runs {
        let from = before.max(left);
        before += run.slots;
        let lost = before.min(held).saturating_sub(from);
        let share = f64::from(lost) / f64::from(held.max(1));
        lead += share * mix::lost(age(run), frailty, rate);
    }
    lead
}

/// The slots of a pool for a fleet of which `held` machines stand there, where another fleet saw it too.
///
/// Each fleet sees the slots of its own machines from the first, as if it were alone. So the first slots that
/// another fleet saw up are not free for us: its machines stand in them. What lies above them, free or refused,
/// lies above our own machines for us. Of what lies above, the word of whoever looked last counts, whole: slots
/// that we gave up before the other launched there are its slots now, and what refused us before may have come.
pub fn stacked(own: &PoolBelief, held: u32, other: &PoolBelief) -> Vec<SlotRun> {
    let held = held.max(own.held);
    let above = above(&own.runs, held);
    if above.first().map_or(own.as_of, |run| run.seen) >= other.as_of {
        return own.runs.clone();
    }
    // Nobody told that ours were gone when the other looked.
    let mut ours = own.clone();
    alive(&mut ours, own.as_of.max(other.as_of), held);
    split(&mut ours.runs, held);
    let mut before = 0;
    ours.runs.retain(|run| {
        before += run.slots;
        before <= held
    });
    ours.runs.extend(self::above(&other.runs, other.held));
    ours.runs
}

/// The slots after the first `held`.
fn above(runs: &[SlotRun], held: u32) -> Vec<SlotRun> {
    let mut runs = runs.to_vec();
    split(&mut runs, held);
    let mut before = 0;
    runs.retain(|run| {
        before += run.slots;
        before > held
    });
    runs
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
