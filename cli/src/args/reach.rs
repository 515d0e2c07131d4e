//! Arguments of the commands that reach machines.

use super::{FleetArgs, LimitArgs, sim};
use clap::{Args, ValueEnum};
use fleet_model::{SlotId, SlotName};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// `fleet inventory`.
#[derive(Debug, Args)]
pub(crate) struct InventoryArgs {
    #[command(flatten)]
    pub spec: FleetArgs,
    /// What to print [default: ansible, or json with `-o json`]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<InventoryFormat>,
    #[command(flatten)]
    pub login: LoginArgs,
}

/// Forms of an inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InventoryFormat {
    /// An Ansible inventory (INI), grouped by fleet, group, market, cloud and region.
    Ansible,
    /// `Host` blocks for `~/.ssh/config`.
    SshConfig,
    /// Lines for `/etc/hosts`.
    Hosts,
    /// Every machine, for programs.
    Json,
    /// Every machine, as a table with a header.
    Csv,
}

/// Who logs in, and where.
#[derive(Debug, Clone, Args)]
pub(crate) struct LoginArgs {
    /// Log in as this user [default: `sshUser` of the spec, or what the cloud or its images have]
    #[arg(long, value_name = "USER", value_parser = user)]
    pub user: Option<String>,
    /// Use the address in the machine's own network, not the public one
    #[arg(long)]
    pub private: bool,
}

fn user(text: &str) -> Result<String, String> {
    let problem = "a user name has letters, digits, `-`, `_` and `.`, and no `-` first";
    fleet_model::user_name(Some(text)).ok_or_else(|| problem.to_owned())
}

/// Which program connects, and what it is told.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    pub login: LoginArgs,
    /// Run this in place of `ssh`; words after the first are options
    #[arg(long, env = "FLEET_SSH", value_name = "PROGRAM")]
    pub ssh: Option<String>,
    /// Files or folders with the fleet [default: fleet.yaml, or the journal]
    #[arg(long, value_name = "SPEC")]
    pub spec: Vec<PathBuf>,
}

/// `fleet ssh`.
#[derive(Debug, Args)]
pub(crate) struct SshArgs {
    /// The machine: web/burst-3, or web if the fleet has only one
    #[arg(value_name = "FLEET/SLOT")]
    pub machine: String,
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// What to run there [default: a shell]. One word is a shell's line; of several each is quoted
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<String>,
}

/// `fleet exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// The fleet
    #[arg(value_name = "FLEET")]
    pub name: String,
    /// Only these machines: burst-3, or a machine's id
    #[arg(long, value_name = "SLOT", value_delimiter = ',')]
    pub on: Vec<String>,
    /// Machines at once
    #[arg(long, value_name = "N", default_value_t = 16,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parallel: u16,
    /// Give up on a machine after this long
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = sim::parse_duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// What to run. One word is a shell's line; of several each is quoted
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<String>,
}

/// `fleet replace`.
#[derive(Debug, Args)]
pub(crate) struct ReplaceArgs {
    /// The fleet, or its spec
    #[arg(value_name = "SPEC|FLEET")]
    pub which: PathBuf,
    /// Its machines to replace: burst-3
    #[arg(value_name = "SLOT", required = true)]
    pub slots: Vec<Slot>,
    /// Withdraw a request that is not carried out yet: the machine stays
    #[arg(long)]
    pub cancel: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// A slot as people write it: with its generation, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub name: SlotName,
    pub generation: Option<u32>,
}

impl FromStr for Slot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(SlotId { name, generation }) = text.parse() {
            return Ok(Slot { name, generation: Some(generation) });
        }
        match text.parse() {
            Ok(name) => Ok(Slot { name, generation: None }),
            Err(_) => Err("a slot is written as base-0 or burst-3".into()),
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation {
            Some(generation) => write!(f, "{}.{generation}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}
