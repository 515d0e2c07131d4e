//! One simulated machine. Its state is a function of the time, so that a step of the clock does
//! not have to touch every machine.

use crate::time::{LISTED_AFTER_END, Ms};
use fleet_model::{MachineId, MachineState, SlotId};
use serde::{Deserialize, Serialize};

/// A machine and the moments of its life. What it shares with the others of its launch is in the
/// [deed](crate::world::Deed).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vm {
    pub(crate) id: MachineId,
    /// The launch that made it.
    pub(crate) deed: u64,
    pub(crate) slot: SlotId,
    /// Listed from here on.
    pub(crate) visible: Ms,
    pub(crate) running: Ms,
    /// When its end was asked for.
    pub(crate) asked: Option<Ms>,
    /// When it is gone, if that is settled.
    pub(crate) gone: Option<Ms>,
    /// When the cloud takes it back.
    pub(crate) notice: Option<Ms>,
    /// Whether it still carries our tags.
    pub(crate) tagged: bool,
    /// The name that clouds without tokens know it by.
    pub(crate) name: Option<String>,
}

impl Vm {
    pub(crate) fn state(&self, now: Ms) -> MachineState {
        if self.gone.is_some_and(|gone| gone <= now) {
            MachineState::Terminated
        } else if self.asked.is_some_and(|asked| asked <= now) {
            MachineState::Stopping
        } else if self.running <= now {
            MachineState::Running
        } else {
            MachineState::Pending
        }
    }

    /// Whether the cloud's own lists show it.
    pub(crate) fn is_listed(&self, now: Ms) -> bool {
        self.visible <= now && self.gone.is_none_or(|gone| now < gone + LISTED_AFTER_END)
    }
}
