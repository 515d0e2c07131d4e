//! Time is an argument, also for waiting.

use async_trait::async_trait;
use fleet_model::Timestamp;
use std::time::Duration;

/// The present, and how to wait. Simulated clouds have their own; tests step it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The moment it is.
    fn now(&self) -> Timestamp;

    /// Time that has passed since some moment. Nobody sets it: it measures what the clock on the wall
    /// cannot. A clock that nobody can set need not tell the two apart.
    fn steady(&self) -> Duration {
        Duration::try_from(self.now().as_duration()).unwrap_or_default()
    }

    /// Comes back when `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}
