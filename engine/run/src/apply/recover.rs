//! Settling what an earlier run left in doubt, before anything else touches its slots.
//!
//! Looking changes nothing, so it needs nobody's consent: what a request made carries its token,
//! and what is not there a settle window after the request was last sent was never made. Sending
//! again is a launch, and comes only after a person has agreed to launches.

use crate::apply::launch::Sending;
use crate::apply::outcome::launch_outcome;
use crate::apply::seams;
use crate::apply::sent::Sent;
use crate::apply::session::Session;
use crate::calls::Patience;
use crate::error::RunError;
use crate::observe::Looker;
use fleet_model::{
    Attempt, Create, Event, Machine, MachineId, Observed, Operation, Scope, SlotId, Timestamp,
    Token,
};
use fleet_provider::{Clock, Created, Error};
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Requests asked after at once.
const ASKED_AT_ONCE: usize = 32;
/// Requests sent again at once.
const RESENT_AT_ONCE: usize = 32;

impl Session<'_> {
    /// Settles by looking alone.
    pub(crate) async fn settle_by_looking(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let scopes: BTreeSet<Scope> =
            recorded.in_doubt.values().map(|a| a.create.pool.place.scope()).collect();
        let fleet = Some(&self.desired.fleet);
        let observed = self.engine.observe(Looker { fleet, scopes, recorded: &recorded }).await;
        let seen = by_token(&observed);
        let events: Vec<Vec<Event>> = stream::iter(recorded.in_doubt.values())
            .map(|attempt| async {
                let listed = seen.get(&attempt.create.token).cloned().unwrap_or_default();
                self.settle(attempt, listed, &observed).await
            })
            .buffered(ASKED_AT_ONCE)
            .collect()
            .await;
        let events: Vec<Event> = events.into_iter().flatten().collect();
        if !events.is_empty() {
            self.journal.append(events).await?;
        }
        Ok(())
    }

    /// What is known of one request for certain. Where absence would prove something, the cloud is asked
    /// once more, by the names that follow from the request: a list may lack what is there.
    async fn settle(
        &self,
        attempt: &Attempt,
        listed: Vec<&Machine>,
        observed: &Observed,
    ) -> Vec<Event> {
        let events = verdict(attempt, &listed, observed);
        let whole = is_whole(&attempt.create, &listed);
        if events.is_empty() || seams::list_is_enough(whole) {
            return events;
        }
        let made = match self.made(&attempt.create).await {
            Some(Ok(made)) => made,
            Some(Err(_)) => return Vec::new(),
            None => return events,
        };
        let mut found: BTreeMap<&MachineId, &Machine> =
            made.iter().map(|machine| (&machine.id, machine)).collect();
        found.extend(listed.iter().map(|machine| (&machine.id, *machine)));
        verdict(attempt, &found.into_values().collect::<Vec<_>>(), observed)
    }

    /// Asks a cloud what a request made. `None` without a provider.
    async fn made(&self, create: &Create) -> Option<Result<Vec<Machine>, Error>> {
        let engine = self.engine;
        let provider = engine.providers.get(&create.pool.place.cloud)?;
        let fleet = self.journal.recorded_uid()?;
        let template = self.template_of(create).await;
        let request = self.request(&fleet, create, &template);
        let scope = create.pool.place.scope();
        let seed = fleet_model::digest("made/1", [create.token.as_str().as_bytes()]).as_u64();
        let answer = engine.calls.retrying(seed, Patience::Look, || async {
            engine.calls.limits.turn(&scope, Operation::Look).await;
            let asked = provider.made(&request);
            let made = engine.calls.measured.cloud(scope.cloud, "made", asked).await;
            engine.calls.paced(&scope, Operation::Look, made)
        });
        Some(answer.await)
    }

    /// Sends again what may never have arrived and is still wanted. Only machines settle it: a
    /// refusal of the second sending says nothing of the first.
    pub(crate) async fn send_again(&self, wanted: &[Token]) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let again = wanted.iter().filter_map(|token| recorded.in_doubt.get(token));
        stream::iter(again)
            .map(|attempt| async move {
                let create = &attempt.create;
                let scope = create.pool.place.scope();
                if self.engine.calls.open_breaker(&scope, Operation::Launch).is_some() {
                    return Ok(());
                }
                let Sent::Answered(answer) = self.send_create(create, Sending::Again).await? else {
                    return Ok(());
                };
                if let Some(opened) = self.engine.calls.note_end(&scope, Operation::Launch, &answer)
                {
                    self.journal.append(vec![opened]).await?;
                }
                if !seams::settles(&answer) {
                    return Ok(());
                }
                let now = self.engine.clock.latest();
                let outcome = launch_outcome(create, answer, now);
                Ok::<(), RunError>(self.journal.append(outcome.events).await?)
            })
            .buffer_unordered(RESENT_AT_ONCE)
            .try_collect()
            .await
    }

    /// Waits until absence proves something for everything that is still in doubt, and looks.
    pub(crate) async fn wait_and_look(&self) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        let now = self.engine.clock.earliest();
        let left = recorded.in_doubt.values().map(|attempt| settles_in(attempt, now)).max();
        let Some(left) = left else { return Ok(()) };
        tracing::info!(?left, "waiting until the clouds must know what became of our requests");
        self.engine.clock.sleep(left + Duration::from_secs(1)).await;
        self.settle_by_looking().await
    }
}

