//! What machines that are gone have cost: what budgets are counted from.

use fleet_model::{MachineId, Recorded, SlotName, SlotState, Timestamp};

/// Machines of slots are gone, or somebody else's, since a moment.
pub(super) fn closed<'a>(
    recorded: &mut Recorded,
    gone: impl Iterator<Item = (SlotName, &'a MachineId)>,
    at: Timestamp,
) {
    for (slot, machine) in gone {
        let state = recorded.slots.get(&slot).map(|record| &record.state);
        let Some(SlotState::Filled { machine: there, launched_at, price, .. }) = state else {
            continue;
        };
        if let Some(price) = price.filter(|_| there == machine) {
            recorded.spent.add(price, *launched_at, at);
        }
    }
}
