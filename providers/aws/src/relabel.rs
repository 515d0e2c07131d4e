//! Labels of machines that run. Tags of ours are never touched.

use crate::error::{Asked, read};
use crate::machines::{all, by_id, is_over};
use crate::session::Site;
use crate::tags;
use aws_sdk_ec2::types::{Instance, Tag};
use fleet_model::MachineId;
use fleet_provider::{Error, RelabelRequest};

/// Changes the tags of those machines that are there and of this fleet. Disks keep the tags of their
/// launch: to know which of a machine's disks are ours would take a right of its own.
pub(crate) async fn relabel(
    site: &Site,
    request: &RelabelRequest<'_>,
) -> Result<Vec<MachineId>, Error> {
    let asked: Vec<&MachineId> = request.machines.iter().map(|one| &one.machine).collect();
    let mut found = Vec::new();
    for some in by_id(&asked) {
        found.extend(all(site, some).await?);
    }
    let of_fleet = |instance: &Instance| {
        let uid = |tag: &Tag| tag.key() == Some(tags::UID);
        let owner = instance.tags().iter().find(|tag| uid(tag)).and_then(Tag::value);
        owner == Some(request.fleet.as_str()) && !is_over(instance)
    };
    let ours = found.iter().filter(|instance| of_fleet(instance));
    let ids: Vec<String> = ours.filter_map(|one| one.instance_id().map(str::to_owned)).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let set = tags::of_users(request.name, request.set.iter());
    let remove = request.remove.iter().filter(|key| !set.contains_key(*key) && tags::is_users(key));
    let remove: Vec<Tag> = remove.map(|key| Tag::builder().key(key).build()).collect();
    // First, so that there is room for what comes.
    if !remove.is_empty() {
        let call = site.ec2.delete_tags().set_resources(Some(ids.clone()));
        call.set_tags(Some(remove)).send().await.map_err(|error| read(Asked::Read, error))?;
    }
    let tag = |(key, value)| Tag::builder().key(key).value(value).build();
    let call = site.ec2.create_tags().set_resources(Some(ids.clone()));
    let call = call.set_tags(Some(set.into_iter().map(tag).collect()));
    call.send().await.map_err(|error| read(Asked::Read, error))?;
    Ok(ids.into_iter().map(MachineId::new).collect())
}
