//! What every provider judges alike, whatever its cloud calls things.

use crate::{Class, seams};
use fleet_model::{FleetUid, Machine, Victim};
use std::error::Error as StdError;
use std::time::Duration;

/// How long to wait before looking again for a machine that is not listed yet.
pub const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// What was asked, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A list or a look: asking again is harmless.
    Read,
    /// A launch.
    Launch,
    /// An end.
    End,
}

impl Asked {
    /// What no answer means.
    pub fn silence(self) -> Class {
        match self {
            Asked::Read => Class::Retry { after: None },
            Asked::Launch | Asked::End => Class::Unknown,
        }
    }
}

/// Why a machine is not the one that a plan means to end; `None` if it is. The last look before
/// every end asks this.
pub fn not_the_machine(fleet: &FleetUid, victim: &Victim, machine: &Machine) -> Option<String> {
    seams::objection(difference(fleet, victim, machine))
}

/// What sets a machine apart from the one that is meant.
fn difference(fleet: &FleetUid, victim: &Victim, machine: &Machine) -> Option<String> {
    let Some(owner) = &machine.owner else {
        return Some("its tags do not say that it is a machine of ours".into());
    };
    if owner.fleet != *fleet {
        return Some(format!("it belongs to fleet {}", owner.fleet));
    }
    if !seams::same_slot(owner.slot, victim.slot) {
        return Some(format!("it fills slot {}, not {}", owner.slot, victim.slot));
    }
    if !seams::same_launch(machine.launched_at, victim.launched_at) {
        return Some(format!(
            "it was launched at {}, not at {}",
            machine.launched_at, victim.launched_at
        ));
    }
    None
}

/// An error and its causes; a cause that was said already is not said again.
pub fn with_causes(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(this) = cause {
        let more = this.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = this.source();
    }
    text
}

/// The same in one line: some SDKs say in several where they looked for credentials.
pub fn in_one_line(error: &dyn StdError) -> String {
    with_causes(error).split_whitespace().collect::<Vec<_>>().join(" ")
}