/// How long until absence proves that a request made nothing.
fn settles_in(attempt: &Attempt, now: Timestamp) -> Duration {
    let age = Duration::try_from(now.duration_since(seams::sent_at(attempt))).unwrap_or_default();
    seams::absence_proves_after().saturating_sub(age)
}

/// Whether every slot of a request is filled. Slots, not machines: a cloud that made one too many may
/// still hide one that was asked for.
fn is_whole(create: &Create, found: &[&Machine]) -> bool {
    let fills = |slot: &SlotId, machine: &Machine| {
        machine.owner.as_ref().is_some_and(|owner| owner.slot == *slot)
    };
    let is_filled = |slot: &&SlotId| found.iter().any(|machine| fills(slot, machine));
    let filled = create.slots.iter().filter(is_filled).count();
    seams::counted_as_filled(filled, found.len()) >= create.slots.len()
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
    if is_whole(create, found) || (settled && !found.is_empty()) {
        let machines = found.iter().map(|machine| (*machine).clone()).collect();
        let created = Created::all(machines);
        launch_outcome(create, Ok(created), observed.taken_at).events
    } else if settled && !leaves(attempt, observed) {
        let code = "NeverHappened".into();
        vec![Event::CreateRefused { token: create.token.clone(), code, no_room: false }]
    } else {
        Vec::new()
    }
}

/// Whether something is there of a launch that made no machine. It is on record until that is cleared
/// away.
fn leaves(attempt: &Attempt, observed: &Observed) -> bool {
    seams::left_of(attempt, observed).is_some()
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

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{
        Create, Digest, Group, Machine, MachineState, Ownership, PoolId, SlotName, digest,
    };

    fn slot(ordinal: u32) -> SlotId {
        SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 }
    }

    fn no_digest() -> Digest {
        digest("test/1", [])
    }

    fn machine(id: &str, create: &Create, slot: SlotId) -> Machine {
        Machine {
            id: id.into(),
            place: create.pool.place.clone(),
            instance_type: create.pool.instance_type.clone(),
            market: create.pool.market,
            state: MachineState::Running,
            launched_at: Timestamp::UNIX_EPOCH,
            price: None,
            owner: Some(Ownership {
                fleet: "uid".into(),
                name: "fleet".into(),
                slot,
                token: create.token.clone(),
                template: no_digest(),
            }),
            notice: None,
            cause: None,
            access: Default::default(),
        }
    }

    /// Two slots are in doubt. The cloud made three machines, and shows two, both for one slot.
    #[test]
    fn one_too_many_does_not_stand_in_for_one_that_is_not_seen_yet() {
        let pool: PoolId =
            "aws/us-east-1/use1-az1/m6i.large/spot".parse().unwrap_or_else(|e| panic!("{e}"));
        let create = Create {
            pool: pool.clone(),
            others: Vec::new(),
            slots: vec![slot(0), slot(1)],
            token: "token".into(),
            price: None,
            max_price: None,
            template: no_digest(),
            image: None,
        };
        let sent = Timestamp::UNIX_EPOCH;
        let attempt = Attempt {
            create: create.clone(),
            labels: 0,
            extras: None,
            intended_at: sent,
            last_sent: sent,
        };
        let look = |seconds: i64, slots: &[(&str, SlotId)]| {
            let taken_at = Timestamp::from_second(seconds).unwrap_or(sent);
            let machines: Vec<Machine> =
                slots.iter().map(|(id, slot)| machine(id, &create, *slot)).collect();
            let observed =
                Observed { complete: [pool.place.scope()].into(), ..Observed::nothing(taken_at) };
            verdict(&attempt, &machines.iter().collect::<Vec<_>>(), &observed).len()
        };
        let twins = [("a", slot(0)), ("b", slot(0))];
        assert_eq!(look(60, &twins), 0, "the second slot may be filled, too");
        assert_eq!(look(60, &[("a", slot(0)), ("b", slot(1))]), 1);
        assert_eq!(look(3600, &twins), 1, "after an hour absence is proof");
        // A request that left half a minute after its record, whose machines are listed five minutes
        // later: swarm seed 70010766.
        assert_eq!(look(329, &[]), 0, "it may be listed yet");
        assert_eq!(look(330, &[]), 1, "it never happened");
    }
}
