//! A lease on a remote store: create-only objects named `epoch-beat`.

use super::{Held, LeaseError, Waiting};
use crate::state::seams;
use crate::state::store::{Store, StoreError};
use fleet_model::FleetName;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// How long a lease lasts without a beat.
const LIFE: Duration = Duration::from_secs(15);
/// How long a holder counts on it after a beat: less than others wait, so that two never do.
const HELD: Duration = Duration::from_secs(10);
/// How often a holder beats.
const BEAT: Duration = Duration::from_secs(4);
/// How often somebody who waits looks.
const LOOK: Duration = Duration::from_millis(500);

/// A lease that is kept alive.
#[derive(Debug)]
pub(super) struct Beats {
    beating: Beating,
    held_until: HeldUntil,
    store: Store,
    /// The folder and the epoch.
    name: String,
}

impl Beats {
    pub(super) fn is_held(&self) -> bool {
        self.held_until.is_ahead()
    }

    pub(super) async fn release(self) -> Result<(), StoreError> {
        drop(self.beating);
        self.store.create(&format!("{}-released", self.name), Vec::new()).await?;
        Ok(())
    }
}

fn folder(fleet: &FleetName) -> String {
    format!("fleets/{fleet}/lease")
}

fn epoch_of(name: &str) -> u64 {
    name.split('-').next().and_then(|epoch| epoch.parse().ok()).unwrap_or_default()
}

fn is_released(name: &str) -> bool {
    name.ends_with("-released")
}

/// What a beat says. Two processes may call themselves the same (two containers, say); chance tells
/// them apart, so that neither takes the other's beat for its own whose answer was lost.
fn body(holder: &str) -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    format!("{holder}\n{:016x}\n", RandomState::new().hash_one(0)).into_bytes()
}

async fn named(store: &Store, folder: &str, beat: &str) -> Result<String, StoreError> {
    let body = store.read(&format!("{folder}/{beat}")).await?.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    Ok(text.lines().next().filter(|name| !name.is_empty()).unwrap_or("unknown").to_owned())
}

pub(super) async fn holder(store: &Store, fleet: &FleetName) -> Result<Option<Held>, StoreError> {
    let folder = folder(fleet);
    let Some(last) = store.list(&folder, None).await?.pop().filter(|last| !is_released(last))
    else {
        return Ok(None);
    };
    let heard = store.age(&format!("{folder}/{last}")).await?;
    Ok(Some(Held { holder: named(store, &folder, &last).await?, heard, epoch: epoch_of(&last) }))
}

pub(super) async fn was_taken(store: &Store, fleet: &FleetName) -> Result<bool, StoreError> {
    store.has_any(&folder(fleet)).await
}

pub(super) async fn end(store: &Store, fleet: &FleetName, epoch: u64) -> Result<bool, StoreError> {
    let folder = folder(fleet);
    let last = store.list(&folder, None).await?.pop();
    if last.is_none_or(|last| epoch_of(&last) != epoch || is_released(&last)) {
        return Ok(false);
    }
    store.create(&format!("{folder}/{epoch:012}-released"), Vec::new()).await?;
    Ok(true)
}

