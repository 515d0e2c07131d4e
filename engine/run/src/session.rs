//! The right to change one fleet, held from the first look to the last record.

use crate::apply::RoundOutcome;
use crate::beliefs;
use crate::engine::Engine;
use crate::error::RunError;
use crate::journal::Journal;
use crate::lease::Lease;
use crate::progress::{Progress, Stop};
use fleet_core::{Planned, check, plan, stale};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    Desired, Event, Fulfilment, Hold, Inputs, Limits, MachineId, Plan, Scope, SlotId, SlotState,
};
use fleet_provider::{Clock, LOOK_AGAIN, TidyRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rounds of one apply. Each refusal blocks a pool and the next round goes elsewhere, so a market
/// that is short everywhere takes as many rounds as it takes to find that out.
const MAX_ROUNDS: u32 = 40;

/// A lease on a fleet and its open journal.
pub struct Session<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) desired: Desired,
    pub(crate) journal: Journal,
    pub(crate) lease: Lease,
}

/// What an apply came to.
#[derive(Debug, Clone, Default)]
pub struct Converged {
    /// What each round did.
    pub rounds: Vec<RoundOutcome>,
    /// What is left to say after the last one.
    pub last: Option<Planned>,
}

impl Engine {
    /// Takes the lease, opens the journal, and settles by looking what an earlier run left in
    /// doubt. Nothing is sent to a cloud but questions.
    pub async fn begin(
        &self,
        desired: &Desired,
        holder: &str,
        wait: Duration,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Session<'_>, RunError> {
        let waiting = |waiting| on(Progress::Waiting(waiting));
        let lease = Lease::take(&self.store, &desired.fleet, holder, wait, &waiting).await?;
        // Whoever mends a damaged journal need not wait for a lease of which nothing came.
        let journal = match Journal::open(&self.store, &desired.fleet, self.clock.clone()).await {
            Ok(journal) => journal,
            Err(error) => {
                let _ = lease.release().await;
                return Err(error.into());
            }
        };
        let session = Session { engine: self, desired: desired.clone(), journal, lease };
        match session.settle_first(holder, on).await {
            Ok(()) => Ok(session),
            Err(error) => {
                let _ = session.lease.release().await;
                Err(error)
            }
        }
    }
}

