//! From the clouds' signals to a prior, and from what happened to how far each signal is believed.
//!
//! A signal is judged by what it said when a launch was decided on. A launch that a pool granted or
//! refused judges the words on launches, a machine that is gone judges the words on interruptions: how
//! much likelier did the word make it than the usual prior?

use crate::market::belief::{Prior, UNSEEN_AGE, remembered, usual_interruptions};
use crate::market::learn::is_lost;
use crate::offers::trust::{MICRO, Trust, gain_at};
use fleet_model::{
    Heard, HeardAt, Market, PoolId, Recorded, Says, Share, SignalSource, Signals, SlotId,
    SlotState, Timestamp, Vacated, Word,
};
use std::collections::BTreeMap;

/// What one observation counts: launches of a day, and machines lost together, tell the same story
/// several times over.
const TEMPER: f64 = 0.25;
/// No word is certain: neither a launch, nor its refusal.
const NEVER_SURE: f64 = 0.05;
/// The chance of an on-demand launch, where nobody says anything.
const USUAL_ON_DEMAND: f64 = 0.9;
/// The most that a word may say of interruptions, either way.
const MOST: f64 = 12.0;
/// A slot is at least as old as this, in hours.
const MINUTE: f64 = 1.0 / 60.0;
/// Words that nobody acted on for this long are forgotten.
const KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(90 * 24);

fn share(share: Share) -> f64 {
    f64::from(share.ppm()) / 1e6
}

/// What a word says of a launch; `None`: nothing.
fn launch(word: &Word) -> Option<f64> {
    match word.source.row().says {
        Says::Launch => Some(share(word.share)),
        Says::Interruption { .. } | Says::PriceMovement { .. } => None,
    }
}

/// How much likelier than usual machines are taken back, if a word were all the truth; `None`: it says
/// nothing of that.
fn frailty(word: &Word) -> Option<f64> {
    let said = share(word.share);
    let ratio = match word.source.row().says {
        Says::Launch => return None,
        Says::Interruption { usual_percent } => {
            let usual = f64::from(usual_percent) / 100.0;
            (1.0 - said.clamp(0.01, 0.6)).ln() / (1.0 - usual).ln()
        }
        // A price that does not move at all says as little as one that moves as usual: capacity swings
        // under flat prices.
        Says::PriceMovement { usual_percent } => {
            let usual = f64::from(usual_percent) / 100.0;
            (said / usual).max(1.0)
        }
    };
    Some(ratio.clamp(1.0 / MOST, MOST))
}

/// What is thought of a pool before anything was seen of it: the usual, moved toward each word as far as
/// its source is believed.
pub(crate) fn prior(signals: &Signals, trust: &Trust, now: Timestamp) -> Prior {
    let mut prior = Prior::default();
    for word in signals.words() {
        let weight = trust.weight(word.source);
        if let Some(said) = launch(&word) {
            prior.up += weight * (said - prior.up);
            if let Some(since) = signals.steady_since {
                let hours = (now.as_second() - since.as_second()) as f64 / 3600.0;
                // What could be launched all the time stood all the time.
                prior.age *= (hours.max(MINUTE) / UNSEEN_AGE).powf(weight);
                prior.watched = weight * remembered(hours - UNSEEN_AGE);
            }
        }
        if let Some(said) = frailty(&word) {
            prior.frailty *= said.powf(weight);
        }
    }
    prior
}

/// Launches were decided on these words.
pub(crate) fn heard(recorded: &mut Recorded, heard: &[Heard], at: Timestamp) {
    recorded.heard.retain(|_, old| at.duration_since(old.at) <= KEPT);
    for Heard { pool, words } in heard {
        recorded.heard.insert(pool.clone(), HeardAt { at, words: words.clone() });
    }
}

/// A pool granted a launch.
pub(crate) fn granted(recorded: &mut Recorded, pool: &PoolId, at: Timestamp) {
    judge_launch(recorded, pool, true, at);
}

