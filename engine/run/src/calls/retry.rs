//! The one layer that asks again. SDKs below it do not.

use crate::calls::seams;
use backon::{BackoffBuilder, ExponentialBuilder, Retryable};
use fleet_provider::{Class, Clock, Error};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Each request earns a tenth of a retry, so that a storm is answered with at most a tenth more
/// traffic; the reserve lets a short run retry at all.
const EARNED_PER_CALL: i64 = 1;
const COST_OF_RETRY: i64 = 10;
const RESERVE: i64 = 200;
/// How often one request is sent again at most.
const MOST_RETRIES: usize = 5;

/// How many retries are left, shared by all requests of a run.
pub(crate) struct RetryBudget(AtomicI64);

impl RetryBudget {
    pub(crate) fn new() -> Self {
        RetryBudget(AtomicI64::new(RESERVE))
    }

    fn earn(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some((left + EARNED_PER_CALL).min(RESERVE))
        });
    }

    fn spend(&self) -> bool {
        let cost = seams::cost_of_retry(COST_OF_RETRY);
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            (left >= cost).then_some(left - cost)
        });
        spent.is_ok()
    }
}

/// How often a request is sent at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A change: it is wanted, and nobody else will make it.
    Change,
    /// A look: what does not answer becomes a gap, which is safe and soon told. Only where the
    /// cloud is there and asks us to wait, we wait.
    Look,
}

impl Patience {
    fn allows(self, sent: u32, error: &Error) -> bool {
        match self {
            Patience::Change => true,
            Patience::Look => sent < 3 || error.throttled,
        }
    }
}

/// Calls, and calls again with jitter while the answer is [`Class::Retry`] and the budget lasts.
/// The request is the same each time, token included.
pub(crate) async fn retrying<T, F>(
    clock: &Arc<impl Clock + 'static>,
    budget: &RetryBudget,
    seed: u64,
    patience: Patience,
    call: impl FnMut() -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    budget.earn();
    let mut sent = 0;
    let backoff = ExponentialBuilder::default()
        .with_min_delay(Duration::from_secs(1))
        .with_max_delay(Duration::from_secs(30))
        .with_max_times(seams::most_retries(MOST_RETRIES))
        .with_jitter()
        .with_jitter_seed(seed)
        .build();
    let sleeper = clock.clone();
    call.retry(backoff)
        .sleep(move |wait| {
            let clock = sleeper.clone();
            async move { clock.sleep(wait).await }
        })
        .when(|error: &Error| {
            sent += 1;
            matches!(error.class, Class::Retry { .. })
                && patience.allows(sent, error)
                && budget.spend()
        })
        // The cloud's own wish counts if it is longer than ours.
        .adjust(|error, wait| match (error.class, wait) {
            (Class::Retry { after: Some(after) }, Some(wait)) => Some(wait.max(after)),
            (_, wait) => wait,
        })
        .notify(|error, wait| tracing::debug!(%error, ?wait, "retrying"))
        .await
}
