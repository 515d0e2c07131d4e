//! The document of `fleet validate`.

use super::bodies;
use super::common::Diagnostic;
use super::words::{Strategy, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether specs are valid, and what is wrong with them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Validate {
    /// Whether every spec can be used.
    pub valid: bool,
    /// The fleets; empty if a spec is invalid.
    pub fleets: Vec<ValidFleet>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

bodies! { Validate: "validate", "validate"; }

/// A fleet as its spec describes it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidFleet {
    /// The fleet's name.
    pub fleet: String,
    /// The file of its spec.
    pub file: String,
    /// The unit of capacity.
    pub unit: Unit,
    /// Capacity in all.
    pub target: f64,
    /// Capacity of the on-demand part.
    pub on_demand: f64,
    /// Capacity of the spot part.
    pub spot: f64,
    /// How pools are chosen.
    pub strategy: Strategy,
    /// The limit per hour; `null` without one.
    pub hourly_limit_usd: Option<f64>,
    /// How many pools of the catalog the spec allows.
    pub pools: u64,
    /// Policies that it complies with.
    pub policies: Vec<String>,
    /// Defaults that it takes values from, nearest first.
    pub defaults: Vec<String>,
    /// Every value as if it had been written out, with `--show`; `null` without.
    pub effective: Option<Vec<EffectiveValue>>,
}

/// A value of the spec, and where it comes from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveValue {
    /// The field, such as `spec.capacity.target`.
    pub path: String,
    /// Its value as text; `null` for user data.
    pub value: Option<String>,
    /// Where it is written.
    pub place: Place,
    /// Whether Defaults say so, and not the fleet itself.
    pub is_default: bool,
    /// The variables that the value came from.
    pub variables: Vec<UsedVariable>,
}

/// A place in a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A variable that a value came from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedVariable {
    /// Its name.
    pub name: String,
    /// Who gave it its value.
    pub given_by: GivenBy,
    /// Where it is declared.
    pub declared: Place,
}

/// Who gave a variable its value.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GivenBy {
    /// `--var` on the command line.
    Flag,
    /// The environment.
    Environment,
    /// The declaration.
    Default,
}

impl From<fleet_spec::GivenBy> for GivenBy {
    fn from(by: fleet_spec::GivenBy) -> Self {
        match by {
            fleet_spec::GivenBy::Flag => GivenBy::Flag,
            fleet_spec::GivenBy::Environment => GivenBy::Environment,
            fleet_spec::GivenBy::Default => GivenBy::Default,
        }
    }
}
