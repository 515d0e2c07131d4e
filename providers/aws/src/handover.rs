//! Machines that change hands while they run: tags of ours are written, rewritten or taken off.
//!
//! The rights that a fleet works with allow none of this: they cannot make a machine ours, nor give it away.

use crate::error::{Asked, read};
use crate::machines::{all, by_id, is_over, machine};
use crate::provider::Aws;
use crate::session::Site;
use crate::tags;
use async_trait::async_trait;
use aws_sdk_ec2::operation::describe_instances::builders::DescribeInstancesInputBuilder;
use aws_sdk_ec2::types::{Filter, Instance, Tag};
use fleet_model::{Labelled, Machine, MachineId, Scope};
use fleet_provider::{DisownRequest, Error, Handover, OwnRequest, RenameRequest, TagFilter};
use std::collections::{BTreeMap, BTreeSet};

/// Machines with a tag. EC2 takes `*` and `?` in values for wildcards, so what it finds is looked at again.
fn tagged(tag: &TagFilter) -> DescribeInstancesInputBuilder {
    let filter = Filter::builder().name(format!("tag:{}", tag.key)).values(&tag.value).build();
    DescribeInstancesInputBuilder::default().filters(filter).max_results(1000)
}

fn value<'a>(instance: &'a Instance, key: &str) -> Option<&'a str> {
    instance.tags().iter().find(|tag| tag.key() == Some(key)).and_then(Tag::value)
}

/// Whether it carries the tag, and none of ours.
fn is_unowned(instance: &Instance, tag: &TagFilter) -> bool {
    let ours = |tag: &Tag| tag.key().is_some_and(|key| !tags::is_users(key));
    value(instance, &tag.key) == Some(tag.value.as_str())
        && !instance.tags().iter().any(ours)
        && !is_over(instance)
}

/// Those of some machines that are there.
async fn there(site: &Site, asked: Vec<&MachineId>) -> Result<Vec<Instance>, Error> {
    let mut found = Vec::new();
    for some in by_id(&asked) {
        found.extend(all(site, some).await?);
    }
    found.retain(|instance| !is_over(instance));
    Ok(found)
}

fn ids<'a>(instances: impl Iterator<Item = &'a Instance>) -> Vec<String> {
    instances.filter_map(|one| one.instance_id().map(str::to_owned)).collect()
}

async fn set(site: &Site, ids: Vec<String>, set: BTreeMap<String, String>) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let tag = |(key, value)| Tag::builder().key(key).value(value).build();
    let call = site.ec2.create_tags().set_resources(Some(ids));
    let call = call.set_tags(Some(set.into_iter().map(tag).collect()));
    call.send().await.map_err(|error| read(Asked::Read, error))?;
    Ok(())
}

async fn own_one(
    site: &Site,
    request: &OwnRequest<'_>,
    one: &fleet_provider::Owned,
) -> Result<Option<MachineId>, Error> {
    let found = there(site, vec![&one.machine]).await?;
    let free = |instance: &&Instance| match value(instance, tags::UID) {
        None => true,
        // Done before, by a run that did not live to hear of it.
        Some(uid) => {
            uid == one.owner.fleet.as_str()
                && value(instance, tags::TOKEN) == Some(one.owner.token.as_str())
        }
    };
    let ids = ids(found.iter().filter(free));
    if ids.is_empty() {
        return Ok(None);
    }
    set(site, ids, tags::of_import(&one.owner, request.labels)).await?;
    Ok(Some(one.machine.clone()))
}

#[async_trait]
impl Handover for Aws {
    async fn unowned(&self, scope: &Scope, tag: &TagFilter) -> Result<Vec<Machine>, Error> {
        let site = self.site(&scope.region).await;
        let mut found = all(&site, tagged(tag)).await?;
        found.retain(|instance| is_unowned(instance, tag));
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let zones = site.zones().await?;
        let machines = found.iter().filter_map(|one| machine(one, &site.region, zones));
        Ok(machines.collect())
    }

    async fn own(&self, request: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let site = self.site(&request.scope.region).await;
        let mut done = Vec::new();
        for one in request.machines {
            done.extend(own_one(&site, request, one).await?);
        }
        Ok(done)
    }

    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let site = self.site(&request.scope.region).await;
        let found = there(&site, named(request.machines)).await?;
        let owned = |uid: Option<&str>| uid == Some(request.fleet.as_str());
        let ours = found.iter().filter(|instance| owned(value(instance, tags::UID)));
        let keys = ours.clone().flat_map(|instance| instance.tags()).filter_map(Tag::key);
        let keys: BTreeSet<&str> = keys.filter(|key| !tags::is_users(key)).collect();
        let ours = ids(ours);
        // A request that names no tag takes all of them off.
        if !ours.is_empty() && !keys.is_empty() {
            let remove = keys.into_iter().map(|key| Tag::builder().key(key).build());
            let call = site.ec2.delete_tags().set_resources(Some(ours.clone()));
            let call = call.set_tags(Some(remove.collect()));
            call.send().await.map_err(|error| read(Asked::Read, error))?;
        }
        let before = found.iter().filter(|instance| value(instance, tags::UID).is_none());
        Ok(ours.into_iter().chain(ids(before)).map(MachineId::new).collect())
    }

    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let site = self.site(&request.scope.region).await;
        let mut found = there(&site, named(request.machines)).await?;
        found.retain(|instance| value(instance, tags::UID) == Some(request.fleet.as_str()));
        // What the console shows, if it is a name that we gave.
        let shown = |instance: &&Instance| {
            let console = value(instance, tags::CONSOLE_NAME);
            console.is_some() && console == value(instance, tags::NAME)
        };
        let name = request.name.to_string();
        let console = BTreeMap::from([(tags::CONSOLE_NAME.to_owned(), name.clone())]);
        set(&site, ids(found.iter().filter(shown)), console).await?;
        let all = ids(found.iter());
        set(&site, all.clone(), BTreeMap::from([(tags::NAME.to_owned(), name)])).await?;
        Ok(all.into_iter().map(MachineId::new).collect())
    }
}

fn named(machines: &[Labelled]) -> Vec<&MachineId> {
    machines.iter().map(|one| &one.machine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(tags: &[(&str, &str)]) -> Instance {
        let tag = |(key, value): &(&str, &str)| Tag::builder().key(*key).value(*value).build();
        Instance::builder().set_tags(Some(tags.iter().map(tag).collect())).build()
    }

    #[test]
    fn only_what_carries_the_very_tag_and_none_of_ours_is_unowned() {
        let tag = TagFilter { key: "team".into(), value: "re*".into() };
        assert!(is_unowned(&instance(&[("team", "re*"), ("Name", "x")]), &tag));
        assert!(!is_unowned(&instance(&[("team", "research")]), &tag));
        assert!(!is_unowned(&instance(&[("team", "re*"), (tags::UID, "u")]), &tag));
        assert!(!is_unowned(&instance(&[("team", "re*"), (tags::SLOT, "base-0.1")]), &tag));
    }
}
