//! Listing: every machine of the resource group with a tag of ours, page by page to the end.

use crate::api::{Api, COMPUTE};
use crate::names::{self, MACHINES};
use crate::wire::Vm;
use crate::{power, tags};
use fleet_model::{Access, Cloud, Machine, MachineId, Market, Place, Timestamp, Zone, user_name};
use fleet_provider::Error;

/// Every machine with a tag of ours, in every region.
pub(crate) async fn all(api: &Api) -> Result<Vec<Vm>, Error> {
    let path = api.group()?.all(MACHINES);
    let all: Vec<Vm> = api.list(&path, &[("api-version", COMPUTE)]).await?;
    Ok(all.into_iter().filter(|vm| tags::get(vm, tags::UID).is_some()).collect())
}

/// A machine as we speak of it. `None` if it lacks what every machine has.
pub(crate) fn machine(vm: &Vm) -> Option<Machine> {
    let properties = &vm.properties;
    let launched_at: Timestamp = properties.time_created.as_deref()?.parse().ok()?;
    let market = match (properties.priority.as_deref(), &properties.capacity_reservation) {
        (Some(priority), _) if !priority.eq_ignore_ascii_case("Regular") => Market::Spot,
        (_, Some(_)) => Market::Reserved,
        (_, None) => Market::OnDemand,
    };
    let (state, cause) = power::state(vm);
    let size = properties.hardware_profile.vm_size.as_str();
    if vm.name.is_empty() || size.is_empty() {
        return None;
    }
    Some(Machine {
        id: MachineId::new(vm.name.to_ascii_lowercase()),
        place: place(&vm.location, vm.zones.first().map(String::as_str)),
        instance_type: size.into(),
        market,
        state,
        launched_at,
        price: None,
        owner: tags::owner(vm),
        notice: None,
        cause,
        access: access(vm),
    })
}

/// Who may log in. Addresses belong to the interface, which has to be asked for: see `addresses`.
fn access(vm: &Vm) -> Access {
    let user =
        vm.properties.os_profile.as_ref().and_then(|profile| profile.admin_username.as_deref());
    Access { user: user_name(user), ..Access::default() }
}

/// Where something stands. Zones go by Azure's own names: `1`, `2`, `3`.
pub(crate) fn place(location: &str, zone: Option<&str>) -> Place {
    Place {
        cloud: Cloud::Azure,
        region: names::region(location).as_str().into(),
        zone: Zone::new(zone.unwrap_or(Zone::REGIONAL)),
    }
}

/// Whether what was last done to a machine failed. Only its power state says whether it is one.
pub(crate) fn is_shell(vm: &Vm) -> bool {
    vm.is("Failed") || vm.is("Canceled")
}

/// Whether a machine is being made.
pub(crate) fn is_coming(vm: &Vm) -> bool {
    vm.is("Creating")
}

/// Whether an answer with 404 says that the thing is not there; where it would be is.
pub(crate) fn looks_gone(error: &Error) -> bool {
    ["ResourceNotFound", "NotFound"].contains(&error.code.as_str())
}

impl Vm {
    /// Whether its `provisioningState` is this.
    pub(crate) fn is(&self, state: &str) -> bool {
        let now = self.properties.provisioning_state.as_deref();
        now.is_some_and(|now| now.eq_ignore_ascii_case(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::MachineState;
    use serde_json::{Value, from_value, json};

    fn vm(change: impl FnOnce(&mut Value)) -> Vm {
        let mut vm = json!({
            "id": "/subscriptions/s/…", "name": "fleet-a", "location": "East US",
            "properties": {
                "hardwareProfile": { "vmSize": "Standard_D2s_v5" },
                "provisioningState": "Succeeded",
                "timeCreated": "2026-11-15T05:00:00.1234567+00:00",
            },
        });
        change(&mut vm);
        from_value(vm).expect("a machine")
    }

    #[test]
    fn machines_are_read() {
        let plain = machine(&vm(|_| {})).expect("a machine");
        assert_eq!(plain.pool().to_string(), "azure/eastus/regional/Standard_D2s_v5/on-demand");
        assert_eq!((plain.state, plain.owner, plain.notice), (MachineState::Running, None, None));
        let spot = vm(|vm| {
            vm["zones"] = json!(["2"]);
            vm["properties"]["priority"] = json!("Spot");
        });
        let spot = machine(&spot).expect("a machine");
        assert_eq!(spot.pool().to_string(), "azure/eastus/2/Standard_D2s_v5/spot");
        let reserved = vm(|vm| vm["properties"]["capacityReservation"] = json!({}));
        assert_eq!(machine(&reserved).map(|m| m.market), Some(Market::Reserved));
        assert_eq!(machine(&vm(|vm| vm["properties"]["timeCreated"] = json!("yesterday"))), None);
    }
}
