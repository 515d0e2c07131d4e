//! Launch templates: what `CreateFleet` must know of a machine and cannot be told in the call.
//!
//! A template is named by what is in it, so the same content is made once, whoever makes it, and
//! never changed. Nothing needs one after its launch: those that nobody will ask for again go when
//! an apply is done.

use crate::error::{Asked, read};
use crate::image::Image;
use crate::pages::paged;
use crate::session::Site;
use crate::{launch, tags, user_data};
use aws_sdk_ec2::operation::create_launch_template::builders::CreateLaunchTemplateInputBuilder;
use aws_sdk_ec2::operation::describe_launch_templates::builders::DescribeLaunchTemplatesInputBuilder;
use aws_sdk_ec2::types::{
    CreditSpecificationRequest, Filter, LaunchTemplate, LaunchTemplateBlockDeviceMappingRequest,
    LaunchTemplateEbsBlockDeviceRequest, LaunchTemplateHttpTokensState,
    LaunchTemplateIamInstanceProfileSpecificationRequest,
    LaunchTemplateInstanceMetadataOptionsRequest,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, LaunchTemplatePlacementRequest,
    LaunchTemplateTagSpecificationRequest, RequestLaunchTemplateData, ResourceType,
    ShutdownBehavior, Tag, TagSpecification,
};
use fleet_model::{FleetUid, Market, Secret, Timestamp, digest};
use fleet_provider::{CreateRequest, Error, TidyRequest};
use std::collections::BTreeMap;
use std::time::Duration;

/// What names are short enough for.
const LETTERS: usize = 16;

/// Younger ones may belong to a launch that is under way.
const YOUNG: Duration = Duration::from_secs(3600);

/// Templates of the present spec are kept for this long: a name of an image that comes to stand
/// for another leaves one behind each time, and making one again is a single call.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// As many as a page may hold.
const PAGE: i32 = 200;

/// More pages than an account may have templates.
const PAGES: usize = 100;

/// What machines of a launch have in common, with every name looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Common<'a> {
    pub(crate) image: &'a Image,
    pub(crate) groups: &'a [String],
    pub(crate) efa_cards: &'a [i32],
}

/// The name of the template with this content.
pub(crate) fn name(asked: &CreateRequest<'_>, common: Common<'_>) -> String {
    let Common { image, groups, efa_cards } = common;
    let root = image.root.as_ref().map(|root| format!("{} {:?}", root.device, root.size));
    let mut parts = vec![
        asked.template.digest().to_string(),
        image.id.clone(),
        root.unwrap_or_default(),
        format!("{:?}", image.kept),
        format!("{efa_cards:?}"),
        // Spot requests are tagged by a line that an on-demand launch refuses.
        asked.create.pool.market.to_string(),
        format!("{:?}", launch::credit(asked.create)),
    ];
    parts.extend(groups.iter().map(|group| format!("group={group}")));
    parts.extend(volume_tags(asked).into_iter().map(|(key, value)| format!("{key}={value}")));
    let content = digest("launch-template/2", parts.iter().map(String::as_bytes)).to_string();
    format!("{}{}", prefix(asked.fleet), content.get(..LETTERS).unwrap_or(&content))
}

/// How the names of a fleet's templates begin.
fn prefix(fleet: &FleetUid) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric();
    let uid: String = fleet.as_str().chars().filter(plain).take(LETTERS).collect();
    format!("fleet-{uid}-")
}

/// Tags of what comes with a machine, as far as they are the same for every launch. Spot requests get
/// tags from here alone: without them, nobody finds the warnings that EC2 keeps with them.
fn volume_tags(asked: &CreateRequest<'_>) -> BTreeMap<String, String> {
    let mut all = tags::of(asked);
    all.retain(|key, _| tags::is_of_every_launch(key));
    all
}

