//! The document of `fleet simulate`.

use super::bodies;
use schemars::JsonSchema;
use serde::Serialize;

/// What policies would have cost and delivered on recorded spot markets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Simulate {
    /// The fleets.
    pub fleets: Vec<FleetReplay>,
    /// Conditions of `--fail-if` that hold: the command fails.
    pub failed: Vec<String>,
}

bodies! { Simulate: "simulate", "simulate"; }

/// One fleet on every recording.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetReplay {
    /// The fleet's name.
    pub fleet: String,
    /// Machines wanted. Every machine of a recording counts for one unit.
    pub target: u32,
    /// Of those, on-demand throughout.
    pub base: u32,
    /// From a launch until a machine is ready.
    pub delay_seconds: u32,
    /// What the judge charges for a missing machine-hour, in on-demand hours (`--penalty`).
    pub penalty: f64,
    /// What the spec says that it costs, which is what the fleet plans with; `null` if it says nothing.
    pub spec_penalty: Option<f64>,
    /// What the replay takes for granted, in sentences.
    pub assumptions: Vec<String>,
    /// What of the spec the recordings do not have, and what stands in its place.
    pub replaced: Vec<Replaced>,
    /// Each policy, as the mean over all recordings.
    pub policies: Vec<PolicyResult>,
    /// What the fleet predicted of its spot machines, against what came of them; empty without the
    /// policy `fleet`.
    pub calibration: Vec<Calibration>,
    /// Each recording.
    pub recordings: Vec<Recording>,
}

/// How good predictions of losses are: made at every sample of the second half of each recording, for
/// each spot machine held.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Calibration {
    /// Lost within this many hours.
    pub hours: f64,
    /// How many predictions there are. Those of one machine overlap.
    pub predictions: u64,
    /// The mean square error. Lower is better.
    pub brier: f64,
    /// That of always predicting the share that is lost in the end.
    pub brier_of_mean: f64,
    /// From the lowest predictions to the highest, a tenth of them each; equal ones are together.
    pub bins: Vec<CalibrationBin>,
}

/// Predictions that are about the same.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CalibrationBin {
    /// How many.
    pub predictions: u64,
    /// What they predict, on average.
    pub predicted_percent: f64,
    /// How many came true.
    pub observed_percent: f64,
}

/// A part of the spec that a replay cannot follow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// The field of the spec.
    pub field: String,
    /// What the spec asks for.
    pub wanted: String,
    /// What the replay uses in its place.
    pub used: String,
}

/// One recording.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recording {
    /// Its name.
    pub name: String,
    /// How long it is.
    pub hours: f64,
    /// Seconds from one sample to the next; a reconcile runs at each.
    pub interval_seconds: u32,
    /// How long ahead the fleet knows of an interruption (`--notice`); 0 is not at all.
    pub notice_seconds: u32,
    /// Its zones.
    pub zones: Vec<String>,
    /// What one machine costs per hour on-demand.
    pub on_demand_hourly_usd: f64,
    /// What a policy that knows the future would cost, relative to all on-demand.
    pub omniscient: f64,
    /// A limit of the spec that this recording can never meet; `null` if there is none.
    pub out_of_reach: Option<OutOfReach>,
    /// Each policy.
    pub policies: Vec<PolicyResult>,
}

/// A share limit that leaves machines without a place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutOfReach {
    /// The limit, as the spec names it.
    pub limit: String,
    /// What it is.
    pub share_percent: f64,
    /// What the recording has of what it limits.
    pub places: Vec<String>,
    /// Machines that can stand at once.
    pub most: u32,
    /// The least share at which all of them could.
    pub raise_to_percent: f64,
}

/// What came of a policy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyResult {
    /// Its name.
    pub name: String,
    /// Cost, relative to the whole target on-demand.
    pub relative_cost: f64,
    /// Share of the time in which nothing was missing.
    pub available_percent: f64,
    /// Share of the wanted machine-hours that were ready.
    pub delivered_percent: f64,
    /// Machine-hours that were ready and wanted.
    pub unit_hours: f64,
    /// Interruptions per hundred spot machine-hours.
    pub interruptions_per100h: f64,
    /// Mean length of a shortage.
    pub recover_minutes: f64,
    /// Relative cost, with a missing machine-hour at 3 on-demand hours.
    pub j3: f64,
    /// Relative cost, with a missing machine-hour at 10 on-demand hours.
    pub j10: f64,
    /// Relative cost, with a missing machine-hour at 30 on-demand hours.
    pub j30: f64,
    /// `j10` over that of a policy that knows the future.
    pub j10_over_bound: f64,
    /// Relative cost, with a missing machine-hour at `penalty` on-demand hours.
    pub j: f64,
    /// `j` over that of a policy that knows the future.
    pub over_bound: f64,
}
