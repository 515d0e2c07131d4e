//! The loop that never ends.

use crate::Controller;
use crate::board::Standing;
use crate::pass::Outcome;
use crate::source::Source;
use fleet_model::{Desired, FleetName};
use fleet_run::Members;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;

/// Fleets of one pass: one look serves them all.
const FLEETS_PER_PASS: usize = 128;
/// Passes at the same time: what cannot wait does not wait for a slow one.
const PASSES: usize = 8;
/// How often somebody looks whether a fleet is due. Simulated time cannot be slept on.
const TICK: Duration = Duration::from_millis(100);

impl Controller {
    /// Reconciles until somebody asks to stop; then what is under way is finished.
    pub async fn run(self: &Arc<Self>, mut source: Source) {
        if !self.acts {
            // One that only looks takes no share: the fleets would wait for it.
            self.board.set_replicas(vec![self.replica.clone()]);
            tokio::select! {
                () = self.follow(&mut source) => {}
                () = self.watch_out() => {}
                () = self.work() => {}
            }
            return;
        }
        let mut members = Members::new(self.engine.store().clone(), &self.replica);
        self.beat(&mut members).await;
        tokio::select! {
            () = self.follow(&mut source) => {}
            () = self.keep_beating(&mut members) => {}
            () = self.watch_out() => {}
            () = self.notify() => {}
            () = self.write_use() => {}
            () = self.work() => {}
        }
        self.write_use_now(true).await;
        // Others need not find out by themselves.
        if let Err(error) = members.leave().await {
            tracing::debug!(%error, "cannot say farewell");
        }
    }

    /// Reads the specs and looks after every fleet once. For cron jobs and tests that want this loop and no
    /// other.
    pub async fn once(self: &Arc<Self>, source: &mut Source) {
        self.board.set_replicas(vec![self.replica.clone()]);
        self.read(source).await;
        let now = self.now();
        let due = self.agenda().due(now, usize::MAX, |_| true);
        for some in due.chunks(FLEETS_PER_PASS) {
            self.look_after(some.to_vec()).await;
        }
    }

    async fn work(self: &Arc<Self>) {
        let mut passes = FuturesUnordered::new();
        loop {
            while let Some(Some(ended)) = passes.next().now_or_never() {
                if let Err::<(), _>(error) = ended {
                    tracing::error!(%error, "a pass broke off");
                }
            }
            if self.stop.asked() {
                if passes.is_empty() {
                    return;
                }
            } else if passes.len() < PASSES {
                let now = self.now();
                let due = self.agenda().due(now, FLEETS_PER_PASS, |fleet| self.is_mine(fleet));
                if !due.is_empty() {
                    let this = self.clone();
                    // Deciding is work, and pages must not wait for it.
                    passes.push(self.threads.run(async move || this.look_after(due).await));
                    continue;
                }
            }
            let _ = tokio::time::timeout(TICK, self.wake.notified()).await;
        }
    }

    /// One pass, and what it came to.
    async fn look_after(&self, fleets: Vec<FleetName>) {
        let specs = self.board.specs();
        // A spec may have gone since the fleet was put on the agenda.
        let wanted: Vec<Arc<Desired>> = fleets
            .iter()
            .filter_map(|fleet| specs.fleets.get(fleet).map(|(desired, _)| desired.clone()))
            .collect();
        let outcomes = self.pass(&wanted).await;
        for (desired, outcome) in wanted.iter().zip(outcomes) {
            self.tell(&desired.fleet, &outcome);
            let due = self.agenda().ended(&desired.fleet, outcome.ended, self.now());
            self.board.looked(&desired.fleet, outcome.view, outcome.standing, due);
        }
    }

    /// Says in the log what is worth it: changes, and how a fleet stands now if it stood otherwise before.
    fn tell(&self, fleet: &FleetName, outcome: &Outcome) {
        let before = self.board.fleet(fleet).and_then(|known| known.standing);
        let (launched, destroyed) =
            outcome.view.as_ref().map_or((0, 0), |view| (view.launched, view.destroyed));
        match &outcome.standing {
            Standing::Failed { why } if before.as_ref() != Some(&outcome.standing) => {
                let (what, place, hint) = why.told();
                tracing::error!(%fleet, place, hint, "{what}");
            }
            Standing::Elsewhere { holder } if before.as_ref() != Some(&outcome.standing) => {
                tracing::info!(%fleet, "{holder}");
            }
            _ if launched + destroyed > 0 => {
                tracing::info!(%fleet, launched, destroyed, "changed");
            }
            _ => {}
        }
    }

    /// Whether this replica is the first to look after a fleet.
    pub fn is_mine(&self, fleet: &FleetName) -> bool {
        !self.board.prefers_another(fleet, &self.replica)
    }

    async fn keep_beating(&self, members: &mut Members) {
        loop {
            tokio::time::sleep(members.every()).await;
            self.beat(members).await;
        }
    }

    async fn beat(&self, members: &mut Members) {
        match members.beat().await {
            Ok(replicas) => self.board.set_replicas(replicas),
            // A store that does not answer says nothing about the others.
            Err(error) => tracing::warn!(%error, "cannot tell the other replicas that we are here"),
        }
    }
}
