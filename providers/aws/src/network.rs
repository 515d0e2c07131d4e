//! Where a machine is plugged in: one subnet in the right zone, and security groups.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::zones::Zones;
use aws_sdk_ec2::types::{Filter, Subnet};
use fleet_model::{Template, Zone};
use fleet_provider::{Class, Error};
use std::collections::BTreeSet;

/// How a spec names a thing of the account's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    /// By its id.
    Id(&'a str),
    /// By a tag: `tag:Name=web`.
    Tag(&'a str, &'a str),
    /// By the name it was made with.
    Name(&'a str),
}

impl<'a> Named<'a> {
    /// Reads a name; ids begin with `prefix`.
    pub(crate) fn read(text: &'a str, prefix: &str) -> Self {
        if let Some((key, value)) = text.strip_prefix("tag:").and_then(|tag| tag.split_once('=')) {
            return Named::Tag(key, value);
        }
        if text.starts_with(prefix) { Named::Id(text) } else { Named::Name(text) }
    }

    /// The filter that finds it. `id` and `name` are what this kind of thing calls the two.
    fn filter(&self, id: &str, name: &str) -> Filter {
        let (key, value) = match self {
            Named::Id(value) => (id.to_owned(), *value),
            Named::Tag(key, value) => (format!("tag:{key}"), *value),
            Named::Name(value) => (name.to_owned(), *value),
        };
        Filter::builder().name(key).values(value).build()
    }
}

/// What a launch says of networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Network {
    /// `None`: the default subnet of the zone.
    pub(crate) subnet: Option<String>,
    /// None of them: the default group of the network.
    pub(crate) groups: Vec<String>,
}

/// Finds the subnet of a template that lies in a zone, and the ids of its security groups.
pub(crate) async fn find(site: &Site, template: &Template, zone: &Zone) -> Result<Network, Error> {
    let subnet = match (template.subnets.is_empty(), &template.network) {
        (true, None) => None,
        _ => Some(subnet_in(site, template, zone).await?),
    };
    let groups = groups(site, template, subnet.as_ref()).await?;
    let id = subnet.and_then(|subnet| subnet.subnet_id);
    Ok(Network { subnet: id, groups })
}

/// Security groups, each in the network that the machine is plugged into: EC2 refuses those of
/// another, and every network has a group named `default`.
async fn groups(
    site: &Site,
    template: &Template,
    subnet: Option<&Subnet>,
) -> Result<Vec<String>, Error> {
    if template.security_groups.is_empty() {
        return Ok(Vec::new());
    }
    let vpc = match subnet {
        Some(subnet) => subnet.vpc_id().map(str::to_owned),
        None => default_network(site).await?,
    };
    let mut found = Vec::new();
    for text in &template.security_groups {
        let key = (vpc.clone().unwrap_or_default(), text.clone());
        if let Some(known) = site.groups.lock().await.get(&key) {
            found.push(known.clone());
            continue;
        }
        let id = group(site, text, vpc.as_deref()).await?;
        site.groups.lock().await.insert(key, id.clone());
        found.push(id);
    }
    Ok(found)
}

/// The network of the account that is used if nobody names one. They do not change while we run.
async fn default_network(site: &Site) -> Result<Option<String>, Error> {
    let asked = site.default_network.get_or_try_init(|| async {
        let filter = Filter::builder().name("is-default").values("true").build();
        let answer = site.ec2.describe_vpcs().filters(filter).send().await;
        match answer.map_err(|error| read(Asked::Read, error)) {
            Ok(answer) => Ok(answer.vpcs().iter().find_map(|vpc| vpc.vpc_id()).map(str::to_owned)),
            // Without the right to look, names are searched for in every network.
            Err(error) if error.class == Class::Auth => Ok(None),
            Err(error) => Err(error),
        }
    });
    asked.await.cloned()
}

/// Zones with a subnet that is used if nobody names one. A zone that is newer than the account's
/// network has none until somebody makes it.
pub(crate) async fn default_zones(site: &Site) -> Result<BTreeSet<Zone>, Error> {
    let filter = Filter::builder().name("default-for-az").values("true").build();
    let answer = site.ec2.describe_subnets().filters(filter).send().await;
    let answer = answer.map_err(|error| read(Asked::Read, error))?;
    let zones = site.zones().await?;
    Ok(answer.subnets().iter().filter_map(|subnet| zone_of(subnet, zones)).collect())
}

