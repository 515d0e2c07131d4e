//! What fleets saw of spot pools and of the clouds' signals, shared between them.
//!
//! Each fleet's own evidence is folded from its journal. After a round it is written down once more,
//! beside the journals, where other fleets read it. Objects are created and never replaced, so no
//! lock is needed; the newest counts, and losing them all costs knowledge, not safety.

use crate::state::store::{Store, StoreError};
use fleet_core::add_signals;
use fleet_model::{Beliefs, FleetName, Recorded, SignalRecords, Timestamp};
use futures::future::ready;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Objects read at once.
const READ_AT_ONCE: usize = 32;

/// Older objects than this many are removed.
const KEPT: usize = 2;

/// What one fleet saw.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shared {
    /// How well each signal foretold it. No pool has such a name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) signals: SignalRecords,
    /// Of each pool. Beside the rest, as when there was nothing else.
    #[serde(flatten)]
    pub(crate) beliefs: Beliefs,
}

fn folder(fleet: &FleetName) -> String {
    format!("beliefs/{fleet}")
}

/// Writes down what a fleet saw.
pub(crate) async fn share(
    store: &Store,
    fleet: &FleetName,
    recorded: &Recorded,
) -> Result<(), StoreError> {
    if recorded.beliefs.is_empty() && recorded.signals.is_empty() {
        return Ok(());
    }
    let folder = folder(fleet);
    let shared = Shared { signals: recorded.signals.clone(), beliefs: recorded.beliefs.clone() };
    let body = serde_json::to_vec(&shared).unwrap_or_default();
    store.create(&format!("{folder}/{:020}.json", recorded.seq), body).await?;
    let names = store.list(&folder, None).await?;
    for old in names.iter().rev().skip(KEPT) {
        store.remove(&format!("{folder}/{old}")).await?;
    }
    Ok(())
}

/// What every fleet saw.
pub(crate) type OfAll = BTreeMap<FleetName, Arc<Shared>>;

/// What was read before, with the name of its object. One that was read need not be read again: it never changes.
#[derive(Default)]
pub(crate) struct ReadBefore(Mutex<BTreeMap<FleetName, (String, Arc<Shared>)>>);

impl ReadBefore {
    fn get(&self, fleet: &FleetName, name: &str) -> Option<Arc<Shared>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(fleet).filter(|(known, _)| known == name).map(|(_, shared)| shared.clone())
    }

    fn keep(&self, fleet: &FleetName, name: &str, shared: &Arc<Shared>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(fleet.clone(), (name.to_owned(), shared.clone()));
    }

    /// Fleets that tell nothing any more are forgotten.
    fn keep_only(&self, fleets: &OfAll) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|fleet, _| fleets.contains_key(fleet));
    }
}

/// What every fleet saw. What cannot be read is left out: it is a hint, no premise. One list, and a read for each
/// fleet that has something new to tell.
pub(crate) async fn of_all(store: &Store, before: &ReadBefore) -> OfAll {
    let objects = store.list_in_folders("beliefs").await.unwrap_or_default();
    // Sorted: the last of a folder is the newest.
    let newest: BTreeMap<String, String> = objects.into_iter().collect();
    let read = newest.into_iter().map(|(fleet, name)| async move {
        let fleet = FleetName::new(fleet);
        if let Some(shared) = before.get(&fleet, &name) {
            return Some((fleet, shared));
        }
        let folder = folder(&fleet);
        let body = store.read(&format!("{folder}/{name}")).await.ok()??;
        match serde_json::from_slice::<Shared>(&body) {
            Ok(shared) => {
                let shared = Arc::new(shared);
                before.keep(&fleet, &name, &shared);
                Some((fleet, shared))
            }
            Err(_) => {
                tracing::warn!(%folder, "learned reliability cannot be read; it is not used");
                None
            }
        }
    });
    let all = stream::iter(read).buffered(READ_AT_ONCE).filter_map(ready).collect().await;
    before.keep_only(&all);
    all
}

