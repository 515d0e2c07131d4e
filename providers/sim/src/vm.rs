//! One simulated machine. Its state is a function of the time, so that a step of the clock does
//! not have to touch every machine.

use crate::time::Ms;
use fleet_model::{Cause, CauseKind, Cloud, Labels, MachineId, MachineState, Ownership, SlotId};
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
    /// Since when it is shut down, and still there.
    pub(crate) stopped: Option<Ms>,
    /// Since when its cloud says that it does not work, and whether it ever did.
    pub(crate) failed: Option<(Ms, bool)>,
    /// The labels that it was given since its launch.
    pub(crate) labels: Option<Labels>,
    /// Whether it still carries our tags.
    pub(crate) tagged: bool,
    /// What its tags say, if they were written after its launch.
    pub(crate) owner: Option<Box<Ownership>>,
    /// The name that clouds without tokens know it by.
    pub(crate) name: Option<String>,
}

impl Vm {
    pub(crate) fn state(&self, now: Ms) -> MachineState {
        if self.gone.is_some_and(|gone| gone <= now) {
            MachineState::Terminated
        } else if self.asked.is_some_and(|asked| asked <= now) {
            MachineState::Stopping
        } else if self.failed.is_some_and(|(since, _)| since <= now) {
            MachineState::Failed
        } else if self.stopped.is_some_and(|since| since <= now) {
            MachineState::Stopped
        } else if self.running <= now {
            MachineState::Running
        } else {
            MachineState::Pending
        }
    }

    /// Whether the cloud's own lists show it. Only EC2 lists what has ended.
    pub(crate) fn is_listed(&self, cloud: Cloud, now: Ms) -> bool {
        let lists_ended = cloud.facts().lists_ended_for.as_millis() as Ms;
        self.visible <= now && self.gone.is_none_or(|gone| now < gone + lists_ended)
    }

    /// Why it is as it is, where its cloud tells.
    pub(crate) fn cause(&self, cloud: Cloud, now: Ms) -> Option<Cause> {
        let taken_back = self.notice.is_some() && self.notice == self.gone;
        match self.state(now) {
            MachineState::Terminated => match cloud {
                Cloud::Aws if taken_back => {
                    Some(Cause::new(CauseKind::Interrupted, "Server.SpotInstanceTermination"))
                }
                Cloud::Aws if self.asked.is_some() => {
                    Some(Cause::new(CauseKind::Person, "Client.UserInitiatedShutdown"))
                }
                Cloud::Gcp if taken_back => {
                    Some(Cause::new(CauseKind::Interrupted, "compute.instances.preempted"))
                }
                Cloud::Gcp if self.asked.is_some() => Some(Cause::new(CauseKind::Person, "delete")),
                Cloud::Aws | Cloud::Gcp | Cloud::Azure | Cloud::Lambda => None,
            },
            MachineState::Failed => Some(match self.failed {
                Some((_, true)) => Cause::new(CauseKind::Unwell, "VMExtensionProvisioningError"),
                Some((_, false)) | None => {
                    Cause::new(CauseKind::NeverReady, "OSProvisioningTimedOut")
                }
            }),
            MachineState::Stopped => Some(Cause::new(CauseKind::Guest, "shut down from inside")),
            MachineState::Pending | MachineState::Running | MachineState::Stopping => None,
        }
    }
}
