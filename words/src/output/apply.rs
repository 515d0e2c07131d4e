//! The documents of `fleet apply` and `fleet destroy`, and the lines of `fleet reconcile`.

use super::bodies;
use super::common::{Cost, Gap, InDoubt, LeftOut, Summary, Unmanaged, Unplaced};
use super::reasons::{Hold, Notice, Said};
use super::words::{Time, Unit};
use crate::text::clean_line;
use fleet_model::StepId;
use fleet_run::RoundOutcome;
use schemars::JsonSchema;
use serde::Serialize;

/// What an apply did, and what remains.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Apply {
    /// Fleets that were changed, or had nothing to change.
    pub fleets: Vec<Applied>,
    /// Fleets that were not changed, or not to the end.
    pub left_out: Vec<LeftOut>,
}

/// What a destroy did, and what remains.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Destroy {
    /// Fleets whose machines were destroyed, or had none.
    pub fleets: Vec<Applied>,
    /// Fleets that were not changed, or not to the end.
    pub left_out: Vec<LeftOut>,
}

/// One line of a reconcile: what became of one fleet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconcile {
    /// When the line was written.
    pub at: Time,
    /// The fleet, if it was begun.
    pub fleets: Vec<Applied>,
    /// The fleet, if it failed, was invalid, or was not begun before a stop.
    pub left_out: Vec<LeftOut>,
    /// In a line of their own: fleets with machines that no spec of the folder names.
    pub unmanaged: Vec<Unmanaged>,
}

/// What a replace did, and what remains.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replace {
    /// The fleet whose machines were replaced.
    pub fleets: Vec<Applied>,
    /// The fleet, if it was not changed, or not to the end.
    pub left_out: Vec<LeftOut>,
}

/// Wishes that were withdrawn.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceCancel {
    /// The fleet.
    pub fleets: Vec<Withdrawn>,
}

/// Machines that are not to be replaced after all.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Withdrawn {
    /// The fleet's name.
    pub fleet: String,
    /// The slots of the machines.
    pub withdrawn: Vec<String>,
}

bodies! {
    Replace: "replace", "replace";
    ReplaceCancel: "replace-cancel", "replace";
    Apply: "apply", "apply";
    Destroy: "destroy", "destroy";
    Reconcile: "reconcile", "reconcile";
}

/// One fleet after an apply.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    /// The fleet's name.
    pub fleet: String,
    /// Machines launched.
    pub created: u32,
    /// Machines destroyed.
    pub destroyed: u32,
    /// Whether somebody asked to stop.
    pub stopped: bool,
    /// What each round did.
    pub rounds: Vec<Round>,
    /// The unit of capacity.
    pub unit: Unit,
    /// Capacity afterwards.
    pub have: f64,
    /// Capacity that the spec asks for.
    pub wanted: f64,
    /// Machines that remain to be launched and destroyed, and those to keep.
    pub remaining: Summary,
    /// Money, of what remains.
    pub cost: Cost,
    /// What could not be placed.
    pub unplaced: Vec<Unplaced>,
    /// What is held back.
    pub held: Vec<Said<Hold>>,
    /// Launches whose outcome is not known.
    pub in_doubt: Vec<InDoubt>,
    /// Regions that could not be seen.
    pub gaps: Vec<Gap>,
    /// What else there is to know.
    pub notices: Vec<Said<Notice>>,
}

/// What one round did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// Machines launched.
    pub created: u32,
    /// Machines destroyed.
    pub destroyed: u32,
    /// Those of them that a change of template replaced.
    pub updated: u32,
    /// Machines that were told to end, and whose end is not known.
    pub perhaps_destroyed: u32,
    /// Slots that were recorded as free.
    pub vacated: u32,
    /// Machines whose leftovers were removed.
    pub cleared: u32,
    /// Machines whose labels were changed.
    pub relabelled: u32,
    /// What clouds said to labels that were not changed.
    pub not_relabelled: Vec<String>,
    /// Steps that were not started.
    pub skipped: u32,
    /// Steps that were refused, in whole or in part.
    pub refused: Vec<StepAnswer>,
    /// Steps whose outcome is not known.
    pub unknown: Vec<StepAnswer>,
}

/// What a cloud said to a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepAnswer {
    /// The number of the step.
    pub step: u32,
    /// The cloud's code and words.
    pub why: String,
}

impl Round {
    /// What a round came to.
    pub fn of(round: &RoundOutcome) -> Self {
        let RoundOutcome {
            created,
            destroyed,
            updated,
            perhaps_destroyed,
            refused,
            unknown,
            skipped,
            vacated,
            cleared,
            relabelled,
            not_relabelled,
            blocked: _,
        } = round;
        let answers = |list: &[(StepId, String)]| -> Vec<StepAnswer> {
            let one =
                |(step, why): &(StepId, String)| StepAnswer { step: step.0, why: clean_line(why) };
            list.iter().map(one).collect()
        };
        Round {
            created: *created,
            destroyed: *destroyed,
            updated: *updated,
            perhaps_destroyed: *perhaps_destroyed,
            vacated: *vacated,
            cleared: *cleared,
            relabelled: *relabelled,
            not_relabelled: not_relabelled.iter().map(|why| clean_line(why)).collect(),
            skipped: *skipped,
            refused: answers(refused),
            unknown: answers(unknown),
        }
    }
}
