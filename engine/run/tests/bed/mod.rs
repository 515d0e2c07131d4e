//! A fleet, four simulated clouds, and a state that outlives the engine.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod mortal;

use fleet_core::{Planned, check, plan};
use fleet_model::{
    Catalog, CatalogRow, Cloud, Desired, Inputs, Limits, Machine, MachineState, SlotId,
};
use fleet_provider::Provider;
use fleet_run::{Converged, Engine, Fresh, Reach, RunError, Stop, Store};
use fleet_sim::{Preset, Settings, Sim};
use mortal::{Fate, MortalProvider, MortalStore};
use object_store::memory::InMemory;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The spec that the project must always accept as it stands.
pub(crate) const TRAIN: &str = include_str!("../../../spec/tests/it/train.yaml");

/// A plain CPU fleet on two clouds.
pub(crate) fn cpu(target: u32) -> String {
    format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: cpu }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 25% }} }}
  instances: {{ families: [m6i, m7i, n2, c3], vcpus: {{ min: 4, max: 8 }} }}
  placement:
    clouds: [{{ provider: aws, regions: [us-east-1, us-west-2] }}, {{ provider: gcp, regions: [us-central1] }}]
    spread: {{ minZones: 3, maxSharePerPool: 30% }}
"
    )
}

pub(crate) fn desired(spec: &str) -> Desired {
    let loaded = fleet_spec::load_str("test.yaml", spec)
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    loaded.fleets[0].desired.clone()
}

pub(crate) static CATALOG: LazyLock<Arc<Catalog>> =
    LazyLock::new(|| Arc::new(fleet_catalog::embedded()));

/// The part of the catalog that some fleets can use: a world in which looking costs little.
pub(crate) fn catalog_for(fleets: &[&Desired]) -> Arc<Catalog> {
    let all = &**CATALOG;
    let offerings = fleets.iter().flat_map(|fleet| fleet_core::eligible(fleet, all).offerings);
    let wanted: BTreeSet<_> =
        offerings.map(|offering| (offering.pool.place, offering.kind)).collect();
    let kept =
        |row: &&CatalogRow| wanted.contains(&(all.place(row).clone(), all.kind(row).clone()));
    let rows: Vec<&CatalogRow> = all.rows.iter().filter(kept).collect();
    let kinds: BTreeSet<_> = rows.iter().map(|row| all.kind(row).clone()).collect();
    let places: BTreeSet<_> = rows.iter().map(|row| all.place(row).clone()).collect();
    let (kinds, places) = (Vec::from_iter(kinds), Vec::from_iter(places));
    let renumber = |row: &CatalogRow| CatalogRow {
        kind: kinds.binary_search(all.kind(row)).expect("a kind") as u32,
        place: places.binary_search(all.place(row)).expect("a place") as u32,
        ..*row
    };
    let rows = rows.into_iter().map(renumber).collect();
    Arc::new(Catalog { source: all.source.clone(), as_of: all.as_of, kinds, places, rows })
}

pub(crate) struct Bed {
    pub(crate) sim: Sim,
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    catalog: Arc<Catalog>,
    objects: Arc<InMemory>,
}

impl Bed {
    pub(crate) fn new(preset: Preset, seed: u64) -> Self {
        Bed::with(preset, seed, CATALOG.clone())
    }

    pub(crate) fn with(preset: Preset, seed: u64, catalog: Arc<Catalog>) -> Self {
        let settings = Settings { seed, preset, ..Settings::default() };
        let sim = Sim::in_memory(settings, catalog.clone());
        let objects = Arc::new(InMemory::new());
        let store = Store::over(objects.clone());
        let engine = engine_over(&sim, &store, catalog.clone(), |provider| provider);
        Bed { sim, store, engine, catalog, objects }
    }

    /// The engine of a process with a fate; what it writes and launches outlives it.
    pub(crate) fn mortal(&self, fate: &Arc<Fate>) -> Engine {
        let inner = self.objects.clone();
        let store = Store::over(Arc::new(MortalStore { inner, fate: fate.clone() }));
        let mortal =
            |inner| -> Arc<dyn Provider> { Arc::new(MortalProvider { inner, fate: fate.clone() }) };
        engine_over(&self.sim, &store, self.catalog.clone(), mortal)
    }

