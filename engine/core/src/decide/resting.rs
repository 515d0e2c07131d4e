//! Groups that launch nothing for the time being.

use crate::decide::seams;
use crate::holdings::Inventory;
use crate::record::guards::{
    BOOT_FAILURES, BOOT_REST, HOUR, PROBED_EVERY, REFUSALS_PER_HOUR, TRIES_PER_HOUR, after,
    failures, with_early_ends,
};
use fleet_model::{Group, Hold, Inputs, SlotName, SlotRecord, SlotState, Timestamp};

/// Why a group launches nothing for the time being.
pub(crate) fn resting(inputs: &Inputs, inventory: &Inventory, group: Group) -> Option<Hold> {
    boot_failures(inputs, inventory, group)
        .or_else(|| attempts(inputs, group))
        .or_else(|| refusals(inputs, group))
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

fn of_group(inputs: &Inputs, group: Group) -> impl Iterator<Item = (&SlotName, &SlotRecord)> {
    inputs.recorded.slots.iter().filter(move |(name, _)| name.group == group)
}

fn attempts(inputs: &Inputs, group: Group) -> Option<Hold> {
    let full = |(_, record): &(&SlotName, &SlotRecord)| {
        record.tried.len() >= TRIES_PER_HOUR as usize && record.state == SlotState::Vacant
    };
    of_group(inputs, group)
        .filter(full)
        .filter_map(|(&slot, record)| Some((slot, after(*record.tried.first()?, HOUR))))
        .filter(|(_, until)| *until > inputs.now)
        .max_by_key(|(_, until)| *until)
        .map(|(slot, until)| Hold::AttemptLimit { slot, tries: TRIES_PER_HOUR, until })
}

/// Whether clouds have said so often that they have no room that the group is only probed now and then.
fn refusals(inputs: &Inputs, group: Group) -> Option<Hold> {
    let often = REFUSALS_PER_HOUR as usize;
    let full = |(_, record): &(&SlotName, &SlotRecord)| {
        record.refused.len() >= often && record.state == SlotState::Vacant
    };
    // Most groups have none such, and need no look at their machines.
    of_group(inputs, group).find(full)?;
    let launched = of_group(inputs, group).filter_map(|(_, record)| match &record.state {
        SlotState::Filled { launched_at, .. } => Some(*launched_at),
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    });
    // What was granted since shows that there is room again.
    let granted = launched.max().unwrap_or(Timestamp::MIN);
    let counts = |at: &&Timestamp| **at > granted && after(**at, HOUR) > inputs.now;
    of_group(inputs, group)
        .filter(full)
        .filter(|(_, record)| record.refused.iter().filter(counts).count() >= often)
        .filter_map(|(&slot, record)| Some((slot, after(*record.refused.last()?, PROBED_EVERY))))
        .filter(|(_, until)| *until > inputs.now)
        .max_by_key(|(_, until)| *until)
        .map(|(slot, until)| Hold::AttemptLimit { slot, tries: REFUSALS_PER_HOUR, until })
}
