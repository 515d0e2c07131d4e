//! Changing labels in place.
//!
//! It is written down after it is done: a run that dies in between does it again, which does no harm.

use crate::apply::seams;
use crate::apply::sent::{NotSent, Sent};
use crate::apply::session::Session;
use crate::calls::Patience;
use crate::error::RunError;
use crate::progress::Stop;
use fleet_core::labels_version;
use fleet_model::{Event, Inputs, Labelled, MachineId, Operation, Relabel, Scope, SlotId, digest};
use fleet_provider::{Class, Error, RelabelRequest};
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Requests under way at once.
const AT_ONCE: usize = 16;

/// Machines that one record tells of. Fewer records are faster; what is lost is done again.
const PER_RECORD: usize = 500;

impl Session<'_> {
    /// Changes labels; of how many machines, and what clouds said to the others. Those are tried again
    /// by the next apply: nobody waits for them.
    pub(crate) async fn relabel(
        &self,
        inputs: &Inputs,
        plan: &[Relabel],
        stop: &Stop,
    ) -> Result<(u32, BTreeSet<String>), RunError> {
        let mut requests = Vec::new();
        for one in plan {
            let version = labels_version(inputs, one.scope.cloud);
            let most = one.scope.cloud.facts().machines_per_relabel.unwrap_or(1);
            let some = one.machines.chunks(most as usize);
            requests.extend(some.map(|machines| (one, machines, version)));
        }
        // A missing right or a bad request fails for one machine as for all: one refusal is enough.
        let refused = &Mutex::new(BTreeSet::<&Scope>::new());
        let lock = || refused.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = stream::iter(requests)
            .map(|(one, machines, version)| async move {
                if stop.asked() || !self.lease.is_held() || lock().contains(&one.scope) {
                    return (machines, version, Ok(None));
                }
                let answer = self.relabel_some(one, machines).await;
                if let Err(Error { class: Class::Auth | Class::Invalid, .. }) = &answer {
                    lock().insert(&one.scope);
                }
                (machines, version, answer)
            })
            .buffer_unordered(AT_ONCE);
        let (mut relabelled, mut failed) = (0, BTreeSet::new());
        let mut unwritten: BTreeMap<u32, Vec<SlotId>> = BTreeMap::new();
        while let Some((machines, version, answer)) = answers.next().await {
            match answer {
                // Not asked.
                Ok(None) => {}
                Ok(Some(done)) => {
                    let done: BTreeSet<MachineId> = done.into_iter().collect();
                    let slots = machines.iter().filter(|one| done.contains(&one.machine));
                    let some = unwritten.entry(version).or_default();
                    let before = some.len();
                    some.extend(slots.map(|one| one.slot));
                    relabelled += (some.len() - before) as u32;
                    let lacking = machines.iter().find(|one| !done.contains(&one.machine));
                    failed.extend(
                        lacking.map(|one| format!("{} is not to be found now", one.machine)),
                    );
                }
                Err(error) => {
                    failed.insert(error.to_string());
                }
            }
            if unwritten.values().map(Vec::len).sum::<usize>() >= PER_RECORD {
                self.write_down(std::mem::take(&mut unwritten)).await?;
            }
        }
        self.write_down(unwritten).await?;
        Ok((relabelled, failed))
    }

    async fn write_down(&self, versions: BTreeMap<u32, Vec<SlotId>>) -> Result<(), RunError> {
        let some = versions.into_iter().filter(|(_, slots)| !slots.is_empty());
        let events: Vec<Event> =
            some.map(|(version, slots)| Event::Relabelled { version, slots }).collect();
        if !events.is_empty() {
            self.journal.append(events).await?;
        }
        Ok(())
    }

    /// Changes labels of some machines; `None` if nothing was asked.
    async fn relabel_some(
        &self,
        one: &Relabel,
        machines: &[Labelled],
    ) -> Result<Option<Vec<MachineId>>, Error> {
        if let Some(done) = seams::relabelled_unasked(machines) {
            return Ok(Some(done));
        }
        let (engine, scope) = (self.engine, &one.scope);
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&scope.cloud), self.journal.recorded_uid())
        else {
            return Ok(Some(Vec::new()));
        };
        let (set, remove) = (&one.set, &one.remove);
        let name = &self.desired.fleet;
        let request = RelabelRequest { fleet: &fleet, name, scope, set, remove, machines };
        let seed = digest("relabel/1", machines.iter().map(|one| one.machine.as_str().as_bytes()));
        let answer = engine
            .calls
            .retrying(seed.as_u64(), Patience::Change, || async {
                engine.calls.limits.turn(scope, Operation::End).await;
                if !self.lease.is_held() {
                    return Ok(Err(NotSent::LeaseLost));
                }
                let asked = provider.relabel(&request);
                let answer = engine.calls.measured.cloud(scope.cloud, "relabel", asked).await;
                engine.calls.paced(scope, Operation::End, answer).map(Ok)
            })
            .await;
        match Sent::of(answer) {
            Sent::Answered(answer) => answer.map(Some),
            Sent::Not(_) => Ok(None),
        }
    }
}
