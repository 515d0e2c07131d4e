//! Listing: one call for the whole account, without pages.

use crate::api::Api;
use crate::tags;
use crate::wire::{Instance, Kind};
use fleet_model::{
    Access, Cause, CauseKind, Cloud, Machine, MachineId, MachineState, Market, MicroUsd, Place,
    Scope, Timestamp, Zone, address, dns_name,
};
use fleet_provider::{Error, Listing};
use std::time::Duration;

/// The longest boot that was seen: eight GPUs, 10 to 15 minutes.
const BOOTS: Duration = Duration::from_secs(15 * 60);

/// What is unhealthy this soon after its launch never was anything else.
const NEVER_READY: Duration = Duration::from_secs(30 * 60);

/// Every instance of the account, ours or not.
pub(crate) async fn all(api: &Api) -> Result<Vec<Instance>, Error> {
    api.get("instances").await
}

/// An instance as we speak of it. One that somebody took the launch time from cannot be matched
/// with a journal; it is shown all the same.
pub(crate) fn machine(instance: &Instance, now: Timestamp) -> Machine {
    let launched = tags::launched(instance);
    let age = launched.map(|at| Duration::try_from(now.duration_since(at)).unwrap_or_default());
    let (state, cause) = state(&instance.status, age);
    Machine {
        id: MachineId::new(instance.id.as_str()),
        place: place(&instance.region.name),
        instance_type: instance.instance_type.name.as_str().into(),
        market: Market::OnDemand,
        state,
        launched_at: launched.unwrap_or(Timestamp::UNIX_EPOCH),
        price: Some(price(&instance.instance_type)),
        owner: tags::owner(instance),
        notice: None,
        cause,
        access: access(instance),
    }
}

/// How it is reached. The image's user is `ubuntu` on every instance, and no field says so.
fn access(instance: &Instance) -> Access {
    Access {
        public_ip: address(instance.ip.as_deref()),
        private_ip: address(instance.private_ip.as_deref()),
        dns_name: dns_name(instance.hostname.as_deref())
            .filter(|name| address(Some(name)).is_none()),
        user: None,
        key: instance.ssh_key_names.first().cloned(),
    }
}

/// What of the account's instances is ours in a scope.
pub(crate) fn listing(all: &[Instance], scope: &Scope, now: Timestamp) -> Listing {
    let here = all.iter().filter(|instance| instance.region.name == scope.region.as_str());
    let ours = here.filter(|instance| is_ours(instance));
    Listing::Complete(ours.map(|instance| machine(instance, now)).collect())
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

/// Whether it is gone, or about to be.
pub(crate) fn is_over(instance: &Instance) -> bool {
    matches!(instance.status.as_str(), "terminating" | "terminated" | "preempted")
}

/// State and cause, by what Lambda says and how long ago the machine was asked for.
///
/// A status we do not know is taken for running: what may cost money must not be overlooked.
fn state(status: &str, age: Option<Duration>) -> (MachineState, Option<Cause>) {
    let cause = |kind, words: &str| Some(Cause { kind, words: words.to_owned() });
    match status {
        "booting" => (MachineState::Pending, None),
        "unhealthy" => unhealthy(age),
        "terminating" => (MachineState::Stopping, None),
        "terminated" => (MachineState::Terminated, None),
        "preempted" => (MachineState::Terminated, cause(CauseKind::Interrupted, status)),
        _ => (MachineState::Running, None),
    }
}

/// Lambda tells neither since when a machine is unhealthy nor whether it ever was active; all there
/// is to go by is its age. As long as the longest boot, it may be booting still: others take the
/// status for that. Soon after, it never came up, and nothing of value runs on it. Later, something
/// may: it is `Unwell`, which is replaced before it is destroyed. Of unknown age, it is that as well.
fn unhealthy(age: Option<Duration>) -> (MachineState, Option<Cause>) {
    let failed =
        |kind, words: &str| (MachineState::Failed, Some(Cause { kind, words: words.to_owned() }));
    match age {
        Some(age) if age < BOOTS => (MachineState::Pending, None),
        Some(age) if age < NEVER_READY => {
            failed(CauseKind::NeverReady, "unhealthy since its launch, as far as anybody saw")
        }
        Some(_) | None => failed(CauseKind::Unwell, "unhealthy"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the API's own description shows an instance, 1.8.3.
    #[test]
    fn addresses() {
        let instance = |hostname: &str| -> Instance {
            serde_json::from_value(serde_json::json!({
                "id": "0920582c7ff041399e34823a0be62549", "status": "active",
                "ip": "198.51.100.2", "private_ip": "10.0.2.100", "hostname": hostname,
                "ssh_key_names": ["laptop"], "region": { "name": "us-west-1" },
                "instance_type": { "name": "gpu_1x_a10", "price_cents_per_hour": 75 },
            }))
            .expect("an instance")
        };
        let access = access(&instance("198.51.100.2"));
        assert_eq!(access.public_ip, address(Some("198.51.100.2")));
        assert_eq!(access.private_ip, address(Some("10.0.2.100")));
        assert_eq!((access.dns_name.as_deref(), access.key.as_deref()), (None, Some("laptop")));
        assert_eq!(
            super::access(&instance("n.cloud.example")).dns_name.as_deref(),
            Some("n.cloud.example")
        );
        assert_eq!(super::access(&instance("-oProxyCommand=x")).dns_name, None);
    }

    #[test]
    fn statuses() {
        let check = |status: &str, age, expect, kind| {
            let (state, cause) = state(status, age);
            assert_eq!((state, cause.map(|cause| cause.kind)), (expect, kind), "{status} {age:?}");
        };
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        check("booting", minutes(60), MachineState::Pending, None);
        check("active", minutes(1), MachineState::Running, None);
        check("terminating", minutes(1), MachineState::Stopping, None);
        check("terminated", None, MachineState::Terminated, None);
        let interrupted = Some(CauseKind::Interrupted);
        check("preempted", minutes(1), MachineState::Terminated, interrupted);
        check("dreaming", minutes(1), MachineState::Running, None);
        check("unhealthy", minutes(14), MachineState::Pending, None);
        check("unhealthy", minutes(15), MachineState::Failed, Some(CauseKind::NeverReady));
        check("unhealthy", minutes(29), MachineState::Failed, Some(CauseKind::NeverReady));
        check("unhealthy", minutes(30), MachineState::Failed, Some(CauseKind::Unwell));
        check("unhealthy", None, MachineState::Failed, Some(CauseKind::Unwell));
    }
}
