//! All four clouds as one value.

use crate::event::{Event, Launched, Refusal};
use crate::fault::Fault;
use crate::index::{Due, Index};
use crate::limit::{Level, LimitKey, limits};
use crate::settings::Settings;
use crate::time::{EPOCH, Ms, TOKEN_LIFE, stamp};
use crate::vm::Vm;
use fleet_model::{MachineId, Ownership, PoolId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a cloud remembers of a request, under its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deed {
    pub(crate) fingerprint: u64,
    /// Serial numbers of the machines.
    pub(crate) machines: Vec<u64>,
    pub(crate) refusal: Option<Refusal>,
    /// When the answer is ready.
    pub(crate) done: Ms,
    /// When to see whether it may be forgotten.
    forget: Ms,
}

/// The clouds: every machine, every token, every limit, every fault, and the time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) now: Ms,
    /// Serial number of the next machine.
    pub(crate) next: u64,
    /// Calls that chance had a say in.
    pub(crate) calls: u64,
    /// Every pool that ever held a machine; machines speak of them by number.
    pub(crate) pools: Vec<PoolId>,
    /// By serial number, so in the order of their launch.
    pub(crate) vms: BTreeMap<u64, Vm>,
    pub(crate) deeds: BTreeMap<String, Deed>,
    pub(crate) levels: BTreeMap<LimitKey, Level>,
    pub(crate) faults: Vec<Fault>,
    #[serde(skip)]
    pub(crate) index: Index,
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        World {
            settings,
            now: EPOCH,
            next: 0,
            calls: 0,
            pools: Vec::new(),
            vms: BTreeMap::new(),
            deeds: BTreeMap::new(),
            levels: BTreeMap::new(),
            faults: Vec::new(),
            index: Index::default(),
        }
    }

    /// Rebuilds what is not saved. `None` if the saved part contradicts itself.
    pub(crate) fn reindexed(mut self) -> Option<Self> {
        let mut index = Index::default();
        for (number, pool) in self.pools.iter().enumerate() {
            index.pool(u32::try_from(number).ok()?, pool);
        }
        for (serial, vm) in &self.vms {
            index.add(*serial, vm, self.pools.get(vm.pool as usize)?, self.now);
        }
        for (key, deed) in &self.deeds {
            index.due_at(deed.forget, Due::Forget(key.clone()));
        }
        self.index = index;
        Some(self)
    }

    /// The fold. Total: an event about something unknown changes nothing.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Time { to } => {
                self.now = self.now.max(*to);
                let now = stamp(self.now);
                self.faults.retain(|fault| fault.holds_at(now));
            }
            Event::Called { limit, cost } => self.draw(limit.as_ref(), *cost),
            Event::Launched(launched) => self.launched(launched),
            Event::Ended { ids, asked, gone } => {
                ids.iter().for_each(|id| self.settle(id, Some(*asked), *gone, false));
            }
            Event::Interrupted { id, due } => self.settle(id, None, *due, true),
            Event::Stripped { id } => {
                if let Some(vm) = self.serial(id).and_then(|serial| self.vms.get_mut(&serial)) {
                    vm.owner = None;
                }
            }
            Event::Fault(fault) => self.faults.push(fault.clone()),
            Event::Healed => self.faults.clear(),
        }
        self.fall_due();
    }

    pub(crate) fn serial(&self, id: &MachineId) -> Option<u64> {
        self.index.ids.get(id).copied()
    }

    pub(crate) fn vm(&self, id: &MachineId) -> Option<&Vm> {
        self.vms.get(&self.serial(id)?)
    }

    /// The pool of a machine. Total because `launched` and `reindexed` let no other number in.
    pub(crate) fn pool_of(&self, vm: &Vm) -> &PoolId {
        &self.pools[vm.pool as usize]
    }

    fn draw(&mut self, limit: Option<&LimitKey>, cost: u32) {
        self.calls += 1;
        let Some(key) = limit else { return };
        let region = key.region.clone().unwrap_or_else(|| "".into());
        let rate = limits(key.cloud, &region, key.call, 0)
            .into_iter()
            .find(|(other, ..)| other == key)
            .map(|(_, rate, _)| rate);
        if let Some(rate) = rate {
            let level =
                self.levels.get(key).copied().unwrap_or_else(|| Level::full(rate, self.now));
            self.levels.insert(key.clone(), level.drawn(rate, self.now, cost));
        }
    }

    fn launched(&mut self, launched: &Launched) {
        let pool = match self.index.pool_numbers.get(&launched.pool) {
            Some(number) => *number,
            None => {
                let number = self.pools.len() as u32;
                self.pools.push(launched.pool.clone());
                self.index.pool(number, &launched.pool);
                number
            }
        };
        let first = self.next;
        for born in &launched.born {
            let vm = Vm {
                id: born.id.clone(),
                pool,
                launched: self.now,
                visible: born.visible,
                running: born.running,
                asked: None,
                gone: None,
                notice: None,
                price: launched.price,
                vcpus: launched.vcpus,
                owner: Some(Ownership {
                    fleet: launched.fleet.clone(),
                    slot: born.slot,
                    token: launched.token.clone(),
                    template: launched.template,
                }),
                name: born.name.clone(),
            };
            self.index.add(self.next, &vm, &launched.pool, self.now);
            self.vms.insert(self.next, vm);
            self.next += 1;
        }
        if let Some(key) = &launched.key {
            let forget = self.now + TOKEN_LIFE;
            let deed = Deed {
                fingerprint: launched.fingerprint,
                machines: (first..self.next).collect(),
                refusal: launched.refusal.clone(),
                done: launched.done,
                forget,
            };
            if let Some(old) = self.deeds.insert(key.clone(), deed) {
                self.index.due.remove(&(old.forget, Due::Forget(key.clone())));
            }
            self.index.due_at(forget, Due::Forget(key.clone()));
        }
    }

    fn settle(&mut self, id: &MachineId, asked: Option<Ms>, gone: Ms, notice: bool) {
        let Some(serial) = self.serial(id) else { return };
        let Some(vm) = self.vms.get_mut(&serial) else { return };
        if vm.gone.is_some_and(|gone| gone <= self.now) {
            return;
        }
        let before = vm.gone;
        vm.asked = vm.asked.or(asked);
        vm.gone = Some(before.map_or(gone, |before| before.min(gone)));
        if notice {
            vm.notice = vm.gone;
        }
        self.index.end(serial, vm, before);
    }

    fn fall_due(&mut self) {
        while let Some((_, due)) = self.index.pop_due(self.now) {
            match due {
                Due::Leave(serial) => {
                    if let Some(vm) = self.vms.get(&serial) {
                        self.index.leave(serial, vm, &self.pools[vm.pool as usize]);
                    }
                }
                Due::Purge(serial) => {
                    if let Some(vm) = self.vms.remove(&serial) {
                        self.index.purge(serial, &vm, &self.pools[vm.pool as usize]);
                    }
                }
                Due::Forget(key) => self.forget(key),
            }
        }
    }

    /// Drops a token, unless a machine it made is still known: then a repeat must still find it.
    fn forget(&mut self, key: String) {
        let Some(deed) = self.deeds.get_mut(&key) else { return };
        if deed.machines.iter().any(|serial| self.vms.contains_key(serial)) {
            deed.forget = self.now + TOKEN_LIFE;
            self.index.due_at(deed.forget, Due::Forget(key));
        } else {
            self.deeds.remove(&key);
        }
    }
}
