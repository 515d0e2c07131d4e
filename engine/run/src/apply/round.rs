//! One round: obey the plan, a bounded number of steps at a time.

use crate::apply::session::Session;
use crate::apply::step::{Blocked, Ended};
use crate::error::RunError;
use crate::progress::{Progress, StepResult, Stop};
use fleet_core::{
    Planned, StepState, Walk, labels_meant, prices_seen, templates_meant, with_times, worth,
};
use fleet_model::{
    AccountKey, Action, BlockScope, CapacityGoal, Event, Heard, Inputs, Labelled, Plan, PoolId,
    Readopt, Step, StepId, Victim, Why, Word,
};
use futures::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// Steps under way at once. The clouds' rates are kept elsewhere; this bounds memory and the work
/// that a second signal would leave in doubt.
const STEPS_AT_ONCE: usize = 64;

/// What a round did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundOutcome {
    /// Machines launched.
    pub created: u32,
    /// Machines ended.
    pub destroyed: u32,
    /// Those of them that a change of template replaced: it has its own limits.
    pub updated: u32,
    /// Machines that were told to end, and nobody knows whether they heard it. Toward the limit
    /// they count as ended.
    pub perhaps_destroyed: u32,
    /// Steps that were refused in whole or in part, and what the cloud said.
    pub refused: Vec<(StepId, String)>,
    /// Steps whose outcome is not known.
    pub unknown: Vec<(StepId, String)>,
    /// Steps that were not started, because something before them failed or a stop was asked for.
    pub skipped: u32,
    /// Slots that were written down as free.
    pub vacated: u32,
    /// Machines of which nothing is left behind any more.
    pub cleared: u32,
    /// Machines whose labels were changed.
    pub relabelled: u32,
    /// What clouds said to changes of labels that were not made.
    pub not_relabelled: BTreeSet<String>,
    /// What said no.
    pub blocked: BTreeSet<BlockScope>,
}

impl RoundOutcome {
    /// Whether nothing was done, and nothing was refused that was not known to refuse: another
    /// round would be the same.
    pub fn is_fruitless(&self, known: &BTreeSet<BlockScope>) -> bool {
        let learned = self.blocked.iter().any(|scope| !known.contains(scope));
        let done = self.created + self.destroyed + self.vacated + self.cleared + self.relabelled;
        done == 0 && !learned
    }
}

impl Session<'_> {
    pub(crate) async fn carry_out(
        &self,
        round: u32,
        inputs: &Inputs,
        planned: &Planned,
        stop: &Stop,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<RoundOutcome, RunError> {
        let plan = &planned.plan;
        let (create, destroy) = totals(&plan.steps);
        on(Progress::RoundStarted { round, create, destroy });
        let mut outcome =
            RoundOutcome { vacated: plan.vacate.len() as u32, ..RoundOutcome::default() };
        let opening = self.opening(inputs, planned, create, destroy).await;
        self.journal.append(opening).await?;
        outcome.cleared = self.clear(&plan.clear, stop).await;

        let steps: BTreeMap<StepId, &Step> = plan.steps.iter().map(|s| (s.id, s)).collect();
        let mut walk = Walk::new(plan);
        let blocked = &Blocked::default();
        let mut under_way = FuturesUnordered::new();
        let draining = self.drain(inputs, &plan.drain);
        let mut draining = std::pin::pin!(draining);
        let mut is_drained = plan.drain.is_empty();
        loop {
            if stop.asked() || !self.lease.is_held() {
                walk.stop();
            }
            while under_way.len() < STEPS_AT_ONCE {
                let Some(id) = walk.start_next() else { break };
                let Some(&step) = steps.get(&id) else { continue };
                under_way.push(async move { (step, self.obey(inputs, step, blocked).await) });
            }
            let next = tokio::select! {
                biased;
                next = under_way.next() => next,
                // A machine that is taken back has no time to wait for launches, nor they for it.
                drained = &mut draining, if !is_drained => {
                    is_drained = true;
                    drained?;
                    continue;
                }
            };
            let Some((step, ended)) = next else { break };
            // The pool has said no in this round: the next round goes elsewhere.
            let Some(ended) = ended? else {
                walk.finish(step.id, false);
                continue;
            };
            let Ended { created, destroyed, perhaps_destroyed, result } = ended;
            walk.finish(step.id, result == StepResult::Done);
            outcome.created += created;
            outcome.destroyed += destroyed;
            if step.why == Why::TemplateChanged {
                outcome.updated += destroyed + perhaps_destroyed;
            }
            outcome.perhaps_destroyed += perhaps_destroyed;
            match &result {
                StepResult::Done => {}
                StepResult::Refused(why) => outcome.refused.push((step.id, why.clone())),
                StepResult::Unknown(why) => outcome.unknown.push((step.id, why.clone())),
            }
            let pool = step.action.pool().clone();
            on(Progress::StepEnded { step: step.id, pool, created, destroyed, result });
        }
        if !is_drained {
            draining.await?;
        }
        // Capacity first: nobody waits for a label.
        (outcome.relabelled, outcome.not_relabelled) =
            self.relabel(inputs, &plan.relabel, stop).await?;
        outcome.blocked = std::mem::take(&mut blocked.lock());
        outcome.skipped = walk.count(StepState::Skipped) as u32;
        let RoundOutcome { created, destroyed, refused, unknown, .. } = &outcome;
        self.journal
            .append(vec![Event::RoundEnded {
                created: *created,
                destroyed: *destroyed,
                refused: refused.len() as u32,
                unknown: unknown.len() as u32,
                reached: reached(inputs, planned, &outcome),
                strategy: Some(inputs.desired.placement.strategy)
                    .filter(|now| inputs.recorded.strategy != Some(*now)),
            }])
            .await?;
        on(Progress::RoundEnded);
        Ok(outcome)
    }

    /// What is written before the first step.
    async fn opening(
        &self,
        inputs: &Inputs,
        planned: &Planned,
        create: u32,
        destroy: u32,
    ) -> Vec<Event> {
        let plan = &planned.plan;
        let mut events = Vec::new();
        if self.journal.recorded_uid().is_none() {
            events.push(Event::Opened { fleet: plan.fleet.clone(), uid: plan.uid.clone() });
        }
        if !plan.failed.is_empty() {
            events.push(Event::Failed { failed: plan.failed.clone() });
        }
        let priced = prices_seen(inputs);
        if !plan.vacate.is_empty() {
            // Before ends: what machines cost until then follows from it.
            events.extend(priced.clone());
            events.push(Event::Vacated { gone: with_times(inputs, &plan.vacate) });
        }
        if !plan.health.is_empty() {
            events.push(Event::HealthSeen { news: plan.health.clone() });
        }
        events.extend(plan.rollout.iter().map(|news| Event::Rollout { news: news.clone() }));
        events.extend(plan.readopt.iter().map(|Readopt { machine, template }| {
            let (machine, template) = (machine.clone(), *template);
            Event::Readopted { machine, template }
        }));
        events.extend(plan.fallback.map(|step| Event::Fallback { step }));
        events.extend(plan.cheaper.clone().map(|pools| Event::Cheaper { pools }));
        events.extend(plan.moving.clone().map(|moving| Event::Moving { moving }));
        if plan.vacate.is_empty() {
            events.extend(priced);
        }
        events.extend(new_accounts(inputs, plan));
        events.extend(labels_meant(inputs));
        events.extend(templates_meant(inputs, plan));
        let hourly_after = planned.report.cost.hourly_after;
        let spec = plan.premises.spec;
        let heard = heard(inputs, plan);
        let worth = worth(inputs, plan);
        events.push(Event::RoundStarted { spec, create, destroy, hourly_after, heard, worth });
        events
    }

    /// Takes a step; `None` if its pool has said no to another one meanwhile.
    async fn obey(
        &self,
        inputs: &Inputs,
        step: &Step,
        blocked: &Blocked,
    ) -> Result<Option<Ended>, RunError> {
        match &step.action {
            Action::Create(create) => self.launch(create, blocked).await,
            Action::Destroy(destroy) => {
                if is_replaced(&step.why) {
                    let one = |victim: &Victim| Labelled {
                        machine: victim.machine.clone(),
                        slot: victim.slot,
                    };
                    let victims: Vec<Labelled> = destroy.victims.iter().map(one).collect();
                    self.drain(inputs, &victims).await?;
                }
                self.end(destroy, blocked).await.map(Some)
            }
        }
    }
}

