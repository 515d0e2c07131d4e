//! What Azure does that no other cloud does, and what others do to machines behind our back.

use super::vm::{POWER_OFF, POWER_ON, Vm};
use super::world::{AzureCloud, Child, children_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Habits that a test switches on. Questions by name are answered right throughout.
#[derive(Debug, Clone, Default)]
pub struct Habits {
    /// Spot machines are taken back while they are made, so many seconds after the launch.
    pub taken_back_after: Option<u64>,
    /// The list of machines is empty, with 200.
    pub lists_are_empty: bool,
    /// The list of machines lacks those of these names.
    pub lists_lack: BTreeSet<String>,
    /// The list of machines still shows those that were deleted.
    pub lists_show_gone: bool,
    /// The list of disks lacks every disk.
    pub disks_unlisted: bool,
    /// The cores of a family that may be used in a region.
    pub family_quota: Option<(String, u32)>,
    /// Instance views are not there, now and then.
    pub views_lost: bool,
    /// Disks and interfaces stay when their machine is deleted, and can be deleted by themselves.
    pub forgets_children: bool,
    /// What is left of Compute's own bucket of requests.
    pub compute_left: Option<u32>,
}

impl AzureCloud {
    /// Switches habits.
    pub fn habits(&mut self, change: impl FnOnce(&mut Habits)) {
        change(&mut self.habits);
    }

    /// How many machines there are, in whatever state.
    pub fn live(&self) -> usize {
        self.vms.len()
    }

    /// How many disks and interfaces there are.
    pub fn children(&self) -> usize {
        self.children.len()
    }

    /// Edits machines, as somebody with a console might.
    pub fn edit(&mut self, change: impl Fn(&mut Value)) {
        self.vms.values_mut().for_each(|vm| change(&mut vm.body));
    }

    /// Fails every launch, after the fact: nothing runs.
    pub fn fail(&mut self) {
        self.vms.values_mut().for_each(|vm| vm.fails("AllocationFailed", None));
    }

    /// Something done to the first few machines failed, and they go on running: an agent that a policy
    /// installs, or a guest that never reported ready.
    pub fn sicken(&mut self, count: usize, code: &str) {
        self.vms.values_mut().take(count).for_each(|vm| vm.fails(code, Some(POWER_ON)));
    }

    /// Machines made after the first so many never report ready.
    pub fn sicken_since(&mut self, made: u64, code: &str) {
        let young = self.vms.values_mut().filter(|vm| vm.number > made && vm.state == "Succeeded");
        young.for_each(|vm| vm.fails(code, Some(POWER_ON)));
    }

    /// Somebody, or a policy for cost, deallocates the first few machines.
    pub fn deallocate(&mut self, count: usize) {
        self.vms.values_mut().take(count).for_each(|vm| vm.power = Some(POWER_OFF));
    }

    /// The platform takes back the first few spot machines, with their disks, and with their
    /// interfaces or not.
    pub fn evict(&mut self, count: usize, interfaces_stay: bool) -> usize {
        let spot = self.vms.iter().filter(|(_, vm)| vm.is_spot()).take(count);
        let doomed: Vec<String> = spot.map(|(address, _)| address.clone()).collect();
        for address in &doomed {
            self.take_back(address, interfaces_stay);
        }
        doomed.len()
    }

    pub(super) fn take_back(&mut self, address: &str, interfaces_stay: bool) {
        let Some(vm) = self.vms.remove(address) else { return };
        for (child, goes) in children_of(&vm) {
            if goes && !(interfaces_stay && child.contains("/networkinterfaces/")) {
                self.children.remove(&child);
            }
        }
        self.taken_back.insert(address.to_owned());
        self.gone.push(vm);
    }

    /// Many machines at once, as if they had been made long ago, spread over as many regions.
    pub fn populate(&mut self, count: usize, regions: usize) {
        let subscription = super::SUBSCRIPTIONS[0];
        let group = super::GROUP;
        for n in 0..count {
            let token = format!("fleet-{n:032x}");
            let id = format!(
                "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute\
                 /virtualMachines/{token}"
            );
            let tags = json!({
                "fleet:uid": "uid", "fleet:name": "web", "fleet:slot": format!("base-{n}.1"),
                "fleet:token": token, "fleet:template": "0".repeat(32),
            });
            let location = format!("region{}", n % regions.max(1));
            let body = json!({ "location": location, "tags": tags, "properties": {
                "hardwareProfile": { "vmSize": "Standard_D2s_v5" },
                "storageProfile": { "osDisk": {
                    "name": format!("{token}-disk"), "deleteOption": "Delete" } },
                "networkProfile": { "networkInterfaceConfigurations": [{
                    "name": format!("{token}-nic"),
                    "properties": { "deleteOption": "Delete" } }] },
            } });
            let mut vm = Vm::new(&id, body, "2026-01-01T00:00:00+00:00".into(), n as u64 + 1);
            vm.state = "Succeeded";
            vm.power = Some(POWER_ON);
            self.insert(id.to_ascii_lowercase(), vm);
        }
    }

    /// Keeps a machine, and makes its disk and interface.
    pub(super) fn insert(&mut self, address: String, vm: Vm) {
        for (child, _) in children_of(&vm) {
            let disk = child.contains("/disks/");
            let tags = vm.body.get("tags").filter(|_| disk).cloned();
            let location = vm.body["location"].clone();
            self.children.insert(child, Child { location, tags, machine: address.clone() });
        }
        self.taken_back.remove(&address);
        self.vms.insert(address, vm);
    }
}
