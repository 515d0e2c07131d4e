//! Simulated time in whole milliseconds.

use fleet_model::Timestamp;
use std::time::Duration;

/// Milliseconds since 1970. Whole numbers, because a log that replays byte for byte has no
/// room for rounding.
pub(crate) type Ms = u64;

/// Where every world begins: 2026-01-01T00:00:00Z, which is also the start of a bucket, so that
/// nothing moves during the first half hour.
pub(crate) const EPOCH: Ms = 1_767_225_600_000;

/// Spot capacity and prices change when one of these ends.
pub(crate) const BUCKET: Ms = 30 * 60 * 1000;

/// How long an ended machine is still listed.
pub(crate) const LISTED_AFTER_END: Ms = 3_600_000;

/// How long a token is remembered at the least, as EC2 promises.
pub(crate) const TOKEN_LIFE: Ms = 24 * 3_600_000;

/// Time stands still in the year 9000: beyond 9999 there are no timestamps.
const LAST: Ms = 221_845_392_000_000;

/// One step of the clock is ten years at most: each half hour on the way may interrupt machines.
const LONGEST_STEP: Ms = 10 * 365 * 24 * 3_600_000;

/// The moment that lies `by` after `from`. Part of a millisecond counts as a whole one, so that
/// nobody wakes too early.
pub(crate) fn later(from: Ms, by: Duration) -> Ms {
    let by = by.as_nanos().div_ceil(1_000_000).min(u128::from(LONGEST_STEP)) as Ms;
    from.saturating_add(by).min(LAST)
}

/// The moment as the model writes it.
pub(crate) fn stamp(at: Ms) -> Timestamp {
    i64::try_from(at)
        .ok()
        .and_then(|at| Timestamp::from_millisecond(at).ok())
        .unwrap_or(Timestamp::MAX)
}

/// The other way round.
pub(crate) fn from_stamp(at: Timestamp) -> Ms {
    Ms::try_from(at.as_millisecond()).unwrap_or(0)
}
