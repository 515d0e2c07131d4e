//! What fleets saw of spot pools and of the clouds' signals, shared between them.
//!
//! Each fleet's own evidence is folded from its journal. After a round it is written down once more,
//! beside the journals, where other fleets read it.

use crate::state::hints;
use crate::state::store::{Store, StoreError};
use fleet_core::add_signals;
use fleet_model::{Beliefs, FleetName, Recorded, SignalRecords, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where it is told.
pub(crate) const FOLDER: &str = "beliefs";

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

/// Writes down what a fleet saw.
pub(crate) async fn share(
    store: &Store,
    fleet: &FleetName,
    recorded: &Recorded,
) -> Result<(), StoreError> {
    if recorded.beliefs.is_empty() && recorded.signals.is_empty() {
        return Ok(());
    }
    let shared = Shared { signals: recorded.signals.clone(), beliefs: recorded.beliefs.clone() };
    hints::tell(store, FOLDER, fleet, recorded.seq, &shared).await
}

/// What every fleet saw.
pub(crate) type OfAll = BTreeMap<FleetName, Arc<Shared>>;

/// What was read before.
pub(crate) type ReadBefore = hints::ReadBefore<Shared>;

/// What every fleet saw.
pub(crate) async fn of_all(store: &Store, before: &ReadBefore) -> OfAll {
    hints::newest_of_all(store, FOLDER, before).await
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
}