/// A pool refused a launch.
pub(crate) fn refused(recorded: &mut Recorded, pool: &PoolId, at: Timestamp) {
    judge_launch(recorded, pool, false, at);
}

fn judge_launch(recorded: &mut Recorded, pool: &PoolId, granted: bool, at: Timestamp) {
    let usual = match pool.market {
        Market::Spot => Prior::default().up,
        Market::OnDemand | Market::Reserved => USUAL_ON_DEMAND,
    };
    let right = |up: f64| if granted { up } else { 1.0 - up };
    for word in words(recorded, pool) {
        let Some(said) = launch(&word) else { continue };
        let said = said.clamp(NEVER_SURE, 1.0 - NEVER_SURE);
        note(recorded, word.source, (right(said) / right(usual)).ln(), at);
    }
}

/// Machines are gone. To be called while their slots are still on record, and before the pools' own
/// evidence is changed.
pub(crate) fn gone(recorded: &mut Recorded, gone: &[Vacated], at: Timestamp) {
    let mut lives: BTreeMap<PoolId, Lives> = BTreeMap::new();
    for vacated in gone {
        let Some(record) = recorded.slots.get(&vacated.slot) else { continue };
        if let SlotState::Filled { machine, pool, launched_at, ending: false, .. } = &record.state
            && *machine == vacated.machine
        {
            lives.entry(pool.clone()).or_default().add(*launched_at, at, is_lost(vacated.how));
        }
    }
    judge_lives(recorded, lives, at);
}

/// We are about to destroy machines: they lived until now.
pub(crate) fn ended(recorded: &mut Recorded, slots: &[SlotId], at: Timestamp) {
    let mut lives: BTreeMap<PoolId, Lives> = BTreeMap::new();
    for slot in slots {
        let Some(record) = recorded.slots.get(&slot.name) else { continue };
        if let SlotState::Filled { pool, launched_at, ending: false, .. } = &record.state
            && record.generation == slot.generation
        {
            lives.entry(pool.clone()).or_default().add(*launched_at, at, false);
        }
    }
    judge_lives(recorded, lives, at);
}

/// Machines of one pool whose lives are over.
#[derive(Default)]
struct Lives {
    count: u32,
    lost: u32,
    /// Interruptions to be expected of a usual pool.
    usual: f64,
}

impl Lives {
    fn add(&mut self, launched: Timestamp, at: Timestamp, lost: bool) {
        let hours = (at.as_second() - launched.as_second()).max(0) as f64 / 3600.0;
        self.usual += usual_interruptions(hours);
        self.lost += u32::from(lost);
        self.count += 1;
    }
}

fn judge_lives(recorded: &mut Recorded, lives: BTreeMap<PoolId, Lives>, at: Timestamp) {
    for (pool, Lives { count, lost, usual }) in lives {
        // What a pool loses at once is one event, however many machines that is.
        let held = recorded.beliefs.get(&pool).map_or(0, |belief| belief.held).max(count);
        let of_held = |amount: f64| amount / f64::from(held.max(1));
        for word in words(recorded, &pool) {
            let Some(said) = frailty(&word) else { continue };
            let gain = of_held(f64::from(lost)) * said.ln() - (said - 1.0) * of_held(usual);
            note(recorded, word.source, gain, at);
        }
    }
}

/// What was said of a pool when machines were launched there.
fn words(recorded: &Recorded, pool: &PoolId) -> Vec<Word> {
    recorded.heard.get(pool).map(|heard| heard.words.clone()).unwrap_or_default()
}

fn note(recorded: &mut Recorded, source: SignalSource, gain: f64, at: Timestamp) {
    let record = recorded.signals.entry(source).or_default();
    let gain = gain_at(record, at) + TEMPER * gain;
    record.gain_micro = (gain * MICRO).round() as i64;
    record.judged += 1;
    record.as_of = record.as_of.max(at);
}

#[cfg(test)]
#[path = "signals_tests.rs"]
mod tests;
