//! Faults on request: every one is an event like any other, so a run with faults replays too.

use crate::event::{Born, Event, Launched};
use crate::fault::{Area, Fault};
use crate::sim::Sim;
use crate::store::SimError;
use crate::time::{Ms, later, stamp};
use crate::tx::notice_of;
use fleet_model::{
    Cloud, Machine, MachineId, MachineState, Market, PoolPattern, Region, SlotId, Timestamp,
};
use std::time::Duration;

impl Sim {
    /// Makes something go wrong.
    pub fn fault(&self, fault: Fault) -> Result<(), SimError> {
        self.run(|tx| tx.emit(Event::Fault(fault)))
    }

    fn fault_for(
        &self,
        lasting: Option<Duration>,
        fault: impl FnOnce(Option<Timestamp>) -> Fault,
    ) -> Result<(), SimError> {
        self.run(|tx| {
            let until = lasting.map(|lasting| stamp(later(tx.now(), lasting)));
            tx.emit(Event::Fault(fault(until)));
        })
    }

    /// Ends every fault, changed quotas included.
    pub fn heal(&self) -> Result<(), SimError> {
        self.run(|tx| tx.emit(Event::Healed))
    }

    /// Pools take no new machines.
    pub fn exhaust(
        &self,
        pools: impl Into<PoolPattern>,
        lasting: Option<Duration>,
    ) -> Result<(), SimError> {
        self.limit_room(pools, 0, lasting)
    }

    /// Pools take new machines until each holds `room_for` of ours.
    pub fn limit_room(
        &self,
        pools: impl Into<PoolPattern>,
        room_for: u32,
        lasting: Option<Duration>,
    ) -> Result<(), SimError> {
        let pools = pools.into();
        self.fault_for(lasting, |until| Fault::Exhausted { pools, room_for, until })
    }

    /// An area refuses every connection: nothing gets in.
    pub fn outage(&self, area: Area, lasting: Option<Duration>) -> Result<(), SimError> {
        self.fault_for(lasting, |until| Fault::Outage { area, lossy: false, until })
    }

    /// An area answers 503 to everything, and carries out half of what it is asked.
    pub fn lossy_outage(&self, area: Area, lasting: Option<Duration>) -> Result<(), SimError> {
        self.fault_for(lasting, |until| Fault::Outage { area, lossy: true, until })
    }

    /// Every change and every list is throttled for a while.
    pub fn throttle(&self, cloud: Cloud, lasting: Duration) -> Result<(), SimError> {
        self.fault_for(Some(lasting), |until| Fault::Throttled {
            cloud,
            until: until.unwrap_or(Timestamp::MAX),
        })
    }

    /// Changes are carried out, but so many of a hundred answers are lost.
    pub fn lose_answers(&self, cloud: Cloud, percent: u8) -> Result<(), SimError> {
        self.fault(Fault::LostAnswers { cloud, percent })
    }

    /// Lists lose a page.
    pub fn partial_lists(&self, area: Area) -> Result<(), SimError> {
        self.fault(Fault::PartialLists { area })
    }

    /// Machines launched from now on take this long to be listed.
    pub fn delay_visibility(&self, cloud: Cloud, by: Duration) -> Result<(), SimError> {
        self.fault(Fault::DelayedVisibility { cloud, by })
    }

    /// The account may use so many vCPUs.
    pub fn set_quota(
        &self,
        cloud: Cloud,
        region: Region,
        market: Market,
        vcpus: u64,
    ) -> Result<(), SimError> {
        self.fault(Fault::Quota { cloud, region, market, vcpus })
    }

    /// Gives notice to a machine, or to the youngest `count` of some pools; says to which.
    pub fn interrupt(&self, target: &str, count: usize) -> Result<Vec<MachineId>, SimError> {
        self.run(|tx| {
            let (world, now) = (&*tx.world, tx.now());
            let pattern = PoolPattern::from(target);
            let one = world.vm(&target.into());
            let some = world.vms.values().rev().filter(|vm| {
                one.is_none()
                    && vm.gone.is_none()
                    && world.origin(vm).is_some_and(|(_, pool)| pattern.matches(pool))
            });
            let hit: Vec<(MachineId, Ms)> = one
                .into_iter()
                .chain(some.take(count))
                .filter(|vm| vm.state(now) != MachineState::Terminated)
                .filter_map(|vm| {
                    let (_, pool) = world.origin(vm)?;
                    Some((vm.id.clone(), now + notice_of(pool.place.cloud)))
                })
                .collect();
            if hit.is_empty() {
                return Err(SimError::NoMatch(target.into()));
            }
            Ok(hit
                .into_iter()
                .map(|(id, due)| {
                    tx.interrupt(id.clone(), due);
                    id
                })
                .collect())
        })?
    }

    /// Ends a machine at once, behind everybody's back.
    pub fn reclaim(&self, machine: &MachineId) -> Result<(), SimError> {
        self.on_machine(machine, |id, now| Event::Ended { ids: vec![id], asked: now, gone: now })?;
        self.run(|tx| tx.leave_children(std::slice::from_ref(machine), tx.now()))
    }

    /// Shuts a machine down from inside. It stays, and its disk is paid for.
    pub fn stop(&self, machine: &MachineId) -> Result<(), SimError> {
        self.on_machine(machine, |id, since| Event::Stopped { id, since })
    }

    /// A machine that worked is called failed by its cloud from now on. It goes on running.
    pub fn fail(&self, machine: &MachineId) -> Result<(), SimError> {
        self.on_machine(machine, |id, since| Event::Failed { id, since, worked: true })
    }

    /// Takes the tags off a machine.
    pub fn strip_tags(&self, machine: &MachineId) -> Result<(), SimError> {
        self.on_machine(machine, |id, _| Event::Stripped { id })
    }

    /// Writes another slot on a machine, as somebody with the right to change tags may.
    pub fn retag(&self, machine: &MachineId, slot: SlotId) -> Result<(), SimError> {
        self.on_machine(machine, |id, _| Event::Retagged { id, slot })
    }

    /// Puts a machine there that somebody else launched just now, with the tags of `like`: a
    /// look-alike. If its id was in use, that machine is gone without a trace.
    pub fn plant(&self, like: &Machine) -> Result<(), SimError> {
        self.run(|tx| {
            let Some(owner) = like.owner.clone() else { return };
            tx.emit(Event::Forgotten { id: like.id.clone() });
            let now = tx.now();
            let born = Born {
                id: like.id.clone(),
                slot: owner.slot,
                visible: now,
                running: now,
                fails: None,
                name: None,
            };
            tx.emit(Event::Launched(Launched {
                key: None,
                fingerprint: 0,
                pool: like.pool(),
                fleet: owner.fleet,
                name: owner.name,
                token: owner.token,
                template: owner.template,
                labels: Default::default(),
                price: like.price,
                tariff: None,
                vcpus: 1,
                done: now,
                born: vec![born],
                refusal: None,
            }));
        })
    }

    fn on_machine(
        &self,
        machine: &MachineId,
        event: impl FnOnce(MachineId, Ms) -> Event,
    ) -> Result<(), SimError> {
        self.run(|tx| {
            let now = tx.now();
            match tx.world.vm(machine) {
                Some(vm) if vm.state(now) != MachineState::Terminated => {
                    tx.emit(event(machine.clone(), now));
                    Ok(())
                }
                Some(_) | None => Err(SimError::NoMatch(machine.to_string())),
            }
        })?
    }
}
