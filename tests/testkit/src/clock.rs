//! Clocks for tests.

use async_trait::async_trait;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The time it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealClock;

#[async_trait]
impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock that stands still until somebody sleeps: days pass in no time.
#[derive(Debug)]
pub struct SteppedClock(Mutex<Timestamp>);

impl Default for SteppedClock {
    fn default() -> Self {
        SteppedClock(Mutex::new(Timestamp::from_second(1_790_000_000).unwrap_or_default()))
    }
}

#[async_trait]
impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sleep(&self, duration: Duration) {
        {
            let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *now = now.checked_add(duration).unwrap_or(Timestamp::MAX);
        }
        // Others who sleep must have their turn.
        tokio::task::yield_now().await;
    }
}