/// Whether a machine works and goes because another takes its place: then its work is ended first.
fn is_replaced(why: &Why) -> bool {
    matches!(
        why,
        Why::TemplateChanged
            | Why::Requested
            | Why::AtRisk
            | Why::Moved { .. }
            | Why::PoolNotAllowed { .. }
    )
}

/// What signals say of the pools that a plan launches from. Written down, so that they can be judged by
/// what becomes of it.
fn heard(inputs: &Inputs, plan: &Plan) -> Vec<Heard> {
    let pools = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Create(create) => Some(create.pools()),
        Action::Destroy(_) => None,
    });
    let pools: BTreeSet<&PoolId> = pools.flatten().collect();
    let one = |pool: &PoolId| {
        let at = inputs.offerings.binary_search_by(|offering| offering.pool.cmp(pool)).ok()?;
        let words: Vec<Word> = inputs.offerings[at].signals.words().collect();
        (!words.is_empty()).then(|| Heard { pool: pool.clone(), words })
    };
    pools.into_iter().filter_map(one).collect()
}

/// What the fleet is meant to hold, if this round left nothing beyond it and that is news.
fn reached(inputs: &Inputs, planned: &Planned, outcome: &RoundOutcome) -> Option<CapacityGoal> {
    let goal = inputs.desired.capacity;
    let clean = planned.report.held.is_empty()
        && outcome.refused.is_empty()
        && outcome.unknown.is_empty()
        && outcome.skipped == 0
        && outcome.perhaps_destroyed == 0;
    let news = inputs.recorded.goal != Some(goal) && !inputs.limits.destroy_all;
    (clean && news).then_some(goal)
}

/// Accounts in which this round launches and that are not on record yet.
fn new_accounts(inputs: &Inputs, plan: &Plan) -> impl Iterator<Item = Event> {
    let launches = plan.steps.iter().filter(|step| matches!(step.action, Action::Create(_)));
    let keys: BTreeSet<AccountKey> =
        launches.map(|step| AccountKey::of(&step.action.pool().place.scope())).collect();
    let new = keys.into_iter().filter(|key| !inputs.recorded.accounts.contains_key(key));
    new.filter_map(|key| {
        let account = inputs.observed.accounts.get(&key)?.clone();
        Some(Event::AccountSeen { key, account })
    })
}

fn totals(steps: &[Step]) -> (u32, u32) {
    steps.iter().fold((0, 0), |(create, destroy), step| match &step.action {
        Action::Create(c) => (create + c.slots.len() as u32, destroy),
        Action::Destroy(d) => (create, destroy + d.victims.len() as u32),
    })
}
