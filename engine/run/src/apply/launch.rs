//! One launch: the intent is written down, the request is sent, the answer is written down.

use crate::apply::outcome::{launch_outcome, not_launched};
use crate::apply::seams;
use crate::apply::sent::{NotSent, Sent};
use crate::apply::session::Session;
use crate::apply::step::{Blocked, Ended, no_provider};
use crate::calls::Patience;
use crate::error::RunError;
use crate::state::JournalError;
use fleet_core::{SENT_WITHIN, kept_template};
use fleet_model::{Create, Event, FleetUid, Operation, Template};
use fleet_provider::{Clock, CreateRequest, Created};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
    /// Launches; `None` if a pool of it has said no to another launch meanwhile.
    pub(super) async fn launch(
        &self,
        create: &Create,
        blocked: &Blocked,
    ) -> Result<Option<Ended>, RunError> {
        // The turn comes before the intent: a request that waits in a queue is not in doubt, and
        // the time after which absence proves something counts from here.
        let scope = create.pool.place.scope();
        self.engine.calls.limits.turn_to_launch(&scope, create.slots.len()).await;
        if let Some(open) = self.engine.calls.open_breaker(&scope, Operation::Launch) {
            return Ok(Some(blocked.not_asked(open)));
        }
        if blocked.said_no(create) {
            return Ok(None);
        }
        let intent = Event::CreateIntended { create: create.clone() };
        let (before, after) = seams::around_sending(intent);
        let recorded = self.engine.clock.steady();
        self.record(before).await?;
        let answer = self.send_create(create, Sending::First { recorded, blocked }).await?;
        self.record(after).await?;
        // No cloud refused it, so it is not reported as refused.
        let unreported = matches!(answer, Sent::Not(NotSent::SaidNo));
        let outcome = match answer {
            Sent::Not(why) => not_launched(create, why),
            Sent::Answered(answer) => {
                let opened = self.engine.calls.note_end(&scope, Operation::Launch, &answer);
                let mut outcome = launch_outcome(create, answer, self.engine.clock.latest());
                outcome.events.extend(opened);
                outcome
            }
        };
        blocked.lock().extend(outcome.blocked());
        self.journal.append(outcome.events).await?;
        Ok((!unreported).then(|| Ended::launch(outcome.created, outcome.result)))
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
                self.record(seams::before_resending(create)).await?;
                continue;
            }
            match engine.calls.limits.leave(&scope, Operation::Launch, count) {
                Err(wait) if seams::waits_to_leave() => {
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
        template: &'a Template,
    ) -> CreateRequest<'a> {
        CreateRequest {
            fleet,
            name: &self.desired.fleet,
            labels: &self.desired.labels,
            create,
            template,
        }
    }

    /// The template that a launch is made from: the spec's, or one that the journal keeps.
    pub(crate) async fn template_of(&self, create: &Create) -> Template {
        let (cloud, digest) = (create.pool.place.cloud, create.template);
        let said = self.desired.templates.get(&cloud).cloned().unwrap_or_default();
        if said.digest() == digest {
            return said;
        }
        let kept = self.journal.read(|recorded| kept_template(recorded, digest, &said)).await;
        kept.unwrap_or(said)
    }

    /// Sends a launch that is written down. The same request each time it is sent, and each time
    /// but the first is written down as well.
    pub(crate) async fn send_create(
        &self,
        create: &Create,
        sending: Sending<'_>,
    ) -> Result<Sent<Created>, RunError> {
        let engine = self.engine;
        let cloud = create.pool.place.cloud;
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&cloud), self.journal.recorded_uid())
        else {
            return Ok(Sent::Answered(Err(no_provider(cloud))));
        };
        let template = self.template_of(create).await;
        let sent = seams::as_sent(create);
        let create = &*sent;
        let request = self.request(&fleet, create, &template);
        let scope = create.pool.place.scope();
        let seed = fleet_model::digest("send/1", [create.token.as_str().as_bytes()]).as_u64();
        let (first, blocked) = match sending {
            Sending::First { recorded, blocked } => (Some(recorded), Some(blocked)),
            Sending::Again => (None, None),
        };
        let first = Mutex::new(first);
        let failed = Mutex::new(None);
        let answer = engine
            .calls
            .retrying(seed, Patience::Change, || async {
                let recorded = first.lock().unwrap_or_else(PoisonError::into_inner).take();
                if recorded.is_none() {
                    engine.calls.limits.turn_to_launch(&scope, create.slots.len()).await;
                }
                if let Err(error) = self.prepare(create, recorded).await {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return Ok(Err(NotSent::LeaseLost));
                }
                if !self.lease.is_held() {
                    return Ok(Err(NotSent::LeaseLost));
                }
                // Every earlier sending was answered with "later", so nothing is in doubt.
                if blocked.is_some_and(|blocked| blocked.said_no(create)) {
                    return Ok(Err(NotSent::SaidNo));
                }
                let asked = provider.create(&request);
                let answer = engine.calls.measured.cloud(cloud, "create", asked).await;
                engine.calls.paced(&scope, Operation::Launch, answer).map(Ok)
            })
            .await;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.into()),
            None => Ok(Sent::of(answer)),
        }
    }
}
