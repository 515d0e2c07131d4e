//! What clouds said of launches, remembered for each fleet from look to look and from run to run.
//!
//! Each fleet has its own: the answer depends on how many machines are asked for. A run reads what the run
//! before it wrote down; a controller keeps it in memory, and writes it down now and then.

use crate::state::hints;
use crate::state::store::{Store, StoreError};
use fleet_model::{AllSaid, FleetName, Offering, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where it is told.
pub(crate) const FOLDER: &str = "said";

/// What was heard longer ago than this may be known better by somebody else; and so often it is told.
const FRESH: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);

/// The most pools that are told of.
const MOST: usize = 1024;

/// What was heard for one fleet.
#[derive(Default)]
struct OfFleet {
    said: AllSaid,
    heard: Option<Timestamp>,
    told: Option<Timestamp>,
}

/// What was heard for each fleet.
#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<FleetName, OfFleet>>);

impl Memory {
    fn of_all(&self) -> MutexGuard<'_, BTreeMap<FleetName, OfFleet>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what the clouds say now, and tells each offering since when that has stood.
    pub(crate) async fn hear(
        &self,
        store: &Store,
        fleet: &FleetName,
        offerings: &mut [Offering],
        now: Timestamp,
    ) {
        if offerings.iter().all(|offering| offering.signals.obtainability.is_none()) {
            return;
        }
        let lately = |heard: Timestamp| now.duration_since(heard) <= FRESH;
        let fresh = self.of_all().get(fleet).and_then(|one| one.heard).is_some_and(lately);
        let read = if fresh { None } else { hints::newest(store, FOLDER, fleet).await };
        let mut all = self.of_all();
        let known = all.entry(fleet.clone()).or_default();
        for (pool, said) in read.into_iter().flat_map(|read: AllSaid| read) {
            // Who heard it last knows what was before.
            if known.said.get(&pool).is_none_or(|known| known.heard < said.heard) {
                known.said.insert(pool, said);
            }
        }
        fleet_core::market::hear(&mut known.said, offerings, now);
        known.heard = Some(now);
    }

    /// Writes down what was heard for a fleet, unless that was done a moment ago.
    pub(crate) async fn tell(
        &self,
        store: &Store,
        fleet: &FleetName,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let told = {
            let mut all = self.of_all();
            let Some(known) = all.get_mut(fleet) else { return Ok(()) };
            if known.told.is_some_and(|told| now.duration_since(told) < FRESH) {
                return Ok(());
            }
            known.told = Some(now);
            fleet_core::market::worth_telling(&known.said, MOST)
        };
        if told.is_empty() {
            return Ok(());
        }
        let number = u64::try_from(now.as_millisecond()).unwrap_or_default();
        hints::tell(store, FOLDER, fleet, number, &told).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{
        Architecture, InstanceKind, Obtainability, PoolId, Resources, SignalSource, Signals,
    };
    use std::sync::Arc;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + 60 * minutes).expect("a time")
    }

    fn offering(percent: Option<u8>) -> Offering {
        let pool: PoolId = "aws/us-east-1/use1-az1/m5.large/spot".parse().expect("a pool");
        let resources = Resources {
            vcpus: None,
            memory_mib: None,
            architecture: Architecture::X86_64,
            accelerators: None,
            local_disk: None,
            generation: None,
        };
        let (cloud, name) = (pool.place.cloud, pool.instance_type.clone());
        let source = SignalSource::SpotPlacementScore;
        let obtainability = percent.map(|percent| Obtainability { percent, source });
        Offering {
            pool,
            kind: Arc::new(InstanceKind { cloud, name, resources }),
            price: None,
            on_demand: None,
            extras: Default::default(),
            signals: Signals { obtainability, ..Signals::default() },
            image: None,
            refusal: None,
            quotas: Vec::new(),
        }
    }

    /// For how many minutes the word has stood, as one process knows.
    async fn hear(memory: &Memory, store: &Store, fleet: &str, now: i64) -> Option<i64> {
        let mut offerings = [offering(Some(80))];
        memory.hear(store, &fleet.into(), &mut offerings, at(now)).await;
        let since = offerings[0].signals.steady_since?;
        Some((at(now).as_second() - since.as_second()) / 60)
    }

    #[tokio::test]
    async fn a_later_run_knows_what_an_earlier_one_heard() {
        let store = Store::in_memory();
        for nth in 0..5 {
            let memory = Memory::default();
            let stood = (nth > 0).then_some(120 + 60 * nth);
            assert_eq!(hear(&memory, &store, "a", 60 * nth).await, stood);
            memory.tell(&store, &"a".into(), at(60 * nth)).await.expect("told");
        }
        assert_eq!(hear(&Memory::default(), &store, "b", 240).await, None, "each fleet its own");
    }

    #[tokio::test]
    async fn two_who_take_turns_know_what_the_other_heard() {
        let store = Store::in_memory();
        let (one, other) = (Memory::default(), Memory::default());
        hear(&one, &store, "a", 0).await;
        for minute in (5..=180).step_by(5) {
            hear(&other, &store, "a", minute).await;
            other.tell(&store, &"a".into(), at(minute)).await.expect("told");
        }
        // The other heard it first five minutes into the hour, and never stopped.
        assert_eq!(hear(&one, &store, "a", 185).await, Some(120 + 180));
        let told = store.list("said/a", None).await.expect("a list");
        assert_eq!(told.len(), 2, "old ones go");
    }

    #[tokio::test]
    async fn who_hears_nothing_touches_nothing() {
        let store = Store::in_memory();
        let memory = Memory::default();
        let mut offerings = [offering(None)];
        memory.hear(&store, &"a".into(), &mut offerings, at(0)).await;
        memory.tell(&store, &"a".into(), at(0)).await.expect("nothing to tell");
        assert_eq!(offerings[0].signals.steady_since, None);
        assert!(store.list("said/a", None).await.expect("a list").is_empty());
    }
}
