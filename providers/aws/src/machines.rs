//! Listing: every instance with a tag of ours, page by page to the end.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::tags;
use crate::zones::Zones;
use aws_sdk_ec2::operation::describe_instances::builders::DescribeInstancesInputBuilder;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{Filter, Instance, InstanceLifecycleType, InstanceStateName};
use fleet_model::{
    Access, Cause, CauseKind, Cloud, Machine, MachineId, MachineState, Market, Place, Region,
    Timestamp, address, dns_name,
};
use fleet_provider::{Class, Error};
use std::collections::BTreeSet;

/// As many as a page may hold.
const PAGE: i32 = 1000;

/// Values that one filter may hold.
const VALUES: usize = 200;

/// A list that goes on for longer is not a list: some server repeats itself.
const PAGES: usize = 1000;

/// Every machine of any fleet of ours.
pub(crate) fn of_any_fleet() -> DescribeInstancesInputBuilder {
    let filter = Filter::builder().name("tag-key").values(tags::UID).build();
    DescribeInstancesInputBuilder::default().filters(filter).max_results(PAGE)
}

/// What one launch made.
pub(crate) fn of_launch(token: &str) -> DescribeInstancesInputBuilder {
    let filter = Filter::builder().name(format!("tag:{}", tags::TOKEN)).values(token).build();
    DescribeInstancesInputBuilder::default().filters(filter).max_results(PAGE)
}

/// Some machines by their ids. By filter and not by name: a name that is not there fails the whole
/// call.
pub(crate) fn by_id(ids: &[&MachineId]) -> Vec<DescribeInstancesInputBuilder> {
    let some = |ids: &[&MachineId]| {
        let values = ids.iter().map(|id| id.to_string()).collect();
        let filter = Filter::builder().name("instance-id").set_values(Some(values)).build();
        DescribeInstancesInputBuilder::default().filters(filter).max_results(PAGE)
    };
    ids.chunks(VALUES).map(some).collect()
}

/// Asks for one page after another. A page that does not come makes the whole list fail: part of a
/// list is no list.
pub(crate) async fn all(
    site: &Site,
    asked: DescribeInstancesInputBuilder,
) -> Result<Vec<Instance>, Error> {
    let mut instances = Vec::new();
    let mut page: Option<String> = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page.clone());
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        let reservations = answer.reservations.unwrap_or_default();
        instances.extend(reservations.into_iter().flat_map(|r| r.instances.unwrap_or_default()));
        match answer.next_token.filter(|token| !token.is_empty()) {
            None => return Ok(instances),
            // The same page for ever.
            next if next == page => break,
            next => page = next,
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of instances has no end"))
}

/// Adds the others of every `CreateFleet` of which one has no slot of its own yet: which slots are
/// left is known only when all are seen.
pub(crate) async fn with_siblings(
    site: &Site,
    mut instances: Vec<Instance>,
) -> Result<Vec<Instance>, Error> {
    let unnumbered = instances.iter().filter(|instance| tags::is_unnumbered(instance));
    let tokens: BTreeSet<String> = unnumbered.filter_map(tags::token).map(str::to_owned).collect();
    for token in tokens {
        let launch = all(site, of_launch(&token)).await?;
        let known: BTreeSet<Option<String>> =
            instances.iter().map(|instance| instance.instance_id.clone()).collect();
        instances.extend(launch.into_iter().filter(|one| !known.contains(&one.instance_id)));
    }
    Ok(instances)
}

/// Instances as we speak of them, each with its owner. `None` for what lacks what every instance
/// has.
pub(crate) fn machines(
    instances: &[Instance],
    region: &Region,
    zones: &Zones,
) -> Vec<Option<Machine>> {
    let owners = tags::owners(instances);
    let owned = |(instance, owner)| {
        let machine: Option<Machine> = machine(instance, region, zones);
        machine.map(|machine| Machine { owner, ..machine })
    };
    instances.iter().zip(owners).map(owned).collect()
}

/// An instance as we speak of it. `None` if it lacks what every instance has.
pub(crate) fn machine(instance: &Instance, region: &Region, zones: &Zones) -> Option<Machine> {
    let placement = instance.placement();
    let zone = placement
        .and_then(|placement| placement.availability_zone_id())
        .map(Into::into)
        .or_else(|| placement.and_then(|p| p.availability_zone()).map(|name| zones.id(name)))?;
    let market = match instance.instance_lifecycle() {
        Some(InstanceLifecycleType::Spot) => Market::Spot,
        Some(_) | None => Market::OnDemand,
    };
    Some(Machine {
        id: MachineId::new(instance.instance_id()?),
        place: Place { cloud: Cloud::Aws, region: region.clone(), zone },
        instance_type: instance.instance_type()?.as_str().into(),
        market,
        state: state(instance),
        launched_at: launched_at(instance)?,
        price: None,
        owner: tags::owner(instance),
        notice: None,
        cause: cause(instance),
        access: access(instance),
    })
}

