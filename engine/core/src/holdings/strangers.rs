//! Machines that nobody asked for.

use crate::holdings::holding::Inventory;
use fleet_model::{FleetUid, Inputs, MachineId, Notice, SlotName};
use std::collections::BTreeMap;

/// Machines that carry our tags and are not in the journal, and those that nobody asked for.
pub(super) fn notice_strangers(inputs: &Inputs, inventory: &mut Inventory) {
    let recorded: BTreeMap<&MachineId, SlotName> = inventory
        .holdings
        .iter()
        .filter_map(|holding| Some((holding.machine.as_ref()?, holding.slot.name)))
        .collect();
    let mut namesakes: BTreeMap<&FleetUid, u32> = BTreeMap::new();
    for machine in inputs.observed.machines.values().filter(|m| m.state.is_live()) {
        let Some(owner) = &machine.owner else { continue };
        if owner.fleet != inputs.uid {
            if owner.name == inputs.desired.fleet && inputs.recorded.uid.is_some() {
                *namesakes.entry(&owner.fleet).or_default() += 1;
            }
            continue;
        }
        // One that was let go is nobody's business, even where its cloud keeps our tags on it.
        let released = inputs.recorded.released.contains(&machine.id);
        if recorded.contains_key(&machine.id) || released {
            continue;
        }
        // A launch in doubt that did happen shows up here first: recovery settles it.
        let token = machine.owner.as_ref().map(|owner| &owner.token);
        if token.is_some_and(|token| inputs.recorded.in_doubt.contains_key(token)) {
            continue;
        }
        let id = machine.id.clone();
        inventory.notices.push(if inputs.recorded.surplus.contains(&id) {
            Notice::Surplus { machine: id }
        } else {
            Notice::NotRecorded { machine: id, pool: machine.pool() }
        });
    }
    let others = namesakes.into_iter();
    inventory
        .notices
        .extend(others.map(|(uid, machines)| Notice::Namesakes { machines, uid: uid.clone() }));
}
