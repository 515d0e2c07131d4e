//! Why a step is in the plan.

use super::{MoveWhy, Rejection, Said};
use crate::output::words::{BudgetCap, CauseKind, Group, usd};
use crate::sentences;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a step is in the plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Why {
    /// There is less capacity than wanted.
    BelowTarget {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine was interrupted, or is about to be.
    ReplaceInterrupted {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine stands in a pool that the spec no longer allows.
    ReplaceDisallowed {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine was made from an older template.
    ReplaceOldTemplate {
        /// The part of the fleet.
        group: Group,
    },
    /// A person asked for a machine to be replaced; its successor comes first.
    ReplaceRequested {
        /// The part of the fleet.
        group: Group,
    },
    /// There is more capacity than wanted.
    AboveTarget {
        /// The part of the fleet.
        group: Group,
    },
    /// The spec asks for less than it did.
    TargetLowered {
        /// The part of the fleet.
        group: Group,
        /// What it was meant to hold, in the fleet's unit.
        from: f64,
        /// What it is meant to hold now.
        to: f64,
    },
    /// The spec no longer allows the pool.
    PoolNotAllowed {
        /// What rules it out.
        because: Box<Said<Rejection>>,
    },
    /// It was made from an older template; its replacement is there.
    TemplateChanged,
    /// A person asked for its replacement, and its successor is up.
    Requested,
    /// Its cloud recommends to move off it, and its successor is ready.
    AtRisk,
    /// Spot is lost or cannot be had: on-demand takes its place for a while.
    InPlaceOfSpot,
    /// The machine moves: its successor comes first.
    Moved {
        /// Why.
        because: MoveWhy,
    },
    /// The fleet costs more than its budget.
    OverBudget {
        /// The limit per hour; of a month or a lifetime, what is left of it per hour.
        limit_hourly_usd: f64,
        /// Which limit of the budget.
        limit: BudgetCap,
    },
    /// The cloud says that the machine does not work.
    Failed {
        /// Why, as far as the cloud says.
        cause: CauseKind,
    },
    /// The machine is shut down and still paid for.
    Stopped,
    /// The machine was recorded as gone, came back, and its slot has another one by now.
    CameBack,
    /// The whole fleet is to be destroyed.
    FleetDestroyed,
}

impl From<&model::Why> for Said<Why> {
    fn from(why: &model::Why) -> Self {
        use model::Why as Model;
        let reason = match why {
            Model::BelowTarget { group } => Why::BelowTarget { group: (*group).into() },
            Model::ReplaceInterrupted { group } => {
                Why::ReplaceInterrupted { group: (*group).into() }
            }
            Model::ReplaceDisallowed { group } => Why::ReplaceDisallowed { group: (*group).into() },
            Model::ReplaceOldTemplate { group } => {
                Why::ReplaceOldTemplate { group: (*group).into() }
            }
            Model::AboveTarget { group } => Why::AboveTarget { group: (*group).into() },
            Model::TargetLowered { group, from, to } => {
                Why::TargetLowered { group: (*group).into(), from: from.as_f64(), to: to.as_f64() }
            }
            Model::PoolNotAllowed { because } => {
                Why::PoolNotAllowed { because: Box::new(Said::from(because)) }
            }
            Model::OverBudget { limit, cap } => {
                Why::OverBudget { limit_hourly_usd: usd(*limit), limit: (*cap).into() }
            }
            Model::TemplateChanged => Why::TemplateChanged,
            Model::ReplaceRequested { group } => Why::ReplaceRequested { group: (*group).into() },
            Model::Requested => Why::Requested,
            Model::AtRisk => Why::AtRisk,
            Model::InPlaceOfSpot => Why::InPlaceOfSpot,
            Model::Moved { why } => Why::Moved { because: (*why).into() },
            Model::Failed { kind } => Why::Failed { cause: (*kind).into() },
            Model::Stopped => Why::Stopped,
            Model::CameBack => Why::CameBack,
            Model::FleetDestroyed => Why::FleetDestroyed,
        };
        Said { reason, why: sentences::why(why), next: None }
    }
}
