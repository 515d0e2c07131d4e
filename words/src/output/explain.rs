//! The document of `fleet explain`.

use super::bodies;
use super::common::Unplaced;
use super::plan::{Obtainability, Signal};
use super::reasons::{Counted, Notice, Rejection, Said, Why};
use super::words::{Unit, percent};
use schemars::JsonSchema;
use serde::Serialize;

/// Why each pool is used or not used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explain {
    /// The fleets.
    pub fleets: Vec<FleetExplained>,
}

bodies! { Explain: "explain", "explain"; }

/// One fleet and its pools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetExplained {
    /// The fleet's name.
    pub fleet: String,
    /// The unit of capacity.
    pub unit: Unit,
    /// How many pools the spec allows.
    pub candidates: u32,
    /// What rules out the other pools of the catalog.
    pub rejected: Vec<Counted>,
    /// What could not be placed.
    pub unplaced: Vec<Unplaced>,
    /// Pools, best first: those that the spec allows, or those that `--pool` names.
    pub pools: Vec<ExplainedPool>,
    /// Slots and what fills them: all, or the one that `--slot` names.
    pub slots: Vec<ExplainedSlot>,
    /// What else bears on where machines stand: on-demand in the place of spot.
    pub notices: Vec<Said<Notice>>,
    /// What moving machines to cheaper pools comes to (`rebalance`).
    pub moves: Vec<ExplainedMove>,
    /// What constraints cost, the dearest first.
    pub relaxations: Vec<Relaxation>,
    /// The largest possible distance from the least cost under the strategy.
    pub proven_gap: ProvenGap,
}

/// What moving a machine of a pool to a cheaper one comes to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedMove {
    /// The pool it stands in.
    pub from: String,
    /// The pool its successor would stand in.
    pub to: String,
    /// Machines that stand there.
    pub machines: u32,
    /// Its price now.
    pub hourly_usd: f64,
    /// The price of its successor.
    pub then_hourly_usd: f64,
    /// What of the price is saved.
    pub saving_percent: f64,
    /// How long the successor is expected to live, within a day.
    pub life_minutes: u64,
    /// What is saved in that time.
    pub gain_usd: f64,
    /// What the move costs.
    pub cost_usd: f64,
    /// Whether machines move now.
    pub moves: bool,
    /// The verdict as a sentence.
    pub why: String,
}

/// A pool and its verdict.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPool {
    /// The pool, as `provider/region/zone/type/market`.
    pub pool: String,
    /// Whether the plan uses it.
    pub used: bool,
    /// The verdict as a sentence.
    pub why: String,
    /// Why it is not used; `null` if it is.
    pub reason: Option<Said<Rejection>>,
    /// Machines to keep.
    pub keep: u32,
    /// Machines to launch.
    pub create: u32,
    /// Machines to destroy.
    pub destroy: u32,
    /// Price of one machine per hour.
    pub hourly_usd: Option<f64>,
    /// What one machine costs per hour beside: its disk, its public address and its traffic, as far as
    /// prices are known; 0 where the spec rules the pool out.
    pub beside_hourly_usd: f64,
    /// The on-demand price of the same.
    pub on_demand_hourly_usd: Option<f64>,
    /// The cloud's word on launches.
    pub obtainability: Option<Obtainability>,
    /// What the cloud's signals say, and how far each is believed.
    pub signals: Vec<Signal>,
    /// What is to be expected of one more machine; `null` on-demand, and where the spec rules it out.
    pub odds: Option<Odds>,
    /// Capacity of one machine; `null` if it counts for nothing.
    pub weight: Option<f64>,
}

/// What is to be expected of one more machine in a spot pool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Odds {
    /// Chance that a launch succeeds now.
    pub launch_percent: f64,
    /// How likely a machine that is up lasts so many hours.
    pub lasts: Vec<Lasts>,
    /// What was seen there; `null`: nothing yet.
    pub seen: Option<Seen>,
}

/// What was seen of a pool since our first machine there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// Hours that machines of ours ran there, summed over machines.
    pub machine_hours: f64,
    /// Machines that the pool took back.
    pub interruptions: u64,
}

/// How likely a machine lasts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lasts {
    /// For so many hours.
    pub hours: u32,
    /// How likely.
    pub percent: f64,
}

impl Odds {
    /// As the engine says it.
    pub fn of(odds: &fleet_core::PoolOdds) -> Self {
        let lasts = fleet_core::ODDS_HOURS.into_iter().zip(odds.lasts);
        Odds {
            launch_percent: percent(odds.launch),
            lasts: lasts.map(|(hours, share)| Lasts { hours, percent: percent(share) }).collect(),
            seen: odds.seen.map(|seen| Seen {
                machine_hours: seen.machine_hours,
                interruptions: seen.interruptions,
            }),
        }
    }
}

/// A slot and what fills it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedSlot {
    /// The slot.
    pub slot: String,
    /// The machine; `null` while its launch is in doubt.
    pub machine: Option<String>,
    /// Its pool.
    pub pool: String,
    /// Its capacity.
    pub weight: f64,
    /// Its price per hour.
    pub hourly_usd: Option<f64>,
    /// How it stands, in a few words.
    pub standing: String,
    /// Why it will be destroyed; `null` if it stays.
    pub reason: Option<Said<Why>>,
}

/// What a constraint of the spec costs, if everything were bought anew.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relaxation {
    /// What to relax, in a few words.
    pub relax: String,
    /// Per hour with the constraint.
    pub hourly_before_usd: f64,
    /// Per hour without it.
    pub hourly_after_usd: f64,
    /// How much cheaper that is.
    pub saved_percent: f64,
    /// Capacity that can be placed without it only.
    pub gained: f64,
}

/// How close to the least cost the optimiser proves to be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvenGap {
    /// Of the on-demand part; `null` without a proof.
    pub base_percent: Option<f64>,
    /// Of the spot part; `null` without a proof.
    pub burst_percent: Option<f64>,
}
