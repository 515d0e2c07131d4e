//! All four clouds as one value.

use crate::address;
use crate::bill::Past;
use crate::event::{Event, Launched, Refusal};
use crate::fault::Fault;
use crate::index::{Due, Index};
use crate::limit::{Level, LimitKey, limits};
use crate::settings::Settings;
use crate::tariff::Tariff;
use crate::time::{EPOCH, Ms, TOKEN_LIFE, stamp};
use crate::vm::Vm;
use fleet_model::{
    Access, Cloud, Digest, FleetName, FleetUid, InterruptionNotice, Labels, Machine, MachineId,
    MachineState, MicroUsd, NoticeKind, Orphans, Ownership, PoolId, Token,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// One launch: what the cloud remembers of it, and what its machines have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deed {
    pub(crate) key: Option<u64>,
    pub(crate) fingerprint: u64,
    /// Index into the world's pools.
    pub(crate) pool: u32,
    pub(crate) vcpus: u32,
    pub(crate) launched: Ms,
    pub(crate) price: Option<MicroUsd>,
    /// What comes with each of its machines.
    #[serde(default)]
    pub(crate) tariff: Option<Tariff>,
    fleet: FleetUid,
    name: FleetName,
    token: Token,
    template: Digest,
    labels: Labels,
    /// Serial numbers of the machines.
    pub(crate) machines: Range<u64>,
    pub(crate) refusal: Option<Refusal>,
    /// When the answer is ready.
    pub(crate) done: Ms,
    /// When to see whether it may be forgotten.
    pub(crate) forget: Ms,
}

impl Deed {
    /// The fleet that it was for.
    pub(crate) fn name(&self) -> &FleetName {
        &self.name
    }

    /// The tags that its machines carry.
    pub(crate) fn owner(&self, vm: &Vm) -> Option<Ownership> {
        vm.tagged.then(|| match &vm.owner {
            Some(owner) => Ownership { slot: vm.slot, ..Ownership::clone(owner) },
            None => Ownership {
                fleet: self.fleet.clone(),
                name: self.name.clone(),
                slot: vm.slot,
                token: self.token.clone(),
                template: self.template,
            },
        })
    }
}

