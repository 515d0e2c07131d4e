//! What Google may choose from, where a launch leaves a choice.
//!
//! A plan names pools: a type in a zone each. A request names zones and types, and means every pair
//! of them. So what is asked for is a rectangle within what the plan allows: the zones of its first
//! type, and every type that is allowed in all of them. What is alike but for its name may stand
//! side by side; a type with other disks or with accelerators attached may not, nor a TPU slice.

use crate::kind::Kind;
use fleet_model::{Create, PoolId, Zone};

/// Zones and types, every pair of which is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice<'a> {
    pub(crate) zones: Vec<&'a Zone>,
    pub(crate) machines: Vec<&'a str>,
}

impl<'a> Choice<'a> {
    /// What a launch leaves open; `None`: nothing, it names one pool.
    pub(crate) fn of(create: &'a Create, kind: Kind<'_>) -> Option<Self> {
        if create.others.is_empty() || !kind.starts_like(kind) {
            return None;
        }
        let allowed = |machine: &str, zone: &Zone| {
            let same =
                |pool: &PoolId| pool.instance_type.as_str() == machine && pool.place.zone == *zone;
            create.pools().any(same)
        };
        let zones: Vec<&Zone> = create
            .pools()
            .filter(|pool| pool.instance_type == create.pool.instance_type)
            .map(|pool| &pool.place.zone)
            .collect();
        let mut machines: Vec<&str> = Vec::new();
        for pool in create.pools() {
            let name = pool.instance_type.as_str();
            let alike = Kind::read(name).is_some_and(|other| other.starts_like(kind));
            let everywhere = zones.iter().all(|zone| allowed(name, zone));
            if alike && everywhere && !machines.contains(&name) {
                machines.push(name);
            }
        }
        Some(Choice { zones, machines })
    }

    /// The pools of the plan that are asked.
    pub(crate) fn pools(&self, create: &Create) -> Vec<PoolId> {
        let asked = |pool: &&PoolId| {
            self.zones.contains(&&pool.place.zone)
                && self.machines.contains(&pool.instance_type.as_str())
        };
        create.pools().filter(asked).cloned().collect()
    }
}
