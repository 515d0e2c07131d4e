//! The handle on a world: open it, ask it, let time pass.

use crate::clock::{SimClock, Sleepers};
use crate::fault::Fault;
use crate::pools::Pools;
use crate::provider::SimProvider;
use crate::settings::Settings;
use crate::store::{SimError, Store};
use crate::tides::Tides;
use crate::time::{EPOCH, Ms, later, stamp};
use crate::tx::Tx;
use crate::world::World;
use fleet_model::{Catalog, Cloud, Labels, Machine, MachineId, Orphans, Timestamp};
use fleet_provider::{Clock, Provider};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A simulated world: four clouds and a clock. Clones are the same world.
#[derive(Debug, Clone)]
pub struct Sim(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pools: Pools,
    state: Mutex<State>,
    sleepers: Sleepers,
    signal_questions: AtomicU64,
    /// Where the world's time began on tokio's clock, if that is the one it follows.
    follows: Option<tokio::time::Instant>,
}

#[derive(Debug)]
struct State {
    world: World,
    /// `None`: the world lives in memory only.
    store: Option<Store>,
}

impl Sim {
    /// A world that ends with the process.
    pub fn in_memory(settings: Settings, catalog: Arc<Catalog>) -> Self {
        Sim::new(World::new(settings), None, Pools::new(catalog, None), None)
    }

    /// A world in memory whose time is tokio's, from now on. Where that is paused, as in
    /// simulations of many processes, leases and clouds share one clock that nobody waits for.
    pub fn on_tokio_time(settings: Settings, catalog: Arc<Catalog>) -> Self {
        let pools = Pools::new(catalog, None);
        Sim::new(World::new(settings), None, pools, Some(tokio::time::Instant::now()))
    }

    /// The same, and spot carries what a recording says.
    pub fn recorded(settings: Settings, catalog: Arc<Catalog>, tides: Arc<dyn Tides>) -> Self {
        let pools = Pools::new(catalog, Some(tides));
        Sim::new(World::new(settings), None, pools, Some(tokio::time::Instant::now()))
    }

    /// Whether a folder holds a world.
    pub fn exists(dir: &Path) -> bool {
        Store::head_path(dir).exists()
    }

    /// The world in a folder; where there is none, a lifelike one with seed 1 is made.
    pub fn open(dir: &Path, catalog: Arc<Catalog>) -> Result<Self, SimError> {
        let mut store = Store::new(dir)?;
        let settings = Settings::default();
        let held = store.hold()?;
        match store.found(&settings, false) {
            Ok(()) | Err(SimError::Exists(_)) => {}
            Err(error) => return Err(error),
        }
        drop(held);
        Sim::over(settings, store, catalog)
    }

    /// A new world in a folder. An old one makes way only for a `reset`.
    pub fn create(
        dir: &Path,
        settings: Settings,
        catalog: Arc<Catalog>,
        reset: bool,
    ) -> Result<Self, SimError> {
        let mut store = Store::new(dir)?;
        let held = store.hold()?;
        store.found(&settings, reset)?;
        drop(held);
        Sim::over(settings, store, catalog)
    }

    fn over(settings: Settings, store: Store, catalog: Arc<Catalog>) -> Result<Self, SimError> {
        let sim = Sim::new(World::new(settings), Some(store), Pools::new(catalog, None), None);
        sim.run(|_| ())?;
        Ok(sim)
    }

    fn new(
        world: World,
        store: Option<Store>,
        pools: Pools,
        follows: Option<tokio::time::Instant>,
    ) -> Self {
        Sim(Arc::new(Inner {
            pools,
            state: Mutex::new(State { world, store }),
            sleepers: Sleepers::default(),
            signal_questions: AtomicU64::new(0),
            follows,
        }))
    }

