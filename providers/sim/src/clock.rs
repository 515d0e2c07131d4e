//! The world's clock: nobody waits for it, everybody moves it.

use crate::sim::Sim;
use crate::time::{Ms, later, stamp};
use async_trait::async_trait;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Who sleeps until when, so that the shortest sleep ends first.
#[derive(Debug, Default)]
pub(crate) struct Sleepers(Mutex<BTreeMap<Ms, usize>>);

/// How often a sleeper lets others go before it. Enough for every task of a plan to fall asleep,
/// and few enough that a sleeper nobody polls any more does not hold up the world.
const PATIENCE: usize = 100;

impl Sleepers {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<Ms, usize>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place in the list, given up when the sleep ends or is called off.
struct Fixture<'a> {
    sleepers: &'a Sleepers,
    until: Ms,
}

impl<'a> Fixture<'a> {
    fn new(sleepers: &'a Sleepers, until: Ms) -> Self {
        sleepers.with(|beds| *beds.entry(until).or_default() += 1);
        Fixture { sleepers, until }
    }

    fn is_first(&self) -> bool {
        self.sleepers.with(|beds| beds.keys().next().is_none_or(|first| *first >= self.until))
    }
}

impl Drop for Fixture<'_> {
    fn drop(&mut self) {
        self.sleepers.with(|beds| {
            if let Some(count) = beds.get_mut(&self.until) {
                *count -= 1;
                if *count == 0 {
                    beds.remove(&self.until);
                }
            }
        });
    }
}

/// [`Clock`] of a simulated world.
pub(crate) struct SimClock(pub(crate) Sim);

#[async_trait]
impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        stamp(self.0.now_ms())
    }

    async fn sleep(&self, duration: Duration) {
        if self.0.follows_tokio() {
            return tokio::time::sleep(duration).await;
        }
        let until = later(self.0.now_ms(), duration);
        let bed = Fixture::new(self.0.sleepers(), until);
        // Others who would sleep at the same time must get to say so: two waits of ten seconds
        // side by side take ten seconds, not twenty.
        for round in 0..PATIENCE {
            tokio::task::yield_now().await;
            if round > 0 && bed.is_first() {
                break;
            }
        }
        if self.0.advance_to(until).is_err() {
            // The folder is gone or full. Real time passes instead, so that loops do not spin.
            tokio::time::sleep(duration.min(Duration::from_millis(100))).await;
        }
    }
}
