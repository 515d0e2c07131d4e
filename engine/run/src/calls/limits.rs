//! How fast we ask, per region and operation.
//!
//! Looks take half of what each cloud documents: they go on for ever, and others use the account,
//! too. Launches and ends are finite, and somebody waits for them: they take what is documented,
//! and give way as soon as the cloud says that it is too much.

mod buckets;

use crate::calls::seams;
use buckets::{allowed, machines};
use fleet_model::{Bucket, Operation, Region, Scope};
use fleet_provider::Clock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The first pause after a cloud says that it is too much, and the longest.
const FIRST_PAUSE: f64 = 1.0;
const LONGEST_PAUSE: f64 = 60.0;
/// Less than this is no wait: clocks count milliseconds.
const TICK: f64 = 0.001;
/// The least share of the allowed rate that we fall to.
const SLOWEST: f64 = 1.0 / 16.0;
/// What one request that went well gives back of the rate.
const RECOVERY: f64 = 1.0 / 32.0;

/// One bucket as we keep it.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// The moment, in seconds, at which requests, and machines, would be full again.
    requests_full_at: f64,
    machines_full_at: f64,
    /// The share of the allowed rate that we use at present.
    pace: f64,
    /// The end of the present pause, and how long the next one will be.
    paused_until: f64,
    pause: f64,
    /// How often we were told off: whoever waits looks whether this moved.
    brakes: u64,
}

/// When the next request of each kind may be sent.
pub(crate) struct RateLimits {
    clock: Arc<dyn Clock>,
    /// Whether there is a rate to keep at all.
    paced: bool,
    levels: Mutex<BTreeMap<(Scope, Operation), Level>>,
    departures: Mutex<BTreeMap<(Scope, Operation), Departures>>,
}

/// When the buckets would be full again after what has really left.
#[derive(Debug, Clone, Copy, Default)]
struct Departures {
    requests_full_at: f64,
    machines_full_at: f64,
}

