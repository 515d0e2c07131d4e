//! The long-running process: specs are watched, fleets are reconciled for ever, people and programs can ask.
//!
//! It decides nothing: every fleet goes through the same loop as with `fleet apply` and `fleet reconcile`, under
//! the same lease and with the same journal. What is new here is when: [`agenda`] says which fleet is due,
//! [`shares`] which replica is the first to take it, [`lookout`] what cannot wait.

pub mod agenda;
mod api;
pub mod board;
pub mod door;
mod journals;
mod lookout;
pub mod market;
pub mod metrics;
pub mod notify;
mod overview;
mod pages;
mod pass;
pub mod refusal;
mod serve;
pub mod shares;
pub mod source;
mod specs;
mod threads;
mod work;

pub use api::openapi;
pub use serve::{serve, serve_behind};

use agenda::Agenda;
use async_trait::async_trait;
use board::Board;
use fleet_model::{Desired, FleetName, Timestamp};
use fleet_run::{Engine, Record, RunError, Stop};
use fleet_spec::Loaded;
use fleet_words::fail::Answer;
use metrics::Metrics;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use threads::Threads;
use tokio::sync::Notify;

/// What the command knows and the controller does not.
#[async_trait]
pub trait Ground: Send + Sync {
    /// The fleets of a folder. All of them are sound, or none is in force.
    fn specs(&self, folder: &Path) -> Answer<Loaded>;
    /// Fleets to look at without any spec: journals alone know them. `None`: there are specs.
    fn unspecified(&self) -> Answer<Option<Vec<Desired>>> {
        Ok(None)
    }
    /// Whether a fleet may be touched: simulated ones and real ones are kept apart.
    async fn admit(&self, fleet: &FleetName) -> Answer<()>;
    /// On whose behalf fleets are changed, for journals and for those who wait.
    fn holder(&self, commit: Option<&str>) -> String;
}

/// How a controller is set up.
pub struct Settings {
    /// State, clouds, clock and catalog.
    pub engine: Engine,
    /// What the command knows.
    pub ground: Arc<dyn Ground>,
    /// This replica's name.
    pub replica: String,
    /// How often each fleet is looked at, whatever happens.
    pub every: Duration,
    /// How often clouds are asked for notices.
    pub alarms_every: Duration,
    /// How often they are asked for prices and room, as far as they tell cheaply.
    pub market_every: Duration,
    /// Fleets that are looked after side by side.
    pub at_once: usize,
    /// `false`: looks and decides, and never acts.
    pub acts: bool,
    /// What is measured.
    pub metrics: Arc<Metrics>,
}

/// A replica at work.
pub struct Controller {
    /// State, clouds, clock and catalog.
    pub engine: Engine,
    /// What is known.
    pub board: Board,
    ground: Arc<dyn Ground>,
    /// This replica's name.
    pub replica: String,
    agenda: Mutex<Agenda>,
    /// When fleets that no spec names were looked for.
    counted: Mutex<Option<Instant>>,
    wake: Notify,
    stop: Stop,
    alarms_every: Duration,
    market_every: Duration,
    at_once: usize,
    threads: Threads,
    /// Whether it acts, or only looks.
    pub acts: bool,
    /// What the API has under way.
    pub(crate) desk: api::Desk,
    journals: journals::Journals,
    /// What is measured.
    pub metrics: Arc<Metrics>,
}

impl Controller {
    /// Puts it together. Nothing happens before [`Controller::run`].
    pub fn new(settings: Settings, stop: Stop) -> Self {
        let Settings {
            engine,
            ground,
            replica,
            every,
            alarms_every,
            market_every,
            at_once,
            acts,
            metrics,
        } = settings;
        Controller {
            engine: engine.with_meter(metrics.clone()),
            board: Board::default(),
            ground,
            replica,
            agenda: Mutex::new(Agenda::new(every)),
            counted: Mutex::default(),
            wake: Notify::new(),
            stop,
            alarms_every,
            market_every,
            at_once: at_once.max(1),
            threads: Threads::new(std::thread::available_parallelism().map_or(2, usize::from)),
            acts,
            desk: api::Desk::default(),
            journals: journals::Journals::default(),
            metrics,
        }
    }

    /// Asks for a look at a fleet at once. `false` if no spec names it.
    pub fn look_at(&self, fleet: &FleetName) -> bool {
        let known = self.board.specs().fleets.contains_key(fleet);
        let now = self.now();
        self.agenda().wake(fleet, now);
        self.wake.notify_one();
        known
    }

    /// Every record of a fleet's journal, oldest first.
    pub(crate) async fn history(&self, fleet: &FleetName) -> Result<Arc<Vec<Record>>, RunError> {
        self.journals.read(&self.engine, fleet).await
    }

    /// Whether somebody asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.asked()
    }

    /// The time by the engine's clock.
    pub fn time(&self) -> Timestamp {
        self.engine.now()
    }

    fn now(&self) -> i64 {
        self.engine.now().as_millisecond()
    }

    fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
