//! Ways to find machines without looking at all of them. Derived, never saved.

use crate::time::{LISTED_AFTER_END, Ms};
use crate::vm::Vm;
use crate::world::Deed;
use fleet_model::{MachineId, Market, PoolId, Scope};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// The index of a whole world, the same as if everything had been taken in one by one. Lists
    /// first and trees from them: worlds of 100,000 machines are opened by every command.
    /// `None` where a machine has no deed, or a deed no pool.
    pub(crate) fn build(
        pools: &[PoolId],
        deeds: &BTreeMap<u64, Deed>,
        vms: &BTreeMap<u64, Vm>,
        now: Ms,
    ) -> Option<Self> {
        let mut index = Index::default();
        for (number, pool) in pools.iter().enumerate() {
            index.pool(u32::try_from(number).ok()?, pool);
        }
        index.ids.reserve(vms.len());
        index.keys.reserve(deeds.len());
        let mut due = Vec::with_capacity(deeds.len());
        for (number, deed) in deeds {
            pools.get(deed.pool as usize)?;
            if let Some(key) = deed.key {
                index.keys.insert(key, *number);
            }
            due.push((deed.forget, Due::Forget(*number)));
        }
        let mut sets: Vec<[Vec<u64>; 3]> = vec![Default::default(); pools.len()];
        // Machines and deeds are both in the order of their launch: one walk finds each deed.
        let mut launches = deeds.iter();
        let mut at = launches.next();
        for (serial, vm) in vms {
            while at.is_some_and(|(number, _)| *number < vm.deed) {
                at = launches.next();
            }
            let deed = at.filter(|(number, _)| **number == vm.deed)?.1;
            index.ids.insert(vm.id.clone(), *serial);
            if let Some(name) = &vm.name {
                index.names.entry(name.clone()).or_default().push(*serial);
            }
            let [all, live, staying] = &mut sets[deed.pool as usize];
            all.push(*serial);
            match vm.gone {
                Some(gone) if gone <= now => {
                    due.push((gone + LISTED_AFTER_END, Due::Purge(*serial)));
                    continue;
                }
                Some(gone) => due.push((gone, Due::Leave(*serial))),
                None => staying.push(*serial),
            }
            live.push(*serial);
            index.pools[deed.pool as usize].vcpus += u64::from(deed.vcpus);
        }
        for (machines, sets) in index.pools.iter_mut().zip(sets) {
            let [all, live, staying] = sets.map(BTreeSet::from_iter);
            *machines = PoolMachines { all, live, staying, vcpus: machines.vcpus };
        }
        index.due = BTreeSet::from_iter(due);
        Some(index)
    }

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

    /// Takes in a new machine.
    pub(crate) fn add(&mut self, serial: u64, vm: &Vm, deed: &Deed) {
        self.ids.insert(vm.id.clone(), serial);
        if let Some(name) = &vm.name {
            self.names.entry(name.clone()).or_default().push(serial);
        }
        let machines = &mut self.pools[deed.pool as usize];
        machines.all.insert(serial);
        machines.live.insert(serial);
        machines.staying.insert(serial);
        machines.vcpus += u64::from(deed.vcpus);
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
