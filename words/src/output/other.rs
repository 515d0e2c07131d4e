//! The documents of small commands.

use super::bodies;
use super::words::{Market, Provider, State, Time};
use fleet_model::Recorded;
use schemars::JsonSchema;
use serde::Serialize;

/// What `fleet init` wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Init {
    /// The spec.
    pub spec: String,
    /// Its schema, for editors.
    pub schema: String,
}

/// Who held the lease of a fleet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unlock {
    /// The fleet.
    pub fleets: Vec<Unlocked>,
}

/// A fleet that is free.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unlocked {
    /// The fleet's name.
    pub fleet: String,
    /// Whether a lease was revoked.
    pub unlocked: bool,
    /// Who held it; `null` if nobody did.
    pub holder: Option<String>,
}

/// Whether a fleet may change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// The fleet's name.
    pub fleet: String,
    /// Whether it is kept as it is.
    pub frozen: bool,
    /// Why; `null` if it is not.
    pub reason: Option<String>,
    /// Since when; `null` if it is not.
    pub since: Option<Time>,
    /// Until when; `null`: until `fleet thaw`.
    pub until: Option<Time>,
}

impl Freeze {
    /// As the journal has it.
    pub fn of(fleet: &str, recorded: &Recorded) -> Self {
        let freeze = recorded.freeze.as_ref();
        Freeze {
            fleet: fleet.to_owned(),
            frozen: freeze.is_some(),
            reason: freeze.map(|freeze| freeze.reason.clone()),
            since: freeze.map(|freeze| Time(freeze.since)),
            until: freeze.and_then(|freeze| freeze.until).map(Time),
        }
    }
}

/// A token, shown once.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    /// Whose it is.
    pub name: String,
    /// What it may do: `viewer` or `operator`.
    pub role: String,
    /// The token. It is kept nowhere.
    pub token: String,
    /// The file that has its digest.
    pub file: String,
}

/// What a control of the simulated clouds did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimDone {
    /// What was done, in words.
    pub done: String,
    /// Fleets whose journals were forgotten with the old world.
    pub forgotten: Vec<String>,
}

/// The simulated clouds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimShow {
    /// The simulated time.
    pub now: Time,
    /// The seed of the world.
    pub seed: u64,
    /// `lifelike` or `calm`.
    pub preset: String,
    /// Faults that are in force, in words.
    pub faults: Vec<String>,
    /// Every machine that costs money.
    pub machines: Vec<SimMachine>,
}

bodies! {
    Init: "init", "init";
    Unlock: "unlock", "unlock";
    Freeze: "freeze", "freeze";
    NewToken: "token", "token new";
    SimDone: "sim", "sim";
    SimShow: "sim-show", "sim show";
}

/// A simulated machine.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimMachine {
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
    /// The fleet that its tags name; `null` without our tags.
    pub fleet: Option<String>,
    /// The slot that its tags name; `null` without our tags.
    pub slot: Option<String>,
    /// Its price per hour.
    pub hourly_usd: Option<f64>,
    /// When it was launched.
    pub launched_at: Time,
    /// When it will be interrupted; `null` without a notice.
    pub interruption_at: Option<Time>,
}
