//! D: a record goes only when its machine is gone, and every machine of ours is on record.
//! E: in a scope that did not answer in full nothing is launched, ended or forgotten.

use super::{Judge, Look};
use fleet_model::{Departure, Desired, MachineId, Scope, Vacated};
use fleet_provider::{Error, Listing};
use std::collections::BTreeSet;

impl Judge {
    /// What a scope answered to a process.
    pub(crate) fn told(&mut self, process: u32, scope: &Scope, answer: &Result<Listing, Error>) {
        let complete = matches!(answer, Ok(Listing::Complete(_)));
        self.counts_answer(process, scope, answer);
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.looks.insert(scope.clone(), Look { complete, children: true });
        }
    }

    /// What a scope answered when it was asked for disks and interfaces, as part of the same look.
    pub(crate) fn told_of_children(&mut self, process: u32, scope: &Scope, failed: Option<&Error>) {
        if let Some(error) = failed {
            self.counts_answer(process, scope, &Err(error.clone()));
        }
        let facts = self.processes.get_mut(&process);
        if let Some(look) = facts.and_then(|facts| facts.looks.get_mut(scope)) {
            look.children = failed.is_none();
        }
    }

    pub(super) fn check_complete(&mut self, process: u32, scope: &Scope, does: &str) {
        let Some(facts) = self.processes.get(&process) else { return };
        if !facts.looks.get(scope).is_some_and(Look::is_whole) {
            self.fail('E', format!("p{process} {does} {scope}, which did not answer in full"));
        }
    }

    /// Slots are written down as free.
    pub(super) fn check_forgets(&mut self, process: u32, gone: &[Vacated]) {
        for vacated in gone {
            let live = self.ours().find(|(machine, _)| machine.id == vacated.machine);
            if live.is_some() {
                self.fail(
                    'D',
                    format!("{} is forgotten ({:?}) and lives", vacated.machine, vacated.how),
                );
            }
            let pool = self.book.filled.get(&vacated.slot).map(|filled| filled.pool.place.scope());
            // A machine that was seen to have ended is no guess, whatever else is missing.
            if let Some(scope) = pool.filter(|_| vacated.how != Departure::Terminated) {
                self.check_complete(process, &scope, "forgets a machine in");
            }
        }
        self.check_freeze(process, gone);
    }

    /// When all is calm: machines that neither the journal nor a report knows.
    pub(crate) fn check_orphans(&mut self, reported: &BTreeSet<MachineId>) {
        let on_record: BTreeSet<&MachineId> =
            self.book.filled.values().map(|filled| &filled.machine).collect();
        let lost = self.ours().filter(|(machine, birth)| {
            let on_record =
                on_record.contains(&machine.id) || self.book.surplus.contains(&machine.id);
            // What a cloud made beyond our wishes may have shown up after its launch was settled.
            let is_reported = birth.surplus && reported.contains(&machine.id);
            !on_record && !is_reported
        });
        let lost: Vec<String> = lost.map(|(machine, _)| machine.id.to_string()).collect();
        if !lost.is_empty() {
            self.fail('D', format!("nobody keeps track of {}", lost.join(", ")));
        }
    }

    /// Whether there is less than was asked for.
    pub(crate) fn is_short(&self, wish: &Desired) -> bool {
        self.held(wish) < wish.capacity.target
    }

    /// When all is calm and nothing is left to do: there is as much as was asked for.
    pub(crate) fn check_enough(&mut self, wish: &Desired) {
        if self.is_short(wish) {
            let (held, target) = (self.held(wish), wish.capacity.target);
            self.fail('O', format!("at rest with {held} of {target}"));
        }
    }
}
