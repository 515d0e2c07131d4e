//! The documents of `fleet rename`, `fleet release` and `fleet import`.

use super::bodies;
use super::words::{Market, Provider, State, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// A fleet that has another name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rename {
    /// The fleet's name from here on.
    pub fleet: String,
    /// Its name before.
    pub from: String,
    /// How many machines it has, as far as the journal knows.
    pub machines: u64,
    /// How many of them tell the new name in their tags.
    pub retagged: u64,
    /// The others. They are the fleet's all the same: its identity has not changed.
    pub not_retagged: Vec<NotChanged>,
}

/// Machines that a fleet let go.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The fleet.
    pub fleet: String,
    /// The machines. They run on, and cost money.
    pub released: Vec<Released>,
    /// Machines that are the fleet's still.
    pub kept: Vec<NotChanged>,
    /// How many recorded machines were found to be gone.
    pub gone: u64,
}

/// A machine that was let go.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Released {
    /// The cloud's id.
    pub id: String,
    /// The slot that it filled.
    pub slot: String,
    /// The pool that it came from.
    pub pool: String,
    /// Whether it carries our tags still, because its cloud cannot change tags.
    pub tagged: bool,
}

/// A machine whose tags were not changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotChanged {
    /// The cloud's id.
    pub id: String,
    /// Why.
    pub why: String,
}

/// Machines that a fleet takes in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// The fleet.
    pub fleet: String,
    /// Every machine that was found.
    pub machines: Vec<Found>,
    /// Regions that could not be asked.
    pub gaps: Vec<Silent>,
    /// How many machines an apply would launch afterwards.
    pub create: u32,
    /// How many machines an apply would destroy afterwards. None of those that are taken in.
    pub destroy: u32,
}

/// A region that could not be asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Silent {
    /// The cloud.
    pub provider: Provider,
    /// The region.
    pub region: String,
    /// Why.
    pub why: String,
}

/// A machine that carries the tag and is nobody's.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
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
    /// Its price per hour.
    pub hourly_usd: Option<f64>,
    /// When it was launched.
    pub launched_at: Time,
    /// Whether it is the fleet's from here on.
    pub taken: bool,
    /// The slot that it fills, or would fill; `null` if it cannot be taken in.
    pub slot: Option<String>,
    /// Why it was not taken in; `null` if it was, or if it was only listed.
    pub why: Option<String>,
}

bodies! {
    Rename: "rename", "rename";
    Release: "release", "release";
    Import: "import", "import";
}
