//! H: what lives and what may live never exceeds what is wanted, nor its price the budget.
//! I: everything that a launch made is on record, also what nobody asked for.

use super::Judge;
use crate::bench::short;
use crate::market::CATALOG;
use fleet_model::{Cloud, Desired, Event, InstanceType, MachineId, MicroUsd, PoolId, Token, Units};
use std::collections::BTreeSet;

fn weight(desired: &Desired, cloud: Cloud, of: &InstanceType) -> Units {
    let kind = CATALOG.kinds.iter().find(|kind| kind.cloud == cloud && kind.name == *of);
    kind.and_then(|kind| fleet_core::weight(desired, kind)).unwrap_or_default()
}

impl Judge {
    /// Capacity that stands and stays, and that launches which are not settled may bring.
    pub(super) fn held(&self, desired: &Desired) -> Units {
        let weigh = |pool: &PoolId| weight(desired, pool.place.cloud, &pool.instance_type);
        let regular = self
            .ours()
            .filter(|(machine, birth)| self.fills(machine, birth) && Self::stays(machine));
        let stands: Units = regular.map(|(machine, _)| weigh(&machine.pool())).sum();
        let open: Units = self
            .book
            .open()
            .map(|intent| {
                let made = |slot: &&fleet_model::SlotId| self.filler(slot.name).is_none();
                let slots = intent.create.slots.iter().filter(made).count() as u64;
                Units(weigh(&intent.create.pool).0 * slots)
            })
            .sum();
        stands + open
    }

    /// A launch was written down: is that still within what is wanted?
    pub(super) fn check_amounts(&mut self, process: u32, event: &Event) {
        let Event::CreateIntended { create } = event else { return };
        let Some(facts) = self.processes.get(&process) else { return };
        let desired = &facts.desired;
        let held = self.held(desired);
        let largest = CATALOG
            .kinds
            .iter()
            .filter_map(|kind| fleet_core::weight(desired, kind))
            .filter(|weight| weight.0 <= 8 * 1000)
            .max()
            .unwrap_or_default();
        let each =
            weight(desired, create.pool.place.cloud, &create.pool.instance_type).max(largest);
        // Whoever is replaced stands until its replacement does.
        let surge = u64::from(self.allowance(process));
        let target = desired.capacity.target;
        let most = Units(target.max(facts.held_before).0 + each.0 * (1 + surge));
        if held > most {
            self.fail('H', format!("p{process} would have {held} of {target}, {most} at most"));
        }
        self.check_money(process, surge);
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
