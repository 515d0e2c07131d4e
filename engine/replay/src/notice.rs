//! How long ahead an interruption is announced.

use crate::engine::pool;
use crate::judge::Setup;
use crate::trace::Trace;
use fleet_model::Market;

/// How long ahead an interruption is announced. No recording holds notices, so this is assumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Notice {
    /// Not at all.
    #[default]
    None,
    /// So many seconds ahead.
    Seconds(u32),
    /// As the recording's cloud does.
    Cloud,
}

/// How long ahead interruptions of a recording are announced: the shortest, where its zones are of
/// several clouds.
pub fn notice_seconds(trace: &Trace, setup: &Setup) -> u32 {
    match setup.notice {
        Notice::None => 0,
        Notice::Seconds(seconds) => seconds,
        Notice::Cloud => {
            let clouds = (0..trace.zones.len()).map(|at| pool(trace, at, Market::Spot).place.cloud);
            let notices = clouds.map(|cloud| cloud.facts().notice.unwrap_or_default().as_secs());
            notices.min().unwrap_or_default() as u32
        }
    }
}
