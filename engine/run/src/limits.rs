//! How fast we ask: half of what each cloud documents, per region and operation.

use fleet_model::{Cloud, Scope};
use fleet_provider::Clock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What is asked of a cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    List,
    Create,
    Destroy,
}

/// A documented bucket: so many at once, so many per second after that.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    size: f64,
    per_second: f64,
}

/// The buckets of the clouds' own documentation. Lambda's launches are one per 12 seconds for the
/// whole account; the others are per region.
fn documented(cloud: Cloud, operation: Operation) -> Bucket {
    let (size, per_second) = match (cloud, operation) {
        (Cloud::Aws, Operation::List) => (100.0, 20.0),
        (Cloud::Aws, Operation::Create) => (5.0, 2.0),
        (Cloud::Aws, Operation::Destroy) => (100.0, 5.0),
        (Cloud::Gcp, Operation::List) => (40.0, 25.0),
        (Cloud::Gcp, Operation::Create | Operation::Destroy) => (40.0, 20.0),
        (Cloud::Azure, Operation::List) => (250.0, 25.0),
        (Cloud::Azure, Operation::Create | Operation::Destroy) => (200.0, 10.0),
        (Cloud::Lambda, Operation::List | Operation::Destroy) => (1.0, 1.0),
        (Cloud::Lambda, Operation::Create) => (1.0, 1.0 / 12.0),
    };
    Bucket { size, per_second }
}

/// The share of a documented bucket that we allow ourselves: others use the account, too.
/// Lambda's launch rate is so low that half of it would be no service at all.
fn allowed(cloud: Cloud, operation: Operation) -> Bucket {
    let Bucket { size, per_second } = documented(cloud, operation);
    match cloud {
        Cloud::Lambda => Bucket { size, per_second },
        Cloud::Aws | Cloud::Gcp | Cloud::Azure => {
            Bucket { size: (size / 2.0).max(1.0), per_second: per_second / 2.0 }
        }
    }
}

/// When the next request of each kind may be sent.
pub(crate) struct RateLimits {
    clock: Arc<dyn Clock>,
    /// Whether there is a rate to keep at all.
    paced: bool,
    /// The moment, in seconds, at which a bucket would be full again.
    full_at: Mutex<BTreeMap<(Scope, Operation), f64>>,
}

impl RateLimits {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        RateLimits { clock, paced: true, full_at: Mutex::new(BTreeMap::new()) }
    }

    pub(crate) fn off(&mut self) {
        self.paced = false;
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self, scope: &Scope, operation: Operation) {
        if !self.paced {
            return;
        }
        let wait = self.reserve(scope, operation);
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
    }

    /// Takes a turn now and says how long to wait for it.
    fn reserve(&self, scope: &Scope, operation: Operation) -> Duration {
        let Bucket { size, per_second } = allowed(scope.cloud, operation);
        let scope = match scope.cloud {
            // One account, one rate.
            Cloud::Lambda => Scope { cloud: Cloud::Lambda, region: "any".into() },
            Cloud::Aws | Cloud::Gcp | Cloud::Azure => scope.clone(),
        };
        let now = self.clock.now().as_millisecond() as f64 / 1000.0;
        let mut all = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = all.entry((scope, operation)).or_insert(now);
        *full_at = full_at.max(now) + 1.0 / per_second;
        // Full in `size / rate` seconds means empty now; anything beyond that is waiting time.
        Duration::from_secs_f64((*full_at - now - size / per_second).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::Timestamp;

    struct Still;

    #[async_trait::async_trait]
    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        async fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn a_burst_then_half_the_documented_rate() {
        let limits = RateLimits::new(Arc::new(Still));
        let scope = Scope { cloud: Cloud::Aws, region: "us-east-1".into() };
        let waits: Vec<f64> =
            (0..5).map(|_| limits.reserve(&scope, Operation::Create).as_secs_f64()).collect();
        // RunInstances: a bucket of 5 refilled at 2 per second; we take 2.5 and 1 per second.
        assert_eq!(waits, [0.0, 0.0, 0.5, 1.5, 2.5]);
        let other = Scope { cloud: Cloud::Aws, region: "us-west-2".into() };
        assert!(limits.reserve(&other, Operation::Create).is_zero());
    }
}
