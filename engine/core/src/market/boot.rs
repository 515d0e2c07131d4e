//! How long machines of a pool take to be of use.
//!
//! Nobody watches a machine boot: one look finds it not ready, a later one finds it ready. The truth lies
//! between the two, so what is believed moves only as far as it lies outside. Whoever looks once an hour
//! learns little, and nothing wrong.

use fleet_model::{Hedge, PoolBelief};
use std::ops::RangeInclusive;

/// A machine was found ready; its boot took a number of seconds in this range.
pub(super) fn took(belief: &mut PoolBelief, seconds: RangeInclusive<u32>) {
    let believed = belief.boot_seconds.unwrap_or(Hedge::READY_AFTER_SECONDS);
    let (least, most) = seconds.into_inner();
    let seen = believed.max(least).min(most);
    if seen != believed {
        // Half way: one machine may be an exception.
        belief.boot_seconds = Some(believed.midpoint(seen));
    }
}

/// Hours that a machine of the pool takes, where `usual_seconds` are usual.
pub(super) fn hours(belief: &PoolBelief, usual_seconds: u32) -> f64 {
    f64::from(belief.boot_seconds.unwrap_or(usual_seconds)) / 3600.0
}

/// Hours by which it takes longer than usual.
pub(super) fn late(belief: &PoolBelief, usual_seconds: u32) -> f64 {
    (hours(belief, usual_seconds) - f64::from(usual_seconds) / 3600.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_prove_is_learned_and_nothing_else() {
        let mut belief = PoolBelief::default();
        took(&mut belief, 0..=3600);
        took(&mut belief, 200..=400);
        assert_eq!(belief.boot_seconds, None, "as usual, as far as anybody can tell");
        // Seen not ready after eight minutes, again and again.
        let mut before = Hedge::READY_AFTER_SECONDS;
        for _ in 0..4 {
            took(&mut belief, 480..=540);
            let now = belief.boot_seconds.expect("learned");
            assert!(now > before && now <= 480, "{now}");
            before = now;
        }
        assert!(before > 460 && late(&belief, 300) > 160.0 / 3600.0);
        // And then it is fast.
        took(&mut belief, 0..=60);
        assert!(belief.boot_seconds.is_some_and(|now| now < 300));
        assert_eq!(late(&belief, 300), 0.0);
    }
}
