//! One round: obey the plan, a bounded number of steps at a time.

use crate::breakers::Open;
use crate::error::RunError;
use crate::journal::JournalError;
use crate::outcome::{is_no_meanwhile, launch_outcome, lease_lost, no_meanwhile};
use crate::progress::{Progress, StepResult, Stop};
use crate::retry::{Patience, retrying};
use crate::session::Session;
use fleet_core::{Planned, SENT_WITHIN, StepState, Walk, labels_meant};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    AccountKey, Action, BlockScope, Create, Destroy, Event, FleetUid, Inputs, Operation, Plan,
    Readopt, SlotId, Step, StepId, Template, Token,
};
use fleet_provider::{Class, Clock, CreateRequest, Created, DestroyRequest, Error};
use futures::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// How one step ended.
struct Ended {
    created: u32,
    destroyed: u32,
    perhaps_destroyed: u32,
    result: StepResult,
}

impl Ended {
    fn launch(created: u32, result: StepResult) -> Self {
        Ended { created, destroyed: 0, perhaps_destroyed: 0, result }
    }

    fn end(destroyed: u32, result: StepResult) -> Self {
        Ended { created: 0, destroyed, perhaps_destroyed: 0, result }
    }
}

/// What said no in this round, known to all its steps at once: one that waits for its turn while
/// another is refused does not ask the same pool again.
#[derive(Default)]
pub(crate) struct Blocked(Mutex<BTreeSet<BlockScope>>);

impl Blocked {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<BlockScope>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a launch would ask again what was refused in this round.
    fn said_no(&self, create: &Create) -> bool {
        let covers = |scope: &BlockScope| create.pools().any(|pool| scope.covers(pool));
        !bugs::on(Bug::BlocksOfRoundIgnored) && self.lock().iter().any(covers)
    }

    /// Neither written down nor sent: a breaker is open.
    fn not_asked(&self, open: Open) -> Ended {
        self.lock().insert(open.scope);
        Ended::end(0, StepResult::Refused(open.words))
    }
}

