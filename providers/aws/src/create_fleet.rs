//! Launching from any of several pools: one `CreateFleet` of the kind `instant`.
//!
//! The answer says at once what was made and what each pool said that gave nothing. The fleet that
//! EC2 remembers under the token does nothing afterwards.

use crate::error::{Asked, classify};
use crate::launch::dollars;
use crate::launch_template::is_missing;
use crate::tags;
use aws_sdk_ec2::operation::create_fleet::CreateFleetOutput;
use aws_sdk_ec2::operation::create_fleet::builders::CreateFleetInputBuilder;
use aws_sdk_ec2::types::{
    CreateFleetError, CreateFleetInstance, DefaultTargetCapacityType,
    FleetLaunchTemplateConfigRequest, FleetLaunchTemplateOverrides,
    FleetLaunchTemplateOverridesRequest, FleetLaunchTemplateSpecificationRequest,
    FleetOnDemandAllocationStrategy, FleetType, OnDemandOptionsRequest, ResourceType,
    SpotAllocationStrategy, SpotInstanceInterruptionBehavior, SpotOptionsRequest, Tag,
    TagSpecification, TargetCapacitySpecificationRequest,
};
use fleet_model::{Market, MicroUsd, PoolId};
use fleet_provider::{Class, CreateRequest, Error};
use std::collections::BTreeMap;

/// The status that an error inside an answer is judged by: the call was answered, so it is no doubt.
const ANSWERED: u16 = 400;

/// A pool in EC2's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) pool: PoolId,
    /// Name of the launch template.
    pub(crate) template: String,
    /// Where: a subnet if the template names some, else a zone by name.
    pub(crate) subnet: Option<String>,
    pub(crate) zone: Option<String>,
    pub(crate) max_price: Option<MicroUsd>,
}

/// The request for a launch: a pure function of what is asked and of what names stand for.
pub(crate) fn request(asked: &CreateRequest<'_>, sources: &[Source]) -> CreateFleetInputBuilder {
    let create = asked.create;
    let count = i32::try_from(create.slots.len()).unwrap_or(i32::MAX);
    let target = TargetCapacitySpecificationRequest::builder().total_target_capacity(count);
    let request = CreateFleetInputBuilder::default()
        .client_token(create.token.as_str())
        .r#type(FleetType::Instant)
        .set_launch_template_configs(Some(configs(sources)))
        .tag_specifications(machine_tags(asked));
    match create.pool.market {
        Market::OnDemand | Market::Reserved => request
            .target_capacity_specification(
                target
                    .on_demand_target_capacity(count)
                    .spot_target_capacity(0)
                    .default_target_capacity_type(DefaultTargetCapacityType::OnDemand)
                    .build(),
            )
            .on_demand_options(
                OnDemandOptionsRequest::builder()
                    .allocation_strategy(FleetOnDemandAllocationStrategy::LowestPrice)
                    .build(),
            ),
        Market::Spot => request
            .target_capacity_specification(
                target
                    .on_demand_target_capacity(0)
                    .spot_target_capacity(count)
                    .default_target_capacity_type(DefaultTargetCapacityType::Spot)
                    .build(),
            )
            .spot_options(
                SpotOptionsRequest::builder()
                    .allocation_strategy(SpotAllocationStrategy::PriceCapacityOptimized)
                    .instance_interruption_behavior(SpotInstanceInterruptionBehavior::Terminate)
                    .build(),
            ),
    }
}

/// Pools by launch template. Most often there is one template; types with fast interfaces have
/// their own.
fn configs(sources: &[Source]) -> Vec<FleetLaunchTemplateConfigRequest> {
    let mut templates: BTreeMap<&str, Vec<FleetLaunchTemplateOverridesRequest>> = BTreeMap::new();
    for source in sources {
        let pool = FleetLaunchTemplateOverridesRequest::builder()
            .instance_type(source.pool.instance_type.as_str().into())
            .set_subnet_id(source.subnet.clone())
            .set_availability_zone(source.zone.clone().filter(|_| source.subnet.is_none()))
            .set_max_price(source.max_price.map(dollars));
        templates.entry(&source.template).or_default().push(pool.build());
    }
    let config = |(name, pools)| {
        let template = FleetLaunchTemplateSpecificationRequest::builder()
            .launch_template_name(name)
            // There is no other: what is in a template is in its name.
            .version("1");
        FleetLaunchTemplateConfigRequest::builder()
            .launch_template_specification(template.build())
            .set_overrides(Some(pools))
            .build()
    };
    templates.into_iter().map(config).collect()
}

