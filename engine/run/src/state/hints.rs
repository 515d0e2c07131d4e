//! Hints that outlive a run: what a fleet was told or saw, written beside the journals.
//!
//! Objects are created and never replaced, so no lock is needed; the newest counts, and losing them all
//! costs knowledge, not safety.

use crate::state::store::{Store, StoreError};
use fleet_model::FleetName;
use futures::future::ready;
use futures::{StreamExt, stream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Objects read at once.
const READ_AT_ONCE: usize = 32;

/// Older objects than this many are removed.
const KEPT: usize = 2;

/// Where a fleet's hints of one kind are.
pub(crate) fn folder(kind: &str, fleet: &FleetName) -> String {
    format!("{kind}/{fleet}")
}

/// Writes down what a fleet knows. Numbers rise.
pub(crate) async fn tell(
    store: &Store,
    kind: &str,
    fleet: &FleetName,
    number: u64,
    hint: &impl Serialize,
) -> Result<(), StoreError> {
    let folder = folder(kind, fleet);
    let body = serde_json::to_vec(hint).unwrap_or_default();
    store.create(&format!("{folder}/{number:020}.json"), body).await?;
    let names = store.list(&folder, None).await?;
    for old in names.iter().rev().skip(KEPT) {
        store.remove(&format!("{folder}/{old}")).await?;
    }
    Ok(())
}

/// What was read before, with the name of its object. One that was read need not be read again: it never changes.
pub(crate) struct ReadBefore<T>(Mutex<BTreeMap<FleetName, (String, Arc<T>)>>);

impl<T> Default for ReadBefore<T> {
    fn default() -> Self {
        ReadBefore(Mutex::default())
    }
}

impl<T> ReadBefore<T> {
    fn get(&self, fleet: &FleetName, name: &str) -> Option<Arc<T>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(fleet).filter(|(known, _)| known == name).map(|(_, hint)| hint.clone())
    }

    fn keep(&self, fleet: &FleetName, name: &str, hint: &Arc<T>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(fleet.clone(), (name.to_owned(), hint.clone()));
    }

    /// Fleets that tell nothing any more are forgotten.
    fn keep_only(&self, fleets: &BTreeMap<FleetName, Arc<T>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|fleet, _| fleets.contains_key(fleet));
    }
}

/// The newest that every fleet told. What cannot be read is left out: it is a hint, no premise. One list, and a read
/// for each fleet that has something new to tell.
pub(crate) async fn newest_of_all<T: DeserializeOwned>(
    store: &Store,
    kind: &str,
    before: &ReadBefore<T>,
) -> BTreeMap<FleetName, Arc<T>> {
    let objects = store.list_in_folders(kind).await.unwrap_or_default();
    // Sorted: the last of a folder is the newest.
    let newest: BTreeMap<String, String> = objects.into_iter().collect();
    let read = newest.into_iter().map(|(fleet, name)| async move {
        let fleet = FleetName::new(fleet);
        if let Some(hint) = before.get(&fleet, &name) {
            return Some((fleet, hint));
        }
        let hint = Arc::new(read(store, kind, &fleet, &name).await?);
        before.keep(&fleet, &name, &hint);
        Some((fleet, hint))
    });
    let all = stream::iter(read).buffered(READ_AT_ONCE).filter_map(ready).collect().await;
    before.keep_only(&all);
    all
}

/// The newest that one fleet told.
pub(crate) async fn newest<T: DeserializeOwned>(
    store: &Store,
    kind: &str,
    fleet: &FleetName,
) -> Option<T> {
    let names = store.list(&folder(kind, fleet), None).await.unwrap_or_default();
    read(store, kind, fleet, names.last()?).await
}

async fn read<T: DeserializeOwned>(
    store: &Store,
    kind: &str,
    fleet: &FleetName,
    name: &str,
) -> Option<T> {
    let folder = folder(kind, fleet);
    let body = store.read(&format!("{folder}/{name}")).await.ok()??;
    let hint = serde_json::from_slice(&body);
    if hint.is_err() {
        tracing::warn!(%folder, "what was learned cannot be read; it is not used");
    }
    hint.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "numbers";

    async fn write(store: &Store, fleet: &str, number: u64, hint: u32) {
        tell(store, KIND, &fleet.into(), number, &hint).await.expect("written");
    }

    fn told(all: &BTreeMap<FleetName, Arc<u32>>) -> Vec<(&str, u32)> {
        all.iter().map(|(fleet, hint)| (fleet.as_str(), **hint)).collect()
    }

    #[tokio::test]
    async fn the_newest_of_each_fleet_is_read_and_read_once() {
        let store = Store::in_memory();
        let before = ReadBefore::default();
        write(&store, "a", 9, 1).await;
        write(&store, "a", 10, 2).await;
        write(&store, "b", 1, 3).await;
        let first = newest_of_all(&store, KIND, &before).await;
        assert_eq!(told(&first), [("a", 2), ("b", 3)]);
        assert_eq!(newest::<u32>(&store, KIND, &"a".into()).await, Some(2));
        write(&store, "b", 2, 4).await;
        let second = newest_of_all(&store, KIND, &before).await;
        assert_eq!(told(&second), [("a", 2), ("b", 4)]);
        let same = |fleet: &str| Arc::ptr_eq(&first[&fleet.into()], &second[&fleet.into()]);
        assert!(same("a") && !same("b"));
        for name in ["a/00000000000000000009", "a/00000000000000000010"] {
            store.remove(&format!("{KIND}/{name}.json")).await.expect("removed");
        }
        assert_eq!(told(&newest_of_all(&store, KIND, &before).await), [("b", 4)]);
        assert!(before.get(&"a".into(), "00000000000000000010.json").is_none());
    }

    #[tokio::test]
    async fn old_ones_go_and_what_cannot_be_read_is_nothing() {
        let store = Store::in_memory();
        for number in 1..=5 {
            write(&store, "a", number, 0).await;
        }
        let left = store.list(&folder(KIND, &"a".into()), None).await.expect("a list");
        assert_eq!(left, ["00000000000000000004.json", "00000000000000000005.json"]);
        let name = format!("{KIND}/a/00000000000000000006.json");
        assert!(store.create(&name, b"{".to_vec()).await.expect("written"));
        assert_eq!(newest::<u32>(&store, KIND, &"a".into()).await, None);
        assert!(newest_of_all::<u32>(&store, KIND, &ReadBefore::default()).await.is_empty());
        assert_eq!(newest::<u32>(&store, KIND, &"nobody".into()).await, None);
    }
}