/// Whether a request goes out for the first time.
#[derive(Clone, Copy)]
pub(crate) enum Sending<'a> {
    /// A new launch of a round.
    First {
        /// When its record began to be written, by our own stopwatch.
        recorded: Duration,
        /// What says no meanwhile: then it is not sent, neither now nor after a "later".
        blocked: &'a Blocked,
    },
    /// What may have arrived before: it asks for nothing new, whatever was said since.
    Again,
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
        loop {
            if stop.asked() || !self.lease.is_held() {
                walk.stop();
            }
            while under_way.len() < STEPS_AT_ONCE {
                let Some(id) = walk.start_next() else { break };
                let Some(&step) = steps.get(&id) else { continue };
                under_way.push(async move { (step, self.obey(step, blocked).await) });
            }
            let Some((step, ended)) = under_way.next().await else { break };
            // The pool has said no in this round: the next round goes elsewhere.
            let Some(ended) = ended? else {
                walk.finish(step.id, false);
                continue;
            };
            let Ended { created, destroyed, perhaps_destroyed, result } = ended;
            walk.finish(step.id, result == StepResult::Done);
            outcome.created += created;
            outcome.destroyed += destroyed;
            outcome.perhaps_destroyed += perhaps_destroyed;
            match &result {
                StepResult::Done => {}
                StepResult::Refused(why) => outcome.refused.push((step.id, why.clone())),
                StepResult::Unknown(why) => outcome.unknown.push((step.id, why.clone())),
            }
            let pool = step.action.pool().clone();
            on(Progress::StepEnded { step: step.id, pool, created, destroyed, result });
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
        if !plan.vacate.is_empty() {
            events.push(Event::Vacated { gone: plan.vacate.clone() });
        }
        events.extend(plan.readopt.iter().map(|Readopt { machine, template }| {
            let (machine, template) = (machine.clone(), *template);
            Event::Readopted { machine, template }
        }));
        events.extend(new_accounts(inputs, plan));
        events.extend(labels_meant(inputs));
        let hourly_after = planned.report.cost.hourly_after;
        let spec = plan.premises.spec;
        events.push(Event::RoundStarted { spec, create, destroy, hourly_after });
        events
    }

    /// Takes a step; `None` if its pool has said no to another one meanwhile.
    async fn obey(&self, step: &Step, blocked: &Blocked) -> Result<Option<Ended>, RunError> {
        match &step.action {
            Action::Create(create) => self.launch(create, blocked).await,
            Action::Destroy(destroy) => self.end(destroy, blocked).await.map(Some),
        }
    }

    async fn launch(&self, create: &Create, blocked: &Blocked) -> Result<Option<Ended>, RunError> {
        // The turn comes before the intent: a request that waits in a queue is not in doubt, and
        // the time after which absence proves something counts from here.
        let scope = create.pool.place.scope();
        self.engine.limits.turn_to_launch(&scope, create.slots.len()).await;
        if let Some(open) = self.engine.open_breaker(&scope, Operation::Launch) {
            return Ok(Some(blocked.not_asked(open)));
        }
        if blocked.said_no(create) {
            return Ok(None);
        }
        let intent = Event::CreateIntended { create: create.clone() };
        let answer = if bugs::on(Bug::SendBeforeAppend) {
            let recorded = self.engine.clock.steady();
            let answer = self.send_create(create, Sending::First { recorded, blocked }).await?;
            self.journal.append(vec![intent]).await?;
            answer
        } else {
            let recorded = self.engine.clock.steady();
            self.journal.append(vec![intent]).await?;
            self.send_create(create, Sending::First { recorded, blocked }).await?
        };
        let not_sent = is_no_meanwhile(&answer);
        let opened = self.engine.note_end(&scope, Operation::Launch, &answer);
        let mut outcome = launch_outcome(create, answer, self.engine.clock.latest());
        outcome.events.extend(opened);
        blocked.lock().extend(outcome.blocked());
        self.journal.append(outcome.events).await?;
        // No cloud refused it, so it is not reported as refused.
        Ok((!not_sent).then(|| Ended::launch(outcome.created, outcome.result)))
    }

    /// Whether a record is so new that the time in it is the time of a sending now. A store may take
    /// minutes over a write, and absence proves something a settle window after the time in the
    /// record.
    fn is_prompt(&self, recorded: Duration) -> bool {
        self.engine.clock.steady().saturating_sub(recorded) < SENT_WITHIN
    }

    /// Writes down, if need be, that a launch is about to be sent, and waits until it may leave. Turns
    /// are taken before anything is written, so that what waits is not in doubt.
    async fn prepare(
        &self,
        create: &Create,
        recorded: Option<Duration>,
    ) -> Result<(), JournalError> {
        let engine = self.engine;
        let mut recorded = recorded;
        let (scope, count) = (create.pool.place.scope(), create.slots.len());
        while self.lease.is_held() {
            if !recorded.is_some_and(|at| self.is_prompt(at)) {
                recorded = Some(engine.clock.steady());
                if !bugs::on(Bug::ResendNotRecorded) {
                    let token = create.token.clone();
                    self.journal.append(vec![Event::CreateResent { token }]).await?;
                }
                continue;
            }
            match engine.limits.leave(&scope, Operation::Launch, count) {
                Err(wait) if !bugs::on(Bug::LaunchesLeaveTogether) => {
                    engine.clock.sleep(wait).await;
                }
                Ok(()) | Err(_) => break,
            }
        }
        Ok(())
    }

    /// A launch with everything its cloud needs to know.
    pub(crate) fn request<'a>(
        &'a self,
        fleet: &'a FleetUid,
        create: &'a Create,
        none: &'a Template,
    ) -> CreateRequest<'a> {
        CreateRequest {
            fleet,
            name: &self.desired.fleet,
            labels: &self.desired.labels,
            create,
            template: self.desired.templates.get(&create.pool.place.cloud).unwrap_or(none),
        }
    }

    /// Sends a launch that is written down. The same request each time it is sent, and each time
    /// but the first is written down as well.
    pub(crate) async fn send_create(
        &self,
        create: &Create,
        sending: Sending<'_>,
    ) -> Result<Result<Created, Error>, RunError> {
        let engine = self.engine;
        let cloud = create.pool.place.cloud;
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&cloud), self.journal.recorded_uid())
        else {
            return Ok(Err(no_provider(cloud)));
        };
        let none = Template::default();
        let mut create = create;
        let altered;
        if bugs::on(Bug::TokenPerSending) {
            let token = format!("{}{}", create.token, bugs::nonce());
            altered = Create { token: Token::new(token), ..create.clone() };
            create = &altered;
        }
        let request = self.request(&fleet, create, &none);
        let scope = create.pool.place.scope();
        let seed = fleet_model::digest("send/1", [create.token.as_str().as_bytes()]).as_u64();
        let (first, blocked) = match sending {
            Sending::First { recorded, blocked } => (Some(recorded), Some(blocked)),
            Sending::Again => (None, None),
        };
        let first = Mutex::new(first);
        let failed = Mutex::new(None);
        let answer = retrying(&engine.clock, &engine.budget, seed, Patience::Change, || async {
            let recorded = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            if recorded.is_none() {
                engine.limits.turn_to_launch(&scope, create.slots.len()).await;
            }
            if let Err(error) = self.prepare(create, recorded).await {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return Err(lease_lost(cloud));
            }
            if !self.lease.is_held() {
                return Err(lease_lost(cloud));
            }
            // Every earlier sending was answered with "later", so nothing is in doubt.
            if blocked.is_some_and(|blocked| blocked.said_no(create)) {
                return Err(no_meanwhile(cloud));
            }
            engine.paced(&scope, Operation::Launch, provider.create(&request).await)
        })
        .await;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.into()),
            None => Ok(answer),
        }
    }

    async fn end(&self, destroy: &Destroy, blocked: &Blocked) -> Result<Ended, RunError> {
        let engine = self.engine;
        let cloud = destroy.pool.place.cloud;
        let scope = destroy.pool.place.scope();
        if let Some(open) = engine.open_breaker(&scope, Operation::End) {
            return Ok(blocked.not_asked(open));
        }
        let slots: Vec<SlotId> = destroy.victims.iter().map(|victim| victim.slot).collect();
        let pool = destroy.pool.clone();
        self.journal.append(vec![Event::DestroyIntended { pool, slots }]).await?;
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&cloud), self.journal.recorded_uid())
        else {
            let why = no_provider(cloud).to_string();
            return Ok(Ended::end(0, StepResult::Refused(why)));
        };
        let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &destroy.victims };
        let seed = fleet_model::digest("end/1", [destroy.victims[0].machine.as_str().as_bytes()]);
        let answer =
            retrying(&engine.clock, &engine.budget, seed.as_u64(), Patience::Change, || async {
                engine.limits.turn(&scope, Operation::End).await;
                if !self.lease.is_held() {
                    return Err(lease_lost(cloud));
                }
                engine.paced(&scope, Operation::End, provider.destroy(&request).await)
            })
            .await;
        if let Some(opened) = engine.note_end(&scope, Operation::End, &answer) {
            self.journal.append(vec![opened]).await?;
        }
        match answer {
            Ok(done) if done.refused.is_empty() => {
                let destroyed = done.ended.len() as u32;
                Ok(Ended::end(destroyed, StepResult::Done))
            }
            Ok(done) => {
                let refused = |id| done.refused.iter().find(|(machine, _)| machine == id);
                let slots = destroy.victims.iter().filter(|v| refused(&v.machine).is_some());
                let slots: Vec<SlotId> = slots.map(|victim| victim.slot).collect();
                let why = done.refused[0].1.escape_debug().to_string();
                let event = Event::DestroyRefused { slots, why: why.clone() };
                self.journal.append(vec![event]).await?;
                let destroyed = done.ended.len() as u32;
                Ok(Ended::end(destroyed, StepResult::Refused(why)))
            }
            // Ending is idempotent, and the next look shows what is left. What is gone by then was
            // ended by us.
            Err(error) => {
                let slots = destroy.victims.iter().map(|victim| victim.slot).collect();
                let code = error.code.clone();
                let unknown = match error.class {
                    Class::Unknown | Class::Freeze => true,
                    Class::Retry { .. }
                    | Class::Capacity { .. }
                    | Class::Quota { .. }
                    | Class::Auth
                    | Class::Refused { .. }
                    | Class::Invalid => false,
                };
                let (event, result) = match unknown {
                    true => {
                        let result = StepResult::Unknown(error.to_string());
                        (Event::DestroyUnknown { slots, code }, result)
                    }
                    false => {
                        let result = StepResult::Refused(error.to_string());
                        (Event::DestroyRefused { slots, why: code }, result)
                    }
                };
                self.journal.append(vec![event]).await?;
                let counts = unknown && !bugs::on(Bug::SilentEndsNotCounted);
                let perhaps_destroyed = if counts { destroy.victims.len() as u32 } else { 0 };
                Ok(Ended { perhaps_destroyed, ..Ended::end(0, result) })
            }
        }
    }
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

fn no_provider(cloud: fleet_model::Cloud) -> Error {
    Error::new(cloud, Class::Auth, "NoProvider", "no provider is configured")
}

fn totals(steps: &[Step]) -> (u32, u32) {
    steps.iter().fold((0, 0), |(create, destroy), step| match &step.action {
        Action::Create(c) => (create + c.slots.len() as u32, destroy),
        Action::Destroy(d) => (create, destroy + d.victims.len() as u32),
    })
}
