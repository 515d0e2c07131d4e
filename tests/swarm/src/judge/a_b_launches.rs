//! A: a slot never has two live machines, and every launch carries a token of a recorded intent.
//! B: while the outcome of a launch is not known, its slots are tried nowhere else.

use super::{Birth, Judge};
use crate::bench::short;
use fleet_model::{Create, MachineId, SlotName, Token};
use fleet_provider::CreateRequest;
use std::collections::BTreeMap;

impl Judge {
    /// New machines: each must come of a launch that is on record and not written off.
    pub(super) fn check_births(&mut self, surplus: &[MachineId]) {
        let new = |machine: &&fleet_model::Machine| {
            !self.births.contains_key(&machine.id) && !self.touched.contains(&machine.id)
        };
        let new: Vec<_> = self.truth.iter().filter(new).cloned().collect();
        for machine in new {
            let Some(owner) = &machine.owner else { continue };
            let birth = Birth {
                slot: owner.slot,
                token: owner.token.clone(),
                surplus: surplus.contains(&machine.id),
            };
            let token = short(owner.token.as_str());
            match self.book.intents.get(&owner.token) {
                None => self.fail('A', format!("{token} made a machine and is not on record")),
                Some(intent) if intent.settled && !birth.surplus => {
                    let what = format!("{token} made {} after it was settled", machine.id);
                    self.fail('A', what);
                }
                Some(_) => {}
            }
            self.births.insert(machine.id.clone(), birth);
        }
    }

    /// At every moment.
    pub(super) fn check_one_per_slot(&mut self) {
        let mut slots: BTreeMap<SlotName, Vec<MachineId>> = BTreeMap::new();
        for (machine, birth) in self.ours().filter(|(machine, birth)| self.fills(machine, birth)) {
            slots.entry(birth.slot.name).or_default().push(machine.id.clone());
        }
        for (slot, machines) in slots.into_iter().filter(|(_, machines)| machines.len() > 1) {
            self.fail('A', format!("{slot} has {} live machines", machines.len()));
        }
    }

    /// A launch is written down.
    pub(super) fn check_intent(&mut self, create: &Create) {
        let token = short(create.token.as_str());
        if self.book.intents.contains_key(&create.token) {
            self.fail('A', format!("{token} is used for a second request"));
        }
        for slot in &create.slots {
            let other = self
                .book
                .open()
                .find(|intent| intent.create.slots.iter().any(|taken| taken.name == slot.name));
            if let Some(other) = other {
                let other = short(other.create.token.as_str()).to_owned();
                self.fail('B', format!("{slot} is tried again while {other} is not settled"));
            }
            if let Some(there) = self.filler(slot.name) {
                let there = there.id.clone();
                self.fail('A', format!("{slot} is to be filled, and {there} fills it"));
            }
        }
    }

    /// A launch is sent.
    pub(crate) fn sends_create(&mut self, process: u32, request: &CreateRequest<'_>) {
        let create = request.create;
        let token = short(create.token.as_str());
        self.counts_create(process, create);
        match self.book.intents.get(&create.token) {
            None => self.fail('A', format!("{token} is sent and not on record")),
            Some(intent) if intent.settled => {
                self.fail('A', format!("{token} is sent and was settled before"));
            }
            Some(intent) if intent.create != *create => {
                self.fail('A', format!("{token} is sent with other words than are on record"));
            }
            Some(intent) if intent.sender != process => {
                let by = intent.sender;
                self.fail('C', format!("p{process} sends {token}, last written down by p{by}"));
            }
            Some(_) => {}
        }
        self.check_not_blocked(create);
        self.check_holder(process);
    }

    /// A launch is written off: it must have made nothing.
    pub(super) fn check_refusal(&mut self, process: u32, token: &Token, code: &str) {
        let made = self.ours().find(|(_, birth)| birth.token == *token && !birth.surplus);
        if let Some((machine, _)) = made {
            let what = format!(
                "{} is written off as {code}, and made {}",
                short(token.as_str()),
                machine.id
            );
            self.fail('B', what);
        }
        let scope = self.book.intents.get(token).map(|i| i.create.pool.place.scope());
        if let Some(scope) = scope.filter(|_| code == "NeverHappened") {
            self.check_complete(process, &scope, "writes a launch off in");
        }
    }
}