/// What fleets other than this one saw.
pub(crate) fn of_others(all: &OfAll, fleet: &FleetName, now: Timestamp) -> Shared {
    let mut others = Shared::default();
    for (_, shared) in all.iter().filter(|(other, _)| *other != fleet) {
        let Shared { signals, beliefs } = &**shared;
        add_signals(&mut others.signals, signals, now);
        for (pool, belief) in beliefs {
            let Some(known) = others.beliefs.get_mut(pool) else {
                others.beliefs.insert(pool.clone(), belief.clone());
                continue;
            };
            // Who looked last knows most; who was refused last was refused for all.
            let throttles = [known.throttle, belief.throttle].into_iter().flatten();
            let throttle = throttles.max_by_key(|throttle| throttle.at);
            if known.as_of < belief.as_of {
                known.clone_from(belief);
            }
            known.throttle = throttle;
        }
    }
    others
}

/// What fleets of a store have learned of spot pools.
pub async fn learned(store: &Store, now: Timestamp) -> Beliefs {
    // No fleet has an empty name, so that none is left out.
    of_others(&of_all(store, &ReadBefore::default()).await, &FleetName::new(""), now).beliefs
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{PoolBelief, SignalRecord, SignalSource};

    #[test]
    fn files_of_before_are_read_and_signals_of_all_others_add_up() {
        let old = r#"{"aws/us-east-1/use1-az1/m5.large/spot":{"held":3}}"#;
        let old: Shared = serde_json::from_str(old).expect("a file of before");
        assert_eq!((old.beliefs.len(), old.signals.len()), (1, 0));

        let now = Timestamp::from_second(1_000_000).expect("a time");
        let source = SignalSource::SpotPlacementScore;
        let one = |gain_micro| {
            let record = SignalRecord { gain_micro, judged: 2, as_of: now };
            let pool = "aws/us-east-1/use1-az1/m5.large/spot".parse().expect("a pool");
            let beliefs = Beliefs::from([(pool, PoolBelief::default())]);
            let shared = Shared { signals: [(source, record)].into(), beliefs };
            let text = serde_json::to_string(&shared).expect("JSON");
            serde_json::from_str::<Shared>(&text).expect("what was written")
        };
        let all: OfAll = [("a", one(5)), ("b", one(-2)), ("c", one(100)), ("d", old)]
            .map(|(name, shared)| (FleetName::new(name), Arc::new(shared)))
            .into();
        let others = of_others(&all, &FleetName::new("c"), now);
        assert_eq!(others.signals[&source].gain_micro, 3);
        assert_eq!(others.signals[&source].judged, 4);
        assert_eq!(others.beliefs.len(), 1);
    }

    #[tokio::test]
    async fn the_newest_of_each_fleet_is_read_and_read_once() {
        let store = Store::in_memory();
        let write = async |fleet: &str, seq: u64, held: u32| {
            let name = format!("beliefs/{fleet}/{seq:020}.json");
            let body = format!(r#"{{"aws/us-east-1/use1-az1/m5.large/spot":{{"held":{held}}}}}"#);
            assert!(store.create(&name, body.into_bytes()).await.expect("written"));
        };
        let held = |all: &OfAll| -> Vec<(String, u32)> {
            let held = |shared: &Shared| shared.beliefs.values().map(|belief| belief.held).sum();
            all.iter().map(|(fleet, shared)| (fleet.to_string(), held(shared))).collect()
        };
        let before = ReadBefore::default();
        write("a", 9, 1).await;
        write("a", 10, 2).await;
        write("b", 1, 3).await;
        let first = of_all(&store, &before).await;
        assert_eq!(held(&first), [("a".to_owned(), 2), ("b".to_owned(), 3)]);
        write("b", 2, 4).await;
        let second = of_all(&store, &before).await;
        assert_eq!(held(&second), [("a".to_owned(), 2), ("b".to_owned(), 4)]);
        let same = |fleet: &str| Arc::ptr_eq(&first[&fleet.into()], &second[&fleet.into()]);
        assert!(same("a") && !same("b"));
        for name in ["a/00000000000000000009", "a/00000000000000000010"] {
            store.remove(&format!("beliefs/{name}.json")).await.expect("removed");
        }
        assert_eq!(held(&of_all(&store, &before).await), [("b".to_owned(), 4)]);
        assert!(before.get(&"a".into(), "00000000000000000010.json").is_none());
    }
}
