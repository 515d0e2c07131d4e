//! A plan and its reasons.

use fleet_model::{Plan, Report};

/// A plan and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What to do.
    pub plan: Plan,
    /// Why, at what price, and what is not done.
    pub report: Report,
}