impl RateLimits {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (levels, departures) = (Mutex::default(), Mutex::default());
        RateLimits { clock, paced: true, levels, departures }
    }

    pub(crate) fn off(&mut self) {
        self.paced = false;
    }

    /// Waits for a turn, and leaves.
    pub(crate) async fn turn(&self, scope: &Scope, operation: Operation) {
        self.wait(scope, operation, 0).await;
        while seams::leave_one_by_one()
            && let Err(wait) = self.leave(scope, operation, 0)
        {
            self.clock.sleep(wait).await;
        }
    }

    /// Leaves now, with a launch of so many machines if it is one, or says how long to wait at least.
    ///
    /// Turns are taken one by one. Those who took them may still leave all at once: a process that
    /// stood still wakes up with all of them due, and a slow store writes their records together.
    pub(crate) fn leave(
        &self,
        scope: &Scope,
        operation: Operation,
        count: usize,
    ) -> Result<(), Duration> {
        if !seams::keeps_rate(self.paced) {
            return Ok(());
        }
        let now = self.now();
        let mut departures = self.departures.lock().unwrap_or_else(PoisonError::into_inner);
        let departed = departures.entry(key(scope, operation)).or_default();
        let mut next = *departed;
        let bucket = allowed(scope.cloud, operation);
        let mut wait = take(&mut next.requests_full_at, now, 1.0, bucket);
        if let (Operation::Launch, Some(bucket)) = (operation, machines(scope.cloud)) {
            wait = wait.max(take(&mut next.machines_full_at, now, count as f64, bucket));
        }
        if wait >= TICK {
            return Err(Duration::from_secs_f64(wait));
        }
        *departed = next;
        Ok(())
    }

    /// Waits for a turn to launch so many machines. It is written down before it leaves.
    pub(crate) async fn turn_to_launch(&self, scope: &Scope, count: usize) {
        self.wait(scope, Operation::Launch, count).await;
    }

    /// If the cloud says meanwhile that it is too much, the wait begins anew: a queue that was told
    /// to stop does not go on one by one.
    async fn wait(&self, scope: &Scope, operation: Operation, count: usize) {
        if !seams::keeps_rate(self.paced) {
            return;
        }
        loop {
            let (wait, brakes) = self.reserve(scope, operation, count);
            if wait.is_zero() {
                return;
            }
            self.clock.sleep(wait).await;
            if self.brakes(scope, operation) == brakes {
                return;
            }
        }
    }

    /// The cloud says that it is too much: nobody asks for a while, and then more slowly.
    pub(crate) fn brake(&self, scope: &Scope, operation: Operation) {
        let bucket = allowed(scope.cloud, operation);
        let now = self.now();
        let mut levels = self.lock();
        let level = levels.entry(key(scope, operation)).or_insert_with(|| Level::full(now));
        // Answers to requests that were under way when the first one was told off say nothing new.
        if level.paused_until > now {
            return;
        }
        level.pace = (level.pace / 2.0).max(SLOWEST);
        level.paused_until = now + level.pause;
        let empty = bucket.size / (bucket.per_second * level.pace);
        level.requests_full_at = level.paused_until + empty;
        level.pause = (level.pause * 2.0).min(LONGEST_PAUSE);
        level.brakes += 1;
    }

    /// The cloud answered: a little faster again.
    pub(crate) fn release(&self, scope: &Scope, operation: Operation) {
        let mut levels = self.lock();
        if let Some(level) = levels.get_mut(&key(scope, operation)) {
            level.pace = (level.pace + RECOVERY).min(1.0);
            level.pause = FIRST_PAUSE;
        }
    }

    /// Takes a turn now, for a launch of so many machines if it is one, and says how long to wait
    /// for it.
    fn reserve(&self, scope: &Scope, operation: Operation, count: usize) -> (Duration, u64) {
        let now = self.now();
        let mut levels = self.lock();
        let level = levels.entry(key(scope, operation)).or_insert_with(|| Level::full(now));
        let Bucket { size, per_second } = allowed(scope.cloud, operation);
        let rate = per_second * level.pace;
        let mut wait =
            take(&mut level.requests_full_at, now, 1.0, Bucket { size, per_second: rate });
        if let (Operation::Launch, Some(bucket)) = (operation, machines(scope.cloud)) {
            wait = wait.max(take(&mut level.machines_full_at, now, count as f64, bucket));
        }
        (Duration::from_secs_f64(wait), level.brakes)
    }

    fn brakes(&self, scope: &Scope, operation: Operation) -> u64 {
        self.lock().get(&key(scope, operation)).map_or(0, |level| level.brakes)
    }

    fn now(&self) -> f64 {
        self.clock.steady().as_millis() as f64 / 1000.0
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Scope, Operation), Level>> {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Level {
    fn full(now: f64) -> Self {
        Level {
            requests_full_at: now,
            machines_full_at: now,
            pace: 1.0,
            paused_until: now,
            pause: FIRST_PAUSE,
            brakes: 0,
        }
    }
}

/// Takes so much out of a bucket and says how long it takes until it was there.
fn take(full_at: &mut f64, now: f64, amount: f64, bucket: Bucket) -> f64 {
    *full_at = full_at.max(now) + amount / bucket.per_second;
    // Full in `size / rate` seconds means empty now; anything beyond that is waiting time.
    (*full_at - now - bucket.size / bucket.per_second).max(0.0)
}

/// Whose rate a request counts toward: the region's, or the whole account's.
fn key(scope: &Scope, operation: Operation) -> (Scope, Operation) {
    let facts = scope.cloud.facts();
    let whole_account = match operation {
        Operation::Look => facts.lists_whole_accounts,
        Operation::Launch | Operation::End => facts.rates.changes_per_account,
    };
    if !whole_account {
        return (scope.clone(), operation);
    }
    let any = Region::new("any");
    let region = scope.region.account().map_or(any.clone(), |account| any.of_account(account));
    (Scope { cloud: scope.cloud, region }, operation)
}

#[cfg(test)]
mod tests;
