//! Launching: one `RunInstances` per step, all machines or none.
//!
//! `MinCount` equals `MaxCount`. Asked for "up to n", EC2 gives what it has, and a pool with room
//! for one machine would take part in every step; asked for exactly n, it answers at once that the
//! pool is too small, and the plan uses other pools with all of them. It also keeps the outcome of a
//! launch simple: made or not made.

use crate::image::Image;
use crate::machines::machine;
use crate::network::Network;
use crate::zones::Zones;
use crate::{tags, user_data};
use aws_sdk_ec2::operation::run_instances::RunInstancesOutput;
use aws_sdk_ec2::operation::run_instances::builders::RunInstancesInputBuilder;
use aws_sdk_ec2::types::{
    BlockDeviceMapping, CapacityReservationSpecification, CapacityReservationTarget,
    CreditSpecificationRequest, EbsBlockDevice, HttpTokensState, IamInstanceProfileSpecification,
    InstanceInterruptionBehavior, InstanceMarketOptionsRequest, InstanceMetadataOptionsRequest,
    InstanceNetworkInterfaceSpecification, MarketType, Placement, ResourceType, ShutdownBehavior,
    SpotInstanceType, SpotMarketOptions, Tag, TagSpecification, VolumeType,
};
use fleet_model::{Create, Disk, Machine, Market, MicroUsd, PoolId, Region};
use fleet_provider::CreateRequest;

/// The longest token that EC2 takes.
pub(crate) const LONGEST_TOKEN: usize = 64;

/// The request for a launch: a pure function of what is asked and of what names stand for.
pub(crate) fn request(
    asked: &CreateRequest<'_>,
    zone: Option<&str>,
    image: &Image,
    network: &Network,
    efa_cards: &[i32],
) -> RunInstancesInputBuilder {
    let CreateRequest { create, template, .. } = asked;
    let count = i32::try_from(create.slots.len()).unwrap_or(i32::MAX);
    // Spot machines cannot use what was bought ahead of time.
    let reserved = match create.pool.market {
        Market::OnDemand | Market::Reserved => template.reservation.as_deref(),
        Market::Spot => None,
    };
    let mut request = RunInstancesInputBuilder::default()
        .client_token(create.token.as_str())
        .min_count(count)
        .max_count(count)
        .instance_type(create.pool.instance_type.as_str().into())
        .image_id(&image.id)
        .metadata_options(
            InstanceMetadataOptionsRequest::builder()
                .http_tokens(HttpTokensState::Required)
                .build(),
        )
        .set_tag_specifications(Some(tag_specifications(asked)))
        .set_key_name(template.key.clone())
        .set_instance_market_options(market(create, reserved))
        .set_capacity_reservation_specification(reserved.map(reservation))
        .set_iam_instance_profile(template.instance_role.as_deref().map(profile))
        .set_block_device_mappings(disks(image, template.disk.as_ref()))
        // The default is to stop: a machine that shuts itself down would be paid for and do nothing.
        .instance_initiated_shutdown_behavior(ShutdownBehavior::Terminate)
        .set_credit_specification(
            credit(create)
                .map(|credits| CreditSpecificationRequest::builder().cpu_credits(credits).build()),
        );
    if zone.is_some() || template.placement_group.is_some() {
        let placement = Placement::builder()
            .set_availability_zone(zone.map(str::to_owned))
            .set_group_name(template.placement_group.clone());
        request = request.placement(placement.build());
    }
    if let Some(text) = &template.user_data {
        let text = user_data::encode(text.expose());
        request = request.user_data(aws_smithy_types::base64::encode(text));
    }
    plugged_in(request, network, efa_cards)
}

/// Subnet and groups: of the machine, or of each interface if it has several.
fn plugged_in(
    request: RunInstancesInputBuilder,
    network: &Network,
    efa_cards: &[i32],
) -> RunInstancesInputBuilder {
    let groups = (!network.groups.is_empty()).then(|| network.groups.clone());
    if efa_cards.is_empty() {
        return request.set_subnet_id(network.subnet.clone()).set_security_group_ids(groups);
    }
    let interface = |(at, card): (usize, &i32)| {
        InstanceNetworkInterfaceSpecification::builder()
            .network_card_index(*card)
            // The first card's first interface is the machine's own; each other card starts anew.
            .device_index(if at == 0 { 0 } else { 1 })
            .interface_type(interface_type(at))
            .set_subnet_id(network.subnet.clone())
            .set_groups(groups.clone())
            .delete_on_termination(true)
            .build()
    };
    request.set_network_interfaces(Some(efa_cards.iter().enumerate().map(interface).collect()))
}

/// As AWS recommends for types with several cards (user guide, "Maximize network bandwidth"): the first
/// carries the machine's own address; the others are for messages alone and would otherwise take
/// an address of the subnet each, 32 for a machine of the largest types.
pub(crate) fn interface_type(at: usize) -> &'static str {
    if at == 0 { "efa" } else { "efa-only" }
}

