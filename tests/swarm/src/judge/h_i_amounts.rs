//! H: what lives and what may live never exceeds what is wanted, nor its price the budget.
//! I: everything that a launch made is on record, also what nobody asked for.

use super::Judge;
use super::book::Intent;
use crate::bench::short;
use crate::market::CATALOG;
use fleet_model::{Desired, Event, MachineId, MicroUsd, Part, PoolId, Token, Units};
use std::collections::BTreeSet;

fn weigh(desired: &Desired, pool: &PoolId) -> Units {
    let (cloud, of) = (pool.place.cloud, &pool.instance_type);
    let kind = CATALOG.kinds.iter().find(|kind| kind.cloud == cloud && kind.name == *of);
    kind.and_then(|kind| fleet_core::weight(desired, kind)).unwrap_or_default()
}

impl Judge {
    /// Capacity that stands and stays, and that launches which are not settled may bring.
    pub(super) fn held(&self, desired: &Desired) -> Units {
        self.stands(desired) + self.under_way(desired, |_| true)
    }

    /// Capacity that stands and stays.
    pub(super) fn stands(&self, desired: &Desired) -> Units {
        let regular = self
            .ours()
            .filter(|(machine, birth)| self.fills(machine, birth) && Self::stays(machine));
        regular.map(|(machine, _)| weigh(desired, &machine.pool())).sum()
    }

    /// Capacity that launches which are not settled may bring.
    fn under_way(&self, desired: &Desired, which: impl Fn(&Intent) -> bool) -> Units {
        let open = self.book.open().filter(|intent| which(intent));
        open.map(|intent| {
            let made = |slot: &&fleet_model::SlotId| self.filler(slot.name).is_none();
            let slots = intent.create.slots.iter().filter(made).count() as u64;
            Units(weigh(desired, &intent.create.pool).0 * slots)
        })
        .sum()
    }

    /// A launch in doubt is sent again: does the spec of now want it, and what else this process
    /// sends?
    pub(super) fn check_resends(&mut self, process: u32, event: &Event) {
        let Event::CreateResent { token } = event else { return };
        let Some(facts) = self.processes.get(&process) else { return };
        let desired = &facts.desired;
        let Some(intent) = self.book.intents.get(token) else { return };
        let of_this = |intent: &Intent| intent.sender == process;
        let held = self.stands(desired) + self.under_way(desired, of_this);
        let target = match facts.limits.destroy_all {
            true => Units::default(),
            false => self.goals(facts).most.target.max(facts.stood_before),
        };
        let most = Units(target.0 + self.spare(process, &intent.create.pool));
        if held > most {
            let token = short(token.as_str());
            let what = format!("p{process} sends {token} again for {held} of {target} wanted");
            self.fail('H', what);
        }
    }

    /// How much may stand beyond the target: machines come whole, and an old machine stays until its
    /// replacement is up.
    fn spare(&self, process: u32, pool: &PoolId) -> u64 {
        let Some(facts) = self.processes.get(&process) else { return 0 };
        let desired = &facts.desired;
        let sensible = CATALOG
            .kinds
            .iter()
            .filter_map(|kind| fleet_core::weight(desired, kind))
            .filter(|weight| weight.0 <= 8 * 1000);
        let each = weigh(desired, pool).max(sensible.max().unwrap_or_default());
        // A share is a tenth, which is the usual.
        let surge = match desired.updates.max_surge {
            Part::Machines(machines) => machines,
            Part::Share(_) => 0,
        };
        // Spares, and successors beside those that are moved: never more than twice what is wanted.
        let spares = desired.placement.hedge.map_or(0, |_| self.goals(facts).most.target.0);
        spares + each.0 * (1 + u64::from(self.allowance(process).max(surge)))
    }

    /// A launch was written down: is that still within what is wanted?
    pub(super) fn check_amounts(&mut self, process: u32, event: &Event) {
        let Event::CreateIntended { create } = event else { return };
        let Some(facts) = self.processes.get(&process) else { return };
        let desired = &facts.desired;
        let held = self.held(desired);
        let target = self.goals(facts).most.target;
        let most = Units(target.max(facts.held_before).0 + self.spare(process, &create.pool));
        if held > most {
            self.fail('H', format!("p{process} would have {held} of {target}, {most} at most"));
        }
        self.check_money(process, u64::from(self.allowance(process)));
    }

    fn check_money(&mut self, process: u32, surge: u64) {
        let Some(facts) = self.processes.get(&process) else { return };
        let Some(limit) = facts.desired.budget.hourly.filter(|_| self.fixed_prices) else { return };
        let regular = self
            .ours()
            .filter(|(machine, birth)| self.fills(machine, birth) && Self::stays(machine));
        let prices: Vec<MicroUsd> = regular.filter_map(|(machine, _)| machine.price).collect();
        let open: MicroUsd = self
            .book
            .open()
            .map(|intent| {
                let made = |slot: &&fleet_model::SlotId| self.filler(slot.name).is_none();
                let slots = intent.create.slots.iter().filter(made).count() as u64;
                intent.create.dearest().unwrap_or_default() * slots
            })
            .sum();
        let dearest = prices.iter().copied().max().unwrap_or_default();
        let spend = prices.into_iter().sum::<MicroUsd>() + open;
        let most = limit + dearest * surge;
        if spend > most {
            self.fail('H', format!("p{process} would spend {spend} of {limit} per hour"));
        }
    }

    /// A process hears what a launch of its own made.
    pub(crate) fn hears(&mut self, process: u32, token: &Token, machines: Vec<MachineId>) {
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.heard.insert(token.clone(), machines);
        }
    }

    /// An outcome is written down.
    pub(super) fn check_all_heard(
        &mut self,
        process: u32,
        token: &Token,
        written: &BTreeSet<MachineId>,
    ) {
        let Some(facts) = self.processes.get(&process) else { return };
        let heard = facts.heard.get(token).into_iter().flatten();
        let dropped: Vec<String> =
            heard.filter(|id| !written.contains(*id)).map(ToString::to_string).collect();
        if !dropped.is_empty() {
            let token = short(token.as_str());
            self.fail('I', format!("{token} made {}, which is not on record", dropped.join(", ")));
        }
    }
}
