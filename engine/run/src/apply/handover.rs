//! Machines that change hands while they run.
//!
//! To take one in, the journal says so first and its tags second; to let one go, the tags go first and the
//! journal says so second. In between, journal and tags disagree: then nothing is done to it, and the same
//! command ends what was begun.

use crate::apply::session::Session;
use crate::calls::Patience;
use crate::engine::Engine;
use crate::error::RunError;
use fleet_core::Adoption;
use fleet_model::{
    Cloud, Event, Labelled, Machine, MachineId, Operation, ReleasedMachine, Scope, digest,
};
use fleet_provider::{
    Class, DisownRequest, Error, NO_HANDOVER, OwnRequest, Owned, Provider, TagFilter, no_handover,
};
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Scopes asked at once.
const AT_ONCE: usize = 32;

/// Machines whose tags were changed, and others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Those that carry what they should.
    pub done: BTreeSet<MachineId>,
    /// Those on clouds that cannot change tags, and why.
    pub stuck: BTreeMap<MachineId, String>,
    /// Those that were refused, and why: they are as they were.
    pub refused: BTreeMap<MachineId, String>,
    /// Those of which nobody knows, and why.
    pub unknown: BTreeMap<MachineId, String>,
}

impl Changed {
    pub(super) fn extend(&mut self, more: Changed) {
        self.done.extend(more.done);
        self.stuck.extend(more.stuck);
        self.refused.extend(more.refused);
        self.unknown.extend(more.unknown);
    }
}

/// Some of a scope's machines and what a cloud said to the question.
pub type Unowned = (Scope, Result<Vec<Machine>, Error>);

/// What stands in each scope.
pub(super) fn by_scope<T>(all: impl Iterator<Item = (Scope, T)>) -> BTreeMap<Scope, Vec<T>> {
    let mut scopes: BTreeMap<Scope, Vec<T>> = BTreeMap::new();
    all.for_each(|(scope, one)| scopes.entry(scope).or_default().push(one));
    scopes
}

/// Machines of a scope whose tags one request changes.
pub(super) fn at_once(scope: &Scope) -> usize {
    scope.cloud.facts().machines_per_relabel.unwrap_or(1) as usize
}

/// A machine whose tags are to change.
pub(super) trait Named: Sync {
    fn id(&self) -> &MachineId;
}

impl Named for Labelled {
    fn id(&self) -> &MachineId {
        &self.machine
    }
}

impl Named for Owned {
    fn id(&self) -> &MachineId {
        &self.machine
    }
}

impl Engine {
    /// Machines that carry a tag and are nobody's. Every scope says for itself what it has.
    pub async fn unowned(&self, scopes: &BTreeSet<Scope>, tag: &TagFilter) -> Vec<Unowned> {
        let asked = stream::iter(scopes.iter().cloned()).map(|scope| async move {
            let seed = digest("unowned/1", [scope.to_string().as_bytes()]).as_u64();
            let answer = self
                .calls
                .retrying(seed, Patience::Look, || async {
                    let provider = self.provider_of(&scope)?;
                    let handover = provider.handover()?;
                    self.calls.limits.turn(&scope, Operation::Look).await;
                    let asked = handover.unowned(&scope, tag);
                    let answer = self.calls.measured.cloud(scope.cloud, "unowned", asked).await;
                    self.calls.paced(&scope, Operation::Look, answer)
                })
                .await;
            (scope, answer)
        });
        asked.buffered(AT_ONCE).collect().await
    }

    pub(super) fn provider_of(&self, scope: &Scope) -> Result<&Arc<dyn Provider>, Error> {
        let none = || no_handover(scope.cloud, "no provider is configured");
        self.providers.get(&scope.cloud).ok_or_else(none)
    }

