//! Zones. We speak of zone ids (`use1-az4`), which mean the same building to everybody; EC2 also
//! has names (`us-east-1a`), which each account has in an order of its own.

use aws_sdk_ec2::operation::describe_availability_zones::DescribeAvailabilityZonesOutput;
use aws_sdk_ec2::types::AvailabilityZoneOptInStatus;
use fleet_model::Zone;
use std::collections::{BTreeMap, BTreeSet};

/// Both names of every zone of a region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Zones {
    name_of: BTreeMap<String, String>,
    id_of: BTreeMap<String, String>,
    /// Ids of zones that this account has not opted in to: local and wavelength zones.
    closed: BTreeSet<String>,
}

impl Zones {
    pub(crate) fn read(answer: &DescribeAvailabilityZonesOutput) -> Self {
        let both = answer
            .availability_zones()
            .iter()
            .filter_map(|zone| Some((zone.zone_id()?.to_owned(), zone.zone_name()?.to_owned())));
        let closed = answer
            .availability_zones()
            .iter()
            .filter(|zone| zone.opt_in_status() == Some(&AvailabilityZoneOptInStatus::NotOptedIn))
            .filter_map(|zone| zone.zone_id().map(str::to_owned))
            .collect();
        Zones { closed, ..Zones::both(both.collect()) }
    }

    fn both(name_of: BTreeMap<String, String>) -> Self {
        let id_of = name_of.iter().map(|(id, name)| (name.clone(), id.clone())).collect();
        Zones { name_of, id_of, closed: BTreeSet::new() }
    }

    /// Whether the account may launch in a zone that it has.
    pub(crate) fn is_open(&self, zone: &Zone) -> bool {
        !self.closed.contains(zone.as_str())
    }

    /// What this account calls a zone.
    pub(crate) fn name(&self, zone: &Zone) -> Option<&str> {
        self.name_of.get(zone.as_str()).map(String::as_str)
    }

    /// The zone that this account calls so. A name we do not know stands for itself: a machine in
    /// a strange zone is a machine all the same.
    pub(crate) fn id(&self, name: &str) -> Zone {
        Zone::new(self.id_of.get(name).map_or(name, String::as_str))
    }
}

#[cfg(test)]
impl Zones {
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Zones::both(pairs.iter().map(|(id, name)| ((*id).into(), (*name).into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::types::AvailabilityZone;

    #[test]
    fn zones_have_two_names_and_may_be_closed() {
        let zone = |id: &str, name: &str, status| {
            AvailabilityZone::builder().zone_id(id).zone_name(name).opt_in_status(status).build()
        };
        let answer = DescribeAvailabilityZonesOutput::builder()
            .availability_zones(zone(
                "use1-az4",
                "us-east-1c",
                AvailabilityZoneOptInStatus::OptInNotRequired,
            ))
            .availability_zones(zone(
                "use1-atl2-az1",
                "us-east-1-atl-2a",
                AvailabilityZoneOptInStatus::NotOptedIn,
            ))
            .build();
        let zones = Zones::read(&answer);
        assert_eq!(zones.name(&"use1-az4".into()), Some("us-east-1c"));
        assert_eq!(zones.name(&"use1-az9".into()), None);
        assert_eq!(zones.id("us-east-1-atl-2a").as_str(), "use1-atl2-az1");
        assert_eq!(zones.id("us-east-1z").as_str(), "us-east-1z");
        assert!(zones.is_open(&"use1-az4".into()));
        assert!(!zones.is_open(&"use1-atl2-az1".into()));
    }
}