pub(super) async fn take(
    store: &Store,
    fleet: &FleetName,
    holder: &str,
    wait: Duration,
    on: &(dyn Fn(Waiting) + Sync),
) -> Result<Beats, LeaseError> {
    let folder = folder(fleet);
    let body = body(holder);
    let start = Instant::now();
    let mut wait = wait;
    // The last beat seen, and when we first saw it on our own clock: clocks of others do not count.
    let mut seen: Option<(String, Instant)> = None;
    let mut other = String::new();
    loop {
        let names = store.list(&folder, None).await?;
        let last = names.last().cloned();
        let epoch = last.as_deref().map_or(0, epoch_of);
        let free = match (&last, &seen) {
            (None, _) => true,
            (Some(name), _) if seams::is_free_at_once(is_released(name)) => true,
            (Some(name), Some((known, since))) if known == name => since.elapsed() >= LIFE,
            (Some(name), _) => {
                if seen.is_none() && is_silent(store, &folder, name).await? {
                    wait = wait.max(LIFE + LOOK);
                }
                other = named(store, &folder, name).await?;
                seen = Some((name.clone(), Instant::now()));
                false
            }
        };
        let name = format!("{folder}/{:012}", epoch + 1);
        let before = Moment::now();
        if free && store.create(&format!("{name}-{:012}", 0), body.clone()).await? {
            let now = store.list(&folder, None).await?;
            if still_ours(&now, epoch + 1, last.as_deref()) {
                tidy(store, &folder, &names).await;
                return Ok(beat(store.clone(), name, body, before));
            }
            store.create(&format!("{name}-released"), Vec::new()).await?;
            continue;
        }
        let left = wait.saturating_sub(start.elapsed());
        if !free {
            if left.is_zero() {
                return Err(LeaseError::Held { fleet: fleet.clone(), holder: other });
            }
            let silent = seen.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed());
            let dead_in = Some(LIFE.saturating_sub(silent));
            on(Waiting { holder: other.clone(), left, dead_in });
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }
}

/// Whether a beat is so old, by clocks that need not agree, that its holder may be dead. Then it is
/// worth a life's wait, even for somebody who would not wait: a run that died must not keep all
/// that come after it from starting. Whether the holder *is* dead, only our own clock says.
async fn is_silent(store: &Store, folder: &str, beat: &str) -> Result<bool, StoreError> {
    Ok(store.age(&format!("{folder}/{beat}")).await?.is_some_and(|age| age > LIFE))
}

/// Whether an epoch that was just taken is the newest, and the holder before it has not stirred
/// since it was last seen. Both sides write first and look second, so of a taker and a holder that
/// wakes up at the same moment at least one sees the other.
fn still_ours(names: &[String], ours: u64, last: Option<&str>) -> bool {
    let is_newest = names.last().is_some_and(|name| epoch_of(name) == ours);
    let before = names.iter().rfind(|name| epoch_of(name) < ours);
    seams::stays_taken(is_newest && before.map(String::as_str) == last)
}

/// Removes what earlier holders left. The newest epoch always stays, so nobody can take an old one
/// and not notice. What cannot be removed is litter, not a danger.
async fn tidy(store: &Store, folder: &str, names: &[String]) {
    for name in names {
        let _ = store.remove(&format!("{folder}/{name}")).await;
    }
}

/// A moment on the stopwatch and on the clock on the wall. A laptop that sleeps stops the stopwatch
/// and not the wall's clock; somebody may set the latter. Whichever is further on counts.
#[derive(Debug, Clone, Copy)]
struct Moment {
    watch: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Moment { watch: Instant::now(), wall: SystemTime::now() }
    }

    fn after(self, time: Duration) -> Self {
        Moment { watch: self.watch + time, wall: self.wall + time }
    }
}

/// The moment until which a lease is surely ours.
#[derive(Debug, Clone)]
struct HeldUntil(Arc<Mutex<Moment>>);

impl HeldUntil {
    fn is_ahead(&self) -> bool {
        let now = Moment::now();
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        now.watch < until.watch && now.wall < until.wall
    }

    fn set(&self, moment: Moment) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = moment;
    }
}

