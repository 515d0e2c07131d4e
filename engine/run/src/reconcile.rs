//! The one loop that apply, reconcile and a controller share: plan, obey, look, until the fleet is what
//! its spec says.

use crate::apply::{RoundOutcome, Session};
use crate::error::RunError;
use crate::progress::{Progress, Stop};
use crate::state::beliefs;
use fleet_core::{Planned, check, plan};
use fleet_model::{
    Desired, Fulfilment, Hold, Inputs, Limits, MachineId, RolloutWait, Scope, SlotId,
};
use fleet_provider::{Clock, LOOK_AGAIN, TidyRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rounds of one apply. Each refusal blocks a pool and the next round goes elsewhere, so a market
/// that is short everywhere takes as many rounds as it takes to find that out.
const MAX_ROUNDS: u32 = 40;

/// For so long a wait looks often.
const OFTEN: Duration = Duration::from_secs(120);

/// A little more than machines have: what they did not become by then is seen.
const SLACK: Duration = Duration::from_secs(300);

/// How long waits for readiness, and for the pause between two waves, may last before something is done
/// again. What is not ready by then, because its cloud shows nothing of it or because it comes and goes, is
/// left to the next run.
fn longest_wait(desired: &Desired) -> Duration {
    let said =
        desired.health.ready_within_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let usual = desired.placement.clouds.iter().map(|rule| rule.cloud.facts().ready_within).max();
    let ready = said.or(usual).unwrap_or_default();
    let unhealthy = Duration::from_secs(desired.health.unhealthy_after_seconds.into());
    ready + unhealthy + Duration::from_secs(desired.updates.pause_seconds.into()) + SLACK
}

/// How far a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Until the fleet is what its spec says, as far as that can be had now: also until successors are ready
    /// and what they replace is gone, since both are paid for meanwhile. A change of template that has to
    /// wait is left to the next run.
    Spec,
    /// The same, and to the end of a change of template.
    Replacements,
    /// Everything that can be done at once, a change of template included. Nothing waits: whoever looks again
    /// soon, as a controller does, goes on from there.
    Look,
    /// One plan as it stands, and nothing after it.
    Plan,
}

/// What an apply came to.
#[derive(Debug, Clone, Default)]
pub struct Converged {
    /// What each round did.
    pub rounds: Vec<RoundOutcome>,
    /// What is left to say after the last one.
    pub last: Option<Planned>,
    /// What the last look saw.
    pub seen: Option<Inputs>,
}

impl Converged {
    /// Whether something that was begun goes on by itself, and wants another look soon.
    pub fn goes_on(&self) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.plan.acts()
                || !last.report.in_doubt.is_empty()
                || hidden(last)
                || comes_up(last, true).is_some()
        })
    }
}

/// Whether machines are to go that nobody sees yet.
fn hidden(planned: &Planned) -> bool {
    let hidden = |hold: &Hold| matches!(hold, Hold::NotSeenYet { .. });
    planned.plan.is_empty() && planned.report.held.iter().any(hidden)
}

/// What starts, and what waits for it; with `rolls`, the next wave of a rollout as well.
fn comes_up(planned: &Planned, rolls: bool) -> Option<Progress> {
    // What so many machines fail at is for a person to look at.
    let sick = |hold: &Hold| matches!(hold, Hold::ManyUnhealthy { .. });
    let sick = planned.report.held.iter().any(sick);
    let quiet = planned.plan.is_empty() && !planned.plan.has_news() && !sick;
    let held = planned.report.held.iter().find_map(|hold| match hold {
        Hold::SuccessorsNotUp { slots, starting } if *starting > 0 => {
            Some(Progress::Starting { slots: slots.clone() })
        }
        Hold::Rollout { updated, left, waits } if rolls => match waits {
            RolloutWait::Ready { launching, failing, .. } if launching + failing > 0 => {
                Some(Progress::Rolling { updated: *updated, left: *left })
            }
            RolloutWait::Pause { .. } => Some(Progress::Rolling { updated: *updated, left: *left }),
            RolloutWait::Ready { .. }
            | RolloutWait::Window { .. }
            | RolloutWait::Person
            | RolloutWait::Halt { .. } => None,
        },
        _ => None,
    });
    held.filter(|_| quiet)
}

