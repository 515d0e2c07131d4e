//! Everything that a decision is made from: the journal, a look at the clouds, present prices.

use crate::engine::{Engine, Fresh};
use crate::error::RunError;
use crate::observe::Looker;
use crate::state::Journal;
use crate::state::beliefs::{self, OfAll, Shared};
use fleet_core::{
    Eligible, add_extras, eligible_beside, extras_of, heed_told, in_force, rejection,
    with_templates,
};
use fleet_model::{
    Cloud, Desired, FleetName, FleetUid, Gap, GapCause, HeldPool, Inputs, InstanceKind, Limits,
    Machine, Observed, Offering, PoolId, Quota, Recorded, Scope, Template, digest,
};
use fleet_provider::{Offered, OfferingsRequest};
use futures::future::join_all;
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Fleets that are looked at side by side.
const FLEETS_AT_ONCE: usize = 64;

/// A fleet before the first look: what it may use.
struct Wanted {
    desired: Desired,
    recorded: Recorded,
    limits: Limits,
    eligible: Eligible,
}

impl Wanted {
    fn looker(&self) -> Looker<'_> {
        let (fleet, recorded) = (Some(&self.desired.fleet), &self.recorded);
        Looker { fleet, scopes: self.scopes(), recorded }
    }

    /// Where machines of this fleet may be: wherever the spec allows them, and wherever the journal
    /// says that there were some.
    fn scopes(&self) -> BTreeSet<Scope> {
        let mut scopes: BTreeSet<Scope> = BTreeSet::new();
        let mut last = None;
        for offering in &self.eligible.offerings {
            let place = &offering.pool.place;
            if last != Some((place.cloud, &place.region)) {
                last = Some((place.cloud, &place.region));
                scopes.insert(place.scope());
            }
        }
        scopes.extend(recorded_pools(&self.recorded).into_iter().map(|pool| pool.place.scope()));
        scopes
    }
}

impl Engine {
    /// Reads the journal and looks at the clouds. Takes no lock and changes nothing.
    pub async fn gather(&self, desired: &Desired, limits: Limits) -> Result<Inputs, RunError> {
        let journal = Journal::open(&self.store, &desired.fleet, self.clock.clone()).await?;
        let recorded = journal.recorded().await;
        self.gather_from(desired, recorded, limits).await
    }

    /// The same for several fleets at once, in their order. Each account is asked once for all of them.
    pub async fn gather_all(
        &self,
        fleets: &[&Desired],
        limits: Limits,
    ) -> Vec<Result<Inputs, RunError>> {
        let opened = stream::iter(fleets.iter().copied()).map(|desired| async move {
            let journal = Journal::open(&self.store, &desired.fleet, self.clock.clone()).await?;
            Ok((desired, journal.recorded().await, limits))
        });
        let opened = opened.buffered(FLEETS_AT_ONCE).collect().await;
        self.gather_from_all(opened).await
    }

    /// Looks at the clouds for a fleet whose journal was read.
    pub(crate) async fn gather_from(
        &self,
        desired: &Desired,
        recorded: Recorded,
        limits: Limits,
    ) -> Result<Inputs, RunError> {
        let wanted = self.wanted((desired, recorded, limits))?;
        let observed = self.observe(wanted.looker()).await;
        let shared = beliefs::of_all(&self.store, &self.read_before).await;
        Ok(self.inputs(wanted, observed, &shared).await)
    }

    /// The same for several fleets; those whose journal could not be read are left out of the look.
    pub(crate) async fn gather_from_all(
        &self,
        fleets: Vec<Result<(&Desired, Recorded, Limits), RunError>>,
    ) -> Vec<Result<Inputs, RunError>> {
        let wanted: Vec<_> =
            fleets.into_iter().map(|fleet| fleet.and_then(|one| self.wanted(one))).collect();
        let lookers = wanted.iter().flatten().map(Wanted::looker).collect();
        let mut observed = self.observe_all(lookers).await.into_iter();
        let shared = beliefs::of_all(&self.store, &self.read_before).await;
        let mut seen = Vec::new();
        for one in wanted {
            seen.push(one.map(|one| (one, observed.next())));
        }
        let inputs = stream::iter(seen).map(|seen| async {
            let (one, observed) = seen?;
            let observed = observed.unwrap_or_else(|| Observed::nothing(self.clock.earliest()));
            Ok(self.inputs(one, observed, &shared).await)
        });
        inputs.buffered(FLEETS_AT_ONCE).collect().await
    }

