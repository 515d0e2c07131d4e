//! What happens when a cloud announces that it will take a machine back.

use serde::{Deserialize, Serialize};

/// What happens to machines that their cloud will take back, or recommends to leave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Interruption {
    /// On an announced interruption.
    pub on_notice: OnNotice,
    /// On a recommendation to move.
    pub on_rebalance: OnRebalance,
    /// How long the work on a machine may take to end, in seconds.
    pub grace_seconds: u32,
    /// The program that ends the work on a machine, and its arguments.
    pub drain: Vec<String>,
}

impl Interruption {
    /// Whether this is what a spec without a word on it has.
    pub fn is_default(&self) -> bool {
        *self == Interruption::default()
    }
}

/// Answers to an announced interruption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnNotice {
    /// A successor is launched at once.
    #[default]
    Replace,
    /// The same, and the work on the machine is ended.
    Drain,
    /// The machine counts until it is gone.
    Ignore,
}

/// Answers to a recommendation to move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnRebalance {
    /// It is told to people, and nothing else: most such machines live on.
    #[default]
    Ignore,
    /// A successor is launched, and the machine goes when that is ready.
    Replace,
}
