//! What the API has under way, and what it saw of fleets that other replicas look after.

use super::busy::Waiting;
use crate::Controller;
use crate::board::Standing;
use crate::door::seats::{Seat, Seats};
use crate::refusal::Refusal;
use fleet_model::{Desired, FleetName, Inputs};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// What was seen so lately is good enough.
const FRESH: Duration = Duration::from_secs(15);
/// A caller waits so long for a fresh look, and gets the one before then.
const PATIENCE: Duration = Duration::from_secs(10);
/// Fleets of one look.
const AT_ONCE: usize = 128;
/// Requests that ask stores and clouds at the same time; others wait for their turn.
const HANDS: usize = 8;
/// And they wait so long.
const TURN: Duration = Duration::from_secs(20);
/// Streams in all; one caller gets half.
const STREAMS: usize = 4096;
/// Looks that are kept for those who ask why.
const INPUTS_KEPT: usize = 4;

/// The API's own state.
pub(crate) struct Desk {
    seen: Mutex<BTreeMap<FleetName, Instant>>,
    looks: tokio::sync::Mutex<()>,
    inputs: tokio::sync::Mutex<Vec<(FleetName, Instant, Arc<Inputs>)>>,
    hands: Semaphore,
    /// What machines said of their use, and is not written yet.
    pub(super) busy: Waiting,
    streams: Seats<String>,
    end: watch::Sender<bool>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk {
            seen: Mutex::default(),
            looks: tokio::sync::Mutex::default(),
            inputs: tokio::sync::Mutex::default(),
            hands: Semaphore::new(HANDS),
            busy: Waiting::default(),
            streams: Seats::new(STREAMS),
            end: watch::channel(false).0,
        }
    }
}

impl Desk {
    /// A seat for a stream of events.
    pub(super) fn stream(&self, who: &str) -> Result<Seat<String>, Refusal> {
        self.streams.take(who.to_owned()).ok_or_else(|| {
            Refusal::too_many("too many streams of events are open", Duration::from_secs(10))
        })
    }

    /// Hears when streams are to end.
    pub(super) fn ending(&self) -> watch::Receiver<bool> {
        self.end.subscribe()
    }

    /// Ends every stream.
    pub(crate) fn end_streams(&self) {
        let _ = self.end.send(true);
    }
}

impl Controller {
    /// Does work of a request that asks stores and clouds. Only so much of it goes on at the same time.
    pub(super) async fn by_hand<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl AsyncFnOnce(Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let busy =
            || Refusal::busy("too much is asked for at the same time", Duration::from_secs(5));
        let turn = tokio::time::timeout(TURN, self.desk.hands.acquire()).await;
        let _turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        self.apart(work).await.ok_or_else(|| {
            let failure =
                fleet_words::fail::Failure::new("this is a bug in fleet: the log says more");
            Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, failure)
        })
    }

    /// Whether somebody else looks after a fleet: another replica, or a person who holds its lease.
    fn is_elsewhere(&self, fleet: &FleetName) -> bool {
        let held = || self.board.fleet(fleet).and_then(|known| known.standing);
        !self.is_mine(fleet) || matches!(held(), Some(Standing::Elsewhere { .. }))
    }

    /// Fleets that somebody else looks after, and that nobody here looked at lately.
    fn unseen(&self, only: Option<&FleetName>) -> Vec<Arc<Desired>> {
        let seen = self.desk.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = |fleet: &FleetName| seen.get(fleet).is_none_or(|at| at.elapsed() > FRESH);
        let specs = self.board.specs();
        let some = specs.fleets.iter().filter(|(fleet, _)| {
            only.is_none_or(|only| only == *fleet) && self.is_elsewhere(fleet) && stale(fleet)
        });
        some.map(|(_, (desired, _))| desired.clone()).collect()
    }

    /// Looks at fleets that somebody else looks after, unless that was done a moment ago: one of them, or all. Every
    /// replica can answer for every fleet.
    pub async fn see_others(self: &Arc<Self>, only: Option<&FleetName>) {
        if self.unseen(only).is_empty() {
            return;
        }
        let (this, only) = (self.clone(), only.cloned());
        let looking = tokio::spawn(async move {
            this.apart(async move |this| {
                // A second caller finds everything seen.
                let _one = this.desk.looks.lock().await;
                let unseen = this.unseen(only.as_ref());
                for some in unseen.chunks(AT_ONCE) {
                    this.see(some).await;
                }
            })
            .await
        });
        if tokio::time::timeout(PATIENCE, looking).await.is_err() {
            tracing::debug!("a look at the fleets of other replicas takes long");
        }
    }

    async fn see(&self, fleets: &[Arc<Desired>]) {
        let outcomes = self.look_only(fleets).await;
        let specs = self.board.specs();
        let mut seen = self.desk.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|fleet, _| specs.fleets.contains_key(fleet));
        for (desired, outcome) in fleets.iter().zip(outcomes) {
            let fleet = &desired.fleet;
            seen.insert(fleet.clone(), Instant::now());
            let known = self.board.fleet(fleet);
            let (held, due) = known.map_or((None, None), |known| (known.standing, known.due));
            let standing = match (outcome.standing, held) {
                // It was taken over meanwhile.
                (_, held)
                    if self.is_mine(fleet) && !matches!(held, Some(Standing::Elsewhere { .. })) =>
                {
                    continue;
                }
                // A person holds it: they are named until the next look of our own.
                (_, Some(held)) if self.is_mine(fleet) => held,
                (Standing::Failed { why }, _) => Standing::Failed { why },
                _ => {
                    let replica = self.board.replica_of(fleet);
                    let replica = replica.as_deref().unwrap_or("another one");
                    Standing::Elsewhere { holder: format!("replica {replica} looks after it") }
                }
            };
            self.board.looked(fleet, outcome.view, standing, due);
        }
    }

    /// What a decision on a fleet would depend on now.
    pub(super) async fn inputs(
        self: &Arc<Self>,
        desired: Arc<Desired>,
    ) -> Result<Arc<Inputs>, Refusal> {
        let mut kept = self.desk.inputs.lock().await;
        kept.retain(|(_, at, _)| at.elapsed() < FRESH);
        let known = kept.iter().find(|(fleet, _, inputs)| {
            *fleet == desired.fleet && inputs.desired.digest == desired.digest
        });
        if let Some((_, _, inputs)) = known {
            return Ok(inputs.clone());
        }
        let fleet = desired.fleet.clone();
        let gathered = self
            .by_hand(async move |this| {
                this.engine.gather_all(&[&desired], fleet_model::Limits::default()).await.pop()
            })
            .await?;
        let gathered = gathered.ok_or_else(|| Refusal::busy("the look gave no answer", FRESH))?;
        let inputs = Arc::new(gathered.map_err(fleet_words::runs::failed)?);
        kept.retain(|(other, _, _)| *other != fleet);
        kept.push((fleet, Instant::now(), inputs.clone()));
        if kept.len() > INPUTS_KEPT {
            kept.remove(0);
        }
        Ok(inputs)
    }
}
