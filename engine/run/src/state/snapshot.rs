//! What the records of a journal come to, written down now and then so that they need not be read again. A shortcut and
//! never a truth: the records are all there.

use crate::state::record;
use crate::state::store::{Store, StoreError};
use fleet_core::FOLD;
use fleet_model::{FleetName, Recorded};
use serde::{Deserialize, Serialize};

/// Snapshots kept: the last, and one before it in case the last is damaged.
const KEPT: usize = 2;

pub(super) fn folder(fleet: &FleetName) -> String {
    format!("fleets/{fleet}/snapshot")
}

#[derive(Serialize)]
struct Snapshot<'a> {
    /// By which fold. The number comes beside what is recorded and not around it: versions without numbers read it so.
    fold: u32,
    #[serde(flatten)]
    recorded: &'a Recorded,
}

/// Those of versions without numbers have none.
#[derive(Deserialize)]
struct Made {
    #[serde(default)]
    fold: u32,
}

/// The newest snapshot that is of use.
pub(super) struct Found {
    pub(super) recorded: Option<Recorded>,
    /// Newer ones: damaged, or what another version made of the same records.
    pub(super) useless: Vec<String>,
}

pub(super) async fn last(store: &Store, fleet: &FleetName) -> Result<Found, StoreError> {
    let folder = folder(fleet);
    let mut useless = Vec::new();
    for name in store.list(&folder, None).await?.into_iter().rev() {
        let Some(bytes) = store.read(&format!("{folder}/{name}")).await? else { continue };
        match read(&bytes) {
            Some(Ok(recorded)) => return Ok(Found { recorded: Some(recorded), useless }),
            Some(Err(Made { fold })) => {
                tracing::info!(%fleet, snapshot = %name, fold, own = FOLD,
                    "snapshot of another version; replaying the journal");
            }
            None => tracing::warn!(%fleet, snapshot = %name,
                "snapshot cannot be read; replaying the journal"),
        }
        useless.push(name);
    }
    Ok(Found { recorded: None, useless })
}

/// `None`: it is damaged.
fn read(bytes: &[u8]) -> Option<Result<Recorded, Made>> {
    let body = record::body(bytes).ok()?;
    let made: Made = serde_json::from_slice(body).ok()?;
    match made.fold == FOLD {
        true => serde_json::from_slice(body).ok().map(Ok),
        false => Some(Err(made)),
    }
}

/// Writes one, in the place of those that are of no use.
pub(super) async fn write(
    store: &Store,
    fleet: &FleetName,
    recorded: &Recorded,
    useless: Vec<String>,
) -> Result<(), StoreError> {
    let Ok(bytes) = record::seal(&Snapshot { fold: FOLD, recorded }) else { return Ok(()) };
    let folder = folder(fleet);
    for name in useless {
        store.remove(&format!("{folder}/{name}")).await?;
    }
    store.create(&format!("{folder}/{:012}", recorded.seq), bytes).await?;
    let names = store.list(&folder, None).await?;
    for old in names.iter().rev().skip(KEPT) {
        store.remove(&format!("{folder}/{old}")).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::SystemClock;
    use crate::state::journal::Journal;
    use fleet_model::Event;
    use std::sync::Arc;

    async fn names(store: &Store, fleet: &FleetName) -> Vec<String> {
        store.list(&folder(fleet), None).await.expect("a list")
    }

    #[tokio::test]
    async fn what_another_version_made_of_the_records_is_not_believed() {
        let (store, fleet) = (Store::in_memory(), FleetName::new("f"));
        let open = || async { Journal::open(&store, &fleet, Arc::new(SystemClock)).await };
        let journal = open().await.expect("a journal");
        for epoch in 1..=16 {
            let event = Event::Epoch { epoch, holder: "me".into() };
            journal.append(vec![event]).await.expect("written");
        }
        let truth = journal.recorded().await;
        // The same records by a version without numbers, and by one to come: both leave something out.
        let wrong = Recorded { epoch: 3, ..truth.clone() };
        let of_before = record::seal(&wrong).expect("JSON");
        let of_later = record::seal(&Snapshot { fold: FOLD + 1, recorded: &wrong }).expect("JSON");
        for bytes in [of_before, of_later] {
            let name = format!("{}/{:012}", folder(&fleet), 16);
            assert!(store.create(&name, bytes).await.expect("a store"));
            let journal = open().await.expect("a journal");
            assert_eq!(journal.recorded().await, truth);
            // Replayed once: what is written now is read from then on.
            journal.snapshot().await.expect("written");
            assert_eq!(names(&store, &fleet).await, ["000000000016"]);
            let found = last(&store, &fleet).await.expect("a store");
            assert_eq!((found.recorded.as_ref(), found.useless.len()), (Some(&truth), 0));
            // A version without numbers reads it as its own.
            let bytes = store.read(&name).await.expect("a store").expect("a snapshot");
            let body = record::body(&bytes).expect("whole");
            assert_eq!(serde_json::from_slice::<Recorded>(body).expect("JSON"), truth);
            store.remove(&name).await.expect("removed");
        }
    }
}
