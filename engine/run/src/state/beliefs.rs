//! What fleets saw of spot pools, shared between them.
//!
//! Each fleet's own evidence is folded from its journal. After a round it is written down once more,
//! beside the journals, where other fleets read it. Objects are created and never replaced, so no
//! lock is needed; the newest counts, and losing them all costs knowledge, not safety.

use crate::state::store::{Store, StoreError};
use fleet_model::{Beliefs, FleetName, Recorded};

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

/// What other fleets saw. What cannot be read is left out: it is a hint, no premise.
pub(crate) async fn of_others(store: &Store, fleet: &FleetName) -> Beliefs {
    let mut all = Beliefs::new();
    let fleets = store.folders("beliefs").await.unwrap_or_default();
    for other in fleets.into_iter().filter(|other| other != fleet.as_str()) {
        let folder = folder(&FleetName::new(other));
        let newest = store.list(&folder, None).await.ok().and_then(|names| names.last().cloned());
        let Some(newest) = newest else { continue };
        let Ok(Some(body)) = store.read(&format!("{folder}/{newest}")).await else {
            continue;
        };
        let Ok(beliefs) = serde_json::from_slice::<Beliefs>(&body) else {
            tracing::warn!(%folder, "learned reliability cannot be read; it is not used");
            continue;
        };
        for (pool, belief) in beliefs {
            let newer = all.get(&pool).is_none_or(|known| known.as_of < belief.as_of);
            if newer {
                all.insert(pool, belief);
            }
        }
    }
    all
}
