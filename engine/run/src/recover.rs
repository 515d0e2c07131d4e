//! Settling what an earlier run left in doubt, before anything else touches its slots.
//!
//! Looking changes nothing, so it needs nobody's consent: what a request made carries its token,
//! and what is not there a settle window after the request was last sent was never made. Sending
//! again is a launch, and comes only after a person has agreed to launches.

use crate::apply::Sending;
use crate::error::RunError;
use crate::outcome::launch_outcome;
use crate::session::Session;
use fleet_core::SETTLE_WINDOW;
use fleet_model::{
    Attempt, Block, BlockScope, Event, Machine, Observed, Operation, Scope, Template, Timestamp,
    Token,
};
use fleet_provider::Created;
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Requests sent again at once.
const RESENT_AT_ONCE: usize = 32;

impl Session<'_> {
    /// Settles by looking alone.
    pub(crate) async fn settle_by_looking(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let scopes: BTreeSet<Scope> =
            recorded.in_doubt.values().map(|a| a.create.pool.place.scope()).collect();
        let observed = self.engine.observe(scopes).await;
        let made = by_token(&observed);
        let nothing = Vec::new();
        let mut events = Vec::new();
        for attempt in recorded.in_doubt.values() {
            let found = made.get(&attempt.create.token).unwrap_or(&nothing);
            events.extend(verdict(attempt, found, &observed));
        }
        if !events.is_empty() {
            self.journal.append(events).await?;
        }
        Ok(())
    }

    /// Sends again what may never have arrived, where sending again cannot launch twice. Only
    /// machines settle it: a refusal of the second sending says nothing of the first.
    pub(crate) async fn send_again(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let now = self.engine.clock.now();
        // An open breaker of an earlier run holds for this one, too.
        let rests = |attempt: &Attempt| {
            let breaker = |block: &&Block| matches!(block.scope, BlockScope::Breaker { .. });
            let mut open = recorded.blocks.iter().filter(breaker).filter(|block| block.until > now);
            open.any(|block| block.scope.covers(&attempt.create.pool))
        };
        let again = recorded.in_doubt.values().filter(|attempt| self.can_repeat(attempt));
        let again = again.filter(|attempt| !rests(attempt));
        stream::iter(again)
            .map(|attempt| async move {
                let create = &attempt.create;
                let scope = create.pool.place.scope();
                if self.engine.open_breaker(&scope, Operation::Launch).is_some() {
                    return Ok(());
                }
                let answer = self.send_create(create, Sending::Again).await?;
                if let Some(opened) = self.engine.note_end(&scope, Operation::Launch, &answer) {
                    self.journal.append(vec![opened]).await?;
                }
                let Ok(created) = answer else { return Ok(()) };
                let now = self.engine.clock.now();
                let outcome = launch_outcome(create, Ok(created), now);
                Ok::<(), RunError>(self.journal.append(outcome.events).await?)
            })
            .buffer_unordered(RESENT_AT_ONCE)
            .try_collect()
            .await
    }

    fn can_repeat(&self, attempt: &Attempt) -> bool {
        let cloud = attempt.create.pool.place.cloud;
        let template = self.desired.templates.get(&cloud).cloned();
        // With another template it would be another request under the same token.
        let same = template.unwrap_or_else(Template::default).digest() == attempt.create.template;
        cloud.launches_are_idempotent() && same
    }

    /// Waits until absence proves something for everything that is still in doubt, and looks.
    pub(crate) async fn wait_and_look(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let now = self.engine.clock.now();
        let left = recorded.in_doubt.values().map(|attempt| settles_in(attempt, now)).max();
        let Some(left) = left else { return Ok(()) };
        tracing::info!(?left, "waiting until the clouds must know what became of our requests");
        self.engine.clock.sleep(left + Duration::from_secs(1)).await;
        self.settle_by_looking().await
    }
}

/// How long until absence proves that a request made nothing.
fn settles_in(attempt: &Attempt, now: Timestamp) -> Duration {
    let age = Duration::try_from(now.duration_since(attempt.last_sent)).unwrap_or_default();
    SETTLE_WINDOW.saturating_sub(age)
}

/// What a look at the clouds says of a request; nothing if it says nothing for sure.
fn verdict(attempt: &Attempt, found: &[&Machine], observed: &Observed) -> Vec<Event> {
    let create = &attempt.create;
    // A silent cloud is not an empty cloud.
    if !observed.is_complete(&create.pool.place.scope()) {
        return Vec::new();
    }
    // Old enough when we looked, not when we come to judge it.
    let settled = settles_in(attempt, observed.taken_at).is_zero();
    if found.len() >= create.slots.len() || (settled && !found.is_empty()) {
        let machines = found.iter().map(|machine| (*machine).clone()).collect();
        let created = Created::all(machines);
        launch_outcome(create, Ok(created), observed.taken_at).events
    } else if settled {
        let code = "NeverHappened".into();
        vec![Event::CreateRefused { token: create.token.clone(), code }]
    } else {
        Vec::new()
    }
}

fn by_token(observed: &Observed) -> BTreeMap<&Token, Vec<&Machine>> {
    let mut made: BTreeMap<&Token, Vec<&Machine>> = BTreeMap::new();
    for machine in observed.machines.values() {
        if let Some(owner) = &machine.owner {
            made.entry(&owner.token).or_default().push(machine);
        }
    }
    made
}
