//! One writer at a time.
//!
//! On a local folder the lease is an OS file lock: the kernel frees it when a process dies, so a
//! rerun after `kill -9` starts at once. Elsewhere it is built from create-only objects named
//! `epoch-beat`: whoever creates the first beat of the next epoch holds it. A holder that is still
//! alive adds a beat now and then; one that added none for a whole life is dead.
//!
//! The lease keeps honest writers apart. What makes a stale writer harmless is the journal: its
//! next append is refused, because the new holder has written an epoch record there.

use crate::store::{Store, StoreError};
use fleet_model::FleetName;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a remote lease lasts without a beat.
const LIFE: Duration = Duration::from_secs(15);
/// How long a holder counts on it after a beat: less than others wait, so that two never do.
const HELD: Duration = Duration::from_secs(10);
/// How often a holder beats.
const BEAT: Duration = Duration::from_secs(4);

/// Why the lease cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else has it.
    #[error("another run is changing fleet `{fleet}`: {holder}")]
    Held {
        /// Which fleet.
        fleet: FleetName,
        /// Who holds it.
        holder: String,
    },
    /// The lock file cannot be used.
    #[error("cannot lock fleet `{fleet}`: {source}")]
    Io {
        /// Which fleet.
        fleet: FleetName,
        /// Why.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The right to change a fleet; given back when dropped or released.
#[derive(Debug)]
pub struct Lease {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Local(#[expect(dead_code, reason = "held for its lock")] File),
    Remote { beating: Beating, held_until: HeldUntil, store: Store, name: String },
}

impl Lease {
    /// Takes the lease, waiting at most `wait` for another holder to be done.
    pub async fn take(
        store: &Store,
        fleet: &FleetName,
        holder: &str,
        wait: Duration,
    ) -> Result<Self, LeaseError> {
        match store.local_folder() {
            Some(folder) => take_local(folder, fleet, holder, wait).await,
            None => take_remote(store, fleet, holder, wait).await,
        }
    }

    /// Whether it is still ours, as far as we know. Asked before every request to a cloud.
    pub fn is_held(&self) -> bool {
        match &self.kind {
            Kind::Local(_) => true,
            Kind::Remote { held_until, .. } => held_until.is_ahead(),
        }
    }

    /// Gives it back, so that nobody has to wait for it to run out.
    pub async fn release(self) -> Result<(), LeaseError> {
        match self.kind {
            Kind::Local(_) => Ok(()),
            Kind::Remote { beating, store, name, .. } => {
                drop(beating);
                store.create(&format!("{name}-released"), Vec::new()).await?;
                Ok(())
            }
        }
    }
}

async fn take_local(
    folder: &std::path::Path,
    fleet: &FleetName,
    holder: &str,
    wait: Duration,
) -> Result<Lease, LeaseError> {
    let io = |source| LeaseError::Io { fleet: fleet.clone(), source };
    let folder = folder.join("fleets").join(fleet.as_str());
    std::fs::create_dir_all(&folder).map_err(io)?;
    let path = folder.join("lock");
    let mut options = File::options();
    let mut file =
        options.create(true).read(true).write(true).truncate(false).open(&path).map_err(io)?;
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) if tokio::time::Instant::now() >= deadline => {
                let mut holder = String::new();
                // Only for the message: a lock without a readable name is a lock all the same.
                let _ = file.read_to_string(&mut holder);
                let holder = holder.trim().to_owned();
                let holder = if holder.is_empty() { "unknown".into() } else { holder };
                return Err(LeaseError::Held { fleet: fleet.clone(), holder });
            }
            Err(TryLockError::WouldBlock) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    writeln!(file, "{holder}").map_err(io)?;
    Ok(Lease { kind: Kind::Local(file) })
}

async fn take_remote(
    store: &Store,
    fleet: &FleetName,
    holder: &str,
    wait: Duration,
) -> Result<Lease, LeaseError> {
    let folder = format!("fleets/{fleet}/lease");
    let start = tokio::time::Instant::now();
    // The last beat seen, and when we first saw it on our own clock: clocks of others do not count.
    let mut seen: Option<(String, tokio::time::Instant)> = None;
    loop {
        let last = store.list(&folder, None).await?.pop();
        let epoch = last.as_deref().map_or(0, epoch_of);
        let free = match &last {
            None => true,
            Some(name) if name.ends_with("-released") => true,
            Some(name) => match &seen {
                Some((known, since)) if known == name => since.elapsed() >= LIFE,
                _ => {
                    seen = Some((name.clone(), tokio::time::Instant::now()));
                    false
                }
            },
        };
        let name = format!("{folder}/{:012}", epoch + 1);
        let before = tokio::time::Instant::now();
        if free && store.create(&format!("{name}-{:012}", 0), holder.as_bytes().to_vec()).await? {
            return Ok(beat(store.clone(), name, holder.to_owned(), before));
        }
        if start.elapsed() >= wait.max(if last.is_some() { Duration::ZERO } else { BEAT }) {
            let holder = match &last {
                Some(name) => store.read(&format!("{folder}/{name}")).await?,
                None => None,
            };
            let holder = String::from_utf8_lossy(&holder.unwrap_or_default()).into_owned();
            return Err(LeaseError::Held { fleet: fleet.clone(), holder });
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

fn epoch_of(name: &str) -> u64 {
    name.split('-').next().and_then(|epoch| epoch.parse().ok()).unwrap_or_default()
}

/// The moment, on our own clock, until which a remote lease is surely ours.
#[derive(Debug, Clone)]
struct HeldUntil(Arc<Mutex<tokio::time::Instant>>);

impl HeldUntil {
    fn is_ahead(&self) -> bool {
        tokio::time::Instant::now() < *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, moment: tokio::time::Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = moment;
    }
}

/// Keeps a remote lease alive until it is given back or lost. A paused process finds it lost: the
/// moment is counted from before each beat, and is shorter than what others wait.
fn beat(store: Store, name: String, holder: String, since: tokio::time::Instant) -> Lease {
    let held_until = HeldUntil(Arc::new(Mutex::new(since + HELD)));
    let (folder, ours) = name.rsplit_once('/').unwrap_or(("", &name));
    let (folder, epoch) = (folder.to_owned(), epoch_of(ours));
    let beating = {
        let (store, name, held_until) = (store.clone(), name.clone(), held_until.clone());
        tokio::spawn(async move {
            for count in 1u64.. {
                tokio::time::sleep(BEAT).await;
                let before = tokio::time::Instant::now();
                let taken = match store.list(&folder, None).await {
                    Ok(names) => names.iter().any(|name| epoch_of(name) > epoch),
                    Err(_) => continue,
                };
                if taken {
                    held_until.set(before);
                    return;
                }
                let next = format!("{name}-{count:012}");
                if let Ok(true) = store.create(&next, holder.clone().into_bytes()).await {
                    held_until.set(before + HELD);
                    // The first beat stays: its absence would let a slow taker take it again.
                    if count > 1 {
                        // An old beat left behind is litter, not a danger.
                        let _ = store.remove(&format!("{name}-{:012}", count - 1)).await;
                    }
                }
            }
        })
    };
    Lease { kind: Kind::Remote { beating: Beating(beating), held_until, store, name } }
}

/// A heartbeat that stops with its lease.
#[derive(Debug)]
struct Beating(tokio::task::JoinHandle<()>);

impl Drop for Beating {
    fn drop(&mut self) {
        self.0.abort();
    }
}
