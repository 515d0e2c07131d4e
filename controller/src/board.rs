//! What is known, for everybody who asks: the API, the pages, the metrics.

use crate::market::Watched;
use crate::metrics::Figures;
use crate::notify::Rule;
use crate::shares::preferred;
use fleet_model::{Desired, FleetName, MachineId, PoolId, Scope, Timestamp};
use fleet_words::fail::Failure;
use fleet_words::output::plan::FleetPlan;
use fleet_words::output::status::FleetStatus;
use fleet_words::render::attention::Item;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::broadcast;

/// News that a slow listener may miss before it is told so.
const BACKLOG: usize = 1024;

/// The specs in force.
#[derive(Debug, Clone, Default)]
pub struct Specs {
    /// The fleets, each with the file that it comes from.
    pub fleets: BTreeMap<FleetName, (Arc<Desired>, PathBuf)>,
    /// The commit, where there are commits.
    pub commit: Option<String>,
    /// Since when they are in force.
    pub since: Option<Timestamp>,
    /// Fleets with machines that no spec names, and how many machines each has. Where a policy says `prune`, they
    /// are among the fleets as well, and nothing of them is wanted.
    pub unmanaged: BTreeMap<FleetName, usize>,
    /// Who is told of what.
    pub notify: Vec<Rule>,
}

/// Specs that are not in force, because something is wrong with them.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Their commit.
    pub commit: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// What is wrong, and where.
    pub why: Failure,
}

/// How a fleet stands with this replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is what its spec says, as far as that can be had.
    Settled,
    /// Something that was begun goes on.
    GoesOn,
    /// Somebody else looks after it.
    Elsewhere {
        /// Who, as far as is known.
        holder: String,
    },
    /// The last look failed.
    Failed {
        /// Why.
        why: Failure,
    },
}

/// A fleet as it was seen last.
#[derive(Debug)]
pub struct FleetView {
    /// Its machines.
    pub status: FleetStatus,
    /// What would be done next, and what is held.
    pub plan: FleetPlan,
    /// The same in the words of `fleet plan`, with its colours.
    pub plan_text: String,
    /// What is not as it should be, and what to do about it, in the same words.
    pub attention: Vec<Item>,
    /// Whether a person wants nothing to be changed for now.
    pub frozen: bool,
    /// Where its machines are.
    pub scopes: BTreeSet<Scope>,
    /// Its machines, by the journal.
    pub machines: BTreeSet<MachineId>,
    /// What the market said of the pools that matter to it.
    pub watched: BTreeMap<PoolId, Watched>,
    /// When it was looked at, by the clock of its clouds.
    pub looked_at: Timestamp,
    /// How long that took.
    pub took: Duration,
    /// What the look changed.
    pub launched: u32,
    /// Machines that the look ended.
    pub destroyed: u32,
    /// The same for those who measure.
    pub figures: Figures,
}

/// A fleet with this replica.
#[derive(Debug, Clone)]
pub struct Known {
    /// As it was seen last; `None` before the first look.
    pub view: Option<Arc<FleetView>>,
    /// How it stands.
    pub standing: Option<Standing>,
    /// When it is due again, in milliseconds of the engine's clock.
    pub due: Option<i64>,
}

/// Something that those who watch want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A fleet was looked after.
    Looked(FleetName),
    /// Other specs are in force, or refused.
    Specs,
    /// Replicas came or went.
    Replicas,
}

/// Everything that is known.
#[derive(Debug)]
pub struct Board {
    fleets: RwLock<BTreeMap<FleetName, Known>>,
    specs: RwLock<Arc<Specs>>,
    refused: RwLock<Option<Arc<Refused>>>,
    replicas: RwLock<Arc<Vec<String>>>,
    /// Which replica each fleet prefers: drawn when fleets or replicas change, asked at every tick.
    shares: RwLock<BTreeMap<FleetName, String>>,
    news: broadcast::Sender<News>,
}

impl Default for Board {
    fn default() -> Self {
        Board {
            fleets: RwLock::default(),
            specs: RwLock::default(),
            refused: RwLock::default(),
            replicas: RwLock::default(),
            shares: RwLock::default(),
            news: broadcast::channel(BACKLOG).0,
        }
    }
}

impl Board {
    /// News from here on.
    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// The specs in force.
    pub fn specs(&self) -> Arc<Specs> {
        self.specs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Specs that are not in force.
    pub fn refused(&self) -> Option<Arc<Refused>> {
        self.refused.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The replicas that are there, this one among them.
    pub fn replicas(&self) -> Arc<Vec<String>> {
        self.replicas.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The replica that a fleet prefers; `None` if the fleet or every replica is unknown.
    pub fn replica_of(&self, fleet: &FleetName) -> Option<String> {
        self.shares.read().unwrap_or_else(PoisonError::into_inner).get(fleet).cloned()
    }

    /// Whether a fleet prefers another replica than this one.
    pub fn prefers_another(&self, fleet: &FleetName, replica: &str) -> bool {
        let shares = self.shares.read().unwrap_or_else(PoisonError::into_inner);
        shares.get(fleet).is_some_and(|first| first != replica)
    }

    /// The fleets, by name.
    pub fn fleets(&self) -> BTreeMap<FleetName, Known> {
        self.fleets.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One fleet.
    pub fn fleet(&self, fleet: &FleetName) -> Option<Known> {
        self.fleets.read().unwrap_or_else(PoisonError::into_inner).get(fleet).cloned()
    }

    pub(crate) fn adopt(&self, specs: Specs) {
        let mut fleets = self.fleets.write().unwrap_or_else(PoisonError::into_inner);
        fleets.retain(|fleet, _| specs.fleets.contains_key(fleet));
        for fleet in specs.fleets.keys() {
            let new = Known { view: None, standing: None, due: None };
            fleets.entry(fleet.clone()).or_insert(new);
        }
        drop(fleets);
        *self.specs.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(specs);
        *self.refused.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.share();
        self.tell(News::Specs);
    }

    pub(crate) fn refuse(&self, refused: Option<Refused>) {
        *self.refused.write().unwrap_or_else(PoisonError::into_inner) = refused.map(Arc::new);
        self.tell(News::Specs);
    }

    pub(crate) fn set_replicas(&self, replicas: Vec<String>) {
        let mut known = self.replicas.write().unwrap_or_else(PoisonError::into_inner);
        if **known != replicas {
            *known = Arc::new(replicas);
            drop(known);
            self.share();
            self.tell(News::Replicas);
        }
    }

    fn share(&self) {
        let (specs, replicas) = (self.specs(), self.replicas());
        let draw = |fleet: &FleetName| {
            preferred(fleet, &replicas).map(|first| (fleet.clone(), first.to_owned()))
        };
        let shares = specs.fleets.keys().filter_map(draw).collect();
        *self.shares.write().unwrap_or_else(PoisonError::into_inner) = shares;
    }

    /// Writes down how a look ended. A fleet that was not seen keeps its last view.
    pub(crate) fn looked(
        &self,
        fleet: &FleetName,
        view: Option<FleetView>,
        standing: Standing,
        due: Option<i64>,
    ) {
        let mut fleets = self.fleets.write().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = fleets.get_mut(fleet) else { return };
        if let Some(view) = view {
            known.view = Some(Arc::new(view));
        }
        (known.standing, known.due) = (Some(standing), due);
        drop(fleets);
        self.tell(News::Looked(fleet.clone()));
    }

    fn tell(&self, news: News) {
        // Nobody may listen.
        let _ = self.news.send(news);
    }
}
