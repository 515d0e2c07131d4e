//! The document of `fleet doctor`.

use super::bodies;
use super::words::{Provider, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether accounts are in order for specs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Doctor {
    /// Nothing would stop an apply.
    pub ok: bool,
    /// Whether the clouds are simulated, and have no accounts.
    pub simulated: bool,
    /// The fleets, with the accounts that each needs.
    pub fleets: Vec<FleetAccounts>,
}

bodies! { Doctor: "doctor", "doctor"; }

/// A fleet and the accounts that it needs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetAccounts {
    /// The fleet's name.
    pub fleet: String,
    /// One account per cloud.
    pub accounts: Vec<Account>,
}

/// An account of a cloud.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The cloud.
    pub provider: Provider,
    /// What was checked.
    pub findings: Vec<Finding>,
    /// The permissions that the spec needs, as a policy that the cloud accepts; `null` if it has none.
    pub policy: Option<String>,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How it ended.
    pub verdict: Verdict,
    /// What was checked.
    pub subject: String,
    /// What was found.
    pub words: String,
    /// What to do about it.
    pub hint: Option<String>,
}
