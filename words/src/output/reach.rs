//! The documents of `fleet inventory` and `fleet exec`.

use super::bodies;
use super::words::{Group, Market, Provider, State, Time};
use crate::machines::{Line, LoginFrom};
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// How a machine is reached.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The address that is reached from anywhere.
    pub public_ip: Option<String>,
    /// The address in its own network.
    pub private_ip: Option<String>,
    /// The name that its cloud gave it.
    pub dns_name: Option<String>,
    /// Who logs in; `null`: whoever `ssh` says.
    pub ssh_user: Option<String>,
    /// How we know who logs in.
    pub ssh_user_from: Option<SshUserFrom>,
    /// The name of the SSH key.
    pub ssh_key: Option<String>,
}

/// How we know who logs in.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SshUserFrom {
    /// `--user` says so.
    Flag,
    /// The spec says so.
    Spec,
    /// The cloud says so.
    Cloud,
    /// Images of this cloud, or of this name, usually have this user.
    Guess,
}

impl Access {
    /// How one machine is reached.
    pub fn of(line: &Line) -> Self {
        let model::Access { public_ip, private_ip, dns_name, user: _, key } = &line.access;
        let from = |from: LoginFrom| match from {
            LoginFrom::Flag => SshUserFrom::Flag,
            LoginFrom::Spec => SshUserFrom::Spec,
            LoginFrom::Cloud => SshUserFrom::Cloud,
            LoginFrom::Guess => SshUserFrom::Guess,
        };
        Access {
            public_ip: public_ip.map(|ip| ip.to_string()),
            private_ip: private_ip.map(|ip| ip.to_string()),
            dns_name: dns_name.clone(),
            ssh_user: line.user().map(str::to_owned),
            ssh_user_from: line.login.as_ref().map(|(_, how)| from(*how)),
            ssh_key: key.clone(),
        }
    }
}

/// Machines for other programs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    /// When the clouds were observed; `null` without a fleet.
    pub taken_at: Option<Time>,
    /// The fleets.
    pub fleets: Vec<FleetInventory>,
}

/// One fleet and its machines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetInventory {
    /// The fleet's name.
    pub fleet: String,
    /// Its machines, in the order of their slots, whether they can be reached or not.
    pub machines: Vec<InventoryMachine>,
}

/// A machine and how it is reached.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryMachine {
    /// Its name in every format: fleet and slot.
    pub name: String,
    /// The slot that it fills.
    pub slot: String,
    /// The part of the fleet that it belongs to.
    pub group: Group,
    /// How it is bought.
    pub market: Market,
    /// The cloud.
    pub provider: Provider,
    /// The region.
    pub region: String,
    /// The zone.
    pub zone: String,
    /// The instance type.
    pub r#type: String,
    /// The cloud's id.
    pub id: String,
    /// Its state.
    pub state: State,
    /// The address to use; `null` if it has none or is not up.
    pub address: Option<String>,
    /// How it is reached.
    #[serde(flatten)]
    pub access: Access,
}

/// What a command came to on every machine of a fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    /// The fleet.
    pub fleets: Vec<FleetExec>,
}

/// One fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetExec {
    /// The fleet's name.
    pub fleet: String,
    /// The command that ran.
    pub run: String,
    /// Machines on which it succeeded.
    pub ok: u32,
    /// Machines on which it failed.
    pub failed: u32,
    /// Machines on which it ran out of time.
    pub timed_out: u32,
    /// Machines that were not reached.
    pub not_reached: u32,
    /// The machines.
    pub machines: Vec<ExecMachine>,
}

/// One machine, and what it said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecMachine {
    /// The slot that it fills.
    pub slot: String,
    /// The cloud's id.
    pub id: String,
    /// The address that was used.
    pub address: Option<String>,
    /// Who logged in; `null`: whoever `ssh` says.
    pub ssh_user: Option<String>,
    /// How it went.
    pub outcome: ExecOutcome,
    /// The command's exit code; `null` if it did not end by itself.
    pub exit_code: Option<i32>,
    /// Why it is not ok.
    pub why: Option<String>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Whether it said more than is kept.
    pub truncated: bool,
}

/// How a command went on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExecOutcome {
    /// It ended with 0.
    Ok,
    /// It ended otherwise.
    Failed,
    /// It ran out of time.
    TimedOut,
    /// The machine was not reached.
    NotReached,
}

bodies! {
    Inventory: "inventory", "inventory";
    Exec: "exec", "exec";
}
