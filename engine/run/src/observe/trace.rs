//! Asking for machines one by one that complete lists lack.

use crate::calls::Patience;
use crate::engine::Engine;
use crate::observe::look::gap;
use fleet_model::{
    FleetUid, Gap, GapCause, MachineId, Observed, Operation, Recorded, SETTLE_WINDOW, Scope,
    SlotId, SlotState,
};
use fleet_provider::{Error, Missing, TraceRequest, Traced};
use futures::{StreamExt, stream};
use std::collections::BTreeMap;

/// Scopes asked at once.
const ASKED_AT_ONCE: usize = 32;

/// Machines that a list lacks, and what became of them.
type Trace = (Scope, Vec<Missing>, Result<Vec<Traced>, Error>);

impl Engine {
    /// Asks for machines of the journal that complete lists lack.
    pub(super) async fn trace_missing(&self, observed: &mut Observed, recorded: &Recorded) {
        let Some(fleet) = &recorded.uid else { return };
        let mut missing: BTreeMap<Scope, Vec<Missing>> = BTreeMap::new();
        for (&name, record) in &recorded.slots {
            let SlotState::Filled { machine, pool, launched_at, .. } = &record.state else {
                continue;
            };
            let scope = pool.place.scope();
            if !observed.complete.contains(&scope) || observed.machines.contains_key(machine) {
                continue;
            }
            let slot = SlotId { name, generation: record.generation };
            missing.entry(scope).or_default().push(Missing {
                machine: machine.clone(),
                slot,
                pool: pool.clone(),
                launched_at: *launched_at,
            });
        }
        let traces: Vec<Trace> = stream::iter(missing)
            .map(|(scope, missing)| async move {
                let answer = self.trace(fleet, &scope, &missing).await;
                (scope, missing, answer)
            })
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        for (scope, missing, answer) in traces {
            let taken = match take_traces(observed, fleet, &scope, &missing, answer) {
                Ok(0) => Ok(()),
                Ok(_) => self.look_at_remains(observed, &scope).await,
                Err(gap) => Err(gap),
            };
            if let Err(gap) = taken {
                observed.complete.remove(&scope);
                observed.machines.retain(|_, machine| machine.place.scope() != scope);
                observed.gaps.push(gap);
            }
        }
    }

    /// What machines left that went after the scope was asked for disks, and before they were asked for
    /// by id: their disks were in use when they were listed.
    async fn look_at_remains(&self, observed: &mut Observed, scope: &Scope) -> Result<(), Gap> {
        let Some(provider) = self.providers.get(&scope.cloud) else { return Ok(()) };
        if !scope.cloud.leaves_children() {
            return Ok(());
        }
        let seed = fleet_model::digest("remains/1", [scope.to_string().as_bytes()]).as_u64();
        let orphans = self
            .calls
            .retrying(seed, Patience::Look, || async {
                self.calls.limits.turn(scope, Operation::Look).await;
                let asked = provider.orphans(scope);
                let orphans = self.calls.measured.cloud(scope.cloud, "orphans", asked).await;
                self.calls.paced(scope, Operation::Look, orphans)
            })
            .await
            .map_err(|error| gap(scope, &error))?;
        observed.orphans.extend(orphans.into_iter().map(|left| (left.machine.clone(), left)));
        Ok(())
    }

    async fn trace(
        &self,
        fleet: &FleetUid,
        scope: &Scope,
        missing: &[Missing],
    ) -> Result<Vec<Traced>, Error> {
        let Some(provider) = self.providers.get(&scope.cloud) else {
            return Ok(vec![Traced::Unknown; missing.len()]);
        };
        let seed = fleet_model::digest("trace/1", [scope.to_string().as_bytes()]).as_u64();
        let request = TraceRequest { fleet, scope, missing };
        self.calls
            .retrying(seed, Patience::Look, || async {
                self.calls.limits.turn(scope, Operation::Look).await;
                let asked = provider.trace(&request);
                let traced = self.calls.measured.cloud(scope.cloud, "trace", asked).await;
                self.calls.paced(scope, Operation::Look, traced)
            })
            .await
    }
}

/// Notes what became of machines that a list lacks, and says how many are gone. A gap if that shows
/// that the list is wrong, or if nobody can say.
fn take_traces(
    observed: &mut Observed,
    fleet: &FleetUid,
    scope: &Scope,
    missing: &[Missing],
    answer: Result<Vec<Traced>, Error>,
) -> Result<usize, Gap> {
    let traced = answer.map_err(|error| gap(scope, &error))?;
    let gap = |cause, detail: String| Gap { scope: scope.clone(), cause, detail };
    let mut hidden: Vec<&MachineId> = Vec::new();
    let mut gone = 0;
    for (missing, traced) in missing.iter().zip(traced) {
        let age = observed.taken_at.duration_since(missing.launched_at);
        let young = age < jiff::SignedDuration::try_from(SETTLE_WINDOW).unwrap_or_default();
        match traced {
            Traced::Gone(cause) => {
                gone += 1;
                observed.gone.insert(missing.machine.clone(), cause);
            }
            Traced::There(machine) => {
                // One without our tags is rightly missing from a list by tags.
                let ours = machine.owner.as_ref().is_some_and(|owner| owner.fleet == *fleet);
                if !young && ours {
                    hidden.push(&missing.machine);
                }
                observed.machines.insert(machine.id.clone(), *machine);
            }
            Traced::Unknown if young => {}
            Traced::Unknown => {
                let words = format!("nobody can say what became of {}", missing.machine);
                return Err(gap(GapCause::PartialList, words));
            }
        }
    }
    // A list that lacks machines which are there may hide others, which nobody knows to ask for.
    match hidden.first() {
        None => Ok(gone),
        Some(first) => {
            let words = match hidden.len() {
                1 => format!("its list lacks {first}, which is there"),
                n => format!("its list lacks {n} machines that are there, {first} among them"),
            };
            Err(gap(GapCause::ListWrong, words))
        }
    }
}
