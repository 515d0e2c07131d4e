//! The document of `fleet sweep`.

use super::bodies;
use super::common::Gap;
use super::words::{Market, Provider, State, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// Machines that carry our tags and that no journal accounts for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sweep {
    /// The machines.
    pub orphans: Vec<Orphan>,
    /// Regions that could not be seen: orphans may hide there.
    pub gaps: Vec<Gap>,
    /// How many regions answered.
    pub regions: u64,
    /// How many machines with our tags were seen.
    pub machines: u64,
}

bodies! { Sweep: "sweep", "sweep"; }

/// Why nobody accounts for a machine.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// No journal here is of its fleet.
    UnknownFleet,
    /// Its fleet's journal does not know it.
    NotRecorded,
    /// A launch made one too many.
    Surplus,
    /// Its tags are those of another machine.
    Copy,
}

/// A machine that no journal accounts for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Orphan {
    /// The cloud's id.
    pub id: String,
    /// Why nobody accounts for it.
    pub because: Because,
    /// The machine that it was copied from; `null` if it is no copy.
    pub copy_of: Option<String>,
    /// The fleet that its tags name.
    pub fleet: Option<String>,
    /// The identity of that fleet.
    pub fleet_uid: Option<String>,
    /// The slot that its tags name.
    pub slot: Option<String>,
    /// The cloud.
    pub provider: Provider,
    /// The region.
    pub region: String,
    /// The zone.
    pub zone: String,
    /// The instance type.
    pub r#type: String,
    /// How it is bought.
    pub market: Market,
    /// Its state.
    pub state: State,
    /// When it was launched.
    pub launched_at: Time,
    /// Its price per hour.
    pub hourly_usd: Option<f64>,
}
