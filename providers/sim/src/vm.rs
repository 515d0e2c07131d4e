//! One simulated machine. Its state is a function of the time, so that a step of the clock does
//! not have to touch every machine.

use crate::time::{LISTED_AFTER_END, Ms, stamp};
use fleet_model::{
    InterruptionNotice, Machine, MachineId, MachineState, MicroUsd, Ownership, PoolId,
};
use serde::{Deserialize, Serialize};

/// A machine and the moments of its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vm {
    pub(crate) id: MachineId,
    /// Index into the world's pools.
    pub(crate) pool: u32,
    pub(crate) launched: Ms,
    /// Listed from here on.
    pub(crate) visible: Ms,
    pub(crate) running: Ms,
    /// When its end was asked for.
    pub(crate) asked: Option<Ms>,
    /// When it is gone, if that is settled.
    pub(crate) gone: Option<Ms>,
    /// When the cloud takes it back.
    pub(crate) notice: Option<Ms>,
    pub(crate) price: Option<MicroUsd>,
    pub(crate) vcpus: u32,
    pub(crate) owner: Option<Ownership>,
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

    pub(crate) fn describe(&self, pool: &PoolId, now: Ms) -> Machine {
        Machine {
            id: self.id.clone(),
            place: pool.place.clone(),
            instance_type: pool.instance_type.clone(),
            market: pool.market,
            state: self.state(now),
            launched_at: stamp(self.launched),
            price: self.price,
            owner: self.owner.clone(),
            notice: self.notice.map(|at| InterruptionNotice { at: stamp(at) }),
        }
    }
}
