//! What fleets saw of spot pools, shared between them.
//!
//! Each fleet's own evidence is folded from its journal. After a round it is written down once more,
//! beside the journals, where other fleets read it. Objects are created and never replaced, so no
//! lock is needed; the newest counts, and losing them all costs knowledge, not safety.

use crate::state::store::{Store, StoreError};
use fleet_model::{Beliefs, FleetName, Recorded};
use futures::future::ready;
use futures::{StreamExt, stream};
use std::collections::BTreeMap;

/// Objects read at once.
const READ_AT_ONCE: usize = 32;

/// Older objects than this many are removed.
const KEPT: usize = 2;

fn folder(fleet: &FleetName) -> String {
    format!("beliefs/{fleet}")
}

/// Writes down what a fleet saw.
pub(crate) async fn share(
    store: &Store,
    fleet: &FleetName,
    recorded: &Recorded,
) -> Result<(), StoreError> {
    if recorded.beliefs.is_empty() {
        return Ok(());
    }
    let folder = folder(fleet);
    let body = serde_json::to_vec(&recorded.beliefs).unwrap_or_default();
    store.create(&format!("{folder}/{:020}.json", recorded.seq), body).await?;
    let names = store.list(&folder, None).await?;
    for old in names.iter().rev().skip(KEPT) {
        store.remove(&format!("{folder}/{old}")).await?;
    }
    Ok(())
}

/// What every fleet saw. What cannot be read is left out: it is a hint, no premise.
pub(crate) async fn of_all(store: &Store) -> BTreeMap<FleetName, Beliefs> {
    let fleets = store.folders("beliefs").await.unwrap_or_default();
    let read = fleets.into_iter().map(|fleet| async move {
        let fleet = FleetName::new(fleet);
        let folder = folder(&fleet);
        let newest = store.list(&folder, None).await.ok()?.last().cloned()?;
        let body = store.read(&format!("{folder}/{newest}")).await.ok()??;
        match serde_json::from_slice::<Beliefs>(&body) {
            Ok(beliefs) => Some((fleet, beliefs)),
            Err(_) => {
                tracing::warn!(%folder, "learned reliability cannot be read; it is not used");
                None
            }
        }
    });
    stream::iter(read).buffered(READ_AT_ONCE).filter_map(ready).collect().await
}

/// What fleets other than this one saw.
pub(crate) fn of_others(all: &BTreeMap<FleetName, Beliefs>, fleet: &FleetName) -> Beliefs {
    let mut newest = Beliefs::new();
    let others = all.iter().filter(|(other, _)| *other != fleet);
    for (pool, belief) in others.flat_map(|(_, beliefs)| beliefs) {
        let Some(known) = newest.get_mut(pool) else {
            newest.insert(pool.clone(), belief.clone());
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
    newest
}
