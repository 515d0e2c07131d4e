//! Since when each cloud's word on launches has stood.
//!
//! Spot capacity lasts the longer it has lasted. Where we have a machine, we see that. Where we have none,
//! a word on launches that has stood for hours says the same of slots that nobody of us holds, so words
//! are remembered from look to look.

use crate::market::belief::{UNSEEN_AGE, age_after};
use fleet_model::{AllSaid, Market, Obtainability, Offering, PoolId, Said, Timestamp};
use std::cmp::Reverse;

/// A word below this, in per cent, stands for nothing: who says that a launch is hopeless does not tell
/// when slots came up.
const LEAST: u8 = 10;

/// Looks further apart than this, in hours, say nothing of the time between them.
const SILENCE: f64 = 2.0;

/// Takes in what the clouds say now, and tells each offering since when that has stood.
pub fn hear(said: &mut AllSaid, offerings: &mut [Offering], now: Timestamp) {
    for offering in offerings {
        offering.signals.steady_since = None;
        if offering.pool.market != Market::Spot {
            continue;
        }
        let Some(word) = offering.signals.obtainability else { continue };
        if let Some(known) = said.get_mut(&offering.pool) {
            take_in(known, word, now);
            offering.signals.steady_since = steady_since(known, word.percent);
        } else {
            said.insert(offering.pool.clone(), first(word, now));
        }
    }
}

/// What is worth telling to whoever looks next: no more than so many pools, those first whose word has stood
/// longest.
pub fn worth_telling(said: &AllSaid, most: usize) -> AllSaid {
    let since = |said: &Said| steady_since(said, said.at_least.last()?.0);
    let mut told: Vec<(Timestamp, &PoolId, &Said)> =
        said.iter().filter_map(|(pool, said)| Some((since(said)?, pool, said))).collect();
    // Whoever was not heard of lately is forgotten first.
    told.sort_unstable_by_key(|(since, pool, said)| (Reverse(said.heard), *since, *pool));
    told.into_iter().take(most).map(|(_, pool, said)| (pool.clone(), said.clone())).collect()
}

/// A word that was never heard before has stood as long as a slot that was never seen before.
fn first(word: Obtainability, now: Timestamp) -> Said {
    let at_least = vec![(word.percent, before(now, UNSEEN_AGE))];
    Said { source: word.source, heard: now, at_least }
}

fn take_in(said: &mut Said, word: Obtainability, now: Timestamp) {
    if said.source != word.source {
        *said = first(word, now);
        return;
    }
    if now < said.heard {
        // A clock that was set back, or somebody who looked earlier and tells it now.
        return;
    }
    let silent = hours_between(said.heard, now);
    if silent > SILENCE {
        for (_, since) in &mut said.at_least {
            let age = hours_between(*since, said.heard);
            *since = before(now, age_after(age, silent));
        }
    }
    let lower = said.at_least.partition_point(|(percent, _)| *percent < word.percent);
    match said.at_least.get(lower) {
        // It was at least this, and more, since then.
        Some((_, since)) => {
            let since = *since;
            said.at_least.truncate(lower);
            said.at_least.push((word.percent, since));
        }
        // It rose at some time since we last heard it, and no earlier than one that was never heard.
        None => {
            let rose = before(now, (silent / 2.0).min(UNSEEN_AGE));
            said.at_least.push((word.percent, rose));
        }
    }
    said.heard = now;
}

/// Since when the word was never below half of so many per cent. Words are noisy, and a pool whose word fell
/// from 90 to 50 did not lose all.
fn steady_since(said: &Said, percent: u8) -> Option<Timestamp> {
    let half = said.at_least.iter().find(|(at_least, _)| *at_least >= percent.div_ceil(2));
    half.filter(|_| percent >= LEAST).map(|(_, since)| *since)
}

fn hours_between(from: Timestamp, to: Timestamp) -> f64 {
    (to.as_millisecond() - from.as_millisecond()).max(0) as f64 / 3_600_000.0
}

fn before(at: Timestamp, hours: f64) -> Timestamp {
    let seconds = jiff::SignedDuration::from_secs((hours * 3600.0).round() as i64);
    at.checked_sub(seconds).unwrap_or(at)
}

#[cfg(test)]
#[path = "said_tests.rs"]
mod tests;
