//! Listing: one call for the whole account, without pages.

use crate::api::Api;
use crate::tags;
use crate::wire::{Instance, Kind};
use fleet_model::{
    Cloud, Machine, MachineId, MachineState, Market, MicroUsd, Place, Timestamp, Zone,
};
use fleet_provider::Error;

/// Every instance of the account, ours or not.
pub(crate) async fn all(api: &Api) -> Result<Vec<Instance>, Error> {
    api.get("instances").await
}

/// An instance as we speak of it. One that somebody took the launch time from cannot be matched
/// with a journal; it is shown all the same.
pub(crate) fn machine(instance: &Instance) -> Machine {
    Machine {
        id: MachineId::new(instance.id.as_str()),
        place: place(&instance.region.name),
        instance_type: instance.instance_type.name.as_str().into(),
        market: Market::OnDemand,
        state: state(&instance.status),
        launched_at: tags::launched(instance).unwrap_or(Timestamp::UNIX_EPOCH),
        price: Some(price(&instance.instance_type)),
        owner: tags::owner(instance),
        notice: None,
        cause: None,
    }
}

/// Where machines of a region stand: there are no zones to choose.
pub(crate) fn place(region: &str) -> Place {
    Place { cloud: Cloud::Lambda, region: region.into(), zone: Zone::new(Zone::REGIONAL) }
}

/// What a type costs per hour.
pub(crate) fn price(kind: &Kind) -> MicroUsd {
    MicroUsd(u64::from(kind.price_cents_per_hour) * 10_000)
}

/// Whether an instance carries a tag of ours.
pub(crate) fn is_ours(instance: &Instance) -> bool {
    tags::get(instance, tags::UID).is_some()
}

/// A status we do not know is taken for running: what may cost money must not be overlooked.
fn state(status: &str) -> MachineState {
    match status {
        "booting" => MachineState::Pending,
        "terminating" => MachineState::Stopping,
        "terminated" | "preempted" => MachineState::Terminated,
        _ => MachineState::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        assert_eq!(state("booting"), MachineState::Pending);
        assert_eq!(state("active"), MachineState::Running);
        assert_eq!(state("unhealthy"), MachineState::Running);
        assert_eq!(state("terminating"), MachineState::Stopping);
        assert_eq!(state("terminated"), MachineState::Terminated);
        assert_eq!(state("preempted"), MachineState::Terminated);
        assert_eq!(state("dreaming"), MachineState::Running);
    }
}