fn list(tags: BTreeMap<String, String>) -> Vec<Tag> {
    tags.into_iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

/// The request that makes a template: a pure function of its content.
pub(crate) fn request(
    asked: &CreateRequest<'_>,
    common: Common<'_>,
) -> CreateLaunchTemplateInputBuilder {
    let name = name(asked, common);
    let own = TagSpecification::builder()
        .resource_type(ResourceType::LaunchTemplate)
        .set_tags(Some(list(tags::of_template(asked))));
    CreateLaunchTemplateInputBuilder::default()
        .client_token(&name)
        .launch_template_name(&name)
        .launch_template_data(data(asked, common))
        .tag_specifications(own.build())
}

fn data(asked: &CreateRequest<'_>, common: Common<'_>) -> RequestLaunchTemplateData {
    let Common { image, groups, efa_cards } = common;
    let template = asked.template;
    let metadata = LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .http_tokens(LaunchTemplateHttpTokensState::Required);
    let mut kinds = vec![ResourceType::Volume];
    if asked.create.pool.market == Market::Spot {
        kinds.push(ResourceType::SpotInstancesRequest);
    }
    let tagged = |kind| {
        LaunchTemplateTagSpecificationRequest::builder()
            .resource_type(kind)
            .set_tags(Some(list(volume_tags(asked))))
            .build()
    };
    let placement = template
        .placement_group
        .as_ref()
        .map(|group| LaunchTemplatePlacementRequest::builder().group_name(group).build());
    let script = template.user_data.as_ref().map(Secret::expose);
    let script = script.map(|text| aws_smithy_types::base64::encode(user_data::encode(text)));
    let groups = (!groups.is_empty()).then(|| groups.to_vec());
    let data = RequestLaunchTemplateData::builder()
        .image_id(&image.id)
        .metadata_options(metadata.build())
        .set_tag_specifications(Some(kinds.into_iter().map(tagged).collect()))
        .instance_initiated_shutdown_behavior(ShutdownBehavior::Terminate)
        .set_credit_specification(
            launch::credit(asked.create)
                .map(|credits| CreditSpecificationRequest::builder().cpu_credits(credits).build()),
        )
        .set_key_name(template.key.clone())
        .set_user_data(script)
        .set_placement(placement)
        .set_iam_instance_profile(template.instance_role.as_deref().map(profile))
        .set_block_device_mappings(disks(asked, image));
    if efa_cards.is_empty() {
        return data.set_security_group_ids(groups).build();
    }
    let interface = |(at, card): (usize, &i32)| {
        LaunchTemplateInstanceNetworkInterfaceSpecificationRequest::builder()
            .network_card_index(*card)
            .device_index(if at == 0 { 0 } else { 1 })
            .interface_type(launch::interface_type(at))
            .set_groups(groups.clone())
            .delete_on_termination(true)
            .build()
    };
    data.set_network_interfaces(Some(efa_cards.iter().enumerate().map(interface).collect())).build()
}

fn profile(role: &str) -> LaunchTemplateIamInstanceProfileSpecificationRequest {
    let builder = LaunchTemplateIamInstanceProfileSpecificationRequest::builder();
    if role.starts_with("arn:") { builder.arn(role).build() } else { builder.name(role).build() }
}

/// The same disks that a single launch asks for, in the words of a template.
fn disks(
    asked: &CreateRequest<'_>,
    image: &Image,
) -> Option<Vec<LaunchTemplateBlockDeviceMappingRequest>> {
    let same = |mapping: aws_sdk_ec2::types::BlockDeviceMapping| {
        let volume = mapping.ebs.map(|volume| {
            LaunchTemplateEbsBlockDeviceRequest::builder()
                .set_volume_type(volume.volume_type)
                .set_volume_size(volume.volume_size)
                .set_encrypted(volume.encrypted)
                .set_delete_on_termination(volume.delete_on_termination)
                .build()
        });
        LaunchTemplateBlockDeviceMappingRequest::builder()
            .set_device_name(mapping.device_name)
            .set_ebs(volume)
            .build()
    };
    let disks = launch::disks(image, asked.template.disk.as_ref())?;
    Some(disks.into_iter().map(same).collect())
}

/// Makes a template unless it is there, and says its name. Those of one region are made one after
/// another, so that launches at the same time make it once.
pub(crate) async fn ensure(
    site: &Site,
    asked: &CreateRequest<'_>,
    common: Common<'_>,
) -> Result<String, Error> {
    let name = name(asked, common);
    let mut known = site.templates.lock().await;
    if known.contains(&name) {
        return Ok(name);
    }
    let filter = Filter::builder().name("launch-template-name").values(&name).build();
    if all(site, filter).await?.is_empty() {
        // Nothing is launched by it, so asking again is as harmless as a look.
        let made = request(asked, common).send_with(&site.ec2).await;
        match made.map_err(|error| read(Asked::Read, error)) {
            Ok(_) => {}
            Err(error) if error.code == "InvalidLaunchTemplateName.AlreadyExistsException" => {}
            Err(error) => return Err(error),
        }
    }
    known.insert(name.clone());
    Ok(name)
}

/// Whether EC2 says that a template is not there: it was made a moment ago, and EC2's parts do not
/// agree yet, or somebody removed it. Either way nothing is wrong with the request.
pub(crate) fn is_missing(code: &str) -> bool {
    code.starts_with("InvalidLaunchTemplate") && code.contains("NotFound")
}

async fn all(site: &Site, filter: Filter) -> Result<Vec<LaunchTemplate>, Error> {
    let asked = DescribeLaunchTemplatesInputBuilder::default().filters(filter).max_results(PAGE);
    paged(PAGES, |page| async {
        let answer = asked.clone().set_next_token(page).send_with(&site.ec2).await;
        let answer = answer.map_err(|error| read(Asked::Read, error))?;
        Ok((answer.launch_templates.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// Removes the templates of a fleet that nobody will ask for, and says how many.
pub(crate) async fn collect(
    site: &Site,
    request: &TidyRequest<'_>,
    now: Timestamp,
) -> Result<u32, Error> {
    let filter =
        Filter::builder().name(format!("tag:{}", tags::UID)).values(request.fleet.as_str()).build();
    // Nobody may take one for there while it goes.
    let mut known = site.templates.lock().await;
    let mut removed = 0;
    for template in all(site, filter).await? {
        let Some(name) = template.launch_template_name() else { continue };
        if !is_over(&template, request, now) {
            continue;
        }
        known.remove(name);
        let gone = site.ec2.delete_launch_template().launch_template_name(name).send().await;
        match gone.map_err(|error| read(Asked::Read, error)) {
            Ok(_) => removed += 1,
            Err(error) if error.code.starts_with("InvalidLaunchTemplate") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// Whether a template is ours and done with.
fn is_over(template: &LaunchTemplate, request: &TidyRequest<'_>, now: Timestamp) -> bool {
    let name = template.launch_template_name().unwrap_or_default();
    if !name.starts_with(&prefix(request.fleet)) {
        return false;
    }
    let made = template.create_time().and_then(|at| Timestamp::from_second(at.secs()).ok());
    // One without a date is taken for new.
    let age = made.map_or(Duration::ZERO, |made| now.duration_since(made).unsigned_abs());
    let of = |tag: &&Tag| tag.key() == Some(tags::TEMPLATE);
    let of = template.tags().iter().find(of).and_then(Tag::value);
    let wanted = of == Some(request.template.to_string().as_str());
    request.gone || age > if wanted { KEPT } else { YOUNG }
}

#[cfg(test)]
#[path = "launch_template_tests.rs"]
mod tests;
