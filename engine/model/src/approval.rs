//! Somebody's word that a policy wants before it lets a fleet launch some machines.

use crate::{Cloud, Pattern};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An approval that a policy asks for and the fleet's labels do not give: machines that it is about are
/// not launched. Those that stand may stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The policy that asks for it.
    pub policy: String,
    /// Families, types or patterns that it is about; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Pattern>,
    /// Clouds that it is about; empty: all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub clouds: BTreeSet<Cloud>,
    /// The label that gives it.
    pub label: String,
    /// What the label's value must match; `None`: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Pattern>,
    /// What the policy's author wants to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
