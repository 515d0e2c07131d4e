//! The clock on the wall.

use async_trait::async_trait;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use std::time::Duration;

/// Real time, for real clouds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
