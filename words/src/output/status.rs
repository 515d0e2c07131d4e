//! The document of `fleet status`.

use super::bodies;
use super::common::{Gap, InDoubt, Unmanaged, Unplaced};
use super::reach::Access;
use super::reasons::{Hold, Notice, Said};
use super::words::{Group, Market, Provider, State, Time, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// The machines of fleets.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The fleets.
    pub fleets: Vec<FleetStatus>,
    /// Fleets with machines that no spec of the folder names.
    pub unmanaged: Vec<Unmanaged>,
}

bodies! { Status: "status", "status"; }

/// One fleet and its machines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetStatus {
    /// The fleet's name.
    pub fleet: String,
    /// Its identity; `null` before the first apply.
    pub uid: Option<String>,
    /// When the clouds were observed.
    pub taken_at: Time,
    /// The unit of capacity.
    pub unit: Unit,
    /// Nothing is held, unplaced or in doubt.
    pub settled: bool,
    /// Capacity by part of the fleet.
    pub groups: Vec<GroupStatus>,
    /// The machines, in the order of their slots.
    pub machines: Vec<Machine>,
    /// Money.
    pub cost: StatusCost,
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

/// One part of a fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupStatus {
    /// Which part.
    pub group: Group,
    /// Capacity that the spec asks for.
    pub wanted: f64,
    /// Capacity that is there.
    pub have: f64,
}

/// A machine of a fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// The cloud's id.
    pub id: String,
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
    /// The slot that it fills.
    pub slot: String,
    /// The part of the fleet that it belongs to.
    pub group: Group,
    /// Its price per hour.
    pub hourly_usd: Option<f64>,
    /// When it was launched.
    pub launched_at: Time,
    /// When it will be interrupted; `null` without a notice.
    pub interruption_at: Option<Time>,
    /// How it is reached.
    #[serde(flatten)]
    pub access: Access,
}

/// What the machines cost, with their disks, public addresses and expected traffic as far as prices are known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCost {
    /// Per hour.
    pub hourly_usd: f64,
    /// Per month (730 hours).
    pub monthly_usd: f64,
    /// The limit per hour; `null` without one.
    pub hourly_limit_usd: Option<f64>,
}
