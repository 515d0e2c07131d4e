//! How many machines a pool is asked for after it said no.
//!
//! One at first. What is granted doubles it, the next no sets it back to one, and silence lifts it by
//! and by. A no costs one request then, and a pool that has capacity again gives it in a few rounds.

use fleet_model::{PoolBelief, Throttle, Timestamp};

/// Beyond this it is no throttle any more.
const OPEN: u32 = 1024;
/// What is allowed doubles with every so many seconds of silence.
const DOUBLES: i64 = 3600;

/// The pool refused machines, or took some back.
pub(crate) fn said_no(belief: &mut PoolBelief, at: Timestamp) {
    belief.throttle = Some(Throttle { allowed: 1, at });
}

/// The pool granted machines, and refused none.
pub(crate) fn granted(belief: &mut PoolBelief, count: u32, at: Timestamp) {
    let Some(allowed) = allowed(belief.throttle, at) else {
        belief.throttle = None;
        return;
    };
    // Less than was allowed proves no more than that.
    let proven = if count >= allowed { allowed.saturating_mul(2) } else { allowed };
    belief.throttle = (proven < OPEN).then_some(Throttle { allowed: proven, at });
}

/// How many machines may be asked for; `None`: as many as anybody wants.
pub(crate) fn allowed(throttle: Option<Throttle>, now: Timestamp) -> Option<u32> {
    let throttle = throttle?;
    let silent = (now.as_second() - throttle.at.as_second()).max(0) / DOUBLES;
    let doubled = u32::try_from(silent).ok().and_then(|times| 1u32.checked_shl(times));
    let allowed = throttle.allowed.saturating_mul(doubled?);
    (allowed < OPEN).then_some(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_probe_doubled_on_success_and_back_on_failure() {
        let at = |seconds: i64| Timestamp::from_second(seconds).expect("a time");
        let mut belief = PoolBelief::default();
        let now = |belief: &PoolBelief, seconds| allowed(belief.throttle, at(seconds));
        assert_eq!(now(&belief, 0), None);
        said_no(&mut belief, at(0));
        assert_eq!(now(&belief, 60), Some(1));
        for expected in [2, 4, 8] {
            let asked = now(&belief, 60).expect("a throttle");
            granted(&mut belief, asked, at(60));
            assert_eq!(now(&belief, 60), Some(expected));
        }
        granted(&mut belief, 3, at(90));
        assert_eq!(now(&belief, 90), Some(8), "three of eight prove nothing new");
        said_no(&mut belief, at(120));
        assert_eq!(now(&belief, 120), Some(1));
        assert_eq!(now(&belief, 120 + 2 * 3600), Some(4), "silence lifts it");
        assert_eq!(now(&belief, 120 + 24 * 3600), None);
        assert_eq!(now(&belief, 120 + 24 * 360_000), None);
    }
}
