//! On-demand in the place of spot.

use crate::output::words::Time;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Why on-demand takes the place of spot.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FallbackWhy {
    /// Spot machines were interrupted.
    Lost {
        /// How many, within the window of the spec.
        machines: u32,
    },
    /// Spot launches were refused, or machines interrupted, and no other spot pool can fill the gap.
    Refused {
        /// How often, within the window of the spec.
        times: u32,
    },
    /// Spot could not fill the burst.
    Unfilled {
        /// Since when.
        since: Time,
    },
}

/// When machines go back to spot.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WayBack {
    /// When spot holds until then.
    Holds {
        /// The moment.
        until: Time,
        /// For how long it must hold.
        for_seconds: u32,
    },
    /// Some went back already, and the next few follow if spot holds until then.
    Next {
        /// The moment.
        at: Time,
    },
    /// This plan launches successors.
    Now {
        /// How many machines go back.
        machines: u32,
    },
    /// Successors are starting; the machines go when these are up.
    Starting {
        /// How many machines go back.
        machines: u32,
    },
    /// Spot holds, and no pool has a cheaper machine within the limits and the budget.
    NoSuccessor,
}

/// Why machines are moved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MoveWhy {
    /// From on-demand back to spot.
    BackToSpot,
    /// To a cheaper pool.
    Cheaper,
}

impl From<model::FallbackWhy> for FallbackWhy {
    fn from(why: model::FallbackWhy) -> Self {
        match why {
            model::FallbackWhy::Lost { machines } => FallbackWhy::Lost { machines },
            model::FallbackWhy::Refused { times } => FallbackWhy::Refused { times },
            model::FallbackWhy::Unfilled { since } => FallbackWhy::Unfilled { since: Time(since) },
        }
    }
}

impl From<model::WayBack> for WayBack {
    fn from(back: model::WayBack) -> Self {
        match back {
            model::WayBack::Holds { until, for_seconds } => {
                WayBack::Holds { until: Time(until), for_seconds }
            }
            model::WayBack::Next { at } => WayBack::Next { at: Time(at) },
            model::WayBack::Now { machines } => WayBack::Now { machines },
            model::WayBack::Starting { machines } => WayBack::Starting { machines },
            model::WayBack::NoSuccessor => WayBack::NoSuccessor,
        }
    }
}

impl From<model::MoveWhy> for MoveWhy {
    fn from(why: model::MoveWhy) -> Self {
        match why {
            model::MoveWhy::BackToSpot => MoveWhy::BackToSpot,
            model::MoveWhy::Cheaper => MoveWhy::Cheaper,
        }
    }
}
