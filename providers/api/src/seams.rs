//! Where seeded bugs enter the last look before an end, so that it is written once. Without the feature
//! `bugs` each of these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{SlotId, Timestamp};

/// What the last look before an end objects to: all that it finds.
pub(crate) fn objection(found: Option<String>) -> Option<String> {
    found.filter(|_| !bugs::on(Bug::SkipRereadBeforeKill))
}

/// Whether a machine fills the slot that is meant: if it is the same.
pub(crate) fn same_slot(fills: SlotId, meant: SlotId) -> bool {
    fills == meant || bugs::on(Bug::RereadIgnoresSlot)
}

/// Whether a machine was launched when the one was that is meant: if the times are the same.
pub(crate) fn same_launch(at: Timestamp, meant: Timestamp) -> bool {
    at == meant || bugs::on(Bug::RereadIgnoresLaunchTime)
}