/// How an instance is reached. EC2 writes an address that is not there as an empty text, and does not
/// say who may log in: that is the image's affair.
fn access(instance: &Instance) -> Access {
    Access {
        public_ip: address(instance.public_ip_address()),
        private_ip: address(instance.private_ip_address()),
        dns_name: dns_name(instance.public_dns_name()),
        user: None,
        key: instance.key_name().filter(|key| !key.is_empty()).map(str::to_owned),
    }
}

/// When an instance was launched. `LaunchTime` is that of the last start; the primary interface is
/// attached at the first and stays so. Instances that are gone have no interface any more.
pub(crate) fn launched_at(instance: &Instance) -> Option<Timestamp> {
    let attachments = instance.network_interfaces().iter().filter_map(|i| i.attachment());
    let primary = attachments
        .filter(|at| at.device_index() == Some(0) && at.network_card_index().unwrap_or(0) == 0)
        .find_map(|at| at.attach_time());
    time(primary.or_else(|| instance.launch_time())?)
}

/// When an instance was started last.
pub(crate) fn started_at(instance: &Instance) -> Option<Timestamp> {
    time(instance.launch_time()?)
}

pub(crate) fn time(at: &DateTime) -> Option<Timestamp> {
    Timestamp::new(at.secs(), i32::try_from(at.subsec_nanos()).ok()?).ok()
}

/// Why an instance is down or about to be, in EC2's words. One that runs has no reason; while it is
/// pending, its reason is called `pending`.
pub(crate) fn cause(instance: &Instance) -> Option<Cause> {
    match state(instance) {
        MachineState::Pending | MachineState::Running | MachineState::Failed => return None,
        MachineState::Stopped | MachineState::Stopping | MachineState::Terminated => {}
    }
    let transition = instance.state_transition_reason().filter(|words| !words.is_empty());
    let reason = instance.state_reason();
    let code = reason.and_then(|reason| reason.code()).or(transition)?;
    let words = reason.and_then(|reason| reason.message()).or(transition).unwrap_or(code);
    Some(Cause::new(kind(code)?, words))
}

/// What a reason means. Codes of the second half are those of launches that were accepted and failed
/// afterwards: a key of the disk that may not be used, a limit of disks, a snapshot that is gone.
/// `None` for reasons that we do not know.
fn kind(code: &str) -> Option<CauseKind> {
    const FAILED: [&str; 6] = [
        "Client.InternalError",
        "Client.Invalid",
        "Client.VolumeLimitExceeded",
        "Server.InternalError",
        "Server.InsufficientInstanceCapacity",
        "Server.InsufficientVolumeCapacity",
    ];
    let is = |begins: &str| code.starts_with(begins);
    if is("Server.SpotInstance") {
        Some(CauseKind::Interrupted)
    } else if is("Client.UserInitiated") || is("User initiated") {
        Some(CauseKind::Person)
    } else if is("Client.InstanceInitiatedShutdown") {
        Some(CauseKind::Guest)
    } else if is("Server.ScheduledStop") {
        // AWS retires the hardware below it.
        Some(CauseKind::Unwell)
    } else {
        FAILED.iter().any(|failed| is(failed)).then_some(CauseKind::LaunchFailed)
    }
}

/// A state we do not know is taken for running: what may cost money must not be overlooked.
fn state(instance: &Instance) -> MachineState {
    match instance.state().and_then(|state| state.name()) {
        Some(InstanceStateName::Pending) => MachineState::Pending,
        Some(InstanceStateName::ShuttingDown | InstanceStateName::Stopping) => {
            MachineState::Stopping
        }
        // Nobody but its owner ends it, and its disks are paid for.
        Some(InstanceStateName::Stopped) => MachineState::Stopped,
        Some(InstanceStateName::Terminated) => MachineState::Terminated,
        Some(_) | None => MachineState::Running,
    }
}

/// Whether an instance has ended or is about to, for good. One that is stopped is not.
pub(crate) fn is_over(instance: &Instance) -> bool {
    matches!(
        instance.state().and_then(|state| state.name()),
        Some(InstanceStateName::ShuttingDown | InstanceStateName::Terminated)
    )
}

#[cfg(test)]
#[path = "machines_tests.rs"]
mod tests;
