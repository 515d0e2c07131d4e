//! What may never happen, and how fast notices are met: seen from the clouds' side.

use fleet_model::{FleetName, Machine, MachineId, MachineState, SlotId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A notice that no launch answered for so long found no capacity, or the fleet had enough.
const UNANSWERED: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Judge {
    known: BTreeSet<MachineId>,
    /// Machines with a notice, when it was first seen.
    noticed: BTreeSet<MachineId>,
    waiting: BTreeMap<FleetName, Vec<Instant>>,
    /// From notice to launch, in milliseconds.
    pub(crate) answered: Vec<u64>,
    pub(crate) unanswered: u64,
    /// Two machines that live in one slot.
    pub(crate) doubled: BTreeSet<(FleetName, SlotId)>,
    pub(crate) launches: u64,
}

fn lives(machine: &Machine) -> bool {
    matches!(machine.state, MachineState::Pending | MachineState::Running)
}

/// The value that so many per cent of all do not exceed. Of nothing there is none.
pub(crate) fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let mut all = values.to_vec();
    all.sort_unstable();
    let at = (all.len() * percent).div_ceil(100).checked_sub(1)?;
    all.get(at).copied()
}

impl Judge {
    pub(crate) fn look(&mut self, machines: &[Machine], now: Instant) {
        let mut slots: BTreeSet<(&FleetName, SlotId)> = BTreeSet::new();
        for machine in machines {
            let Some(owner) = &machine.owner else { continue };
            if lives(machine) && !slots.insert((&owner.name, owner.slot)) {
                self.doubled.insert((owner.name.clone(), owner.slot));
            }
            if self.known.insert(machine.id.clone()) {
                self.launches += 1;
                let waiting = self.waiting.entry(owner.name.clone()).or_default();
                if !waiting.is_empty() {
                    let since = waiting.remove(0);
                    self.answered
                        .push(u64::try_from((now - since).as_millis()).unwrap_or(u64::MAX));
                }
            }
            if machine.notice.is_some() && lives(machine) && self.noticed.insert(machine.id.clone())
            {
                self.waiting.entry(owner.name.clone()).or_default().push(now);
            }
        }
        for waiting in self.waiting.values_mut() {
            let before = waiting.len();
            waiting.retain(|since| now - *since < UNANSWERED);
            self.unanswered += (before - waiting.len()) as u64;
        }
    }

    /// A percentile of the time from notice to launch, in milliseconds.
    pub(crate) fn answered_within(&self, percent: usize) -> Option<u64> {
        percentile(&self.answered, percent)
    }

    /// Live machines by fleet.
    pub(crate) fn living(machines: &[Machine]) -> BTreeMap<FleetName, BTreeSet<MachineId>> {
        let mut living: BTreeMap<FleetName, BTreeSet<MachineId>> = BTreeMap::new();
        for machine in machines.iter().filter(|machine| lives(machine)) {
            if let Some(owner) = &machine.owner {
                living.entry(owner.name.clone()).or_default().insert(machine.id.clone());
            }
        }
        living
    }
}
