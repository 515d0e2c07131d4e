//! Looking for machines that nobody accounts for. Reads only.

use crate::engine::Engine;
use crate::error::RunError;
use crate::observe::Looker;
use crate::state::Journal;
use fleet_model::{
    FleetUid, Gap, Machine, MachineId, OnRecord, Place, Recorded, Scope, SlotId, Token,
};
use std::collections::{BTreeMap, BTreeSet};

/// A machine with tags of ours that no journal here knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The machine.
    pub machine: Machine,
    /// Why nobody accounts for it.
    pub stray: Stray,
}

/// Why nobody accounts for a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stray {
    /// No journal here is of its fleet.
    UnknownFleet,
    /// The journal of its fleet does not know it.
    NotRecorded,
    /// A launch made one too many.
    Surplus,
    /// Its tags are those of another machine, which the journal knows: somebody launched one like it.
    CopyOf(MachineId),
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
    /// Live machines with tags of ours.
    pub seen: usize,
}

/// What the journals here know.
#[derive(Default)]
struct Journals {
    fleets: BTreeSet<FleetUid>,
    machines: BTreeSet<MachineId>,
    surplus: BTreeSet<MachineId>,
    released: BTreeSet<MachineId>,
    doubtful: BTreeSet<Token>,
    /// Who fills each slot.
    fills: BTreeMap<(FleetUid, SlotId), MachineId>,
}

impl Journals {
    fn add(&mut self, recorded: Recorded) {
        let Some(uid) = recorded.uid.clone() else { return };
        for OnRecord { slot, machine, .. } in recorded.machines() {
            self.machines.insert(machine.clone());
            self.fills.insert((uid.clone(), slot), machine.clone());
        }
        self.surplus.extend(recorded.surplus);
        self.released.extend(recorded.released);
        self.doubtful.extend(recorded.in_doubt.into_keys());
        self.fleets.insert(uid);
    }

    /// Why nobody accounts for a machine; `None` if somebody does, or may.
    fn stray(&self, machine: &Machine) -> Option<Stray> {
        let owner = machine.owner.as_ref()?;
        let known = self.machines.contains(&machine.id) || self.released.contains(&machine.id);
        if known || self.doubtful.contains(&owner.token) {
            return None;
        }
        if self.surplus.contains(&machine.id) {
            return Some(Stray::Surplus);
        }
        let original = self.fills.get(&(owner.fleet.clone(), owner.slot));
        Some(match original {
            Some(original) => Stray::CopyOf(original.clone()),
            None if self.fleets.contains(&owner.fleet) => Stray::NotRecorded,
            None => Stray::UnknownFleet,
        })
    }
}

impl Engine {
    /// Asks every region of every configured cloud. The clouds are read first and the journals
    /// second, so that a launch in between is not taken for an orphan; a second look confirms.
    pub async fn sweep(&self) -> Result<Sweep, RunError> {
        let here = |place: &&Place| self.providers.contains_key(&place.cloud);
        let scopes: BTreeSet<Scope> =
            self.catalog.places.iter().filter(here).map(Place::scope).collect();
        let nothing = Recorded::default();
        let looker = |scopes| Looker { fleet: None, scopes, recorded: &nothing };
        let first = self.observe(looker(scopes.clone())).await;
        let mut journals = Journals::default();
        for fleet in self.fleets().await? {
            let journal = Journal::open(&self.store, &fleet, self.clock.clone()).await?;
            journals.add(journal.recorded().await);
        }
        let second = self.observe(looker(scopes)).await;
        let twice = second.machines.values().filter(|m| first.machines.contains_key(&m.id));
        let stray = |machine: &Machine| {
            let stray = journals.stray(machine)?;
            Some(Orphan { machine: machine.clone(), stray })
        };
        Ok(Sweep {
            orphans: twice.filter(|m| m.state.is_live()).filter_map(stray).collect(),
            scopes: second.complete.len(),
            seen: second.machines.values().filter(|m| m.state.is_live()).count(),
            gaps: second.gaps,
        })
    }
}
