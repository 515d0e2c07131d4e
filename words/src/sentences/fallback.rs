//! On-demand in the place of spot, in words.

use super::{Said, amount, said};
use crate::text::{count, span, when};
use fleet_model::{FallbackStep, FallbackWhy, MoveWhy, Timestamp, Unit, Units, WayBack};
use std::time::Duration;

/// A part of the burst is on demand.
pub fn fallen_back(
    (on_demand, burst, unit): (Units, Units, Unit),
    since: Timestamp,
    why: &FallbackWhy,
    back: &WayBack,
) -> Said {
    let what = format!(
        "{on_demand} of {} of the burst on demand since {}: {}; {}",
        amount(burst, unit),
        when(since),
        because(why),
        way_back(back)
    );
    match back {
        WayBack::NoSuccessor => said(what, "`fleet explain` shows what each spot pool lacks"),
        WayBack::Holds { .. }
        | WayBack::Next { .. }
        | WayBack::Now { .. }
        | WayBack::Starting { .. } => Said { what, next: None },
    }
}

/// Spot is short, and is waited for.
pub fn short(since: Timestamp, on_demand_from: Timestamp) -> Said {
    let what = format!(
        "spot cannot fill the burst since {}; from {} on what is missing is bought on demand",
        when(since),
        when(on_demand_from)
    );
    Said { what, next: None }
}

/// Why a fleet fell back.
fn because(why: &FallbackWhy) -> String {
    match why {
        FallbackWhy::Lost { machines } => format!("{} lost", count(*machines, "spot machine")),
        FallbackWhy::Refused { times } => {
            format!("{} lost or refused, and no other pool has room", count(*times, "spot launch"))
        }
        FallbackWhy::Unfilled { since } => {
            format!("spot could not fill the burst since {}", when(*since))
        }
    }
}

fn way_back(back: &WayBack) -> String {
    match back {
        WayBack::Holds { until, for_seconds } => format!(
            "back when spot holds {}, at {} at the earliest",
            span(Duration::from_secs((*for_seconds).into())),
            when(*until)
        ),
        WayBack::Next { at } => format!("the next back at {} if spot holds", when(*at)),
        WayBack::Now { machines } => format!("{} back to spot now", go(*machines)),
        WayBack::Starting { machines } => {
            format!("{} back when {} up", go(*machines), their_successors(*machines))
        }
        WayBack::NoSuccessor => {
            "spot holds, but no pool has a cheaper machine within the limits and the budget".into()
        }
    }
}

fn go(machines: u32) -> String {
    let verb = if machines == 1 { "goes" } else { "go" };
    format!("{} {verb}", count(machines, "machine"))
}

fn their_successors(machines: u32) -> &'static str {
    if machines == 1 { "its successor is" } else { "their successors are" }
}

/// News of the fallback.
pub fn step(step: &FallbackStep) -> String {
    match step {
        FallbackStep::Short => "spot cannot fill the burst".into(),
        FallbackStep::Filled => "the burst is whole again".into(),
        FallbackStep::Began { why } => format!("on demand in place of spot: {}", because(why)),
        FallbackStep::Ended => "nothing is on demand in place of spot any more".into(),
    }
}

/// Why machines are moved.
pub fn moved(why: MoveWhy) -> &'static str {
    match why {
        MoveWhy::BackToSpot => "back to spot",
        MoveWhy::Cheaper => "to a cheaper pool",
    }
}