impl Session<'_> {
    /// Reading needs no record; the epoch is written with the first change. Settling is one.
    async fn settle_first(
        &self,
        holder: &str,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        if recorded.in_doubt.is_empty() {
            return Ok(());
        }
        on(Progress::Recovering { requests: recorded.in_doubt.len() });
        self.open_epoch(holder).await?;
        self.settle_by_looking().await
    }

    async fn open_epoch(&self, holder: &str) -> Result<(), RunError> {
        if bugs::on(Bug::NoEpochRecord) {
            return Ok(());
        }
        let epoch = self.journal.recorded().await.epoch + 1;
        Ok(self.journal.append(vec![Event::Epoch { epoch, holder: holder.into() }]).await?)
    }

    /// Looks at journal and clouds.
    pub async fn gather(&self, limits: Limits) -> Result<Inputs, RunError> {
        let recorded = self.journal.recorded().await;
        self.engine.gather_from(&self.desired, recorded, limits).await
    }

    /// Refuses a saved plan that no longer stands on what it was made from.
    pub fn verify(&self, saved: &Plan, inputs: &Inputs) -> Result<(), RunError> {
        match stale(saved, inputs, self.engine.clock.latest()) {
            Some(broken) if !bugs::on(Bug::StalePlanTaken) => Err(RunError::Stale(broken)),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a saved plan that is not what would be decided now: the world moved, or the file
    /// was altered.
    pub fn same(&self, saved: &Plan, fresh: &Plan) -> Result<(), RunError> {
        if fleet_core::same_steps(saved, fresh) || bugs::on(Bug::ForgedPlanTaken) {
            Ok(())
        } else {
            Err(RunError::Stale(fleet_core::Stale::Decision))
        }
    }

    /// Carries out a first plan, then plans and applies again until there is nothing left to do
    /// or nothing more can be done.
    pub async fn converge(
        &self,
        holder: &str,
        first: (Inputs, Planned),
        stop: &Stop,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Converged, RunError> {
        let mut limits = first.0.limits;
        let mut converged = Converged::default();
        let (mut inputs, mut planned) = first;
        if !inputs.recorded.in_doubt.is_empty() {
            // Consent is given, to what the spec wants now. What it does not want waits.
            self.send_again(&planned.plan.resend).await?;
            self.wait_and_look().await?;
            inputs = self.gather(limits).await?;
            planned = plan(&inputs);
        }
        let mut refused_before = BTreeSet::new();
        for round in 1..=MAX_ROUNDS {
            (inputs, planned) = self.until_seen(limits, (inputs, planned), stop).await?;
            if planned.plan.is_empty() && !planned.plan.has_news() {
                break;
            }
            let outcome = self.round(holder, round, &inputs, &planned, stop, on).await?;
            limits.already_destroyed += outcome.destroyed + outcome.perhaps_destroyed;
            let stuck = outcome.is_fruitless(&refused_before);
            refused_before.extend(outcome.blocked.iter().cloned());
            if outcome.cleared > 0 {
                // A launch that left something is in doubt until that is gone.
                self.settle_by_looking().await?;
            }
            converged.rounds.push(outcome);
            inputs = self.gather(limits).await?;
            planned = plan(&inputs);
            if stuck || stop.asked() {
                break;
            }
        }
        self.journal.snapshot().await?;
        self.tidy(&inputs).await;
        self.share(&inputs).await?;
        converged.last = Some(planned);
        Ok(converged)
    }

    /// Tells other fleets what this one saw of spot pools.
    ///
    /// # Errors
    ///
    /// If the state cannot be written.
    pub async fn share(&self, inputs: &Inputs) -> Result<(), RunError> {
        beliefs::share(&self.engine.store, &self.desired.fleet, &inputs.recorded).await
    }

    /// Waits for machines that are to go and that nobody sees yet. Either they show up, or after
    /// some minutes their absence is proof.
    async fn until_seen(
        &self,
        limits: Limits,
        mut now: (Inputs, Planned),
        stop: &Stop,
    ) -> Result<(Inputs, Planned), RunError> {
        let waits = |planned: &Planned| {
            let hidden = |hold: &Hold| matches!(hold, Hold::NotSeenYet { .. });
            planned.plan.is_empty() && planned.report.held.iter().any(hidden)
        };
        while waits(&now.1) && !stop.asked() {
            tracing::info!("waiting until the clouds show what was launched moments ago");
            self.engine.clock.sleep(LOOK_AGAIN).await;
            let inputs = self.gather(limits).await?;
            let planned = plan(&inputs);
            now = (inputs, planned);
        }
        Ok(now)
    }

    /// Lets clouds put away what launches needed besides machines. Nothing depends on it, so a
    /// failure is told to the log alone; the next apply does it as well.
    async fn tidy(&self, inputs: &Inputs) {
        let (Some(fleet), true) = (&inputs.recorded.uid, inputs.recorded.in_doubt.is_empty())
        else {
            return;
        };
        let filled = inputs.recorded.slots.iter().filter_map(|(&name, record)| {
            let slot = SlotId { name, generation: record.generation };
            match &record.state {
                SlotState::Filled { machine, .. } => Some((machine.clone(), slot)),
                SlotState::InDoubt { .. } | SlotState::Vacant => None,
            }
        });
        let machines: BTreeMap<MachineId, SlotId> = filled.collect();
        let gone = inputs.limits.destroy_all;
        // Only launches that leave a choice leave anything else behind.
        if !gone && inputs.desired.placement.fulfilment == Fulfilment::Exact {
            return;
        }
        for (cloud, provider) in &self.engine.providers {
            let scopes = inputs.observed.complete.iter().filter(|scope| scope.cloud == *cloud);
            let scopes: BTreeSet<Scope> = scopes.cloned().collect();
            let template = inputs.desired.templates.get(cloud).cloned().unwrap_or_default();
            let request = TidyRequest {
                fleet,
                scopes: &scopes,
                machines: &machines,
                template: template.digest(),
                gone,
            };
            match provider.tidy(&request).await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(%cloud, removed, "removed what is no longer used"),
                Err(error) => tracing::warn!(%cloud, %error, "some things are left behind"),
            }
        }
    }

    /// Carries out one plan, and nothing else.
    pub async fn round(
        &self,
        holder: &str,
        round: u32,
        inputs: &Inputs,
        planned: &Planned,
        stop: &Stop,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<RoundOutcome, RunError> {
        let violations = check(inputs, planned);
        if !violations.is_empty() {
            return Err(RunError::Unsound { fleet: self.desired.fleet.clone(), violations });
        }
        if round == 1 {
            self.open_epoch(holder).await?;
        }
        self.carry_out(round, inputs, planned, stop, on).await
    }

    /// Ends the session, so that the next one need not wait.
    pub async fn finish(self) -> Result<(), RunError> {
        self.journal.snapshot().await?;
        Ok(self.lease.release().await?)
    }
}
