//! Where seeded bugs enter the clock, so that it is read in one way. Without the feature `bugs` each of
//! these does what its first line says.

use fleet_model::Timestamp;
use fleet_model::bugs::{self, Bug};

/// Whether a fleet is over: from its end on.
pub(super) fn is_over(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires.is_some_and(|at| at <= now) && !bugs::on(Bug::ExpiryIgnored)
}

/// Which entries of a schedule hold, by when they came: the last one.
pub(super) fn holds<T>(came: impl Iterator<Item = (Timestamp, T)>) -> Option<(Timestamp, T)> {
    if bugs::on(Bug::ScheduleKeepsPrevious) {
        return came.min_by_key(|(at, _)| *at);
    }
    came.max_by_key(|(at, _)| *at)
}
