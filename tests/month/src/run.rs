//! Reconciles at fixed times: what `fleet reconcile` does from cron, on one simulated clock.

use crate::market::Recorded;
use crate::measures::Ms;
use fleet_core::plan;
use fleet_model::{
    Action, Catalog, Cloud, Desired, Event, Limits, MachineId, Market, MicroUsd, PoolId, Timestamp,
    Token,
};
use fleet_provider::Provider;
use fleet_run::{Engine, Fresh, Reach, RunError, Stop, Store};
use fleet_sim::{Life, Settings, Sim};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// When every simulated world begins.
pub(crate) const BEGINS: Ms = 1_767_225_600_000;

/// Time between two reconciles of the month.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// The price of each pool, from each moment at which it was looked at.
pub(crate) type Prices = BTreeMap<PoolId, BTreeMap<Ms, MicroUsd>>;

/// Everything that is measured afterwards.
pub(crate) struct Lived {
    /// Every machine that there ever was, in the order of launches.
    pub(crate) lives: Vec<Life>,
    /// Reconciles.
    pub(crate) reconciles: u32,
    /// Those that found nothing to do.
    pub(crate) idle: u32,
    /// The longest of them, in simulated time.
    pub(crate) longest: Duration,
    /// Launches that were refused, in whole or in part, and where.
    pub(crate) refusals: Vec<(Ms, PoolId)>,
    /// Spot prices as each reconcile found them.
    pub(crate) prices: Prices,
    /// Ends that the first plan of a reconcile asked for, by reason.
    pub(crate) reasons: BTreeMap<String, u32>,
    /// Reconciles that left something held, by what.
    pub(crate) held: BTreeMap<String, u32>,
}

/// How often a fleet is looked after: every so often, an hour at most, so many times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) every: Duration,
    pub(crate) looks: u32,
}

/// The world that a fleet lives in.
pub(crate) struct World {
    sim: Sim,
    store: Store,
    catalog: Arc<Catalog>,
}

impl World {
    /// A world with recorded spot markets; without a recording, with those that the seed draws.
    pub(crate) fn new(seed: u64, catalog: Arc<Catalog>, market: Option<Arc<Recorded>>) -> Self {
        let settings = Settings { seed, ..Settings::default() };
        let sim = match market {
            Some(market) => Sim::recorded(settings, catalog.clone(), market),
            None => Sim::on_tokio_time(settings, catalog.clone()),
        };
        World { sim, store: Store::in_memory(), catalog }
    }

    /// What a pool carries at a moment that may lie ahead. The fleet never asks this.
    pub(crate) fn carries(&self, pool: &PoolId, at: Ms) -> Result<u32, String> {
        let at = Timestamp::from_millisecond(at).map_err(|error| error.to_string())?;
        let carries = self.sim.carries(pool, at).map_err(|error| error.to_string())?;
        Ok(carries.unwrap_or_default())
    }

    /// A process of its own, as cron starts one.
    fn engine(&self) -> Engine {
        let twin = |cloud| -> (Cloud, Arc<dyn Provider>) { (cloud, self.sim.provider(cloud)) };
        let providers = Cloud::ALL.into_iter().map(twin).collect();
        let (store, catalog) = (self.store.clone(), self.catalog.clone());
        Engine::new(store, providers, self.sim.clock(), catalog, Fresh::Derived)
    }

    /// `fleet reconcile` of one fleet.
    async fn reconcile(&self, desired: &Desired, lived: &mut Lived) -> Result<(), RunError> {
        let began = tokio::time::Instant::now();
        let engine = self.engine();
        let session = engine.begin(desired, "cron", Duration::ZERO, &|_| {}).await?;
        let inputs = session.gather(Limits::default()).await?;
        let spot = inputs.offerings.iter().filter(|o| o.pool.market == Market::Spot);
        let at = inputs.now.as_millisecond();
        for (pool, price) in spot.filter_map(|o| Some((&o.pool, o.price?))) {
            lived.prices.entry(pool.clone()).or_default().insert(at, price);
        }
        let planned = plan(&inputs);
        for step in &planned.plan.steps {
            if let Action::Destroy(destroy) = &step.action {
                *lived.reasons.entry(word(&step.why)).or_default() += destroy.victims.len() as u32;
            }
        }
        let stop = Stop::default();
        let done = session.converge("cron", (inputs, planned), Reach::Spec, &stop, &|_| {}).await?;
        session.finish().await?;
        lived.reconciles += 1;
        lived.idle += u32::from(done.rounds.is_empty());
        lived.longest = lived.longest.max(began.elapsed());
        for hold in done.last.iter().flat_map(|last| &last.report.held) {
            *lived.held.entry(word(hold)).or_default() += 1;
        }
        Ok(())
    }

    /// Lives a fleet: the first apply, and a reconcile each time that so much time has passed.
    pub(crate) async fn live(
        &self,
        desired: &Desired,
        Pace { every, looks }: Pace,
        on_look: &dyn Fn(u32),
    ) -> Result<Lived, String> {
        let began = tokio::time::Instant::now();
        let mut lived = Lived {
            lives: Vec::new(),
            reconciles: 0,
            idle: 0,
            longest: Duration::ZERO,
            refusals: Vec::new(),
            prices: Prices::new(),
            reasons: BTreeMap::new(),
            held: BTreeMap::new(),
        };
        let mut lives: BTreeMap<MachineId, Life> = BTreeMap::new();
        let mut look = || -> Result<(), String> {
            let now = self.sim.lives().map_err(|error| error.to_string())?;
            lives.extend(now.into_iter().map(|life| (life.id.clone(), life)));
            Ok(())
        };
        for nth in 0..=looks {
            tokio::time::sleep_until(began + every * nth).await;
            look()?;
            if nth < looks {
                let failed = |error: RunError| format!("reconcile {nth}: {error}");
                self.reconcile(desired, &mut lived).await.map_err(failed)?;
            }
            // The clouds forget what ended an hour ago: look before that, too.
            tokio::time::sleep_until(began + every * nth + every / 2).await;
            look()?;
            on_look(nth);
        }
        lived.lives = lives.into_values().collect();
        lived.lives.sort_by(|a, b| (a.launched, &a.id).cmp(&(b.launched, &b.id)));
        let history = self.engine().history(&desired.fleet).await;
        let mut asked: BTreeMap<Token, PoolId> = BTreeMap::new();
        for record in history.map_err(|error| error.to_string())? {
            let at = record.at.as_millisecond();
            for event in record.events {
                match event {
                    Event::CreateIntended { create } => {
                        asked.insert(create.token, create.pool);
                    }
                    Event::CreateRefused { token, .. } => {
                        lived.refusals.extend(asked.remove(&token).map(|pool| (at, pool)));
                    }
                    Event::Created { token, missing, .. } if !missing.is_empty() => {
                        lived.refusals.extend(asked.remove(&token).map(|pool| (at, pool)));
                    }
                    _ => {}
                }
            }
        }
        Ok(lived)
    }
}

/// What a reason is called in JSON: its `is`.
fn word(reason: &impl Serialize) -> String {
    let value = serde_json::to_value(reason).unwrap_or_default();
    value["is"].as_str().unwrap_or("unknown").to_owned()
}
