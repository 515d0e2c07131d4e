//! F: only machines that journal and tags agree on are ended.
//! G: no apply ends more than it may, and many losses at once freeze the fleet.

use super::Judge;
use fleet_model::{Departure, Machine, SlotId, Vacated, Victim};
use fleet_provider::DestroyRequest;

impl Judge {
    /// Ends are written down.
    pub(super) fn check_known_victims(&mut self, slots: &[SlotId]) {
        for slot in slots {
            if !self.book.filled.contains_key(&slot.name) {
                self.fail('F', format!("{slot} is to be ended, and nothing is on record there"));
            }
        }
    }

    /// Ends are sent.
    pub(crate) fn sends_destroy(&mut self, process: u32, request: &DestroyRequest<'_>) {
        self.counts_call(process);
        for victim in request.victims {
            let on_record = self.book.filled.get(&victim.slot.name);
            let meant = on_record.is_some_and(|f| f.machine == victim.machine && f.ending);
            if !meant {
                let what = format!("p{process} ends {} without a record of it", victim.machine);
                self.fail('F', what);
            }
        }
        self.check_holder(process);
    }

    /// A cloud has ended machines, which were so before.
    pub(crate) fn ended(&mut self, process: u32, fallen: &[Machine], victims: &[Victim]) {
        for machine in fallen {
            let id = &machine.id;
            if !self.births.contains_key(id) {
                self.fail('F', format!("{id} was not launched by us, and is ended"));
                continue;
            }
            if self.touched.contains(id) {
                self.fail('F', format!("{id} carries tags of others, and is ended"));
            }
            if !victims.iter().any(|victim| victim.machine == *id) {
                self.fail('F', format!("{id} is ended, and nobody asked for it"));
            }
            if let Some(facts) = self.processes.get_mut(&process) {
                facts.ended.insert(id.clone());
            }
        }
        let allowed = self.allowance(process);
        // A change of template has limits of its own, unless there is no spec that could change.
        let replaced = &self.rollouts.replaced;
        let counts = |facts: &super::Facts| match facts.prunes {
            Some(_) => facts.ended.len() as u32,
            None => facts.ended.difference(replaced).count() as u32,
        };
        let ended = self.processes.get(&process).map_or(0, counts);
        if ended > allowed {
            self.fail('G', format!("p{process} ended {ended} machines and may end {allowed}"));
        }
    }

    /// How many machines a process may end.
    pub(super) fn allowance(&self, process: u32) -> u32 {
        let Some(facts) = self.processes.get(&process) else { return 0 };
        let usual = (facts.most_live / 10).max(1);
        // Of a fleet that is over, nothing is to stay.
        let end = facts.desired.expires.filter(|_| facts.prunes.is_none());
        if end.is_some_and(|end| end <= self.now) {
            return u32::MAX;
        }
        // A target that the user lowered is the user's own word for half of the fleet, and the clock's for
        // all of it. A spec that is gone is no such word.
        let by_clock = !facts.desired.schedule.is_empty() || facts.desired.expires.is_some();
        let asked = match (facts.lowered, facts.prunes) {
            (false, _) | (_, Some(_)) => 0,
            (true, None) if by_clock => facts.most_live,
            (true, None) => facts.most_live / 2,
        };
        // And a budget that is used up is so for half of the fleet.
        let shed = match facts.desired.budget.has_caps() {
            true => (facts.most_live / 2).max(1),
            false => 0,
        };
        facts.limits.allow_destroy.unwrap_or(0).max(usual + asked + shed)
    }

    /// Machines that vanished are forgotten. Those who left a disk stay on record for now: whoever gave
    /// nine up gave eight up, too.
    pub(super) fn check_freeze(&mut self, process: u32, gone: &[Vacated]) {
        let vanished = gone.iter().filter(|v| v.how == Departure::Vanished).count() as u32;
        let live = self.book.live();
        let accepted = self.processes.get(&process).and_then(|facts| facts.limits.accept_loss);
        let given_up = accepted.is_some_and(|accepted| accepted >= vanished);
        if vanished > 3 && vanished * 10 > live * 3 && !given_up {
            let what = format!("{vanished} of {live} machines vanished, and p{process} goes on");
            self.fail('G', what);
        }
    }
}
