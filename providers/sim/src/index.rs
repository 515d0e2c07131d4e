//! Ways to find machines without looking at all of them. Derived, never saved.

use crate::time::{LISTED_AFTER_END, Ms};
use crate::vm::Vm;
use fleet_model::{Cloud, MachineId, Market, PoolId, Region, Scope};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What falls due when time passes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A machine is gone: its room and quota are free again.
    Leave(u64),
    /// A gone machine is no longer listed.
    Purge(u64),
    /// A token may be forgotten.
    Forget(String),
}

/// The machines of one pool that hold capacity.
#[derive(Debug, Clone, Default)]
pub(crate) struct PoolMachines {
    /// Not gone yet.
    pub(crate) live: BTreeSet<u64>,
    /// Of those, the ones whose end is not settled.
    pub(crate) staying: BTreeSet<u64>,
}

/// Machines by everything they are looked up by. Numbers are serial numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    pub(crate) pool_numbers: HashMap<PoolId, u32>,
    /// By pool number.
    pub(crate) pools: Vec<PoolMachines>,
    pub(crate) ids: HashMap<MachineId, u64>,
    pub(crate) scopes: HashMap<Scope, BTreeSet<u64>>,
    pub(crate) names: HashMap<String, Vec<u64>>,
    /// vCPUs in use.
    pub(crate) used: BTreeMap<(Cloud, Region, Market), u64>,
    pub(crate) due: BTreeSet<(Ms, Due)>,
}

impl Index {
    pub(crate) fn pool(&mut self, number: u32, id: &PoolId) {
        self.pool_numbers.insert(id.clone(), number);
        self.pools.resize_with((number as usize + 1).max(self.pools.len()), Default::default);
    }

    /// Takes in a machine, in whatever part of its life.
    pub(crate) fn add(&mut self, serial: u64, vm: &Vm, pool: &PoolId, now: Ms) {
        self.ids.insert(vm.id.clone(), serial);
        self.scopes.entry(pool.place.scope()).or_default().insert(serial);
        if let Some(name) = &vm.name {
            self.names.entry(name.clone()).or_default().push(serial);
        }
        let machines = &mut self.pools[vm.pool as usize];
        if vm.gone.is_some_and(|gone| gone <= now) {
            self.due_at(vm.gone.unwrap_or(now) + LISTED_AFTER_END, Due::Purge(serial));
            return;
        }
        machines.live.insert(serial);
        match vm.gone {
            None => {
                machines.staying.insert(serial);
            }
            Some(gone) => self.due_at(gone, Due::Leave(serial)),
        }
        *self.used.entry(quota_key(pool)).or_default() += u64::from(vm.vcpus);
    }

    /// The end of a machine is settled, or comes earlier than settled.
    pub(crate) fn end(&mut self, serial: u64, vm: &Vm, before: Option<Ms>) {
        if let Some(before) = before {
            self.due.remove(&(before, Due::Leave(serial)));
        }
        self.pools[vm.pool as usize].staying.remove(&serial);
        if let Some(gone) = vm.gone {
            self.due_at(gone, Due::Leave(serial));
        }
    }

    /// A machine is gone.
    pub(crate) fn leave(&mut self, serial: u64, vm: &Vm, pool: &PoolId) {
        self.pools[vm.pool as usize].live.remove(&serial);
        if let Some(used) = self.used.get_mut(&quota_key(pool)) {
            *used = used.saturating_sub(u64::from(vm.vcpus));
        }
        if let Some(gone) = vm.gone {
            self.due_at(gone + LISTED_AFTER_END, Due::Purge(serial));
        }
    }

    /// A machine is forgotten.
    pub(crate) fn purge(&mut self, serial: u64, vm: &Vm, pool: &PoolId) {
        self.ids.remove(&vm.id);
        if let Some(scope) = self.scopes.get_mut(&pool.place.scope()) {
            scope.remove(&serial);
        }
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
    pub(crate) fn pop_due(&mut self, now: Ms) -> Option<(Ms, Due)> {
        if self.due.first()?.0 > now {
            return None;
        }
        self.due.pop_first()
    }
}

pub(crate) fn quota_key(pool: &PoolId) -> (Cloud, Region, Market) {
    (pool.place.cloud, pool.place.region.clone(), pool.market)
}