    /// One operation: catch up with what other processes did, act, and write down what was done.
    pub(crate) fn run<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> T) -> Result<T, SimError> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { world, store } = &mut *state;
        let Some(store) = store else {
            let mut tx = Tx::new(world, &self.0.pools);
            if let Some(began) = self.0.follows {
                tx.advance(later(EPOCH, began.elapsed()));
            }
            return Ok(act(&mut tx));
        };
        let _held = store.hold()?;
        store.catch_up(world)?;
        let mut tx = Tx::new(world, &self.0.pools);
        let answer = act(&mut tx);
        let events = tx.events;
        if !events.is_empty() {
            store.append(&events)?;
            // The deed is done and written; a fold that fails is tried again by the next.
            if store.fold_if_long(world).is_err() {
                store.distrust();
            }
        }
        Ok(answer)
    }

    /// How often clouds were asked for their signals, by this process: once per region and question.
    pub fn signal_questions(&self) -> u64 {
        self.0.signal_questions.load(Ordering::Relaxed)
    }

    pub(crate) fn count_signal_questions(&self, count: usize) {
        self.0.signal_questions.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.0.pools
    }

    pub(crate) fn sleepers(&self) -> &Sleepers {
        &self.0.sleepers
    }

    /// Whether time passes by itself.
    pub(crate) fn follows_tokio(&self) -> bool {
        self.0.follows.is_some()
    }

    /// The time. If the folder cannot be read, the last time that was known.
    pub(crate) fn now_ms(&self) -> Ms {
        self.run(|tx| tx.now()).unwrap_or_else(|_| {
            self.0.state.lock().unwrap_or_else(PoisonError::into_inner).world.now
        })
    }

    /// Real time that a call takes.
    pub(crate) fn latency(&self) -> Duration {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).world.settings.latency
    }

    pub(crate) fn advance_to(&self, to: Ms) -> Result<(), SimError> {
        self.run(|tx| tx.advance(to))
    }

    /// A cloud of this world.
    pub fn provider(&self, cloud: Cloud) -> Arc<dyn Provider> {
        Arc::new(SimProvider::new(self.clone(), cloud))
    }

    /// The world's clock. Who sleeps on it moves it; nobody waits in real time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SimClock(self.clone()))
    }

    /// Lets time pass, ten years at most in one step.
    pub fn advance(&self, by: Duration) -> Result<Timestamp, SimError> {
        self.run(|tx| {
            tx.advance(later(tx.now(), by));
            stamp(tx.now())
        })
    }

    /// What time it is in the world.
    pub fn now(&self) -> Result<Timestamp, SimError> {
        self.run(|tx| stamp(tx.now()))
    }

    /// How the world was set up.
    pub fn settings(&self) -> Result<Settings, SimError> {
        self.run(|tx| tx.world.settings.clone())
    }

    /// Every machine there is, also those that no list shows, in the order of their launch.
    pub fn machines(&self) -> Result<Vec<Machine>, SimError> {
        self.run(|tx| {
            let world = &*tx.world;
            world.vms.values().filter_map(|vm| world.describe(vm)).collect()
        })
    }

    /// What machines left behind that are gone.
    pub fn orphans(&self) -> Result<Vec<Orphans>, SimError> {
        self.run(|tx| {
            let now = tx.now();
            let left = tx.world.orphans.values().filter(|(_, since)| *since <= now);
            left.map(|(left, _)| left.clone()).collect()
        })
    }

    /// The labels that a machine carries, apart from ours; `None` if there is no such machine.
    pub fn labels(&self, machine: &MachineId) -> Result<Option<Labels>, SimError> {
        self.run(|tx| tx.world.vm(machine).and_then(|vm| tx.world.labels(vm)).cloned())
    }

    /// Machines that a cloud made although one of the same launch fills their slot.
    pub fn surplus(&self) -> Result<Vec<MachineId>, SimError> {
        self.run(|tx| {
            let vms = &tx.world.vms;
            let pairs = vms.values().zip(vms.values().skip(1));
            let twins = pairs.filter(|(a, b)| a.deed == b.deed && a.slot == b.slot);
            twins.map(|(_, twin)| twin.id.clone()).collect()
        })
    }

    /// What is going wrong.
    pub fn faults(&self) -> Result<Vec<Fault>, SimError> {
        self.run(|tx| tx.faults().cloned().collect())
    }
}
