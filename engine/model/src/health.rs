//! When a machine is of use: what its cloud says, and what checks of the user's own say.

use crate::{SlotId, Timestamp};
use serde::{Deserialize, Serialize};

/// How it is found out that a machine is of use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Health {
    /// Whether the cloud's own word that a machine does not work counts.
    pub cloud: bool,
    /// Checks of the user's own. A machine is ready when all of them pass.
    pub probes: Vec<Probe>,
    /// The address at which checks over the network reach a machine.
    pub address: ProbeAddress,
    /// How long one check may take, in seconds.
    pub timeout_seconds: u32,
    /// From its launch until a machine must be ready, in seconds. `None`: what its cloud usually takes.
    pub ready_within_seconds: Option<u32>,
    /// For how long the checks of a machine must fail before it is replaced, in seconds.
    pub unhealthy_after_seconds: u32,
}

impl Default for Health {
    fn default() -> Self {
        Health {
            cloud: true,
            probes: Vec::new(),
            address: ProbeAddress::Private,
            timeout_seconds: Self::TIMEOUT_SECONDS,
            ready_within_seconds: None,
            unhealthy_after_seconds: Self::UNHEALTHY_AFTER_SECONDS,
        }
    }
}

impl Health {
    /// How long one check may take, where nobody says otherwise.
    pub const TIMEOUT_SECONDS: u32 = 5;
    /// For how long checks must fail, where nobody says otherwise.
    pub const UNHEALTHY_AFTER_SECONDS: u32 = 300;

    /// Whether this is what a spec without a word on it has.
    pub fn is_default(&self) -> bool {
        *self == Health::default()
    }
}

/// One check, run by whoever reconciles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Probe {
    /// A GET that must be answered with a status of 200 to 399.
    Http {
        /// The port.
        port: u16,
        /// The path, with its leading slash.
        path: String,
    },
    /// A connection that must be accepted.
    Tcp {
        /// The port.
        port: u16,
    },
    /// A program that must end with exit code 0. It gets the machine in its environment.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
    },
}

/// Which address of a machine is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProbeAddress {
    /// The one in its own network.
    #[default]
    Private,
    /// The one on the internet.
    Public,
}

impl ProbeAddress {
    /// The word as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            ProbeAddress::Private => "private",
            ProbeAddress::Public => "public",
        }
    }
}

/// What the checks of one machine said in one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Probed {
    /// All passed.
    Passed,
    /// One failed.
    Failed {
        /// What was seen. The machine's words or a program's: escape before printing.
        words: String,
    },
    /// One could not be made: that says nothing of the machine.
    NotMade {
        /// Why.
        words: String,
    },
}

/// What the journal knows of a machine's checks. Only changes are written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SlotHealth {
    /// It was ready once.
    pub ready: bool,
    /// Since when its checks fail, as far as anybody saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
}

impl SlotHealth {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == SlotHealth::default()
    }
}

/// Changes of what is known of checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HealthNews {
    /// Machines whose checks pass, and did not before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<SlotId>,
    /// Machines whose checks fail, and did not before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<SlotId>,
}

impl HealthNews {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.failing.is_empty()
    }
}

/// How a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Readiness {
    /// It was launched, and is not of use yet.
    Launching,
    /// It is of use.
    Ready,
    /// It is not of use, or not any more.
    Unhealthy,
}

impl Readiness {
    /// The word as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Readiness::Launching => "launching",
            Readiness::Ready => "ready",
            Readiness::Unhealthy => "unhealthy",
        }
    }
}
