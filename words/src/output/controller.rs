//! The documents of the controller: all fleets at a glance.

use super::bodies;
use super::common::{Diagnostic, Unmanaged};
use super::status::{FleetStatus, Machine};
use super::words::{Time, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// All fleets of a controller at a glance.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The time, by the clock of the clouds.
    pub at: Time,
    /// The replica that answers.
    pub replica: String,
    /// The replicas that are there.
    pub replicas: Vec<String>,
    /// Whether it acts; `false`: it looks and decides, and does nothing.
    pub acts: bool,
    /// Where specs come from.
    pub source: Source,
    /// The fleets, by name.
    pub fleets: Vec<FleetOverview>,
    /// Fleets with machines that no spec in force names. Nothing is done to them unless a policy says `prune`.
    pub unmanaged: Vec<Unmanaged>,
}

bodies! { Overview: "overview", "controller"; }

/// The specs in force, and those that are not.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The commit in force; `null` where there are no commits.
    pub commit: Option<String>,
    /// Since when; `null` while none is in force.
    pub since: Option<Time>,
    /// Specs that are refused, and why; `null` if the latest are in force.
    pub refused: Option<RefusedSpecs>,
}

/// Specs that are not in force.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedSpecs {
    /// Their commit; `null` where there are no commits, or it is not known.
    pub commit: Option<String>,
    /// Since when.
    pub since: Time,
    /// What is wrong. Of many problems, the first.
    pub error: String,
    /// Where.
    pub place: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Everything that is wrong with the specs.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a fleet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Not looked at yet.
    Unseen,
    /// It is what its spec says, as far as that can be had.
    Settled,
    /// Something that was begun goes on.
    GoesOn,
    /// Somebody else looks after it: another replica, or a person with `fleet apply`.
    Elsewhere,
    /// The last look failed.
    Failed,
}

/// One fleet at a glance.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetOverview {
    /// The fleet's name.
    pub fleet: String,
    /// The file that its spec comes from.
    pub file: String,
    /// How it stands.
    pub standing: Standing,
    /// The same in words: who else looks after it, or what failed.
    pub said: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The replica that looks after it first.
    pub replica: Option<String>,
    /// When it was looked at; `null` before the first look.
    pub looked_at: Option<Time>,
    /// When it is looked at again, if nothing happens before.
    pub next_look_at: Option<Time>,
    /// The unit of capacity.
    pub unit: Unit,
    /// Capacity that the spec asks for.
    pub wanted: f64,
    /// Capacity that is there.
    pub have: f64,
    /// Machines.
    pub machines: u32,
    /// Machines that run.
    pub ready: u32,
    /// Machines that start.
    pub launching: u32,
    /// On-demand machines that stand in for spot.
    pub on_fallback: u32,
    /// Machines with a notice that they will be taken back.
    pub interrupted: u32,
    /// Things that are held back.
    pub held: u32,
    /// Whether a person wants nothing to be changed for now.
    pub frozen: bool,
    /// Capacity that could not be placed.
    pub unplaced: f64,
    /// Launches whose outcome is not known.
    pub in_doubt: u32,
    /// Regions that did not answer.
    pub gaps: u32,
    /// Dollars per hour.
    pub hourly_usd: f64,
    /// Dollars per month (730 hours).
    pub monthly_usd: f64,
    /// Dollars per hour less than the same machines on demand.
    pub saved_hourly_usd: f64,
    /// Machines that the last look launched.
    pub launched: u32,
    /// Machines that the last look destroyed.
    pub destroyed: u32,
}

/// One fleet of a controller.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetDetail {
    /// The fleet at a glance.
    pub overview: FleetOverview,
    /// Its machines, as they were seen last; `null` before the first look.
    pub status: Option<FleetStatus>,
}

/// The machines of one fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Machines {
    /// The fleet's name.
    pub fleet: String,
    /// When the clouds were observed.
    pub taken_at: Time,
    /// The machines, in the order of their slots.
    pub machines: Vec<Machine>,
}

/// A look at a fleet that somebody asked for. It is in the journal, and under way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The fleet's name.
    pub fleet: String,
    /// Who asked, and why, as the journal has it.
    pub who: String,
    /// When.
    pub at: Time,
}

/// Whether a controller is well.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The replica that answers.
    pub replica: String,
    /// Whether it can answer for its fleets: specs are in force, and nobody asked it to stop.
    pub ready: bool,
    /// Why it is not ready; `null` if it is.
    pub why: Option<String>,
}

/// Something happened. What it came to is told by the other documents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct News {
    /// What happened.
    pub news: NewsKind,
    /// The fleet that it is about; `null` if it is about none, or all.
    pub fleet: Option<String>,
}

/// Kinds of news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NewsKind {
    /// A fleet was looked after.
    Looked,
    /// Other specs are in force, or refused.
    Specs,
    /// Replicas came or went.
    Replicas,
    /// The listener was too slow, and some news are lost: ask for everything again.
    Reload,
}

impl NewsKind {
    /// Its name, as in documents and as events are called.
    pub fn as_str(self) -> &'static str {
        match self {
            NewsKind::Looked => "looked",
            NewsKind::Specs => "specs",
            NewsKind::Replicas => "replicas",
            NewsKind::Reload => "reload",
        }
    }
}

bodies! {
    FleetDetail: "fleet", "controller";
    Machines: "machines", "controller";
    Asked: "asked", "controller";
    Health: "health", "controller";
    News: "news", "controller";
}
