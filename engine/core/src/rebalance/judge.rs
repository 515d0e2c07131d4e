//! Whether a move is worth it, and how many there may be now.

use crate::rebalance::arithmetic::Arithmetic;
use fleet_model::{Inputs, MicroUsd, MoveWhy, Rebalance, Share, Timestamp};
use std::time::Duration;

/// A move pays for itself so many times: what is expected is not what happens.
const TIMES: u64 = 2;
/// A saving must have been seen for so long.
pub(crate) const SEEN_FOR: Duration = Duration::from_secs(1800);
/// A machine that is younger stays.
pub(crate) const YOUNGEST: Duration = Duration::from_secs(3600);
/// In this time no more machines move than the spec says.
const HOUR: Duration = Duration::from_secs(3600);

/// Whether a move is worth it. One that was, stays so until it saves less than two thirds of what it takes
/// to begin: a price that wavers is no news.
pub(crate) fn is_worth_it(rule: &Rebalance, seen: bool, sums: &Arithmetic) -> bool {
    let least = rule.min_saving.ppm();
    let least = if seen { least / 3 * 2 } else { least };
    let cost: MicroUsd = sums.cost().sum();
    sums.saving() >= Share::from_ppm(least).unwrap_or(Share::ALL) && sums.gain() >= cost * TIMES
}

/// How many machines may move now, and when the next may if none.
pub(crate) fn most_now(inputs: &Inputs, rule: &Rebalance, burst: u32) -> Result<u32, Timestamp> {
    let most = rule.max_per_hour.unwrap_or((burst / 10).max(1));
    let moves = inputs.recorded.spot.moves.iter().filter(|moved| moved.why == MoveWhy::Cheaper);
    let over = |at: Timestamp| at.checked_add(HOUR).unwrap_or(Timestamp::MAX);
    let lately: Vec<_> = moves.filter(|moved| over(moved.at) > inputs.now).collect();
    let moved: u32 = lately.iter().map(|moved| moved.machines).sum();
    match most.saturating_sub(moved) {
        0 => Err(lately.iter().map(|moved| over(moved.at)).min().unwrap_or(Timestamp::MAX)),
        left => Ok(left),
    }
}
