//! Groups that launch nothing for the time being.

use crate::decide::seams;
use crate::holdings::Inventory;
use crate::record::guards::{
    BOOT_FAILURES, BOOT_REST, HOUR, TRIES_PER_HOUR, after, failures, with_early_ends,
};
use fleet_model::{Group, Hold, Inputs, SlotState};

/// Why a group launches nothing for the time being.
pub(crate) fn resting(inputs: &Inputs, inventory: &Inventory, group: Group) -> Option<Hold> {
    boot_failures(inputs, inventory, group).or_else(|| attempts(inputs, group))
}

fn boot_failures(inputs: &Inputs, inventory: &Inventory, group: Group) -> Option<Hold> {
    // In the order in which the journal will have them.
    let failed = failures(&inputs.recorded, &inventory.failed, inputs.now);
    let ends = with_early_ends(failed, &inputs.recorded, &inventory.vacate, inputs.now);
    let rows = ends.get(&group)?;
    // A mended template is worth a try at once. A bad image on two clouds is one bad image.
    let templates = &inventory.templates;
    let present = || rows.iter().filter(|row| templates.get(&row.cloud) == Some(&row.template));
    let failures = seams::failures_counted(present().map(|row| row.count).sum());
    let until = after(present().map(|row| row.last).max()?, BOOT_REST);
    let rests = failures >= BOOT_FAILURES && until > inputs.now;
    rests.then_some(Hold::BootFailures { group, failures, until })
}

fn attempts(inputs: &Inputs, group: Group) -> Option<Hold> {
    let slots = inputs.recorded.slots.iter();
    let of_group = slots.filter(|(name, record)| {
        let full = record.tried.len() >= TRIES_PER_HOUR as usize;
        name.group == group && full && record.state == SlotState::Vacant
    });
    of_group
        .filter_map(|(&slot, record)| Some((slot, after(*record.tried.first()?, HOUR))))
        .filter(|(_, until)| *until > inputs.now)
        .max_by_key(|(_, until)| *until)
        .map(|(slot, until)| Hold::AttemptLimit { slot, tries: TRIES_PER_HOUR, until })
}
