//! Where seeded bugs enter the budget, so that it is read in one way. Without the feature `bugs` each of
//! these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{ByKind, MachineId, MicroUsd, Timestamp};

/// For how long machines are paid for in advance: those that stand, and those that are launched.
pub(super) fn horizons(keep: u64, launch: u64) -> (u64, u64) {
    if bugs::on(Bug::BudgetHoldsForgotten) { (1, 1) } else { (keep, launch) }
}

/// What launches in doubt may have cost: all of it.
pub(super) fn doubt(spent: MicroUsd) -> MicroUsd {
    if bugs::on(Bug::BudgetDoubtFree) { MicroUsd(0) } else { spent }
}

/// What disks, addresses and traffic have cost: all of it.
pub(super) fn beside(spent: ByKind) -> ByKind {
    if bugs::on(Bug::BudgetExtrasForgotten) { ByKind::default() } else { spent }
}

/// Whether a holding is paid for: also one whose launch is in doubt.
pub(crate) fn is_paid(machine: Option<&MachineId>) -> bool {
    machine.is_some() || !bugs::on(Bug::BudgetDoubtFree)
}

/// The zone in which months begin: the one that the spec names.
pub(super) fn zone(name: &str) -> &str {
    if bugs::on(Bug::BudgetZoneIgnored) { "UTC" } else { name }
}

/// When a month begins: on its first day.
pub(super) fn month_begins(first: Timestamp) -> Timestamp {
    if bugs::on(Bug::BudgetMonthLate) {
        return first + jiff::SignedDuration::from_hours(24);
    }
    first
}
