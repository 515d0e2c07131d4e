//! Moves to cheaper pools, in words.

use crate::text::{span, when};
use fleet_model::{MoveCost, Saving, SavingVerdict};
use std::time::Duration;

/// What a move saves, over which time, and what it costs.
pub fn arithmetic(saving: &Saving) -> String {
    let Saving { price, then, saving: share, life_minutes, gain, cost, .. } = saving;
    let share = f64::from(share.ppm()) / 10_000.0;
    let MoveCost { side_by_side, work, risk } = cost;
    format!(
        "{price} → {then} per hour saves {share:.1}%: {gain} in the {} that the successor is expected to \
         live; the move costs {} ({side_by_side} side by side, {work} of work, {risk} of risk)",
        span(Duration::from_secs(life_minutes * 60)),
        cost.sum()
    )
}

/// What comes of it.
pub fn verdict(verdict: &SavingVerdict) -> String {
    match verdict {
        SavingVerdict::TooLittle => "stays: it saves less than rebalance.minSaving".into(),
        SavingVerdict::DoesNotPay => "stays: it does not pay for the move twice over".into(),
        SavingVerdict::SeenUntil { until } => {
            format!("waits: moves if it is still so at {}", when(*until))
        }
        SavingVerdict::TooYoung => "waits: its machines are younger than an hour".into(),
        SavingVerdict::NextHour { at } => {
            format!("waits: rebalance.maxPerHour is used up until {}", when(*at))
        }
        SavingVerdict::Busy => "waits: others move first".into(),
        SavingVerdict::Moves { machines: 1 } => "1 machine moves now".into(),
        SavingVerdict::Moves { machines } => format!("{machines} machines move now"),
    }
}
