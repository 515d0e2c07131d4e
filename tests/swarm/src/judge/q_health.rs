//! Q: checks that fail everywhere replace nothing.

use super::q_rollouts::template;
use super::{Facts, Judge, Look};
use fleet_model::{Desired, Event, MachineId, MachineState, SlotId, Spread, Timestamp, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Clocks of two processes differ by no more than this, in seconds.
const SKEW: i64 = 60;

/// What the journal says of how machines are, in the judge's own words.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Machines that were ready once.
    ready: BTreeSet<MachineId>,
    /// Machines whose checks fail, and when that was written down, truly.
    failing: BTreeMap<MachineId, Timestamp>,
    /// Machines that a person wants replaced.
    asked: BTreeSet<MachineId>,
    /// Who launched a machine.
    made_by: BTreeMap<MachineId, u32>,
}

impl Judge {
    /// Notes an event before it is in the book.
    pub(super) fn note_health(&mut self, process: u32, event: &Event) {
        let of = |slots: &[SlotId]| -> Vec<MachineId> {
            let filled = slots.iter().filter_map(|slot| self.book.filled.get(&slot.name));
            filled.map(|filled| filled.machine.clone()).collect()
        };
        match event {
            Event::HealthSeen { news } => {
                let (ready, failing) = (of(&news.ready), of(&news.failing));
                for machine in ready {
                    self.health.failing.remove(&machine);
                    self.health.ready.insert(machine);
                }
                for machine in failing {
                    self.health.failing.entry(machine).or_insert(self.now);
                }
            }
            Event::ReplaceAsked { slots } => self.health.asked.extend(of(slots)),
            Event::Created { machines, .. } => {
                let made = machines.iter().map(|new| (new.machine.clone(), process));
                self.health.made_by.extend(made);
            }
            _ => {}
        }
    }

    /// Whether a process must have taken a machine for unhealthy when it looked.
    fn is_sick(&self, facts: &Facts, machine: &MachineId) -> bool {
        // One that never was ready has its time to become so.
        let since =
            self.health.failing.get(machine).filter(|_| self.health.ready.contains(machine));
        let long = i64::from(facts.desired.health.unhealthy_after_seconds) + SKEW;
        let lasts = |since: &Timestamp| facts.looked_from.duration_since(*since).as_secs() > long;
        let seen = self.truth.iter().any(|one| {
            let up = one.id == *machine && one.state == MachineState::Running;
            up && one.notice.is_none()
                && facts.looks.get(&one.place.scope()).is_some_and(Look::is_whole)
        });
        since.is_some_and(lasts)
            && seen
            && self.rollouts.failing.contains_key(machine)
            && !self.touched.contains(machine)
    }

    /// Machines that work are not ended because checks of many fail.
    pub(super) fn check_sick(&mut self, process: u32, slots: &[SlotId]) {
        let Some(facts) = self.processes.get(&process) else { return };
        if self.blurred || facts.limits.destroy_all || !is_plain(&facts.desired) {
            return;
        }
        let (desired, goal) = (&facts.desired, self.goals(facts).least);
        let live: Vec<_> = self.book.filled.values().filter(|filled| !filled.ending).collect();
        let sick = live.iter().filter(|filled| self.is_sick(facts, &filled.machine)).count();
        // Three that fail rest their group, which hides what would be done about them. The promise is one in
        // five: launches in doubt may stand beside what is live.
        if sick < 2 || sick * 3 < live.len() {
            return;
        }
        let wronged = slots.iter().find(|slot| {
            let Some(filled) = self.book.filled.get(&slot.name) else { return false };
            let machine = &filled.machine;
            let cloud = filled.pool.place.cloud;
            let new = self.rollouts.made_from.get(machine) == Some(&template(desired, cloud));
            // What this process launched in the place of others makes none of them too many.
            let others = self.book.filled.iter().filter(|(name, filled)| {
                let own = self.health.made_by.get(&filled.machine) == Some(&process);
                name.group == slot.name.group && !own
            });
            let plenty = others.count() as u64 > goal.of(slot.name.group).0 / 1000;
            let meant = self.rollouts.wave.contains(slot) || self.health.asked.contains(machine);
            new && !plenty && !meant && self.is_sick(facts, machine)
        });
        if let Some(slot) = wronged {
            let of = live.len();
            self.fail('Q', format!("{slot} ends while checks of {sick} of {of} machines fail"));
        }
    }
}

/// Whether nothing in a spec but its size is a reason to end a machine that works.
fn is_plain(desired: &Desired) -> bool {
    desired.budget.hourly.is_none()
        && desired.fallback.is_none()
        && desired.placement.together.is_none()
        && desired.placement.spread == Spread::default()
        && desired.placement.clouds.iter().all(|rule| rule.regions.is_empty())
        && desired.capacity.unit == Unit::Instances
}
