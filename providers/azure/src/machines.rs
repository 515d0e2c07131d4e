//! Listing: every machine of the resource group with a tag of ours, page by page to the end.

use crate::api::{Api, COMPUTE};
use crate::names::{self, MACHINES};
use crate::tags;
use crate::wire::Vm;
use fleet_model::{
    Cloud, InterruptionNotice, Machine, MachineId, MachineState, Market, Place, Timestamp, Zone,
};
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
    let state = state(properties.provisioning_state.as_deref());
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
        // A shell that a failed launch left behind never was a machine. It does not count, it is
        // replaced, and it goes with its fleet.
        notice: is_shell(vm).then_some(InterruptionNotice {
            at: launched_at,
            kind: fleet_model::NoticeKind::Interruption,
        }),
        cause: None,
    })
}

/// Where something stands. Zones go by Azure's own names: `1`, `2`, `3`.
pub(crate) fn place(location: &str, zone: Option<&str>) -> Place {
    Place {
        cloud: Cloud::Azure,
        region: names::region(location).as_str().into(),
        zone: Zone::new(zone.unwrap_or(Zone::REGIONAL)),
    }
}

/// Whether this is what a failed launch left behind.
pub(crate) fn is_shell(vm: &Vm) -> bool {
    is(vm, "Failed") || is(vm, "Canceled")
}

/// Whether a machine is being made.
pub(crate) fn is_coming(vm: &Vm) -> bool {
    is(vm, "Creating")
}

fn is(vm: &Vm, state: &str) -> bool {
    vm.properties.provisioning_state.as_deref().is_some_and(|now| now.eq_ignore_ascii_case(state))
}

/// A state we do not know is taken for running: what may cost money must not be overlooked.
fn state(provisioning: Option<&str>) -> MachineState {
    match provisioning {
        Some("Creating" | "Failed" | "Canceled") => MachineState::Pending,
        Some("Deleting") => MachineState::Stopping,
        _ => MachineState::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn states() {
        let check = |provisioning: &str, expect, shell| {
            let vm = vm(|vm| vm["properties"]["provisioningState"] = json!(provisioning));
            let machine = machine(&vm).expect("a machine");
            assert_eq!((machine.state, machine.notice.is_some()), (expect, shell));
        };
        check("Creating", MachineState::Pending, false);
        check("Updating", MachineState::Running, false);
        check("Succeeded", MachineState::Running, false);
        check("Deleting", MachineState::Stopping, false);
        check("Failed", MachineState::Pending, true);
        check("Dreaming", MachineState::Running, false);
    }
}
