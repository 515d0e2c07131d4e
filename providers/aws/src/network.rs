//! Where a machine is plugged in: one subnet in the right zone, and security groups.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use aws_sdk_ec2::types::{Filter, Subnet};
use fleet_model::{Template, Zone};
use fleet_provider::{Class, Error};

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
    let mut groups = Vec::new();
    for text in &template.security_groups {
        groups.push(match Named::read(text, "sg-") {
            Named::Id(id) => id.to_owned(),
            other => group(site, &other, text, subnet.as_ref()).await?,
        });
    }
    let id = subnet.and_then(|subnet| subnet.subnet_id);
    Ok(Network { subnet: id, groups })
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
        let here = |subnet: &&Subnet| {
            let id = subnet.availability_zone_id().map(Zone::from);
            id.or_else(|| subnet.availability_zone().map(|name| zones.id(name))).as_ref()
                == Some(zone)
        };
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

async fn group(
    site: &Site,
    named: &Named<'_>,
    text: &str,
    subnet: Option<&Subnet>,
) -> Result<String, Error> {
    let mut asked =
        site.ec2.describe_security_groups().filters(named.filter("group-id", "group-name"));
    if let Some(vpc) = subnet.and_then(|subnet| subnet.vpc_id()) {
        asked = asked.filters(Filter::builder().name("vpc-id").values(vpc).build());
    }
    let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
    let ids = answer.security_groups().iter().filter_map(|group| group.group_id());
    only(ids, "InvalidGroup.NotFound", text)
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
