//! Listing: every instance with a tag of ours, page by page to the end.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::tags;
use crate::zones::Zones;
use aws_sdk_ec2::operation::describe_instances::builders::DescribeInstancesInputBuilder;
use aws_sdk_ec2::types::{Filter, Instance, InstanceLifecycleType, InstanceStateName};
use fleet_model::{Cloud, Machine, MachineId, MachineState, Market, Place, Region, Timestamp};
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
    let launched = instance.launch_time()?;
    let nanos = i32::try_from(launched.subsec_nanos()).ok()?;
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
        launched_at: Timestamp::new(launched.secs(), nanos).ok()?,
        price: None,
        owner: tags::owner(instance),
        notice: None,
        cause: None,
    })
}

/// A state we do not know is taken for running: what may cost money must not be overlooked.
fn state(instance: &Instance) -> MachineState {
    match instance.state().and_then(|state| state.name()) {
        Some(InstanceStateName::Pending) => MachineState::Pending,
        Some(
            InstanceStateName::ShuttingDown
            | InstanceStateName::Stopping
            | InstanceStateName::Stopped,
        ) => MachineState::Stopping,
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
mod tests {
    use super::*;
    use aws_sdk_ec2::primitives::DateTime;
    use aws_sdk_ec2::types::{InstanceState, Placement};

    fn instance(state: InstanceStateName) -> aws_sdk_ec2::types::builders::InstanceBuilder {
        Instance::builder()
            .instance_id("i-1")
            .instance_type("m5.large".into())
            .launch_time(DateTime::from_secs(1_700_000_000))
            .placement(Placement::builder().availability_zone("us-east-1c").build())
            .state(InstanceState::builder().name(state).build())
    }

    #[test]
    fn instances_become_machines() {
        let zones = Zones::of(&[("use1-az4", "us-east-1c")]);
        let read = |instance: Instance| machine(&instance, &"us-east-1".into(), &zones);
        let plain = read(instance(InstanceStateName::Running).build()).expect("a machine");
        assert_eq!(plain.pool().to_string(), "aws/us-east-1/use1-az4/m5.large/on-demand");
        assert_eq!(plain.owner, None);
        let spot = instance(InstanceStateName::Pending);
        let spot = read(spot.instance_lifecycle(InstanceLifecycleType::Spot).build());
        assert_eq!(spot.map(|spot| spot.market), Some(Market::Spot));
    }

    #[test]
    fn states() {
        let check = |name: InstanceStateName, expect, over| {
            let instance = instance(name).build();
            assert_eq!(state(&instance), expect);
            assert_eq!(is_over(&instance), over);
        };
        check(InstanceStateName::Pending, MachineState::Pending, false);
        check(InstanceStateName::Running, MachineState::Running, false);
        check(InstanceStateName::Stopping, MachineState::Stopping, false);
        check(InstanceStateName::Stopped, MachineState::Stopping, false);
        check(InstanceStateName::ShuttingDown, MachineState::Stopping, true);
        check(InstanceStateName::Terminated, MachineState::Terminated, true);
        check("dreaming".into(), MachineState::Running, false);
    }

    #[test]
    fn ids_go_in_batches() {
        let ids: Vec<MachineId> = (0..401).map(|n| MachineId::new(format!("i-{n}"))).collect();
        let ids: Vec<&MachineId> = ids.iter().collect();
        assert_eq!(by_id(&ids).len(), 3);
        assert!(by_id(&[]).is_empty());
    }
}
