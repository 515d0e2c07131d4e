//! Everything a run needs, and the read-only half of it.

use crate::calls::{Calls, Measured, Meter, Watch};
use crate::error::RunError;
use crate::hooks::{Hooks, RealHooks};
use crate::state::beliefs::ReadBefore;
use crate::state::said::Memory;
use crate::state::{Journal, Record, Store, moving};
use fleet_model::{
    Catalog, Cloud, FleetName, MachineId, PoolId, Quote, Recorded, Scope, Timestamp,
};
use fleet_provider::{Clock, Provider};
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Folders looked into at once.
const READ_AT_ONCE: usize = 32;

/// Where a fleet without a recorded identity gets one from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fresh {
    /// From the operating system's chance, for real clouds.
    Random,
    /// From name and time, so that simulations repeat.
    Derived,
}

/// State, clouds, clock and catalog.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) providers: BTreeMap<Cloud, Arc<dyn Provider>>,
    pub(crate) clock: Arc<Watch>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) fresh: Fresh,
    pub(crate) calls: Calls,
    pub(crate) hooks: Arc<dyn Hooks>,
    /// What other fleets told of pools.
    pub(crate) read_before: ReadBefore,
    /// What clouds said of launches, and since when.
    pub(crate) said: Memory,
}

impl Engine {
    /// Puts the parts together.
    pub fn new(
        store: Store,
        providers: BTreeMap<Cloud, Arc<dyn Provider>>,
        clock: Arc<dyn Clock>,
        catalog: Arc<Catalog>,
        fresh: Fresh,
    ) -> Self {
        let clock = Arc::new(Watch::new(clock));
        let calls = Calls::new(clock.clone());
        let hooks = Arc::new(RealHooks);
        let (read_before, said) = (ReadBefore::default(), Memory::default());
        Engine { store, providers, clock, catalog, fresh, calls, hooks, read_before, said }
    }

    /// With other ways to reach machines: for simulated ones.
    pub fn with_hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = hooks;
        self
    }

    /// With somebody who measures calls of clouds and of the store.
    pub fn with_meter(mut self, meter: Arc<dyn Meter>) -> Self {
        let measured = Measured::by(meter);
        self.store.measured = measured.clone();
        self.calls.measured = measured;
        self
    }

    /// Without pacing: for simulated clouds that have no limits to keep.
    pub fn unpaced(mut self) -> Self {
        self.calls.limits.off();
        self
    }

    /// The time, by the clock that the engine goes by.
    pub fn now(&self) -> Timestamp {
        self.clock.latest()
    }

    /// Machines in these scopes that will be taken back, or that ended without us, as far as clouds tell
    /// cheaply. A cloud that does not answer says nothing: the next look finds out.
    pub async fn alarms(&self, scopes: &BTreeSet<Scope>) -> BTreeSet<MachineId> {
        let asked = self.providers.iter().map(|(cloud, provider)| async move {
            let here: Vec<Scope> = scopes.iter().filter(|s| s.cloud == *cloud).cloned().collect();
            if here.is_empty() {
                return BTreeSet::new();
            }
            let asked = self.calls.measured.cloud(*cloud, "alarms", provider.alarms(&here));
            asked.await.unwrap_or_else(|error| {
                tracing::debug!(%cloud, %error, "no alarms");
                BTreeSet::new()
            })
        });
        futures::future::join_all(asked).await.into_iter().flatten().collect()
    }

    /// What pools cost now and how likely they are to be had, as far as clouds tell cheaply. One that does not
    /// answer says nothing.
    pub async fn market(&self, pools: &BTreeSet<PoolId>) -> BTreeMap<PoolId, Quote> {
        let asked = self.providers.iter().map(|(cloud, provider)| async move {
            let here = pools.iter().filter(|pool| pool.place.cloud == *cloud);
            let here: Vec<PoolId> = here.cloned().collect();
            if here.is_empty() {
                return Vec::new();
            }
            let asked = self.calls.measured.cloud(*cloud, "market", provider.market(&here));
            let told = asked.await.unwrap_or_else(|error| {
                tracing::debug!(%cloud, %error, "no news of the market");
                Vec::new()
            });
            here.into_iter().zip(told).filter_map(|(pool, quote)| Some((pool, quote?))).collect()
        });
        futures::future::join_all(asked).await.into_iter().flatten().collect()
    }

    /// The clouds that can be asked.
    pub fn clouds(&self) -> impl Iterator<Item = Cloud> {
        self.providers.keys().copied()
    }

    /// Where the journals are.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What could be bought.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Waits, by the clock that the engine goes by.
    pub async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }

    /// Every record of a fleet's journal, oldest first.
    pub async fn history(&self, fleet: &FleetName) -> Result<Vec<Record>, RunError> {
        Ok(Journal::history(&self.store, fleet).await?)
    }

    /// Records that came after one that was read before; `None` if this is another journal.
    pub async fn history_after(
        &self,
        fleet: &FleetName,
        last: &Record,
    ) -> Result<Option<Vec<Record>>, RunError> {
        Ok(Journal::history_after(&self.store, fleet, last).await?)
    }

    /// What the journal of a fleet says.
    pub async fn recorded(&self, fleet: &FleetName) -> Result<Recorded, RunError> {
        let journal = Journal::open(&self.store, fleet, self.clock.clone()).await?;
        Ok(journal.recorded().await)
    }

    /// How many machines of a fleet are on record.
    pub async fn standing(&self, fleet: &FleetName) -> Result<usize, RunError> {
        Ok(self.recorded(fleet).await?.machines().count())
    }

    /// Fleets that have a journal here. A lease alone makes no fleet: an apply may have come to nothing, and
    /// a fleet may have another name by now.
    pub async fn fleets(&self) -> Result<Vec<FleetName>, RunError> {
        let names = self.store.folders("fleets").await?;
        let fleets = stream::iter(names).map(|name| async {
            let fleet = FleetName::new(name);
            let there = moving::is_there(&self.store, &fleet).await?;
            Ok::<_, RunError>(there.then_some(fleet))
        });
        let fleets: Vec<_> = fleets.buffered(READ_AT_ONCE).try_collect().await?;
        Ok(fleets.into_iter().flatten().collect())
    }
}
