//! Reasons: `is` names one for programs, `why` is the sentence that people read, `next` says what would
//! change it.

mod block;
mod fallback;
mod hold;
mod notice;
mod pool_reason;
mod rejection;
mod why;

pub use block::{BlockScope, DefaultRule};
pub use fallback::{FallbackWhy, MoveWhy, WayBack};
pub use hold::{Hold, RolloutWait};
pub use notice::Notice;
pub use pool_reason::PoolReason;
pub use rejection::Rejection;
pub use why::Why;

use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// A reason with its sentence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Said{R}")]
pub struct Said<R> {
    #[serde(flatten)]
    pub reason: R,
    /// The reason as a sentence, for people.
    pub why: String,
    /// What would change it; `null` if nothing is to be done.
    pub next: Option<String>,
}

/// What rules pools out, and how many.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    /// How many pools it rules out.
    pub pools: u32,
    #[serde(flatten)]
    pub reason: Rejection,
    /// The reason as a sentence, for people.
    pub why: String,
    /// What would change it; `null` if nothing is to be done.
    pub next: Option<String>,
}

/// Rejections, each with the number of pools.
pub fn counted(rejections: &[(model::Rejection, u32)]) -> Vec<Counted> {
    let one = |(rejection, pools): &(model::Rejection, u32)| {
        let Said { reason, why, next } = Said::from(rejection);
        Counted { pools: *pools, reason, why, next }
    };
    rejections.iter().map(one).collect()
}
