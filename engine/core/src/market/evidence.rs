//! What was seen of a pool, by this fleet or others, and what is seen now.

use crate::market::belief;
use crate::market::learn;
use fleet_model::{Inputs, PoolBelief, PoolId, Throttle, Timestamp, Vacated};
use std::collections::BTreeMap;

/// The latest that is known of a pool, from this fleet or others.
pub(crate) fn latest<'a>(inputs: &'a Inputs, pool: &PoolId) -> Option<&'a PoolBelief> {
    let own = inputs.recorded.beliefs.get(pool);
    own.into_iter().chain(inputs.beliefs.get(pool)).max_by_key(|belief| belief.as_of)
}

/// The last no of a pool, to this fleet or others, and what was granted since.
pub(crate) fn throttle(inputs: &Inputs, pool: &PoolId) -> Option<Throttle> {
    let own = inputs.recorded.beliefs.get(pool).and_then(|belief| belief.throttle);
    let of_others = inputs.beliefs.get(pool).and_then(|belief| belief.throttle);
    own.into_iter().chain(of_others).max_by_key(|throttle| throttle.at)
}

/// Machines that each pool took back, as this look found.
pub(crate) fn lost_now(inputs: &Inputs, vacate: &[Vacated]) -> BTreeMap<PoolId, u32> {
    learn::lost(&inputs.recorded, vacate)
}

/// What is believed of a pool at this moment: what was seen, and what we see now.
pub(crate) fn refreshed(inputs: &Inputs, pool: &PoolId, held: u32, lost: u32) -> PoolBelief {
    let (own, other) = (inputs.recorded.beliefs.get(pool), inputs.beliefs.get(pool));
    now(own, other, inputs.now, (held, lost))
}

/// The same, from what this fleet saw and what others did. Whoever looked last knows most of how a pool behaves.
/// Which slots are free for us is another matter: see [`belief::stacked`].
fn now(
    own: Option<&PoolBelief>,
    other: Option<&PoolBelief>,
    now: Timestamp,
    (held, lost): (u32, u32),
) -> PoolBelief {
    let latest = own.into_iter().chain(other).max_by_key(|belief| belief.as_of);
    let mut belief = latest.cloned().unwrap_or_default();
    if let Some(other) = other {
        let none = PoolBelief::default();
        let own = own.unwrap_or(&none);
        belief.runs = belief::stacked(own, held + lost, other);
        belief.held = own.held;
    }
    if lost > 0 {
        belief::interrupted(&mut belief, now, held + lost, held);
    } else if held > 0 {
        belief::alive(&mut belief, now, held);
    }
    belief
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::belief::{Prior, alive, chances, exactly};

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + 60 * minutes).expect("a time")
    }

    /// A fleet that was granted so many machines at some minute.
    fn granted(count: u32, minute: i64) -> PoolBelief {
        let mut belief = PoolBelief { held: count, ..PoolBelief::default() };
        alive(&mut belief, at(minute), count);
        belief
    }

    /// It is refused one more, or more.
    fn refused(mut belief: PoolBelief, more: u32, minute: i64) -> PoolBelief {
        let held = belief.held;
        exactly(&mut belief, at(minute), held, held + more);
        belief
    }

    /// It ends so many of its machines.
    fn ended(mut belief: PoolBelief, count: u32, minute: i64) -> PoolBelief {
        let held = belief.held;
        alive(&mut belief, at(minute), held);
        belief.held = held - count;
        belief
    }

    /// How likely the next three slots are up in the tenth minute, in percent.
    fn next(own: Option<&PoolBelief>, other: Option<&PoolBelief>) -> [u32; 3] {
        let held = own.map_or(0, |own| own.held);
        let belief = now(own, other, at(10), (held, 0));
        assert_eq!(belief.held, held);
        let all = chances(&belief, Prior::default(), at(10), 1.0, held as usize + 3);
        [0, 1, 2].map(|nth| (all[held as usize + nth].up * 100.0).round() as u32)
    }

    #[test]
    fn slots_of_another_fleet_are_not_free_and_what_refused_it_refuses_us() {
        let unknown = [70, 70, 70];
        let check = |own: Option<&PoolBelief>, other: PoolBelief, expected: [u32; 3]| {
            let found = next(own, Some(&other));
            let near = found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 8);
            assert!(near, "{found:?} for {expected:?}: {own:?}, {other:?}");
        };
        assert_eq!(next(None, None), unknown);
        check(None, granted(4, 9), unknown);
        check(None, refused(granted(4, 8), 2, 9), [0, 0, 70]);
        check(None, ended(granted(4, 8), 2, 9), [100, 100, 70]);
        // We have machines there too, and the other looked last.
        let own = granted(3, 5);
        check(Some(&own), granted(4, 9), unknown);
        check(Some(&own), refused(granted(4, 8), 2, 9), [0, 0, 70]);
        check(Some(&own), refused(granted(1, 8), 1, 9), [0, 70, 70]);
        // What we gave up is the other's by now, and what refused us may have come.
        check(Some(&ended(granted(3, 5), 2, 6)), granted(4, 9), unknown);
        check(Some(&refused(granted(3, 5), 2, 6)), granted(4, 9), unknown);
        // We looked last: nobody knows better.
        let own = refused(granted(3, 5), 1, 9);
        check(Some(&own), granted(4, 8), [0, 70, 70]);
        check(Some(&granted(3, 9)), refused(granted(4, 7), 2, 8), unknown);
        // We gave up two before the other came, and were heard of since.
        let mut own = ended(granted(5, 2), 2, 3);
        alive(&mut own, at(9), 3);
        check(Some(&own), granted(4, 6), unknown);
    }

    #[test]
    fn a_fleet_that_is_alone_sees_what_it_saw() {
        let own = refused(ended(granted(5, 2), 2, 3), 4, 4);
        let mut expected = own.clone();
        alive(&mut expected, at(10), 3);
        assert_eq!(now(Some(&own), None, at(10), (3, 0)), expected);
    }

    /// Ours stand in the first slots whatever another fleet saw there, and the hours are counted once.
    #[test]
    fn our_machines_keep_their_age() {
        let own = granted(2, -600);
        let other = refused(granted(1, 8), 1, 9);
        let belief = now(Some(&own), Some(&other), at(10), (2, 0));
        let [ours, above] = [0, 1].map(|nth| belief.runs[nth]);
        assert!(ours.up && ours.slots == 2 && ours.age_seconds > 5 * 3600, "{ours:?}");
        assert!(!above.up && above.slots == 1, "{above:?}");
        assert!(belief.watched_ppm < other.watched_ppm + 20_000, "{belief:?}");
    }
}