    /// Changes tags of machines in a scope, so many at a time.
    pub(super) async fn hand_over<T: Named>(
        &self,
        scope: &Scope,
        (machines, most): (&[T], usize),
        held: &(dyn Fn() -> bool + Sync),
        ask: impl AsyncFn(&[T], &Scope) -> Result<Vec<MachineId>, Error>,
    ) -> Changed {
        let mut changed = Changed::default();
        for some in machines.chunks(most.max(1)) {
            let seed = digest("handover/1", some.iter().map(|one| one.id().as_str().as_bytes()));
            let answer = self
                .calls
                .retrying(seed.as_u64(), Patience::Change, || async {
                    self.calls.limits.turn(scope, Operation::End).await;
                    if !held() {
                        let words = "another run took over; nothing was sent";
                        return Err(Error::new(scope.cloud, Class::Invalid, "LeaseLost", words));
                    }
                    let asked = ask(some, scope);
                    let answer = self.calls.measured.cloud(scope.cloud, "handover", asked).await;
                    self.calls.paced(scope, Operation::End, answer)
                })
                .await;
            let ids = some.iter().map(|one| one.id().clone());
            match answer {
                Ok(done) => {
                    let done: BTreeSet<MachineId> = done.into_iter().collect();
                    let lacking = ids.filter(|id| !done.contains(id));
                    let words = "it is not there, or not what it was taken for";
                    changed.refused.extend(lacking.map(|id| (id, words.to_owned())));
                    changed.done.extend(done);
                }
                Err(error) if error.code == NO_HANDOVER => {
                    changed.stuck.extend(ids.map(|id| (id, error.message.clone())));
                }
                Err(error) => {
                    let words = ids.map(|id| (id, error.to_string()));
                    // A request that was sent may have been heard, whatever came back.
                    match error.class {
                        Class::Auth | Class::Invalid | Class::Refused { .. } => {
                            changed.refused.extend(words);
                        }
                        Class::Retry { .. }
                        | Class::Capacity { .. }
                        | Class::Quota { .. }
                        | Class::Unknown
                        | Class::Freeze => changed.unknown.extend(words),
                    }
                }
            }
        }
        changed
    }
}

impl Session<'_> {
    /// Lets machines go. Where a cloud cannot take our tags off, the journal alone says so.
    pub async fn let_go(
        &self,
        holder: &str,
        machines: Vec<(Scope, Labelled)>,
    ) -> Result<Changed, RunError> {
        self.open_epoch(holder).await?;
        let mut all = Changed::default();
        let Some(fleet) = self.journal.recorded_uid() else { return Ok(all) };
        let (engine, held) = (self.engine, || self.lease.is_held());
        for (scope, machines) in by_scope(machines.into_iter()) {
            let ask = async |some: &[Labelled], scope: &Scope| {
                let request = DisownRequest { fleet: &fleet, scope, machines: some };
                engine.provider_of(scope)?.handover()?.disown(&request).await
            };
            let changed = engine.hand_over(&scope, (&machines, at_once(&scope)), &held, ask).await;
            let gone = |one: &&Labelled| {
                changed.done.contains(&one.machine) || changed.stuck.contains_key(&one.machine)
            };
            let released: Vec<ReleasedMachine> = machines
                .iter()
                .filter(gone)
                .map(|one| ReleasedMachine { slot: one.slot.name, machine: one.machine.clone() })
                .collect();
            if !released.is_empty() {
                self.record(vec![Event::Released { machines: released }]).await?;
            }
            all.extend(changed);
        }
        Ok(all)
    }

    /// Takes machines in. One whose tags a cloud refuses to write is let go again; one of which nobody knows
    /// is taken in by the next run.
    pub async fn take_in(&self, holder: &str, adoption: &Adoption) -> Result<Changed, RunError> {
        self.open_epoch(holder).await?;
        self.record(adoption.events.clone()).await?;
        let (engine, held) = (self.engine, || self.lease.is_held());
        let mut all = Changed::default();
        let owned = adoption.machines.iter().map(|one| {
            let machine = one.machine.machine.clone();
            (one.scope.clone(), Owned { machine, owner: one.owner.clone() })
        });
        for (scope, machines) in by_scope(owned) {
            let labels = self.desired.labels_on(scope.cloud);
            let ask = async |some: &[Owned], scope: &Scope| {
                let request = OwnRequest { scope, labels: &labels, machines: some };
                engine.provider_of(scope)?.handover()?.own(&request).await
            };
            // Each has tags of its own.
            all.extend(engine.hand_over(&scope, (&machines, 1), &held, ask).await);
        }
        let refused = |id: &MachineId| all.refused.contains_key(id) || all.stuck.contains_key(id);
        let released: Vec<ReleasedMachine> = adoption
            .machines
            .iter()
            .filter(|one| refused(&one.machine.machine))
            .map(|one| ReleasedMachine {
                slot: one.machine.slot.name,
                machine: one.machine.machine.clone(),
            })
            .collect();
        if !released.is_empty() && held() {
            self.record(vec![Event::Released { machines: released }]).await?;
        }
        Ok(all)
    }
}

impl Engine {
    /// Why machines of a cloud cannot change hands; `None` if they can.
    pub fn cannot_hand_over(&self, cloud: Cloud) -> Option<String> {
        let provider = self.providers.get(&cloud)?;
        provider.handover().err().map(|error| error.message)
    }
}
