//! The clock on the wall, and what to make of it when somebody sets it.

use crate::calls::seams;
use async_trait::async_trait;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Real time, for real clouds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn steady(&self) -> Duration {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGAN.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock on which nothing looks older than it is.
///
/// While a process runs, the clock on the wall may be set, and a laptop that sleeps stops every
/// stopwatch: when the two disagree, nobody can say which is right. So what happens is stamped with
/// the later of both, and the age of things is read off the earlier. Whatever became of the clock, an
/// end of waiting that absence must outlast comes too late at worst.
pub(crate) struct Watch {
    wall: Arc<dyn Clock>,
    began: Timestamp,
    since: Duration,
}

impl Watch {
    pub(crate) fn new(wall: Arc<dyn Clock>) -> Self {
        let (began, since) = (wall.now(), wall.steady());
        Watch { wall, began, since }
    }

    /// The moment by our own stopwatch: for what begins and ends in this process.
    pub(crate) fn kept(&self) -> Timestamp {
        let passed = self.wall.steady().saturating_sub(self.since);
        self.began.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// The moment to measure ages at.
    pub(crate) fn earliest(&self) -> Timestamp {
        let (wall, kept) = self.readings();
        wall.min(kept)
    }

    /// The moment to write down.
    pub(crate) fn latest(&self) -> Timestamp {
        let (wall, kept) = self.readings();
        wall.max(kept)
    }

    fn readings(&self) -> (Timestamp, Timestamp) {
        seams::readings(self.wall.now(), self.kept())
    }
}

#[async_trait]
impl Clock for Watch {
    fn now(&self) -> Timestamp {
        self.latest()
    }

    fn steady(&self) -> Duration {
        self.wall.steady()
    }

    async fn sleep(&self, duration: Duration) {
        self.wall.sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Seconds on the wall, and on the stopwatch.
    struct Set(Mutex<(i64, u64)>);

    #[async_trait]
    impl Clock for Set {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(self.0.lock().expect("alone").0).expect("a moment")
        }
        fn steady(&self) -> Duration {
            Duration::from_secs(self.0.lock().expect("alone").1)
        }
        async fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn nothing_looks_older_than_it_is() {
        let clock = Arc::new(Set(Mutex::new((1000, 7))));
        let watch = Watch::new(clock.clone());
        let at = |wall: i64, steady: u64| {
            *clock.0.lock().expect("alone") = (wall, steady);
            let seconds = |moment: Timestamp| moment.as_second();
            (seconds(watch.earliest()), seconds(watch.kept()), seconds(watch.latest()))
        };
        assert_eq!(at(1000, 7), (1000, 1000, 1000));
        assert_eq!(at(1060, 67), (1060, 1060, 1060));
        assert_eq!(at(8260, 67), (1060, 1060, 8260), "set two hours ahead, or asleep for as long");
        assert_eq!(at(0, 67), (0, 1060, 1060), "set back");
    }
}
