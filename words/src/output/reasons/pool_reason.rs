//! Why a pool is used.

use super::{Rejection, Said};
use crate::output::words::Strategy;
use crate::sentences;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Why machines are launched in this pool and not in another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PoolReason {
    /// They are paid for already.
    PaidFor,
    /// No pool comes before it in the order of the strategy.
    Best {
        /// The strategy.
        strategy: Strategy,
    },
    /// Pools that come before it take no more.
    OthersFull {
        /// Why the first of them does not.
        because: Box<Said<Rejection>>,
    },
    /// Pools that come before it would carry too much together.
    OthersCrowded,
    /// It brings a zone that the spec asks for.
    AnotherZone,
    /// The strategy takes evenly from everywhere.
    Even,
    /// Its machines come to the least cost together with the others.
    Size,
    /// Its price for its risk, beside pools that fail at other times.
    Hedge,
    /// On-demand, because spot is too likely to be missing.
    InPlaceOfSpot,
}

impl From<&model::PoolReason> for Said<PoolReason> {
    fn from(reason: &model::PoolReason) -> Self {
        use model::PoolReason as Model;
        let why = sentences::pool_reason(reason);
        let reason = match reason {
            Model::PaidFor => PoolReason::PaidFor,
            Model::Best { strategy } => PoolReason::Best { strategy: (*strategy).into() },
            Model::OthersFull { because } => {
                PoolReason::OthersFull { because: Box::new(Said::from(because)) }
            }
            Model::OthersCrowded => PoolReason::OthersCrowded,
            Model::AnotherZone => PoolReason::AnotherZone,
            Model::Even => PoolReason::Even,
            Model::Size => PoolReason::Size,
            Model::Hedge => PoolReason::Hedge,
            Model::InPlaceOfSpot => PoolReason::InPlaceOfSpot,
        };
        Said { reason, why, next: None }
    }
}
