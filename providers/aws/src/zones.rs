//! Zones. We speak of zone ids (`use1-az4`), which mean the same building to everybody; EC2 also
//! has names (`us-east-1a`), which each account has in an order of its own.

use aws_sdk_ec2::operation::describe_availability_zones::DescribeAvailabilityZonesOutput;
use fleet_model::Zone;
use std::collections::BTreeMap;

/// Both names of every zone of a region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Zones {
    name_of: BTreeMap<String, String>,
    id_of: BTreeMap<String, String>,
}

impl Zones {
    pub(crate) fn read(answer: &DescribeAvailabilityZonesOutput) -> Self {
        let both = answer
            .availability_zones()
            .iter()
            .filter_map(|zone| Some((zone.zone_id()?.to_owned(), zone.zone_name()?.to_owned())));
        let name_of: BTreeMap<String, String> = both.collect();
        let id_of = name_of.iter().map(|(id, name)| (name.clone(), id.clone())).collect();
        Zones { name_of, id_of }
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
        let name_of: BTreeMap<String, String> =
            pairs.iter().map(|(id, name)| ((*id).into(), (*name).into())).collect();
        let id_of = name_of.iter().map(|(id, name)| (name.clone(), id.clone())).collect();
        Zones { name_of, id_of }
    }
}
