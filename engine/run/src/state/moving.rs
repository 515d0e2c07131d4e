//! A journal that moves to another name.
//!
//! The last record says where to. From then on nobody writes under the old name, and the records are copied:
//! the last one first, so that what is there of a copy says whose it is, and the first one last, so that a
//! copy without it is no journal yet. Only then does the old one go, its last record last. A run that dies
//! anywhere in between leaves either a copy or an original that says what is to be done.

use crate::state::journal::{JournalError, record_name};
use crate::state::names::journal_folder;
use crate::state::store::{Store, StoreError};
use crate::state::{beliefs, hints, record, said, snapshot};
use fleet_model::{Event, FleetName};
use futures::{StreamExt, TryStreamExt, stream};

/// Objects read, written or removed at once.
const AT_ONCE: usize = 32;

/// What is no journal, and goes with it.
const HINTS: [&str; 2] = [beliefs::FOLDER, said::FOLDER];

const MISSING: &str = "it is missing";

/// The last record of a journal that moves: its number, where to, and its bytes.
pub(crate) struct Farewell {
    seq: u64,
    from: FleetName,
    /// The name that it moves to.
    pub(crate) to: FleetName,
    bytes: Vec<u8>,
}

/// Whether there is anything of a journal under a name.
pub(crate) async fn is_there(store: &Store, fleet: &FleetName) -> Result<bool, StoreError> {
    store.has_any(&journal_folder(fleet)).await
}

/// The last record under a name, if it says that the journal moves.
pub(crate) async fn farewell(
    store: &Store,
    fleet: &FleetName,
) -> Result<Option<Farewell>, StoreError> {
    let Some(name) = store.list(&journal_folder(fleet), None).await?.pop() else { return Ok(None) };
    let Some(bytes) = store.read(&format!("{}/{name}", journal_folder(fleet))).await? else {
        return Ok(None);
    };
    let Ok(last) = record::decode(&bytes) else { return Ok(None) };
    let moves = last.events.iter().rev().find_map(|event| match event {
        Event::Renamed { from, to } => Some((from.clone(), to.clone())),
        _ => None,
    });
    Ok(moves.map(|(from, to)| Farewell { seq: last.seq, from, to, bytes }))
}

/// Whether a copy of this journal was begun under a name.
pub(crate) async fn is_begun(
    store: &Store,
    farewell: &Farewell,
    at: &FleetName,
) -> Result<bool, StoreError> {
    let there = store.read(&record_name(at, farewell.seq)).await?;
    Ok(there.is_some_and(|bytes| bytes == farewell.bytes))
}

/// Copies what is not there yet. The mark of a simulated fleet comes first: it says how to read the rest.
pub(crate) async fn copy(store: &Store, farewell: &Farewell) -> Result<(), JournalError> {
    let Farewell { seq, from, to, .. } = farewell;
    if store.read(&record_name(to, 1)).await?.is_some() {
        return Ok(());
    }
    if store.read(&record_name(from, 1)).await?.is_none() {
        // It was moved before, and moved on since: this is litter.
        return Err(JournalError::Damaged { fleet: from.clone(), seq: 1, why: MISSING.into() });
    }
    let simulated = store.is_marked_simulated(from).await?;
    store.mark_simulated(to, simulated).await?;
    one(store, from, to, *seq).await?;
    let middle = stream::iter(2..*seq).map(|seq| one(store, from, to, seq));
    middle.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    one(store, from, to, 1).await
}

async fn one(
    store: &Store,
    from: &FleetName,
    to: &FleetName,
    seq: u64,
) -> Result<(), JournalError> {
    let damaged = |fleet: &FleetName, why: &str| JournalError::Damaged {
        fleet: fleet.clone(),
        seq,
        why: why.into(),
    };
    let bytes = store.read(&record_name(from, seq)).await?;
    let bytes = bytes.ok_or_else(|| damaged(from, MISSING))?;
    match store.create(&record_name(to, seq), bytes).await? {
        true => Ok(()),
        false => Err(damaged(to, "it is of another journal")),
    }
}

/// Removes everything under a name that moved: of the journal the last record last, and after it what is
/// no journal.
pub(crate) async fn erase(store: &Store, fleet: &FleetName) -> Result<(), StoreError> {
    remove_all(store, &snapshot::folder(fleet)).await?;
    let mut names = store.list(&journal_folder(fleet), None).await?;
    let last = names.pop();
    remove(store, &journal_folder(fleet), names).await?;
    remove(store, &journal_folder(fleet), last.into_iter().collect()).await?;
    store.mark_simulated(fleet, false).await?;
    for kind in HINTS {
        remove_all(store, &hints::folder(kind, fleet)).await?;
    }
    Ok(())
}

/// Removes what a lease leaves under a name without a journal. Whoever is just about to take it starts a
/// new fleet, and the journal keeps two of those apart.
pub(crate) async fn erase_lease(store: &Store, fleet: &FleetName) -> Result<(), StoreError> {
    if is_there(store, fleet).await? {
        return Ok(());
    }
    match store.local_folder() {
        Some(root) => {
            // Litter, no danger: a folder without a journal is no fleet. Only what is empty goes.
            let folder = root.join("fleets").join(fleet.as_str());
            let _ = std::fs::remove_file(folder.join("lock"));
            for empty in ["journal", "snapshot", ""] {
                let _ = std::fs::remove_dir(folder.join(empty));
            }
            for kind in HINTS {
                let _ = std::fs::remove_dir(root.join(kind).join(fleet.as_str()));
            }
            Ok(())
        }
        None => remove_all(store, &format!("fleets/{fleet}/lease")).await,
    }
}

async fn remove_all(store: &Store, folder: &str) -> Result<(), StoreError> {
    let names = store.list(folder, None).await?;
    remove(store, folder, names).await
}

async fn remove(store: &Store, folder: &str, names: Vec<String>) -> Result<(), StoreError> {
    let gone = stream::iter(names)
        .map(|name| async move { store.remove(&format!("{folder}/{name}")).await });
    gone.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.map(|_| ())
}