/// Keeps a lease alive until it is given back or lost. A paused process finds it lost: the moment
/// is counted from before each beat, and is shorter than what others wait.
fn beat(store: Store, name: String, body: Vec<u8>, since: Moment) -> Beats {
    let held_until = HeldUntil(Arc::new(Mutex::new(since.after(HELD))));
    let (folder, ours) = name.rsplit_once('/').unwrap_or(("", &name));
    let (folder, epoch) = (folder.to_owned(), epoch_of(ours));
    let beating = {
        let (store, name, held_until) = (store.clone(), name.clone(), held_until.clone());
        tokio::spawn(async move {
            for count in 1u64.. {
                tokio::time::sleep(BEAT).await;
                let before = Moment::now();
                let next = format!("{name}-{count:012}");
                let Ok(true) = store.create(&next, body.clone()).await else { continue };
                let lost = |name: &String| {
                    seams::supersedes(epoch_of(name), epoch)
                        || (epoch_of(name) == epoch && is_released(name))
                };
                match store.list(&folder, None).await {
                    Ok(names) if names.iter().any(lost) => {
                        held_until.set(before);
                        return;
                    }
                    Ok(_) => held_until.set(before.after(HELD)),
                    Err(_) => continue,
                }
                // The first beat stays: its absence would let a slow taker take it again.
                if count > 1 {
                    // An old beat left behind is litter, not a danger.
                    let _ = store.remove(&format!("{name}-{:012}", count - 1)).await;
                }
            }
        })
    };
    Beats { beating: Beating(beating), held_until, store, name }
}

/// A heartbeat that stops with its lease.
#[derive(Debug)]
struct Beating(tokio::task::JoinHandle<()>);

impl Drop for Beating {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(_: Waiting) {}

    fn fleet() -> FleetName {
        FleetName::new("f")
    }

    #[test]
    fn a_taker_sees_a_holder_that_woke_up() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (first, second) = ("000000000001-000000000001", "000000000001-000000000002");
        let (taken, newer) = ("000000000002-000000000000", "000000000003-000000000000");
        assert!(still_ours(&names(&[first, taken]), 2, Some(first)));
        assert!(!still_ours(&names(&[first, second, taken]), 2, Some(first)), "it lives");
        assert!(!still_ours(&names(&[first, taken, newer]), 2, Some(first)), "too late");
        assert!(still_ours(&names(&[taken]), 2, None));
    }

    #[test]
    fn a_laptop_that_slept_finds_its_lease_lost() {
        let now = Moment::now();
        let held = HeldUntil(Arc::new(Mutex::new(now.after(HELD))));
        assert!(held.is_ahead());
        // The stopwatch stood still, the clock on the wall did not.
        held.set(Moment { wall: now.wall - Duration::from_secs(1), ..now.after(HELD) });
        assert!(!held.is_ahead());
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_holder_is_waited_for_one_life() {
        let store = Store::in_memory();
        let dead = take(&store, &fleet(), "a", Duration::ZERO, &quiet).await.expect("free");
        drop(dead.beating);
        let told = Mutex::new(Vec::new());
        let on = |waiting: Waiting| told.lock().expect("told").push(waiting);
        let start = Instant::now();
        let refused = take(&store, &fleet(), "b", Duration::from_secs(5), &on).await;
        assert!(matches!(refused, Err(LeaseError::Held { holder, .. }) if holder == "a"));
        let taken = take(&store, &fleet(), "b", Duration::from_secs(60), &on).await.expect("dead");
        assert!(taken.is_held());
        assert!((20..=21).contains(&start.elapsed().as_secs()), "5 s, and one life");
        let told = told.into_inner().expect("told");
        assert!(told.windows(2).any(|two| two[0].dead_in > two[1].dead_in), "it counts down");
        assert_eq!(store.list("fleets/f/lease", None).await.expect("names").len(), 1, "tidy");
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_that_lives_keeps_it_until_somebody_ends_it() {
        let store = Store::in_memory();
        let alive = take(&store, &fleet(), "a", Duration::ZERO, &quiet).await.expect("free");
        let refused = take(&store, &fleet(), "b", Duration::from_secs(60), &quiet).await;
        assert!(matches!(refused, Err(LeaseError::Held { .. })));
        let held = holder(&store, &fleet()).await.expect("read").expect("held");
        assert_eq!((held.holder.as_str(), held.epoch), ("a", 1));
        assert!(end(&store, &fleet(), held.epoch).await.expect("ended"));
        assert!(!end(&store, &fleet(), held.epoch).await.expect("read"), "ended already");
        let _next = take(&store, &fleet(), "b", Duration::ZERO, &quiet).await.expect("free");
        tokio::time::sleep(HELD).await;
        assert!(!alive.is_held(), "it noticed");
    }
}