    fn wanted(
        &self,
        (desired, recorded, limits): (&Desired, Recorded, Limits),
    ) -> Result<Wanted, RunError> {
        let desired = with_templates(in_force(desired, self.clock.earliest()), &recorded);
        let eligible = eligible_beside(&desired, &self.catalog, &recorded);
        let clouds: BTreeSet<Cloud> =
            eligible.offerings.iter().map(|offering| offering.pool.place.cloud).collect();
        match clouds.into_iter().find(|cloud| !self.providers.contains_key(cloud)) {
            Some(cloud) => Err(RunError::NoProvider { fleet: desired.fleet.clone(), cloud }),
            None => Ok(Wanted { desired, recorded, limits, eligible }),
        }
    }

    async fn inputs(&self, wanted: Wanted, mut observed: Observed, shared: &OfAll) -> Inputs {
        let Wanted { desired, recorded, limits, eligible } = wanted;
        self.leave_others_out(&desired.fleet, &recorded, &mut observed).await;
        heed_told(&recorded, &mut observed, self.clock.earliest());
        let Eligible { mut offerings, rejected, .. } = eligible;
        let quotas = self.quote(&desired, &mut offerings, &observed).await;
        add_extras(&desired, &mut offerings);
        let now = self.clock.earliest();
        self.said.hear(&self.store, &desired.fleet, &mut offerings, now).await;
        let Shared { mut beliefs, signals } = beliefs::of_others(shared, &desired.fleet, now);
        beliefs.retain(|pool, _| offerings.binary_search_by(|o| o.pool.cmp(pool)).is_ok());
        let held_pools = self.held_pools(&desired, &recorded, &offerings);
        let uid = recorded.uid.clone().unwrap_or_else(|| self.fresh_uid(&desired.fleet));
        Inputs {
            uid,
            desired,
            recorded,
            observed,
            offerings,
            rejected,
            held_pools,
            quotas,
            beliefs,
            signals,
            limits,
            now,
        }
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
        let ignore = desired.placement.ignore_signals;
        // Who was not let in need not be asked for prices: it would be said once more, per region.
        let closed = |cloud: Cloud| {
            let here = |scope: &Scope| scope.cloud == cloud;
            let shut = |gap: &Gap| {
                matches!(gap.cause, GapCause::NoCredentials | GapCause::NotAllowed)
                    && here(&gap.scope)
            };
            !observed.complete.iter().any(here) && observed.gaps.iter().any(shut)
        };
        let shown = &*offerings;
        let asked = self.providers.iter().map(|(cloud, provider)| {
            // Offerings are sorted by cloud first, so each cloud's are one stretch.
            let start = shown.partition_point(|o| o.pool.place.cloud < *cloud);
            let end = shown.partition_point(|o| o.pool.place.cloud <= *cloud);
            let pools: Vec<PoolId> = shown[start..end].iter().map(|o| o.pool.clone()).collect();
            let template = desired.templates.get(cloud).unwrap_or(&plain);
            let closed = closed(*cloud);
            async move {
                if pools.is_empty() || closed {
                    return (start..end, Ok(Offered::default()));
                }
                let goal = desired.capacity;
                let request = OfferingsRequest { pools: &pools, template, goal, ignore };
                let asked = provider.offerings(&request);
                (start..end, self.calls.measured.cloud(*cloud, "offerings", asked).await)
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
                // Whatever a provider says besides what it was asked for.
                offering.signals = quote.signals.without(ignore);
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
            .map(|pool| (pool.clone(), self.held_pool(desired, pool)))
            .collect()
    }

    /// Looks up what machines are that are not of the fleet yet, so that their pools can be judged.
    pub fn know_pools(&self, inputs: &mut Inputs, machines: &[Machine]) {
        for pool in machines.iter().map(Machine::pool) {
            if inputs.offerings.binary_search_by(|o| o.pool.cmp(&pool)).is_err() {
                let held = self.held_pool(&inputs.desired, &pool);
                inputs.held_pools.insert(pool, held);
            }
        }
    }

    fn held_pool(&self, desired: &Desired, pool: &PoolId) -> HeldPool {
        let kind = self.kind(pool);
        let rejection = kind.as_ref().and_then(|kind| rejection(desired, &pool.place, kind));
        let extras = extras_of(desired, pool, kind.as_deref());
        HeldPool { kind, rejection, extras }
    }

    fn kind(&self, pool: &PoolId) -> Option<Arc<InstanceKind>> {
        let key = (pool.place.cloud, &pool.instance_type);
        let at = self.catalog.kinds.binary_search_by(|kind| (kind.cloud, &kind.name).cmp(&key));
        Some(self.catalog.kinds[at.ok()?].clone())
    }
}

fn recorded_pools(recorded: &Recorded) -> BTreeSet<&PoolId> {
    let held = recorded.machines().map(|one| one.pool);
    held.chain(recorded.in_doubt.values().map(|attempt| &attempt.create.pool)).collect()
}
