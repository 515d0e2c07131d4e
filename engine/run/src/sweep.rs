//! Looking for machines that nobody accounts for. Reads only.

use crate::engine::Engine;
use crate::error::RunError;
use crate::journal::Journal;
use fleet_model::{Gap, Machine, MachineId, Place, Recorded, Scope, SlotState};
use std::collections::{BTreeMap, BTreeSet};

/// A machine with tags of ours that no journal here knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The machine.
    pub machine: Machine,
}

/// What a sweep found.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// Machines that nobody accounts for.
    pub orphans: Vec<Orphan>,
    /// Scopes that did not answer: orphans may hide there.
    pub gaps: Vec<Gap>,
    /// Scopes that answered.
    pub scopes: usize,
    /// Machines with tags of ours.
    pub seen: usize,
}

impl Engine {
    /// Asks every region of every configured cloud. The clouds are read first and the journals
    /// second, so that a launch in between is not taken for an orphan; a second look confirms.
    pub async fn sweep(&self) -> Result<Sweep, RunError> {
        let here = |place: &&Place| self.providers.contains_key(&place.cloud);
        let scopes: BTreeSet<Scope> =
            self.catalog.places.iter().filter(here).map(Place::scope).collect();
        let nothing = Recorded::default();
        let first = self.observe(scopes.clone(), &nothing).await;
        let mut known: BTreeSet<MachineId> = BTreeSet::new();
        let mut doubtful = BTreeSet::new();
        for fleet in self.fleets().await? {
            let journal = Journal::open(&self.store, &fleet, self.clock.clone()).await?;
            let recorded = journal.recorded().await;
            known.extend(recorded.slots.into_values().filter_map(|slot| match slot.state {
                SlotState::Filled { machine, .. } => Some(machine),
                SlotState::Vacant | SlotState::InDoubt { .. } => None,
            }));
            doubtful.extend(recorded.in_doubt.into_keys());
        }
        let second = self.observe(scopes, &nothing).await;
        let suspects: BTreeMap<&MachineId, &Machine> = second
            .machines
            .iter()
            .filter(|(id, machine)| {
                let owner = machine.owner.as_ref();
                let in_doubt = owner.is_some_and(|owner| doubtful.contains(&owner.token));
                machine.state.is_live()
                    && owner.is_some()
                    && !in_doubt
                    && !known.contains(*id)
                    && first.machines.contains_key(*id)
            })
            .collect();
        Ok(Sweep {
            orphans: suspects.values().map(|m| Orphan { machine: (*m).clone() }).collect(),
            scopes: second.complete.len(),
            seen: second.machines.len(),
            gaps: second.gaps,
        })
    }
}
