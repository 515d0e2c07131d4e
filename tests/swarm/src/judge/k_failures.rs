//! K: machines that fail one after the other rest their group, and spot that is taken back freezes
//! nothing.

use super::{Judge, Look};
use fleet_model::{Create, Hold, MachineId, MachineState, Market, Timestamp};
use std::time::Duration;

/// So many failures in a row rest a group.
const IN_A_ROW: usize = 3;
/// A machine that worked for longer says nothing of launches.
const YOUNG: Duration = Duration::from_secs(2 * 3600);
/// After this time lists show a machine.
const LISTED: Duration = Duration::from_secs(600);
/// A group rests for half an hour after the last failure was seen. Clocks may differ.
const REST: Duration = Duration::from_secs(25 * 60);

impl Judge {
    /// Notes what clouds call failed.
    pub(super) fn note_failures(&mut self) {
        for machine in &self.truth {
            if machine.state == MachineState::Failed {
                self.failed.entry(machine.id.clone()).or_insert(self.now);
            }
        }
    }

    /// How many machines were called failed since a moment.
    pub(crate) fn failed_since(&self, moment: Timestamp) -> u32 {
        self.failed.values().filter(|at| **at > moment).count() as u32
    }

    /// A launch is written down: do machines of this kind work at all? Only failures are judged that
    /// this very process was shown, and that stand there still.
    pub(super) fn check_works(&mut self, process: u32, create: &Create) {
        let Some(facts) = self.processes.get(&process) else { return };
        let Some(group) = create.slots.first().map(|slot| slot.name.group) else { return };
        let since = |at: Timestamp, time: Duration| at.checked_add(time).unwrap_or(Timestamp::MAX);
        let failures = self.ours().filter(|(machine, birth)| {
            let Some(failed) = self.failed.get(&machine.id) else { return false };
            let template = self.book.intents.get(&birth.token).map(|i| i.create.template);
            let shown = facts.looks.get(&machine.place.scope()).is_some_and(Look::is_whole);
            let on_record = self.book.filled.get(&birth.slot.name);
            birth.slot.name.group == group
                && template == Some(create.template)
                && machine.state == MachineState::Failed
                && on_record.is_some_and(|filled| filled.machine == machine.id && !filled.ending)
                && shown
                && *failed < facts.began
                && since(machine.launched_at, YOUNG) > *failed
                && since(machine.launched_at, LISTED) < facts.began
                && since(*failed, REST) > self.now
        });
        let failures = failures.count();
        if failures >= IN_A_ROW && !self.blurred {
            self.fail('K', format!("p{process} launches {group} after {failures} failures"));
        }
    }

    /// A plan freezes the fleet: then machines are missing that nobody can explain. Interrupted spot and
    /// machines that we asked to destroy are explained.
    pub(crate) fn check_frozen(&mut self, process: u32, held: &[Hold]) {
        let missing = held.iter().find_map(|hold| match hold {
            Hold::Frozen { missing, .. } => Some(*missing as usize),
            _ => None,
        });
        let Some(missing) = missing else { return };
        // A process that another one overtook plans with an old journal.
        let facts = self.processes.get(&process);
        if facts.is_none_or(|facts| facts.changes != self.book.changes) {
            return;
        }
        let live = |id: &MachineId| self.truth.iter().any(|m| m.id == *id && m.state.is_live());
        let odd = self.book.filled.values().filter(|filled| {
            let strange = self.touched.contains(&filled.machine);
            let lost = filled.pool.market == Market::OnDemand && !filled.ending;
            strange || lost && !live(&filled.machine)
        });
        if odd.count() < missing {
            self.fail('G', format!("p{process} freezes the fleet and can explain what is gone"));
        }
    }
}
