//! Where seeded bugs enter how clouds are asked, so that asking is written once. Without the feature
//! `bugs` each of these does what its first line says.

use fleet_model::Timestamp;
use fleet_model::bugs::{self, Bug};

/// The two clocks that a moment is read off: the one on the wall, and our own stopwatch.
pub(super) fn readings(wall: Timestamp, kept: Timestamp) -> (Timestamp, Timestamp) {
    if bugs::on(Bug::WallClockTrusted) { (wall, wall) } else { (wall, kept) }
}

/// Whether requests keep a rate: if there is one to keep.
pub(super) fn keeps_rate(paced: bool) -> bool {
    paced && !bugs::on(Bug::RatesIgnored)
}

/// Whether requests that took their turns one by one also leave one by one: they do.
pub(super) fn leave_one_by_one() -> bool {
    !bugs::on(Bug::TurnsKeptOverSleep)
}

/// What a retry costs: its price.
pub(super) fn cost_of_retry(price: i64) -> i64 {
    if bugs::on(Bug::RetriesUnlimited) { 0 } else { price }
}

/// How often one request is sent again: as often as its limit says.
pub(super) fn most_retries(limit: usize) -> usize {
    if bugs::on(Bug::RetriesUnlimited) { 1000 } else { limit }
}
