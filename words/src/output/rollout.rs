//! The document of `fleet rollout`.

use super::bodies;
use super::words::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// How far a change of template has come.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// The fleet's name.
    pub fleet: String,
    /// How it stands.
    pub is: RolloutIs,
    /// Why it stopped by itself, in words; `null` if it did not.
    pub why: Option<String>,
    /// When it began, or went on after a stop; `null` if there was none.
    pub since: Option<Time>,
    /// Since when the template before it holds, because a person undid it; `null` if nobody did.
    pub undone: Option<Time>,
    /// Waves that are done, the canary included.
    pub waves: u32,
    /// Machines that have the new template, as far as the journal knows.
    pub updated: u64,
    /// Machines that do not.
    pub left: u64,
    /// The slots that are being replaced now.
    pub replacing: Vec<String>,
    /// What changes, a sentence for each field.
    pub changes: Vec<String>,
}

/// How a rollout stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RolloutIs {
    /// There was none.
    None,
    /// It goes on.
    Going,
    /// A person stopped it for now.
    Paused,
    /// New machines failed, and it stopped by itself.
    Halted,
    /// Every machine has its template, or another rollout took its place.
    Done,
}

bodies! {
    Rollout: "rollout", "rollout";
}