impl Session<'_> {
    /// Carries out a first plan, then plans and applies again until there is nothing left to do
    /// or nothing more can be done. A plan that is to be carried out as it stands is the only one.
    pub async fn converge(
        &self,
        holder: &str,
        first: (Inputs, Planned),
        reach: Reach,
        stop: &Stop,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Converged, RunError> {
        let mut limits = first.0.limits;
        let mut converged = Converged::default();
        let (mut inputs, mut planned) = first;
        if reach != Reach::Plan && !inputs.recorded.in_doubt.is_empty() {
            // Consent is given, to what the spec wants now. What it does not want waits.
            self.send_again(&planned.plan.resend).await?;
            self.wait_and_look().await?;
            inputs = Box::pin(self.gather(limits)).await?;
            planned = plan(&inputs);
        }
        let mut refused_before = BTreeSet::new();
        let (mut round, mut left) = (0, MAX_ROUNDS);
        let mut acted = self.engine.clock.steady();
        while left > 0 {
            (round, left) = (round + 1, left - 1);
            if matches!(reach, Reach::Spec | Reach::Replacements) {
                (inputs, planned) =
                    Box::pin(self.until_seen(limits, (inputs, planned), stop)).await?;
                let rolls = reach == Reach::Replacements;
                let now = (inputs, planned);
                (inputs, planned) =
                    Box::pin(self.until_up(limits, now, acted, rolls, stop, on)).await?;
            }
            if planned.plan.is_empty() && !planned.plan.has_news() {
                break;
            }
            // Boxed: what a round keeps while it waits is large, and stacks of threads are not.
            let outcome = Box::pin(self.round(holder, round, &inputs, &planned, stop, on)).await?;
            let destroyed = outcome.destroyed + outcome.perhaps_destroyed;
            limits.already_destroyed += destroyed - outcome.updated;
            if !planned.plan.rollout.is_empty() {
                // Each wave brings its machines, so a rollout ends; it takes as many rounds as it takes.
                left = MAX_ROUNDS;
            }
            // News of readiness or of a rollout is fruit: the next plan may be another.
            let told = !planned.plan.rollout.is_empty() || !planned.plan.health.is_empty();
            let fruitless = outcome.is_fruitless(&refused_before);
            let stuck = fruitless && !told;
            if !fruitless || !planned.plan.rollout.is_empty() {
                acted = self.engine.clock.steady();
            }
            refused_before.extend(outcome.blocked.iter().cloned());
            if outcome.cleared > 0 {
                // A launch that left something is in doubt until that is gone.
                self.settle_by_looking().await?;
            }
            converged.rounds.push(outcome);
            inputs = Box::pin(self.gather(limits)).await?;
            planned = plan(&inputs);
            if stuck || stop.asked() || reach == Reach::Plan {
                break;
            }
        }
        let begun = !converged.rounds.is_empty();
        self.note_prices(holder, &inputs, begun).await?;
        self.journal.snapshot().await?;
        self.tidy(&inputs).await;
        let (store, fleet) = (&self.engine.store, &self.desired.fleet);
        beliefs::share(store, fleet, &inputs.recorded).await?;
        self.engine.said.tell(store, fleet, inputs.now).await?;
        converged.last = Some(planned);
        converged.seen = Some(inputs);
        Ok(converged)
    }

    /// Waits for machines that are to go and that nobody sees yet. Either they show up, or after
    /// some minutes their absence is proof.
    async fn until_seen(
        &self,
        limits: Limits,
        mut now: (Inputs, Planned),
        stop: &Stop,
    ) -> Result<(Inputs, Planned), RunError> {
        while hidden(&now.1) && !stop.asked() {
            tracing::info!("waiting until the clouds show what was launched moments ago");
            self.engine.clock.sleep(LOOK_AGAIN).await;
            let inputs = Box::pin(self.gather(limits)).await?;
            let planned = plan(&inputs);
            now = (inputs, planned);
        }
        Ok(now)
    }

    /// Waits until successors are ready, and, if asked to, until a rollout may go on. One that is not ready in
    /// time is unhealthy, and then there is something to do. Time counts from when something was last done:
    /// a machine that is well and unwell by turns gives news for ever. Swarm seed 13373.
    async fn until_up(
        &self,
        limits: Limits,
        mut now: (Inputs, Planned),
        acted: Duration,
        rolls: bool,
        stop: &Stop,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Inputs, Planned), RunError> {
        let begun = self.engine.clock.steady();
        let longest = longest_wait(&now.0.desired);
        let mut told = None;
        while let Some(progress) = comes_up(&now.1, rolls) {
            let moment = self.engine.clock.steady();
            let (waited, idle) = (moment.saturating_sub(begun), moment.saturating_sub(acted));
            if stop.asked() || !self.lease.is_held() || idle > longest {
                break;
            }
            if told.as_ref() != Some(&progress) {
                on(progress.clone());
                told = Some(progress);
            }
            // A boot takes a minute or many: whoever waits longer looks less often.
            let pause = if waited < OFTEN { LOOK_AGAIN } else { 3 * LOOK_AGAIN };
            self.engine.clock.sleep(pause).await;
            let inputs = Box::pin(self.gather(limits)).await?;
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
        let held = inputs.recorded.machines().map(|one| (one.machine.clone(), one.slot));
        let machines: BTreeMap<MachineId, SlotId> = held.collect();
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
            let asked = provider.tidy(&request);
            match self.engine.calls.measured.cloud(*cloud, "tidy", asked).await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(%cloud, removed, "removed what is no longer used"),
                Err(error) => tracing::warn!(%cloud, %error, "some things are left behind"),
            }
        }
    }

    /// Carries out one plan, if it keeps the engine's own rules.
    async fn round(
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
}
