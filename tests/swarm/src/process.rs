//! One process: it can stand still, it can die, and its clock can be wrong.

use crate::weather::Kind;
use crate::world::World;
use async_trait::async_trait;
use fleet_model::{Cloud, Timestamp};
use fleet_provider::Clock;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// A process of ours: one command that somebody started.
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) world: Arc<World>,
    /// How far its clock is ahead, in milliseconds.
    skew: AtomicI64,
    /// Whose account it knows is another one than the fleet's.
    other_account: Option<Cloud>,
    life: Mutex<Life>,
}

struct Life {
    dead: bool,
    frozen_until: Instant,
    /// Where it dies, and how often it passes there before.
    doom: Option<(Kind, u64)>,
}

/// Where a process can be told to die.
const DEATHS: [Kind; 5] = [
    Kind::CrashBeforeAppend,
    Kind::CrashAfterAppend,
    Kind::CrashAfterSend,
    Kind::CrashAfterResponse,
    Kind::CrashAfterCommit,
];

impl Process {
    pub(crate) fn start(world: &Arc<World>) -> Arc<Self> {
        let id = world.next_process();
        let mut inner = world.lock();
        let mut skew = 0;
        if inner.weather.has(Kind::Clock) {
            *inner.counts.entry(Kind::Clock).or_default() += 1;
            let most = inner.weather.skew.as_millis() as u64;
            let ahead = match inner.chance.below(4) {
                0 => 0,
                1 => 2 * most,
                _ => inner.chance.between(0, 2 * most),
            };
            skew = ahead as i64 - most as i64;
        }
        let deaths: Vec<Kind> = DEATHS.into_iter().filter(|d| inner.weather.has(*d)).collect();
        let doomed = inner.chance.percent(60);
        let doom = inner.chance.pick(&deaths).copied().filter(|_| doomed);
        let after = inner.chance.below(4) * inner.chance.below(3);
        // Where the fleet never was, any account is as good as another.
        let known: Vec<Cloud> = inner.judge.book.accounts.iter().copied().collect();
        let mut other_account = None;
        if inner.weather.has(Kind::OtherAccount) && !inner.sheltered && inner.habits.percent(20) {
            other_account = inner.habits.pick(&known).copied();
        }
        *inner.counts.entry(Kind::OtherAccount).or_default() += u64::from(other_account.is_some());
        drop(inner);
        let life = Life {
            dead: false,
            frozen_until: Instant::now(),
            doom: doom.map(|kind| (kind, after)),
        };
        Arc::new(Process {
            id,
            world: world.clone(),
            skew: AtomicI64::new(skew),
            other_account,
            life: Mutex::new(life),
        })
    }

    /// As its lease names it.
    pub(crate) fn holder(&self) -> String {
        format!("p{}", self.id)
    }

    /// Whether its credentials for a cloud are for another account.
    pub(crate) fn is_elsewhere(&self, cloud: Cloud) -> bool {
        self.other_account == Some(cloud)
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.life().dead
    }

    /// A place where the process may be meant to die. If it is, nothing comes after.
    pub(crate) async fn pass(&self, place: Kind) {
        let dies = match &mut self.life().doom {
            Some((at, left)) if *at == place => {
                let dies = *left == 0;
                *left = left.saturating_sub(1);
                dies
            }
            _ => false,
        };
        if dies {
            self.die(place).await;
        }
    }

    async fn die(&self, place: Kind) {
        self.life().dead = true;
        self.world.count(place);
        self.world.trace(format_args!("p{} dies: {}", self.id, place.as_str()));
        std::future::pending::<()>().await;
    }

    /// Stands still, and everything of this process with it. Who stands still already is left as it
    /// is: how long may pass between the last look at a lease and a send is bounded. Says until when.
    pub(crate) fn freeze(&self, lasting: Duration) -> Instant {
        let frozen_until = self.life().frozen_until;
        if frozen_until > Instant::now() {
            return frozen_until;
        }
        self.world.trace(format_args!("p{} stands still for {lasting:?}", self.id));
        let until = Instant::now() + lasting;
        self.life().frozen_until = until;
        until
    }

    /// Its clock is set.
    pub(crate) fn leap(&self, by: i64) {
        self.world.trace(format_args!("the clock of p{} is set by {by} ms", self.id));
        self.skew.fetch_add(by, Ordering::Relaxed);
    }

    /// Comes back when the process goes on; never, if it is dead.
    pub(crate) async fn awake(&self) {
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
        let until = self.life().frozen_until;
        if until > Instant::now() {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Runs the process to its end; `None` if it died before.
    pub(crate) async fn run<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> Option<T> {
        Gate { process: self.clone(), work: Some(Box::pin(work)), sleep: None }.await
    }
}

/// Polls what is inside while the process is awake, and drops it when it dies.
struct Gate<F> {
    process: Arc<Process>,
    work: Option<Pin<Box<F>>>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<T, F: Future<Output = T>> Future for Gate<F> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            if self.process.is_dead() {
                self.work = None;
                return Poll::Ready(None);
            }
            let until = self.process.life().frozen_until;
            if until > Instant::now() {
                let mut sleep = Box::pin(tokio::time::sleep_until(until));
                if sleep.as_mut().poll(context).is_pending() {
                    self.sleep = Some(sleep);
                    return Poll::Pending;
                }
            }
            self.sleep = None;
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            match work.as_mut().poll(context) {
                Poll::Ready(done) => return Poll::Ready(Some(done)),
                Poll::Pending if self.process.is_dead() => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// The clock of a process.
pub(crate) struct ProcessClock(pub(crate) Arc<Process>);

#[async_trait]
impl Clock for ProcessClock {
    fn now(&self) -> Timestamp {
        let skew = self.0.skew.load(Ordering::Relaxed);
        let skew = jiff::SignedDuration::from_millis(skew);
        self.0.world.now().checked_add(skew).unwrap_or(Timestamp::MAX)
    }

    /// Nobody sets it.
    fn steady(&self) -> Duration {
        Duration::try_from(self.0.world.now().as_duration()).unwrap_or_default()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
