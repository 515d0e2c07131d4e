//! Time is an argument, also for waiting.

use async_trait::async_trait;
use fleet_model::Timestamp;
use std::time::Duration;

/// The present, and how to wait. Simulated clouds have their own; tests step it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The moment it is.
    fn now(&self) -> Timestamp;

    /// Comes back when `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}
