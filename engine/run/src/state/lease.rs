//! One writer at a time.
//!
//! On a local folder the lease is an OS file lock: the kernel frees it when a process dies, so a
//! rerun after `kill -9` starts at once. Elsewhere it is built from create-only objects named
//! `epoch-beat`: whoever creates the first beat of the next epoch holds it. A holder that is still
//! alive adds a beat now and then; one that added none for a whole life is dead.
//!
//! The lease keeps honest writers apart. What makes a stale writer harmless is the journal: its
//! next append is refused, because the new holder has written an epoch record there.

mod beats;

use crate::state::seams;
use crate::state::store::{Store, StoreError};
use beats::Beats;
use fleet_model::FleetName;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::Duration;

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
    Remote(Beats),
}

/// What somebody is told who waits for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who holds it.
    pub holder: String,
    /// How long the wait goes on at most.
    pub left: Duration,
    /// After how long the holder is taken for dead, if nothing is heard of it until then. A local
    /// lock has no such time: the kernel knows at once.
    pub dead_in: Option<Duration>,
}

/// A lease as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who holds it.
    pub holder: String,
    /// How long ago it was heard of, by the store's clock and ours; `None` for a local lock, which
    /// is held by a process that runs.
    pub heard: Option<Duration>,
    epoch: u64,
}

impl Lease {
    /// Takes the lease, waiting at most `wait` for another holder to be done.
    pub async fn take(
        store: &Store,
        fleet: &FleetName,
        holder: &str,
        wait: Duration,
        on: &(dyn Fn(Waiting) + Sync),
    ) -> Result<Self, LeaseError> {
        match store.local_folder() {
            Some(folder) => take_local(folder, fleet, holder, wait, on).await,
            None => {
                let beats = beats::take(store, fleet, holder, wait, on).await?;
                Ok(Lease { kind: Kind::Remote(beats) })
            }
        }
    }

    /// Who holds the lease now, if anybody does. Changes nothing.
    pub async fn holder(store: &Store, fleet: &FleetName) -> Result<Option<Held>, LeaseError> {
        match store.local_folder() {
            Some(folder) => local_holder(folder, fleet),
            None => Ok(beats::holder(store, fleet).await?),
        }
    }

    /// Whether anybody ever took it: a first run may end with a lease and nothing in a journal.
    pub async fn was_taken(store: &Store, fleet: &FleetName) -> Result<bool, LeaseError> {
        match store.local_folder() {
            Some(folder) => Ok(lock_file(folder, fleet).exists()),
            None => Ok(beats::was_taken(store, fleet).await?),
        }
    }

    /// Takes the lease away from a holder on a remote store; `false` if it has it no longer. A local
    /// lock goes with its process and in no other way.
    ///
    /// For a person who knows that the holder is dead. One that is alive finds out with its next
    /// beat, and the journal fences it off.
    pub async fn end(store: &Store, fleet: &FleetName, held: &Held) -> Result<bool, LeaseError> {
        match store.local_folder() {
            Some(_) => Ok(false),
            None => Ok(beats::end(store, fleet, held.epoch).await?),
        }
    }

    /// Whether it is still ours, as far as we know. Asked before every request to a cloud.
    pub fn is_held(&self) -> bool {
        match &self.kind {
            Kind::Local(_) => true,
            Kind::Remote(beats) => seams::may_send(beats.is_held()),
        }
    }

    /// Gives it back, so that nobody has to wait for it to run out.
    pub async fn release(self) -> Result<(), LeaseError> {
        match self.kind {
            Kind::Local(_) => Ok(()),
            Kind::Remote(beats) => Ok(beats.release().await?),
        }
    }
}

fn lock_file(folder: &std::path::Path, fleet: &FleetName) -> std::path::PathBuf {
    folder.join("fleets").join(fleet.as_str()).join("lock")
}

/// The name in a lock file. Only for messages: a lock without one is a lock all the same.
fn named(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut holder));
    let holder = holder.trim();
    if holder.is_empty() { "unknown".into() } else { holder.into() }
}

fn local_holder(folder: &std::path::Path, fleet: &FleetName) -> Result<Option<Held>, LeaseError> {
    let io = |source| LeaseError::Io { fleet: fleet.clone(), source };
    let mut file = match File::open(lock_file(folder, fleet)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            Ok(Some(Held { holder: named(&mut file), heard: None, epoch: 0 }))
        }
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

async fn take_local(
    folder: &std::path::Path,
    fleet: &FleetName,
    holder: &str,
    wait: Duration,
    on: &(dyn Fn(Waiting) + Sync),
) -> Result<Lease, LeaseError> {
    let io = |source| LeaseError::Io { fleet: fleet.clone(), source };
    let path = lock_file(folder, fleet);
    std::fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(io)?;
    let mut options = File::options();
    let mut file =
        options.create(true).read(true).write(true).truncate(false).open(&path).map_err(io)?;
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) => {
                let holder = named(&mut file);
                let left = deadline.saturating_duration_since(tokio::time::Instant::now());
                if left.is_zero() {
                    return Err(LeaseError::Held { fleet: fleet.clone(), holder });
                }
                on(Waiting { holder, left, dead_in: None });
                tokio::time::sleep(left.min(Duration::from_millis(100))).await;
            }
        }
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    writeln!(file, "{holder}").map_err(io)?;
    Ok(Lease { kind: Kind::Local(file) })
}
