//! Machines that nobody asked for.

use crate::holdings::holding::Inventory;
use fleet_model::{FleetUid, Inputs, Machine, MachineId, Notice, SlotId, SlotState};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// Machines that do not stand in the slot that their tags name. Nearly all do: what is asked of the others alone
/// costs little.
pub(super) fn strays(inputs: &Inputs) -> Vec<&Machine> {
    let at_home = |machine: &&Machine| {
        let owner = machine.owner.as_ref().filter(|owner| owner.fleet == inputs.uid);
        owner.is_some_and(|owner| stands_in(inputs, owner.slot, &machine.id))
    };
    inputs.observed.machines.values().filter(|machine| !at_home(machine)).collect()
}

/// Machines that carry our tags and are not in the journal, and those that nobody asked for.
pub(super) fn notice_strangers(inputs: &Inputs, strays: &[&Machine], inventory: &mut Inventory) {
    let recorded: LazyCell<BTreeSet<&MachineId>, _> = LazyCell::new(|| {
        inventory.holdings.iter().filter_map(|holding| holding.machine.as_ref()).collect()
    });
    let mut strange = Vec::new();
    let mut namesakes: BTreeMap<&FleetUid, u32> = BTreeMap::new();
    for machine in strays.iter().filter(|machine| machine.state.is_live()) {
        let Some(owner) = &machine.owner else { continue };
        if owner.fleet != inputs.uid {
            if owner.name == inputs.desired.fleet && inputs.recorded.uid.is_some() {
                *namesakes.entry(&owner.fleet).or_default() += 1;
            }
            continue;
        }
        // One that was let go is nobody's business, even where its cloud keeps our tags on it.
        let released = inputs.recorded.released.contains(&machine.id);
        if recorded.contains(&machine.id) || released {
            continue;
        }
        // A launch in doubt that did happen shows up here first: recovery settles it.
        let token = machine.owner.as_ref().map(|owner| &owner.token);
        if token.is_some_and(|token| inputs.recorded.in_doubt.contains_key(token)) {
            continue;
        }
        let id = machine.id.clone();
        strange.push(if inputs.recorded.surplus.contains(&id) {
            Notice::Surplus { machine: id }
        } else {
            Notice::NotRecorded { machine: id, pool: machine.pool() }
        });
    }
    let others = namesakes.into_iter();
    inventory.notices.extend(strange);
    inventory
        .notices
        .extend(others.map(|(uid, machines)| Notice::Namesakes { machines, uid: uid.clone() }));
}

/// Whether the journal has a machine in that slot.
fn stands_in(inputs: &Inputs, slot: SlotId, machine: &MachineId) -> bool {
    let record = inputs.recorded.slots.get(&slot.name);
    record.is_some_and(|record| match &record.state {
        SlotState::Filled { machine: known, .. } => known == machine,
        SlotState::Vacant | SlotState::InDoubt { .. } => false,
    })
}
