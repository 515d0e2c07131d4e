//! Limits on the share of a pool, zone, region and cloud.

use crate::place::usage::Usage;
use fleet_model::{Cloud, Desired, Rejection, Share, Units};

/// Share limits as amounts.
#[derive(Debug, Clone)]
pub(super) struct Caps {
    pub(super) pool: Option<(Share, Units)>,
    pub(super) zone: Option<(Share, Units)>,
    pub(super) region: Option<(Share, Units)>,
    pub(super) cloud: Option<(Share, Units)>,
}

impl Caps {
    pub(super) fn new(desired: &Desired) -> Self {
        let target = desired.capacity.target;
        let cap = |share: Option<Share>| share.map(|s| (s, Units(s.floor_of(target.0))));
        let spread = desired.placement.spread;
        Caps {
            pool: cap(spread.max_share_per_pool),
            zone: cap(spread.max_share_per_zone),
            region: cap(spread.max_share_per_region),
            cloud: cap(spread.max_share_per_provider),
        }
    }

    /// The first limit that a machine more would exceed.
    pub(super) fn exceeded(
        &self,
        usage: &Usage,
        in_pool: Units,
        zone: u32,
        region: u32,
        cloud: Cloud,
        weight: Units,
    ) -> Option<Rejection> {
        let in_cloud = usage.clouds[cloud as usize];
        let checks = [
            ("pool", self.pool, in_pool),
            ("zone", self.zone, usage.zones[zone as usize]),
            ("region", self.region, usage.regions[region as usize]),
            ("provider", self.cloud, in_cloud),
        ];
        for (of, cap, used) in checks {
            let Some((limit, cap)) = cap else { continue };
            if weight > cap {
                return Some(Rejection::LargerThanShare { of: of.into(), limit, weight });
            }
            if used + weight > cap {
                return Some(Rejection::ShareReached { of: of.into(), limit });
            }
        }
        None
    }
}
