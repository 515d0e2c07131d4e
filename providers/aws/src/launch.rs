//! Launching: one `RunInstances` per step, all machines or none.
//!
//! `MinCount` equals `MaxCount`. Asked for "up to n", EC2 gives what it has, and a pool with room
//! for one machine would take part in every step; asked for exactly n, it answers at once that the
//! pool is too small, and the plan goes elsewhere with all of them. It also keeps the outcome of a
//! launch simple: made or not made.

use crate::image::Image;
use crate::machines::machine;
use crate::network::Network;
use crate::tags;
use crate::zones::Zones;
use aws_sdk_ec2::operation::run_instances::RunInstancesOutput;
use aws_sdk_ec2::operation::run_instances::builders::RunInstancesInputBuilder;
use aws_sdk_ec2::types::{
    BlockDeviceMapping, EbsBlockDevice, HttpTokensState, IamInstanceProfileSpecification,
    InstanceInterruptionBehavior, InstanceMarketOptionsRequest, InstanceMetadataOptionsRequest,
    MarketType, Placement, ResourceType, SpotInstanceType, SpotMarketOptions, Tag,
    TagSpecification, VolumeType,
};
use fleet_model::{Disk, Machine, Market, MicroUsd};
use fleet_provider::CreateRequest;

/// The longest token that EC2 takes.
pub(crate) const LONGEST_TOKEN: usize = 64;

/// The request for a launch: a pure function of what is asked and of what names stand for.
pub(crate) fn request(
    asked: &CreateRequest<'_>,
    zone: Option<&str>,
    image: &Image,
    network: &Network,
) -> RunInstancesInputBuilder {
    let CreateRequest { create, template, .. } = asked;
    let count = i32::try_from(create.slots.len()).unwrap_or(i32::MAX);
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
        .set_subnet_id(network.subnet.clone())
        .set_key_name(template.key.clone())
        .set_instance_market_options(market(create.pool.market, create.max_price))
        .set_iam_instance_profile(template.instance_role.as_deref().map(profile))
        .set_block_device_mappings(root_disk(image, template.disk.as_ref()));
    if let Some(zone) = zone {
        request = request.placement(Placement::builder().availability_zone(zone).build());
    }
    if !network.groups.is_empty() {
        request = request.set_security_group_ids(Some(network.groups.clone()));
    }
    if let Some(text) = &template.user_data {
        request = request.user_data(aws_smithy_types::base64::encode(text));
    }
    request
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
fn market(market: Market, most: Option<MicroUsd>) -> Option<InstanceMarketOptionsRequest> {
    match market {
        Market::OnDemand | Market::Reserved => None,
        Market::Spot => {
            let options = SpotMarketOptions::builder()
                .spot_instance_type(SpotInstanceType::OneTime)
                .instance_interruption_behavior(InstanceInterruptionBehavior::Terminate)
                .set_max_price(most.map(dollars));
            Some(
                InstanceMarketOptionsRequest::builder()
                    .market_type(MarketType::Spot)
                    .spot_options(options.build())
                    .build(),
            )
        }
    }
}

/// An amount as EC2 writes it.
fn dollars(amount: MicroUsd) -> String {
    format!("{}.{:06}", amount.0 / 1_000_000, amount.0 % 1_000_000)
}

fn profile(role: &str) -> IamInstanceProfileSpecification {
    let builder = IamInstanceProfileSpecification::builder();
    if role.starts_with("arn:") { builder.arn(role).build() } else { builder.name(role).build() }
}

/// The root disk: encrypted, gp3 and gone with its machine, unless the spec says otherwise.
fn root_disk(image: &Image, disk: Option<&Disk>) -> Option<Vec<BlockDeviceMapping>> {
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
    Some(vec![BlockDeviceMapping::builder().device_name(&root.device).ebs(volume).build()])
}

/// The machines of an answer.
pub(crate) fn machines(answer: &RunInstancesOutput, region: &str, zones: &Zones) -> Vec<Machine> {
    answer.instances().iter().filter_map(|instance| machine(instance, region, zones)).collect()
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
