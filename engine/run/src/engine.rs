//! Everything a run needs, and the read-only half of it.

use crate::calls::{Calls, Watch};
use crate::error::RunError;
use crate::state::{Journal, Record, Store, beliefs};
use fleet_core::{Eligible, eligible, rejection};
use fleet_model::{
    Catalog, Cloud, Desired, FleetName, FleetUid, HeldPool, Inputs, InstanceKind, Limits, Observed,
    Offering, PoolId, Quota, Recorded, Scope, SlotRecord, SlotState, Template, Timestamp, digest,
};
use fleet_provider::{Clock, Offered, OfferingsRequest, Provider};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
        Engine { store, providers, clock, catalog, fresh, calls }
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

    /// Reads the journal and looks at the clouds. Takes no lock and changes nothing.
    pub async fn gather(&self, desired: &Desired, limits: Limits) -> Result<Inputs, RunError> {
        let journal = Journal::open(&self.store, &desired.fleet, self.clock.clone()).await?;
        let recorded = journal.recorded().await;
        self.gather_from(desired, recorded, limits).await
    }

    /// Every record of a fleet's journal, oldest first.
    pub async fn history(&self, fleet: &FleetName) -> Result<Vec<Record>, RunError> {
        Ok(Journal::history(&self.store, fleet).await?)
    }

    /// How many machines of a fleet are on record.
    pub async fn standing(&self, fleet: &FleetName) -> Result<usize, RunError> {
        let journal = Journal::open(&self.store, fleet, self.clock.clone()).await?;
        let slots = journal.recorded().await.slots;
        let filled = |slot: &SlotRecord| matches!(slot.state, SlotState::Filled { .. });
        Ok(slots.into_values().filter(filled).count())
    }

    /// Fleets that have a journal here.
    pub async fn fleets(&self) -> Result<Vec<FleetName>, RunError> {
        let names = self.store.folders("fleets").await?;
        Ok(names.into_iter().map(FleetName::new).collect())
    }

    pub(crate) async fn gather_from(
        &self,
        desired: &Desired,
        recorded: Recorded,
        limits: Limits,
    ) -> Result<Inputs, RunError> {
        let Eligible { mut offerings, rejected } = eligible(desired, &self.catalog);
        for cloud in offerings.iter().map(|o| o.pool.place.cloud).collect::<BTreeSet<_>>() {
            if !self.providers.contains_key(&cloud) {
                return Err(RunError::NoProvider { fleet: desired.fleet.clone(), cloud });
            }
        }
        let observed = self.observe(scopes(&offerings, &recorded), &recorded).await;
        let quotas = self.quote(desired, &mut offerings, &observed).await;
        let mut beliefs = beliefs::of_others(&self.store, &desired.fleet).await;
        beliefs.retain(|pool, _| offerings.binary_search_by(|o| o.pool.cmp(pool)).is_ok());
        let held_pools = self.held_pools(desired, &recorded, &offerings);
        let now = self.clock.earliest();
        let uid = recorded.uid.clone().unwrap_or_else(|| self.fresh_uid(&desired.fleet));
        Ok(Inputs {
            uid,
            desired: desired.clone(),
            recorded,
            observed,
            offerings,
            rejected,
            held_pools,
            quotas,
            beliefs,
            limits,
            now,
        })
    }

    fn fresh_uid(&self, fleet: &FleetName) -> FleetUid {
        let chance = match self.fresh {
            Fresh::Random => uuid::Uuid::new_v4().to_string(),
            Fresh::Derived => String::new(),
        };
        let now = self.clock.latest().to_string();
        let parts = [fleet.as_str().as_bytes(), now.as_bytes(), chance.as_bytes()];
        FleetUid::new(digest("uid/1", parts).to_string())
    }

    /// Present prices and signals. A provider that does not answer leaves the catalog's prices.
    async fn quote(
        &self,
        desired: &Desired,
        offerings: &mut [Offering],
        observed: &Observed,
    ) -> Vec<Quota> {
        let plain = Template::default();
        let shown = &*offerings;
        let asked = self.providers.iter().map(|(cloud, provider)| {
            // Offerings are sorted by cloud first, so each cloud's are one stretch.
            let start = shown.partition_point(|o| o.pool.place.cloud < *cloud);
            let end = shown.partition_point(|o| o.pool.place.cloud <= *cloud);
            let pools: Vec<PoolId> = shown[start..end].iter().map(|o| o.pool.clone()).collect();
            let template = desired.templates.get(cloud).unwrap_or(&plain);
            async move {
                if pools.is_empty() {
                    return (start..end, Ok(Offered::default()));
                }
                let request = OfferingsRequest { pools: &pools, template, goal: desired.capacity };
                (start..end, provider.offerings(&request).await)
            }
        });
        let answers = join_all(asked).await;
        let mut quotas = Vec::new();
        for (stretch, answer) in answers {
            let offered = answer.unwrap_or_else(|error| {
                tracing::warn!(%error, gaps = observed.gaps.len(),
                    "no present prices; the catalog's stand");
                Offered::default()
            });
            let known = quotas.len() as u32;
            for (offering, quote) in offerings[stretch].iter_mut().zip(offered.quotes) {
                let Some(quote) = quote else { continue };
                offering.price = quote.price.or(offering.price);
                offering.signals = quote.signals;
                offering.image = quote.image;
                offering.refusal = quote.refusal;
                // Each cloud counts its quotas from nought.
                offering.quotas = quote.quotas;
                offering.quotas.iter_mut().for_each(|at| *at += known);
            }
            quotas.extend(offered.quotas);
        }
        quotas
    }

    /// Pools that hold machines of ours and are not on offer: what they are, and why not.
    fn held_pools(
        &self,
        desired: &Desired,
        recorded: &Recorded,
        offerings: &[Offering],
    ) -> BTreeMap<PoolId, HeldPool> {
        let on_offer = |pool: &PoolId| offerings.binary_search_by(|o| o.pool.cmp(pool)).is_ok();
        recorded_pools(recorded)
            .into_iter()
            .filter(|pool| !on_offer(pool))
            .map(|pool| {
                let kind = self.kind(pool);
                let rejection =
                    kind.as_ref().and_then(|kind| rejection(desired, &pool.place, kind));
                (pool.clone(), HeldPool { kind, rejection })
            })
            .collect()
    }

    fn kind(&self, pool: &PoolId) -> Option<Arc<InstanceKind>> {
        let key = (pool.place.cloud, &pool.instance_type);
        let at = self.catalog.kinds.binary_search_by(|kind| (kind.cloud, &kind.name).cmp(&key));
        Some(self.catalog.kinds[at.ok()?].clone())
    }
}

fn recorded_pools(recorded: &Recorded) -> BTreeSet<&PoolId> {
    let filled = recorded.slots.values().filter_map(|record| match &record.state {
        SlotState::Filled { pool, .. } => Some(pool),
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    });
    filled.chain(recorded.in_doubt.values().map(|attempt| &attempt.create.pool)).collect()
}

/// Where machines of this fleet may be: wherever the spec allows them, and wherever the journal
/// says that there were some.
fn scopes(offerings: &[Offering], recorded: &Recorded) -> BTreeSet<Scope> {
    let mut scopes: BTreeSet<Scope> = BTreeSet::new();
    let mut last = None;
    for offering in offerings {
        let place = &offering.pool.place;
        if last != Some((place.cloud, &place.region)) {
            last = Some((place.cloud, &place.region));
            scopes.insert(place.scope());
        }
    }
    scopes.extend(recorded_pools(recorded).into_iter().map(|pool| pool.place.scope()));
    scopes
}
