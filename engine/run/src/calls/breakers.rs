//! The breakers of a run: one per region and operation.

use fleet_core::{Breaker, FAILURES, open_words};
use fleet_model::{Block, BlockScope, Event, Operation, Scope, Timestamp};
use fleet_provider::{Class, Error};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How requests fare, per region and operation.
#[derive(Debug, Default)]
pub(crate) struct Breakers(Mutex<BTreeMap<(Scope, Operation), (Breaker, String)>>);

/// A breaker that is open, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) scope: BlockScope,
    pub(crate) until: Timestamp,
    pub(crate) words: String,
}

impl Breakers {
    fn with<T>(
        &self,
        scope: &Scope,
        operation: Operation,
        act: impl FnOnce(&mut (Breaker, String)) -> T,
    ) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(all.entry((scope.clone(), operation)).or_default())
    }

    /// The breaker of a region and operation, if it is open now, by our own stopwatch.
    pub(super) fn open(&self, scope: &Scope, operation: Operation, now: Timestamp) -> Option<Open> {
        self.with(scope, operation, |(breaker, code)| {
            let until = breaker.open_until(now)?;
            let words = open_words(operation, breaker.failures().min(FAILURES), code, until);
            Some(Open { scope: block_scope(scope, operation), until, words })
        })
    }

    /// Notes how a request ended at a moment by our own stopwatch, all its repeats included. If that
    /// opened the breaker: what is to be written down, so that the next run knows it as well.
    pub(super) fn note_end<T>(
        &self,
        scope: &Scope,
        operation: Operation,
        answer: &Result<T, Error>,
        (now, stamp): (Timestamp, Timestamp),
    ) -> Option<Event> {
        self.with(scope, operation, |(breaker, last)| {
            let Some(code) = answer.as_ref().err().filter(|error| came_to_nothing(error)) else {
                breaker.answered();
                return None;
            };
            last.clone_from(&code.code);
            // By our own stopwatch here; for others from the moment that is written down.
            let until = breaker.failed(now)?;
            let until = stamp.checked_add(until.duration_since(now)).unwrap_or(Timestamp::MAX);
            let (scope, code) = (block_scope(scope, operation), code.code.clone());
            Some(Event::Blocked { block: Block { scope, until, code } })
        })
    }
}

fn block_scope(scope: &Scope, operation: Operation) -> BlockScope {
    BlockScope::Breaker { cloud: scope.cloud, region: scope.region.clone(), operation }
}

/// A refusal is an answer, and so is "you ask too much"; silence, and trouble that outlasted every
/// repeat, is not.
fn came_to_nothing(error: &Error) -> bool {
    match error.class {
        Class::Retry { .. } => !error.throttled,
        Class::Unknown => true,
        Class::Refused { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Auth
        | Class::Invalid
        | Class::Freeze => false,
    }
}