    pub(crate) fn lifelike() -> Self {
        Bed::new(Preset::Lifelike, 1)
    }

    pub(crate) async fn inputs(&self, desired: &Desired) -> Inputs {
        self.engine.gather(desired, Limits::default()).await.expect("inputs")
    }

    pub(crate) async fn plan(&self, desired: &Desired) -> Planned {
        let inputs = self.inputs(desired).await;
        let planned = plan(&inputs);
        assert_eq!(check(&inputs, &planned), [], "every plan passes the linter");
        planned
    }

    pub(crate) async fn apply(&self, desired: &Desired) -> Converged {
        apply_with(&self.engine, desired, Limits::default()).await.expect("applied")
    }

    pub(crate) async fn apply_limited(&self, desired: &Desired, limits: Limits) -> Converged {
        apply_with(&self.engine, desired, limits).await.expect("applied")
    }

    /// Machines that cost money, whether listed yet or not.
    pub(crate) fn live(&self) -> Vec<Machine> {
        let machines = self.sim.machines().expect("the truth");
        machines.into_iter().filter(|machine| machine.state.is_live()).collect()
    }

    /// No slot has two machines, ever.
    pub(crate) fn assert_one_per_slot(&self) {
        let mut slots: BTreeMap<SlotId, u32> = BTreeMap::new();
        for machine in self.live() {
            let owner = machine.owner.expect("all are ours");
            *slots.entry(owner.slot).or_default() += 1;
        }
        let doubled: Vec<_> = slots.iter().filter(|(_, count)| **count > 1).collect();
        assert!(doubled.is_empty(), "slots with more than one machine: {doubled:?}");
    }

    /// Nothing left to do, and clouds and journal agree on every machine.
    pub(crate) async fn assert_converged(&self, desired: &Desired) {
        let inputs = self.inputs(desired).await;
        let planned = plan(&inputs);
        assert!(planned.plan.steps.is_empty(), "left to do: {:#?}", planned.plan.steps);
        assert!(planned.report.unplaced.is_empty(), "{:#?}", planned.report.unplaced);
        assert!(planned.report.in_doubt.is_empty(), "{:#?}", planned.report.in_doubt);
        self.assert_one_per_slot();
        let recorded: BTreeSet<_> = inputs
            .recorded
            .slots
            .values()
            .filter_map(|slot| match &slot.state {
                fleet_model::SlotState::Filled { machine, .. } => Some(machine.clone()),
                _ => None,
            })
            .collect();
        let orphans: Vec<_> = self
            .live()
            .into_iter()
            .filter(|m| m.state != MachineState::Stopping && !recorded.contains(&m.id))
            .collect();
        assert!(orphans.is_empty(), "machines the journal does not know: {orphans:#?}");
    }
}

pub(crate) fn engine(
    sim: &Sim,
    store: &Store,
    wrap: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider>,
) -> Engine {
    engine_over(sim, store, CATALOG.clone(), wrap)
}

fn engine_over(
    sim: &Sim,
    store: &Store,
    catalog: Arc<Catalog>,
    wrap: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider>,
) -> Engine {
    let providers =
        Cloud::ALL.into_iter().map(|cloud| (cloud, wrap(sim.provider(cloud)))).collect();
    Engine::new(store.clone(), providers, sim.clock(), catalog, Fresh::Derived)
}

pub(crate) async fn apply_with(
    engine: &Engine,
    desired: &Desired,
    limits: Limits,
) -> Result<Converged, RunError> {
    let quiet = |_| {};
    let session = engine.begin(desired, "test", Duration::ZERO, &quiet).await?;
    let inputs = session.gather(limits).await?;
    let planned = plan(&inputs);
    let converged =
        session.converge("test", (inputs, planned), Reach::Spec, &Stop::default(), &quiet).await?;
    session.finish().await?;
    Ok(converged)
}