fn zone_of(subnet: &Subnet, zones: &Zones) -> Option<Zone> {
    let id = subnet.availability_zone_id().map(Zone::from);
    id.or_else(|| subnet.availability_zone().map(|name| zones.id(name)))
}

/// The first subnet in the template's order that lies in the zone; of those that one name stands
/// for, the one with the smallest id. The number of free addresses does not count: it changes, and
/// a request that is sent again must be the same request.
async fn subnet_in(site: &Site, template: &Template, zone: &Zone) -> Result<Subnet, Error> {
    let mut named: Vec<Vec<Filter>> = template
        .subnets
        .iter()
        .map(|text| vec![Named::read(text, "subnet-").filter("subnet-id", "tag:Name")])
        .collect();
    if named.is_empty() {
        named.push(Vec::new());
    }
    let vpc = template.network.as_deref().map(|text| Named::read(text, "vpc-"));
    let vpc = match &vpc {
        Some(Named::Id(id)) => Some((*id).to_owned()),
        Some(other) => Some(network(site, other).await?),
        None => None,
    };
    for mut filters in named {
        if let Some(vpc) = &vpc {
            filters.push(Filter::builder().name("vpc-id").values(vpc).build());
        }
        let asked = site.ec2.describe_subnets().set_filters(Some(filters));
        let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
        let zones = site.zones().await?;
        let here = |subnet: &&Subnet| zone_of(subnet, zones).as_ref() == Some(zone);
        let found = answer.subnets().iter().filter(here).min_by_key(|subnet| subnet.subnet_id());
        if let Some(subnet) = found {
            return Ok(subnet.clone());
        }
    }
    let words = format!("no subnet of the template lies in {zone}");
    Err(refused(Class::Invalid, "NoSubnetInZone", words))
}

async fn network(site: &Site, named: &Named<'_>) -> Result<String, Error> {
    let asked = site.ec2.describe_vpcs().filters(named.filter("vpc-id", "tag:Name"));
    let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
    let ids = answer.vpcs().iter().filter_map(|vpc| vpc.vpc_id());
    only(ids, "InvalidVpcID.NotFound", &format!("{named:?}"))
}

async fn group(site: &Site, text: &str, vpc: Option<&str>) -> Result<String, Error> {
    let named = Named::read(text, "sg-");
    let mut asked =
        site.ec2.describe_security_groups().filters(named.filter("group-id", "group-name"));
    if let Some(vpc) = vpc {
        asked = asked.filters(Filter::builder().name("vpc-id").values(vpc).build());
    }
    let answer = match asked.send().await.map_err(|error| read(Asked::Read, error)) {
        Ok(answer) => answer,
        // Who names an id need not have the right to look: the launch itself will say.
        Err(error) if error.class == Class::Auth && matches!(named, Named::Id(_)) => {
            return Ok(text.to_owned());
        }
        Err(error) => return Err(error),
    };
    let ids = answer.security_groups().iter().filter_map(|group| group.group_id());
    let place = vpc.map_or_else(String::new, |vpc| format!(" in {vpc}"));
    only(ids, "InvalidGroup.NotFound", &format!("{text}{place}"))
}

/// The one thing of a name. Two are as bad as none: a guess here opens the wrong door.
fn only<'a>(
    mut ids: impl Iterator<Item = &'a str>,
    code: &str,
    named: &str,
) -> Result<String, Error> {
    match (ids.next(), ids.next()) {
        (Some(id), None) => Ok(id.to_owned()),
        (None, _) => Err(refused(Class::Invalid, code, format!("nothing is named {named}"))),
        (Some(_), Some(_)) => {
            Err(refused(Class::Invalid, "AmbiguousName", format!("several are named {named}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Named::read("subnet-1", "subnet-"), Named::Id("subnet-1"));
        assert_eq!(Named::read("tag:Name=a=b", "subnet-"), Named::Tag("Name", "a=b"));
        assert_eq!(Named::read("web", "sg-"), Named::Name("web"));
    }

    #[test]
    fn a_name_must_name_one_thing() {
        assert_eq!(only(["a"].into_iter(), "x", "n").ok().as_deref(), Some("a"));
        assert!(only([].into_iter(), "x", "n").is_err());
        assert!(only(["a", "b"].into_iter(), "x", "n").is_err());
    }
}
