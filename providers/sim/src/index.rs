//! Ways to find machines without looking at all of them. Derived, never saved.

use crate::time::{LISTED_AFTER_END, Ms};
use crate::vm::Vm;
use crate::world::Deed;
use fleet_model::{MachineId, Market, PoolId, Scope};
use std::collections::{BTreeSet, HashMap};

/// What falls due when time passes. Machines by serial number, deeds by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A machine is gone: its room and quota are free again.
    Leave(u64),
    /// A gone machine is no longer listed.
    Purge(u64),
    /// A token may be forgotten.
    Forget(u64),
}

/// The machines of one pool, by serial number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PoolMachines {
    /// Every one that is still known.
    pub(crate) all: BTreeSet<u64>,
    /// Of those, the ones not gone yet: they hold capacity.
    pub(crate) live: BTreeSet<u64>,
    /// Of those, the ones whose end is not settled.
    pub(crate) staying: BTreeSet<u64>,
    /// vCPUs of the live ones.
    vcpus: u64,
}

/// Machines by everything they are looked up by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) pool_numbers: HashMap<PoolId, u32>,
    /// By pool number.
    pub(crate) pools: Vec<PoolMachines>,
    /// Numbers of the pools in a scope, with their markets.
    scopes: HashMap<Scope, Vec<(u32, Market)>>,
    pub(crate) ids: HashMap<MachineId, u64>,
    pub(crate) names: HashMap<String, Vec<u64>>,
    /// Deeds by what the clouds remember them by.
    pub(crate) keys: HashMap<u64, u64>,
    due: BTreeSet<(Ms, Due)>,
}

impl Index {
    pub(crate) fn pool(&mut self, number: u32, id: &PoolId) {
        self.pool_numbers.insert(id.clone(), number);
        self.pools.resize_with((number as usize + 1).max(self.pools.len()), Default::default);
        self.scopes.entry(id.place.scope()).or_default().push((number, id.market));
    }

    /// Serial numbers of the machines in a scope, in the order of their launch.
    pub(crate) fn in_scope(&self, scope: &Scope) -> Vec<u64> {
        let pools = self.scopes.get(scope).into_iter().flatten();
        let mut all: Vec<u64> =
            pools.flat_map(|(number, _)| &self.pools[*number as usize].all).copied().collect();
        all.sort_unstable();
        all
    }

    /// vCPUs in use in a scope and market.
    pub(crate) fn used(&self, scope: &Scope, market: Market) -> u64 {
        let pools = self.scopes.get(scope).into_iter().flatten();
        pools
            .filter(|(_, other)| *other == market)
            .map(|(number, _)| self.pools[*number as usize].vcpus)
            .sum()
    }

    /// Takes in a launch.
    pub(crate) fn deed(&mut self, number: u64, deed: &Deed) {
        if let Some(key) = deed.key {
            self.keys.insert(key, number);
        }
        self.due_at(deed.forget, Due::Forget(number));
    }

    /// Takes in a machine, in whatever part of its life.
    pub(crate) fn add(&mut self, serial: u64, vm: &Vm, deed: &Deed, now: Ms) {
        self.ids.insert(vm.id.clone(), serial);
        if let Some(name) = &vm.name {
            self.names.entry(name.clone()).or_default().push(serial);
        }
        let machines = &mut self.pools[deed.pool as usize];
        machines.all.insert(serial);
        match vm.gone {
            Some(gone) if gone <= now => self.due_at(gone + LISTED_AFTER_END, Due::Purge(serial)),
            gone => {
                machines.live.insert(serial);
                machines.vcpus += u64::from(deed.vcpus);
                match gone {
                    Some(gone) => self.due_at(gone, Due::Leave(serial)),
                    None => {
                        machines.staying.insert(serial);
                    }
                }
            }
        }
    }

    /// The end of a machine is settled, or comes earlier than settled.
    pub(crate) fn end(&mut self, serial: u64, vm: &Vm, deed: &Deed, before: Option<Ms>) {
        if let Some(before) = before {
            self.due.remove(&(before, Due::Leave(serial)));
        }
        self.pools[deed.pool as usize].staying.remove(&serial);
        if let Some(gone) = vm.gone {
            self.due_at(gone, Due::Leave(serial));
        }
    }

    /// A machine is gone.
    pub(crate) fn leave(&mut self, serial: u64, vm: &Vm, deed: &Deed) {
        let machines = &mut self.pools[deed.pool as usize];
        if machines.live.remove(&serial) {
            machines.vcpus = machines.vcpus.saturating_sub(u64::from(deed.vcpus));
        }
        if let Some(gone) = vm.gone {
            self.due_at(gone + LISTED_AFTER_END, Due::Purge(serial));
        }
    }

    /// A machine is forgotten.
    pub(crate) fn purge(&mut self, serial: u64, vm: &Vm, deed: &Deed) {
        self.ids.remove(&vm.id);
        self.pools[deed.pool as usize].all.remove(&serial);
        if let Some(name) = &vm.name
            && let Some(serials) = self.names.get_mut(name)
        {
            serials.retain(|other| *other != serial);
            if serials.is_empty() {
                self.names.remove(name);
            }
        }
    }

    pub(crate) fn due_at(&mut self, at: Ms, due: Due) {
        self.due.insert((at, due));
    }

    /// The next thing that is due by `now`.
    pub(crate) fn pop_due(&mut self, now: Ms) -> Option<Due> {
        if self.due.first()?.0 > now {
            return None;
        }
        self.due.pop_first().map(|(_, due)| due)
    }
}
