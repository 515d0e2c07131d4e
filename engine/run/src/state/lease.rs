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
    Local(File),
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
        let started = std::time::Instant::now();
        let taken = match store.local_folder() {
            Some(folder) => take_local(folder, fleet, holder, wait, on).await,
            None => {
                let beats = beats::take(store, fleet, holder, wait, on).await;
                beats.map(|beats| Lease { kind: Kind::Remote(beats) })
            }
        };
        let outcome = match &taken {
            Ok(_) => "ok",
            Err(LeaseError::Held { .. }) => "held",
            Err(LeaseError::Io { .. } | LeaseError::Store(_)) => "failed",
        };
        store.measured.tell(|meter| meter.lease_taken(outcome, started.elapsed()));
        taken
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
            Kind::Local(file) => {
                // The next holder is not mistaken for this one before it has written its name.
                let _ = file.set_len(0);
                Ok(())
            }
            Kind::Remote(beats) => Ok(beats.release().await?),
        }
    }
}

fn lock_file(folder: &std::path::Path, fleet: &FleetName) -> std::path::PathBuf {
    folder.join("fleets").join(fleet.as_str()).join("lock")
}

/// Whoever takes a lock writes its name next: a lock without one is looked at again after this, so many times.
const NAMELESS: Duration = Duration::from_millis(2);
const NAMELESS_TIMES: u32 = 25;

/// The name in a lock file; `None` while there is none. Only for messages: a lock without one is a lock all the same.
fn named(file: &mut File) -> Option<String> {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut holder));
    // The line is whole when it ends.
    let holder = holder.strip_suffix('\n').map(str::trim).filter(|name| !name.is_empty());
    holder.map(str::to_owned)
}

fn local_holder(folder: &std::path::Path, fleet: &FleetName) -> Result<Option<Held>, LeaseError> {
    let io = |source| LeaseError::Io { fleet: fleet.clone(), source };
    let mut file = match File::open(lock_file(folder, fleet)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    for tries in 0.. {
        match file.try_lock_shared() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = named(&mut file);
        if holder.is_some() || tries >= NAMELESS_TIMES {
            let holder = holder.unwrap_or_else(|| "unknown".into());
            return Ok(Some(Held { holder, heard: None, epoch: 0 }));
        }
        std::thread::sleep(NAMELESS);
    }
    Ok(None)
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
    let mut nameless = 0;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) => {
                let holder = named(&mut file);
                if holder.is_none() && nameless < NAMELESS_TIMES {
                    // It has just been taken, or given back.
                    nameless += 1;
                    tokio::time::sleep(NAMELESS).await;
                    continue;
                }
                let holder = holder.unwrap_or_else(|| "unknown".into());
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
