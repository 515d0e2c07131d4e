//! M: a machine is forgotten, and a launch written off, only when nothing of it is left; what is left
//! is cleared away, and never under a machine that lives.

use super::Judge;
use crate::bench::short;
use fleet_model::{Token, Vacated};
use fleet_provider::ClearRequest;

impl Judge {
    /// Slots are written down as free.
    pub(super) fn check_buries(&mut self, gone: &[Vacated]) {
        for vacated in gone {
            if self.orphans.iter().any(|left| left.machine == vacated.machine) {
                self.fail('M', format!("{} is forgotten, and its disk stands", vacated.machine));
            }
        }
    }

    /// A launch is written off.
    pub(super) fn check_writes_off(&mut self, token: &Token) {
        if self.orphans.iter().any(|left| left.token == *token) {
            let token = short(token.as_str());
            self.fail('M', format!("{token} is written off, and a disk of it stands"));
        }
    }

    /// Somebody clears away what machines left.
    pub(crate) fn sends_clear(&mut self, process: u32, request: &ClearRequest<'_>) {
        self.counts_call(process);
        for left in request.orphans {
            let id = &left.machine;
            let lives =
                |machine: &fleet_model::Machine| machine.id == *id && machine.state.is_live();
            // A stranger that was given the id since is seen by the cloud's own last look.
            if self.truth.iter().any(lives) && !self.touched.contains(id) {
                self.fail('M', format!("p{process} clears away the disk of {id}, which lives"));
            }
            let on_record = self.book.filled.values().any(|filled| filled.machine == *id);
            let open = self.book.open().any(|intent| intent.create.token == left.token);
            if !on_record && !open {
                self.fail(
                    'F',
                    format!("p{process} clears away after {id}, which is not on record"),
                );
            }
        }
        self.check_complete(process, request.scope, "clears away in");
        self.check_holder(process);
    }

    /// When all is calm: what is left of machines and launches of ours that nobody else touched. What
    /// a cloud made beyond our wishes is ended by people, who look after what it leaves.
    pub(crate) fn check_nothing_left(&mut self) {
        let ours = self.orphans.iter().filter(|left| {
            let regular = self.births.get(&left.machine).is_none_or(|birth| !birth.surplus);
            regular
                && !self.touched.contains(&left.machine)
                && !self.book.surplus.contains(&left.machine)
                && self.book.intents.contains_key(&left.token)
        });
        let left: Vec<String> = ours.map(|left| left.machine.to_string()).collect();
        if !left.is_empty() {
            self.fail('M', format!("disks are left of {}", left.join(", ")));
        }
    }
}