/// The clouds: every machine, every token, every limit, every fault, and the time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) now: Ms,
    /// Serial number of the next machine.
    pub(crate) next: u64,
    /// Number of the next deed.
    next_deed: u64,
    /// Calls that chance had a say in.
    pub(crate) calls: u64,
    /// Every pool that ever held a machine; deeds speak of them by number.
    pub(crate) pools: Vec<PoolId>,
    #[serde(with = "table")]
    deeds: BTreeMap<u64, Deed>,
    /// By serial number, so in the order of their launch. A machine's deed is always there.
    #[serde(with = "table")]
    pub(crate) vms: BTreeMap<u64, Vm>,
    pub(crate) levels: BTreeMap<LimitKey, Level>,
    pub(crate) faults: Vec<Fault>,
    /// What machines left behind, and since when.
    #[serde(rename = "remains")]
    pub(crate) orphans: BTreeMap<MachineId, (Orphans, Ms)>,
    /// When disks were cleared away that machines had left behind, for the bill.
    #[serde(default)]
    pub(crate) cleared: BTreeMap<MachineId, Ms>,
    /// Machines that are forgotten, for the bill.
    #[serde(default)]
    pub(crate) past: Vec<Past>,
    #[serde(skip)]
    pub(crate) index: Index,
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        World {
            settings,
            now: EPOCH,
            next: 0,
            next_deed: 0,
            calls: 0,
            pools: Vec::new(),
            deeds: BTreeMap::new(),
            vms: BTreeMap::new(),
            levels: BTreeMap::new(),
            faults: Vec::new(),
            orphans: BTreeMap::new(),
            cleared: BTreeMap::new(),
            past: Vec::new(),
            index: Index::default(),
        }
    }

    /// Rebuilds what is not saved. `None` if the saved part contradicts itself.
    pub(crate) fn reindexed(mut self) -> Option<Self> {
        self.index = Index::build(&self.pools, &self.deeds, &self.vms, self.now)?;
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
            Event::Left { orphans, since } => {
                self.orphans.insert(orphans.machine.clone(), (orphans.clone(), *since));
            }
            Event::Cleared { machine } => {
                if self.orphans.remove(machine).is_some() {
                    self.cleared.insert(machine.clone(), self.now);
                }
            }
            Event::Relabelled { id, labels } => {
                if let Some(vm) = self.vm_mut(id) {
                    vm.labels = Some(labels.clone());
                }
            }
            Event::Interrupted { id, due } => self.settle(id, None, *due, true),
            Event::Stripped { id } => {
                if let Some(serial) = self.index.ids.get(id)
                    && let Some(vm) = self.vms.get_mut(serial)
                {
                    vm.tagged = false;
                }
            }
            Event::Owned { id, owner } => {
                if let Some(vm) = self.vm_mut(id) {
                    vm.tagged = true;
                    vm.slot = owner.slot;
                    vm.owner = Some(Box::new(owner.clone()));
                }
            }
            Event::Stopped { id, since } => {
                if let Some(vm) = self.vm_mut(id) {
                    vm.stopped = Some(*since);
                }
            }
            Event::Failed { id, since, worked } => {
                if let Some(vm) = self.vm_mut(id) {
                    vm.failed = Some((*since, *worked));
                }
            }
            Event::Fault(fault) => self.faults.push(fault.clone()),
            Event::Healed => self.faults.clear(),
            Event::Retagged { id, slot } => {
                if let Some(serial) = self.index.ids.get(id)
                    && let Some(vm) = self.vms.get_mut(serial)
                {
                    vm.slot = *slot;
                }
            }
            Event::Forgotten { id } => {
                if let Some(serial) = self.index.ids.get(id).copied()
                    && let Some(vm) = self.vms.remove(&serial)
                    && let Some(deed) = self.deeds.get(&vm.deed)
                {
                    let gone = vm.gone.unwrap_or(self.now).min(self.now);
                    self.past.push(Past::of(&vm, deed, Some(gone)));
                    self.index.leave(serial, &vm, deed);
                    self.index.purge(serial, &vm, deed);
                }
            }
        }
        self.fall_due();
    }

    fn vm_mut(&mut self, id: &MachineId) -> Option<&mut Vm> {
        self.vms.get_mut(self.index.ids.get(id)?)
    }

    pub(crate) fn vm(&self, id: &MachineId) -> Option<&Vm> {
        self.vms.get(self.index.ids.get(id)?)
    }

    /// The labels of a machine, apart from ours.
    pub(crate) fn labels<'a>(&'a self, vm: &'a Vm) -> Option<&'a Labels> {
        vm.labels.as_ref().or(self.deeds.get(&vm.deed).map(|deed| &deed.labels))
    }

    /// The launch a cloud remembers under a key.
    pub(crate) fn deed_by_key(&self, key: u64) -> Option<&Deed> {
        self.deeds.get(self.index.keys.get(&key)?)
    }

    /// The launch and the pool of a machine.
    pub(crate) fn origin(&self, vm: &Vm) -> Option<(&Deed, &PoolId)> {
        let deed = self.deeds.get(&vm.deed)?;
        Some((deed, self.pools.get(deed.pool as usize)?))
    }

    /// What would be left of a machine, besides itself.
    pub(crate) fn orphans_of(&self, vm: &Vm) -> Option<Orphans> {
        let (deed, pool) = self.origin(vm)?;
        let (machine, token) = (vm.id.clone(), deed.token.clone());
        Some(Orphans { machine, token, scope: pool.place.scope() })
    }

    /// A machine as its cloud describes it now.
    pub(crate) fn describe(&self, vm: &Vm) -> Option<Machine> {
        let (deed, pool) = self.origin(vm)?;
        Some(Machine {
            id: vm.id.clone(),
            place: pool.place.clone(),
            instance_type: pool.instance_type.clone(),
            market: pool.market,
            state: match (vm.state(self.now), pool.place.cloud) {
                // Google shows a machine that it takes back as stopping, and no word of warning.
                (MachineState::Pending | MachineState::Running, Cloud::Gcp)
                    if vm.notice.is_some() =>
                {
                    MachineState::Stopping
                }
                (state, _) => state,
            },
            launched_at: stamp(deed.launched),
            price: deed.price,
            owner: deed.owner(vm),
            notice: vm
                .notice
                // Azure warns inside the machine alone.
                .filter(|_| pool.place.cloud == Cloud::Aws)
                .map(|at| InterruptionNotice { at: stamp(at), kind: NoticeKind::Interruption }),
            cause: vm.cause(pool.place.cloud, self.now),
            access: self.access(vm, pool),
        })
    }

    fn access(&self, vm: &Vm, pool: &PoolId) -> Access {
        let serial = self.index.ids.get(&vm.id).copied().unwrap_or_default();
        address::access(serial, pool.place.cloud, vm.state(self.now))
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
        let number = self.next_deed;
        self.next_deed += 1;
        let deed = Deed {
            key: launched.key,
            fingerprint: launched.fingerprint,
            pool,
            vcpus: launched.vcpus,
            launched: self.now,
            price: launched.price,
            tariff: launched.tariff,
            fleet: launched.fleet.clone(),
            name: launched.name.clone(),
            token: launched.token.clone(),
            template: launched.template,
            labels: launched.labels.clone(),
            machines: self.next..self.next + launched.born.len() as u64,
            refusal: launched.refusal.clone(),
            done: launched.done,
            forget: self.now + TOKEN_LIFE,
        };
        self.index.deed(number, &deed);
        for (serial, born) in (self.next..).zip(&launched.born) {
            let vm = Vm {
                id: born.id.clone(),
                deed: number,
                slot: born.slot,
                visible: born.visible,
                running: born.running,
                asked: None,
                gone: None,
                notice: None,
                stopped: None,
                failed: born.fails.map(|since| (since, false)),
                labels: None,
                tagged: true,
                owner: None,
                name: born.name.clone(),
            };
            self.index.add(serial, &vm, &deed);
            self.vms.insert(serial, vm);
        }
        self.next = deed.machines.end;
        self.deeds.insert(number, deed);
    }

    fn settle(&mut self, id: &MachineId, asked: Option<Ms>, gone: Ms, notice: bool) {
        let Some(serial) = self.index.ids.get(id).copied() else { return };
        let Some(vm) = self.vms.get_mut(&serial) else { return };
        let Some(deed) = self.deeds.get(&vm.deed) else { return };
        if vm.gone.is_some_and(|gone| gone <= self.now) {
            return;
        }
        let before = vm.gone;
        vm.asked = vm.asked.or(asked);
        vm.gone = Some(before.map_or(gone, |before| before.min(gone)));
        if notice {
            vm.notice = vm.gone;
        }
        self.index.end(serial, vm, deed, before);
        if let (Some((_, since)), Some(gone)) = (self.orphans.get_mut(id), vm.gone) {
            *since = gone.min(*since);
        }
    }

    fn fall_due(&mut self) {
        while let Some(due) = self.index.pop_due(self.now) {
            match due {
                Due::Leave(serial) => {
                    if let Some(vm) = self.vms.get(&serial)
                        && let Some(deed) = self.deeds.get(&vm.deed)
                    {
                        self.index.leave(serial, vm, deed);
                    }
                }
                Due::Purge(serial) => {
                    if let Some(vm) = self.vms.remove(&serial)
                        && let Some(deed) = self.deeds.get(&vm.deed)
                    {
                        self.past.push(Past::of(&vm, deed, vm.gone));
                        self.index.purge(serial, &vm, deed);
                    }
                }
                Due::Forget(number) => self.forget(number),
            }
        }
    }

    /// Drops a deed, unless a machine it made is still known: then a repeat must still find it.
    fn forget(&mut self, number: u64) {
        let Some(deed) = self.deeds.get_mut(&number) else { return };
        if self.vms.range(deed.machines.clone()).next().is_some() {
            deed.forget = self.now + TOKEN_LIFE;
            self.index.due_at(deed.forget, Due::Forget(number));
            return;
        }
        if let Some(key) = deed.key
            && self.index.keys.get(&key) == Some(&number)
        {
            self.index.keys.remove(&key);
        }
        self.deeds.remove(&number);
    }
}

/// Saves a map as a list: a sorted list becomes a tree in one go, where entry by entry would look
/// for the place of each.
mod table {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<S: Serializer, T: Serialize>(
        map: &BTreeMap<u64, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<u64, T>, D::Error> {
        Vec::<(u64, T)>::deserialize(deserializer).map(BTreeMap::from_iter)
    }
}
