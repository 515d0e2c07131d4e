//! When to stop asking a region that keeps failing, and when to ask it again.
//!
//! One breaker per cloud, region and operation. A refusal is an answer: what counts is requests
//! that came to nothing, however often they were repeated. An open breaker stops its own kind of
//! request and nothing else: where launches fail, machines are still looked at and destroyed. A region
//! that cannot be looked at is a gap. When the time is over one request is let through; if that fails
//! as well, the next pause is longer.

use fleet_model::Timestamp;
use std::time::Duration;

/// So many failures in a row open a breaker.
pub const FAILURES: u32 = 3;
/// The first pause.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// The longest: shorter than the settle window, so that a request in doubt can be settled as soon
/// as absence proves something.
const LONGEST_PAUSE: Duration = Duration::from_secs(240);

/// How one kind of request fares in one region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    open_until: Option<Timestamp>,
    pause: Option<Duration>,
}

impl Breaker {
    /// Until when nothing is asked.
    pub fn open_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.open_until.filter(|until| *until > now)
    }

    /// How many failures there were in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The service answered, with whatever answer.
    pub fn answered(&mut self) {
        *self = Breaker::default();
    }

    /// A request came to nothing. If that opens the breaker: until when.
    pub fn failed(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.failures += 1;
        // What was under way when it opened says nothing new.
        if self.failures < FAILURES || self.open_until(now).is_some() {
            return None;
        }
        let pause = self.pause.map_or(FIRST_PAUSE, |pause| (pause * 2).min(LONGEST_PAUSE));
        self.pause = Some(pause);
        self.open_until = Some(now.checked_add(pause).unwrap_or(Timestamp::MAX));
        self.open_until
    }
}

/// What opened a breaker, and until when.
pub fn open_words(
    operation: fleet_model::Operation,
    failures: u32,
    code: &str,
    until: Timestamp,
) -> String {
    format!(
        "{failures} {operation} in a row failed, the last with {code}; asked again after {until}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn three_in_a_row_open_it_and_an_answer_closes_it() {
        let mut breaker = Breaker::default();
        assert_eq!((breaker.failed(at(0)), breaker.failed(at(1))), (None, None));
        breaker.answered();
        assert_eq!((breaker.failed(at(2)), breaker.failed(at(3))), (None, None));
        assert_eq!(breaker.failed(at(4)), Some(at(64)));
        assert_eq!(breaker.failed(at(5)), None, "what was under way says nothing new");
        assert_eq!((breaker.open_until(at(63)), breaker.open_until(at(64))), (Some(at(64)), None));
        breaker.answered();
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let mut breaker = Breaker::default();
        let mut now = 0;
        let mut pauses = Vec::new();
        while pauses.len() < 5 {
            if let Some(until) = breaker.failed(at(now)) {
                pauses.push(until.as_second() - now);
                now = until.as_second();
            }
        }
        assert_eq!(pauses, [60, 120, 240, 240, 240]);
    }
}