/// Ownership tags of machines. Disks and spot requests get theirs from the launch template: the call
/// takes no tags of spot requests, and nobody says what two tags of one disk with one name would do.
fn machine_tags(asked: &CreateRequest<'_>) -> TagSpecification {
    let tag = |(key, value)| Tag::builder().key(key).value(value).build();
    TagSpecification::builder()
        .resource_type(ResourceType::Instance)
        .set_tags(Some(tags::of(asked).into_iter().map(tag).collect()))
        .build()
}

/// What an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Ids of the machines, in order, each with the pool it came from, if that was said.
    pub(crate) made: BTreeMap<String, Option<PoolId>>,
    /// What each pool said that did not give what was asked of it.
    pub(crate) refusals: Vec<(PoolId, Error)>,
    /// What was said of no pool in particular.
    pub(crate) general: Option<Error>,
}

/// Reads an answer.
pub(crate) fn read(answer: &CreateFleetOutput, sources: &[Source]) -> Answer {
    let mut told = Answer::default();
    for some in answer.instances() {
        let pool = made_in(some, sources);
        told.made.extend(some.instance_ids().iter().map(|id| (id.clone(), pool.cloned())));
    }
    for error in answer.errors() {
        let said = words(error);
        match pool_of(error, sources) {
            // Of two things that one pool said, the first stands.
            Some(pool) if told.refusals.iter().any(|(known, _)| known == pool) => {}
            Some(pool) => told.refusals.push((pool.clone(), said)),
            None => told.general = told.general.or(Some(said)),
        }
    }
    told
}

/// What a pool said. The call itself was answered, so nothing of it is unknown: a code that we do
/// not know is a refusal.
fn words(error: &CreateFleetError) -> Error {
    let code = error.error_code().unwrap_or("NoCode");
    let message = error.error_message().unwrap_or("(no message)");
    let said = classify(Asked::Launch, ANSWERED, code, message);
    match said.class {
        // The code of a broken server, or a template that was made a moment ago.
        Class::Unknown => Error { class: Class::Retry { after: None }, ..said },
        _ if is_missing(code) => Error { class: Class::Retry { after: None }, ..said },
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Auth
        | Class::Invalid
        | Class::Refused { .. }
        | Class::Freeze => said,
    }
}

/// Where something happened, in EC2's words: zones by name, or by id.
struct Spot<'a> {
    kind: &'a str,
    subnet: Option<&'a str>,
    zone: Option<&'a str>,
    zone_id: Option<&'a str>,
}

impl Spot<'_> {
    /// The pool of that place.
    fn pool<'a>(&self, sources: &'a [Source]) -> Option<&'a PoolId> {
        let same = |source: &&Source| {
            let zone = self.zone_id == Some(source.pool.place.zone.as_str());
            let place = match &source.subnet {
                Some(subnet) => self.subnet == Some(subnet),
                None => source.zone.as_deref() == self.zone || zone,
            };
            source.pool.instance_type.as_str() == self.kind && place
        };
        sources.iter().find(same).map(|source| &source.pool)
    }
}

/// The pool that an error is about.
fn pool_of<'a>(error: &CreateFleetError, sources: &'a [Source]) -> Option<&'a PoolId> {
    let about = error.launch_template_and_overrides()?.overrides()?;
    spot(about)?.pool(sources)
}

fn spot(about: &FleetLaunchTemplateOverrides) -> Option<Spot<'_>> {
    Some(Spot {
        kind: about.instance_type()?.as_str(),
        subnet: about.subnet_id(),
        zone: about.availability_zone(),
        zone_id: about.availability_zone_id(),
    })
}

/// The pool that machines came from: as the answer says of them, or by what was asked for.
fn made_in<'a>(made: &CreateFleetInstance, sources: &'a [Source]) -> Option<&'a PoolId> {
    let told = made.instance_type().and_then(|kind| {
        let (subnet, zone, zone_id) =
            (made.subnet_id(), made.availability_zone(), made.availability_zone_id());
        let told = subnet.is_some() || zone.is_some() || zone_id.is_some();
        told.then_some(Spot { kind: kind.as_str(), subnet, zone, zone_id })
    });
    let asked = || spot(made.launch_template_and_overrides()?.overrides()?)?.pool(sources);
    told.and_then(|told| told.pool(sources)).or_else(asked)
}

#[cfg(test)]
#[path = "create_fleet_tests.rs"]
mod tests;
