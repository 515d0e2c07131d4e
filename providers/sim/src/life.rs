//! What no cloud tells and a judge wants to know: the moments of machines' lives, and what pools carry.

use crate::sim::Sim;
use crate::store::SimError;
use crate::time::{Ms, from_stamp, stamp};
use fleet_model::{MachineId, MicroUsd, PoolId, SlotId, Timestamp};

/// A machine from its launch to its end. Moments that are settled may lie ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Which machine.
    pub id: MachineId,
    /// The slot that it was launched for.
    pub slot: SlotId,
    /// Where it stands.
    pub pool: PoolId,
    /// What it costs per hour, from its launch on.
    pub price: Option<MicroUsd>,
    /// When it was launched.
    pub launched: Timestamp,
    /// When it is up.
    pub running: Timestamp,
    /// When we asked for its end.
    pub asked: Option<Timestamp>,
    /// When its cloud takes it back.
    pub taken: Option<Timestamp>,
    /// When it is gone.
    pub gone: Option<Timestamp>,
}

impl Sim {
    /// Every machine that the clouds still know of: what ended is known for another hour.
    pub fn lives(&self) -> Result<Vec<Life>, SimError> {
        self.run(|tx| {
            let world = &*tx.world;
            let life = |vm: &crate::vm::Vm| {
                let (deed, pool) = world.origin(vm)?;
                let moment = |at: Option<Ms>| at.map(stamp);
                Some(Life {
                    id: vm.id.clone(),
                    slot: vm.slot,
                    pool: pool.clone(),
                    price: deed.price,
                    launched: stamp(deed.launched),
                    running: stamp(vm.running),
                    asked: moment(vm.asked),
                    taken: moment(vm.notice),
                    gone: moment(vm.gone),
                })
            };
            world.vms.values().filter_map(life).collect()
        })
    }

    /// How many machines of ours a pool carries at a moment, which may lie ahead; `None` if nobody sells it.
    /// Faults are not known ahead of time.
    pub fn carries(&self, pool: &PoolId, at: Timestamp) -> Result<Option<u32>, SimError> {
        self.run(|tx| {
            let found = tx.pools.find(pool)?;
            Some(tx.pools.capacity(pool, &found, &tx.world.settings, from_stamp(at)))
        })
    }
}
