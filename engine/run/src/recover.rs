//! Settling what an earlier run left in doubt, before anything else touches its slots.

use crate::error::RunError;
use crate::outcome::launch_outcome;
use crate::session::Session;
use fleet_core::SETTLE_WINDOW;
use fleet_model::{Attempt, Event, Machine, Observed, Scope, Template, Token};
use fleet_provider::Created;
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};

/// Requests settled at once.
const SETTLED_AT_ONCE: usize = 32;

impl Session<'_> {
    /// Looks at the clouds first: what a request made carries its token. What is not there is sent
    /// again with the same token while it may still be on its way, and given up once absence
    /// proves that nothing was made.
    pub(crate) async fn recover(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let scopes: BTreeSet<Scope> =
            recorded.in_doubt.values().map(|a| a.create.pool.place.scope()).collect();
        let observed = self.engine.observe(scopes).await;
        let made = by_token(&observed);
        let nothing = Vec::new();
        stream::iter(recorded.in_doubt.values())
            .map(|attempt| {
                let found = made.get(&attempt.create.token).unwrap_or(&nothing);
                self.settle(attempt, found, &observed)
            })
            .buffer_unordered(SETTLED_AT_ONCE)
            .try_collect()
            .await
    }

    async fn settle(
        &self,
        attempt: &Attempt,
        found: &[&Machine],
        observed: &Observed,
    ) -> Result<(), RunError> {
        let create = &attempt.create;
        let cloud = create.pool.place.cloud;
        if !observed.is_complete(&create.pool.place.scope()) {
            // A silent cloud is not an empty cloud: the slots stay frozen.
            return Ok(());
        }
        let now = self.engine.clock.now();
        // Old enough when we looked, not when we come to judge it: other requests take their time.
        let age = observed.taken_at.duration_since(attempt.intended_at);
        let settled = age >= SETTLE_WINDOW.try_into().unwrap_or(jiff::SignedDuration::MAX);
        let all_there = found.len() >= create.slots.len();
        let template = self.desired.templates.get(&cloud).cloned();
        let same_template = template.unwrap_or_else(Template::default).digest() == create.template;
        let events = if all_there || (settled && !found.is_empty()) {
            let machines = found.iter().map(|machine| (*machine).clone()).collect();
            launch_outcome(create, Ok(Created { machines, shortfall: None }), now).events
        } else if settled {
            let code = "NeverHappened".into();
            vec![Event::CreateRefused { token: create.token.clone(), code }]
        } else if same_template {
            let answer = self.send_create(create).await;
            launch_outcome(create, answer, self.engine.clock.now()).events
        } else {
            // The very request cannot be repeated, since its template is gone: time will tell.
            return Ok(());
        };
        Ok(self.journal.append(events).await?)
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