/// How types with credits pay for what they use above their share, where the default is to be billed
/// for it: not at all on spot, as AWS advises.
pub(crate) fn credit(create: &Create) -> Option<&'static str> {
    let burstable = |pool: &PoolId| {
        let family = pool.instance_type.as_str().split('.').next().unwrap_or_default();
        ["t3", "t3a", "t4g"].contains(&family)
    };
    // The word is refused for other types, so all pools of a launch must know it.
    let standard = create.pool.market == Market::Spot && create.pools().all(burstable);
    standard.then_some("standard")
}

/// How a capacity block is named in a spec.
pub(crate) const BLOCK: &str = "block:";

/// The reservation to launch into: by id, or any of a group of them.
fn reservation(named: &str) -> CapacityReservationSpecification {
    let named = named.strip_prefix(BLOCK).unwrap_or(named);
    let target = CapacityReservationTarget::builder();
    let target = if named.starts_with("arn:") {
        target.capacity_reservation_resource_group_arn(named)
    } else {
        target.capacity_reservation_id(named)
    };
    CapacityReservationSpecification::builder().capacity_reservation_target(target.build()).build()
}

/// Ownership tags, on the machines and on whatever comes with them.
fn tag_specifications(asked: &CreateRequest<'_>) -> Vec<TagSpecification> {
    let tags: Vec<Tag> = tags::of(asked)
        .into_iter()
        .map(|(key, value)| Tag::builder().key(key).value(value).build())
        .collect();
    let mut kinds = vec![ResourceType::Instance, ResourceType::Volume];
    if asked.create.pool.market == Market::Spot {
        kinds.push(ResourceType::SpotInstancesRequest);
    }
    let specification =
        |kind| TagSpecification::builder().resource_type(kind).set_tags(Some(tags.clone())).build();
    kinds.into_iter().map(specification).collect()
}

/// Spot machines are asked for once and end when they are taken back: a request that lives on
/// would launch machines that no plan knows of.
fn market(create: &Create, reserved: Option<&str>) -> Option<InstanceMarketOptionsRequest> {
    let request = InstanceMarketOptionsRequest::builder();
    match create.pool.market {
        Market::OnDemand | Market::Reserved => {
            let block = reserved.is_some_and(|named| named.starts_with(BLOCK));
            block.then(|| request.market_type(MarketType::CapacityBlock).build())
        }
        Market::Spot => {
            let options = SpotMarketOptions::builder()
                .spot_instance_type(SpotInstanceType::OneTime)
                .instance_interruption_behavior(InstanceInterruptionBehavior::Terminate)
                .set_max_price(create.max_price.map(dollars));
            Some(request.market_type(MarketType::Spot).spot_options(options.build()).build())
        }
    }
}

/// An amount as EC2 writes it.
pub(crate) fn dollars(amount: MicroUsd) -> String {
    format!("{}.{:06}", amount.0 / 1_000_000, amount.0 % 1_000_000)
}

fn profile(role: &str) -> IamInstanceProfileSpecification {
    let builder = IamInstanceProfileSpecification::builder();
    if role.starts_with("arn:") { builder.arn(role).build() } else { builder.name(role).build() }
}

/// The root disk: encrypted, gp3 and gone with its machine, unless the spec says otherwise.
/// Further disks of the image are left as they are, but go with their machine as well: nobody would
/// ever remove them.
pub(crate) fn disks(image: &Image, disk: Option<&Disk>) -> Option<Vec<BlockDeviceMapping>> {
    let gone = EbsBlockDevice::builder().delete_on_termination(true).build();
    let further = image
        .kept
        .iter()
        .map(|device| BlockDeviceMapping::builder().device_name(device).ebs(gone.clone()).build());
    let all: Vec<BlockDeviceMapping> = root_disk(image, disk).into_iter().chain(further).collect();
    (!all.is_empty()).then_some(all)
}

fn root_disk(image: &Image, disk: Option<&Disk>) -> Option<BlockDeviceMapping> {
    let root = image.root.as_ref()?;
    let kind = disk.and_then(|disk| disk.kind.as_deref()).map(VolumeType::from);
    let size = disk.and_then(|disk| disk.size_gib).and_then(|size| i32::try_from(size).ok());
    let volume = EbsBlockDevice::builder()
        .volume_type(kind.unwrap_or(VolumeType::Gp3))
        // Said even if it is the image's own: the request then shows what will be paid for.
        .set_volume_size(size.or(root.size))
        // Left out rather than false: EC2 refuses "not encrypted" for an image that is.
        .set_encrypted(disk.is_none_or(|disk| disk.encrypted).then_some(true))
        .delete_on_termination(true)
        .build();
    Some(BlockDeviceMapping::builder().device_name(&root.device).ebs(volume).build())
}

/// The machines of an answer.
pub(crate) fn machines(
    answer: &RunInstancesOutput,
    region: &Region,
    zones: &Zones,
) -> Vec<Machine> {
    answer.instances().iter().filter_map(|instance| machine(instance, region, zones)).collect()
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
