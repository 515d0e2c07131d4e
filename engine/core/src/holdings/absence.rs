//! How long absence proves nothing.

use fleet_model::SETTLE_WINDOW;
use std::time::Duration;

/// A request leaves at most this long after the time in its record; a record that took longer to write
/// is written again.
pub const SENT_WITHIN: Duration = Duration::from_secs(30);

/// For this long after the time in the record of a launch, absence proves nothing: the request may
/// have left late, and its machines may be listed late.
pub const ABSENCE_PROVES: Duration = SETTLE_WINDOW.saturating_add(SENT_WITHIN);

pub(crate) fn jiff_duration(duration: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}
