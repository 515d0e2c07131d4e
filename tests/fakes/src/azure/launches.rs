//! Launches: what is refused at once, what fails later, and what is made.

use super::answers::{error, seen};
use super::sizes::{REGIONS, SIZES};
use super::vm::Vm;
use super::world::{AzureCloud, Deed};
use crate::Faults;
use fleet_model::Timestamp;
use fleet_provider::evidence::Call;
use fleet_testkit::{Answer, Request};
use serde_json::Value;

impl AzureCloud {
    pub(super) fn put(
        &mut self,
        request: &Request,
        address: String,
        faults: &Faults,
        now: Timestamp,
    ) -> Answer {
        let Some(body) = request.json() else {
            let words = "The request content was invalid.";
            return seen(Call::Launch, 400, "InvalidRequestContent", words);
        };
        if let Some(refusal) = &faults.refuse {
            return error(refusal.status, &refusal.code, &refusal.message);
        }
        if let Some(vm) = self.vms.get(&address) {
            if vm.state == "Deleting" {
                let words = "The VM is marked for deletion.";
                return seen(Call::Launch, 409, "OperationNotAllowed", words);
            }
            if let Some(what) = vm.changed(&body) {
                let words = format!("Changing property '{what}' is not allowed.");
                return seen(Call::Launch, 409, "PropertyChangeNotAllowed", &words);
            }
            if vm.state != "Failed" {
                let answer = Answer::json(200, vm.json());
                return match self.under_way(&address) {
                    Some(id) => self.with_operation(answer, request, &id),
                    None => answer,
                };
            }
        }
        if let Some(refusal) = self.wrong(&body, faults) {
            return refusal;
        }
        self.made += 1;
        let millis = now.as_millisecond();
        let kept = self.vms.get(&address).map(|vm| vm.created.clone());
        let created = kept.unwrap_or_else(|| now.to_string());
        let mut vm = Vm::new(&request.path, body, created, self.made);
        vm.visible = millis.saturating_add_unsigned(faults.hidden_for * 1000);
        let (region, size) = vm.place();
        let full = faults.room.get(&format!("{region}/{size}")) == Some(&0);
        let zonal = vm.body.get("zones").is_some();
        let failure = match (&faults.fails_later, full) {
            (Some(code), _) => Some(code.clone()),
            (None, true) if zonal => Some("ZonalAllocationFailed".into()),
            (None, true) => Some("AllocationFailed".into()),
            (None, false) => None,
        };
        let answer = Answer::json(201, vm.json());
        let spot = vm.is_spot();
        self.insert(address.clone(), vm);
        let (deed, takes) = match self.habits.taken_back_after.filter(|_| spot) {
            Some(seconds) => (Deed::TakeBack, 1000 * seconds as i64),
            None => (Deed::Create, self.takes.0),
        };
        let id = self.begin(deed, address, millis + takes, failure, false);
        self.with_operation(answer, request, &id)
    }

    /// What Azure refuses at once.
    fn wrong(&self, body: &Value, faults: &Faults) -> Option<Answer> {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (region, size) = (text("/location"), text("/properties/hardwareProfile/vmSize"));
        if !REGIONS.contains(&region) {
            let code = "LocationNotAvailableForResourceType";
            return Some(seen(Call::Launch, 400, code, "no such location"));
        }
        let Some(sold) = SIZES.iter().find(|known| known.name == size) else {
            let words = format!("The value {size} provided for the VM size is not valid.");
            return Some(seen(Call::Launch, 400, "InvalidParameter", &words));
        };
        if sold.is_old() && text("/properties/storageProfile/imageReference/sku") == "server" {
            let words =
                format!("The selected VM size '{size}' cannot boot Hypervisor Generation '2'.");
            return Some(seen(Call::Launch, 400, "BadRequest", &words));
        }
        if let Some((family, most)) = &self.habits.family_quota
            && family == sold.family
        {
            let places = self.vms.values().map(Vm::place).filter(|(here, _)| here == region);
            let sizes = places.filter_map(|(_, size)| SIZES.iter().find(|s| s.name == size));
            let used: u32 = sizes.filter(|s| s.family == family).map(|s| s.vcpus).sum();
            if used + sold.vcpus > *most {
                let words = format!(
                    "Operation could not be completed as it results in exceeding approved {family} \
                     Cores quota. Additional details - Deployment Model: Resource Manager, Location: \
                     {region}, Current Limit: {most}, Current Usage: {used}, Additional Required: {}",
                    sold.vcpus
                );
                return Some(seen(Call::Launch, 409, "OperationNotAllowed", &words));
            }
        }
        let nic = "/properties/networkProfile/networkInterfaceConfigurations/0/properties";
        let subnet = text(&format!("{nic}/ipConfigurations/0/properties/subnet/id"));
        let network = format!("/virtualNetworks/net-{region}/subnets/");
        if !subnet.contains(&network)
            && !body
                .pointer("/properties/networkProfile/networkInterfaces")
                .is_some_and(Value::is_array)
        {
            return Some(seen(
                Call::Launch,
                400,
                "InvalidResourceReference",
                "The subnet was not found in the region.",
            ));
        }
        let here = self.vms.values().filter(|vm| vm.place().0 == region).count();
        if faults.quota.get(region).is_some_and(|most| here >= *most as usize) {
            let words = format!(
                "Operation could not be completed as it results in exceeding approved Total Regional \
                 Cores quota. Additional details - Location: {region}, Current Limit: 4, Current Usage: 4."
            );
            return Some(seen(Call::Launch, 409, "OperationNotAllowed", &words));
        }
        None
    }
}
