//! How clouds are asked: at which pace, how often again, together with whom, when not at all, and by which clock.

mod answer;
mod breakers;
mod clock;
mod limits;
mod meter;
mod retry;
mod seams;
mod turns;

pub(crate) use answer::{AccountLook, Seen, Unseen};
pub(crate) use breakers::Open;
pub use clock::SystemClock;
pub(crate) use clock::Watch;
pub(crate) use meter::Measured;
pub use meter::{Appended, Meter};
pub(crate) use retry::Patience;
pub(crate) use turns::Known;

use breakers::Breakers;
use fleet_model::{Event, Operation, Scope};
use fleet_provider::Error;
use limits::RateLimits;
use retry::{RetryBudget, retrying};
use std::future::Future;
use std::sync::Arc;
use turns::Turns;

/// What all calls of a run share.
pub(crate) struct Calls {
    clock: Arc<Watch>,
    pub(crate) limits: RateLimits,
    pub(crate) turns: Turns,
    budget: RetryBudget,
    breakers: Breakers,
    pub(crate) measured: Measured,
}

impl Calls {
    pub(crate) fn new(clock: Arc<Watch>) -> Self {
        let limits = RateLimits::new(clock.clone());
        Calls {
            clock,
            limits,
            turns: Turns::default(),
            budget: RetryBudget::new(),
            breakers: Breakers::default(),
            measured: Measured::default(),
        }
    }

    /// Calls, and calls again with jitter while the cloud says "later" and the budget lasts. The seed
    /// is of what is asked, so that a repeat after a crash waits as long.
    pub(crate) async fn retrying<T, F>(
        &self,
        seed: u64,
        patience: Patience,
        call: impl FnMut() -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        retrying(&self.clock, &self.budget, seed, patience, call).await
    }

    /// Hands an answer on, and lets the pace follow it.
    pub(crate) fn paced<T>(
        &self,
        scope: &Scope,
        operation: Operation,
        answer: Result<T, Error>,
    ) -> Result<T, Error> {
        match &answer {
            Err(error) if error.throttled => self.limits.brake(scope, operation),
            Err(_) => {}
            Ok(_) => self.limits.release(scope, operation),
        }
        answer
    }

    /// The breaker of a region and operation, if it is open.
    pub(crate) fn open_breaker(&self, scope: &Scope, operation: Operation) -> Option<Open> {
        self.breakers.open(scope, operation, self.clock.kept())
    }

    /// Notes how a request ended, all its repeats included. If that opened a breaker: what is to be
    /// written down.
    pub(crate) fn note_end<T>(
        &self,
        scope: &Scope,
        operation: Operation,
        answer: &Result<T, Error>,
    ) -> Option<Event> {
        let now = (self.clock.kept(), self.clock.latest());
        self.breakers.note_end(scope, operation, answer, now)
    }
}
