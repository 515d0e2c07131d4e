//! Limits of a spec that a recording can never meet, whatever its capacity.

use crate::engine::pool;
use crate::{Setup, Trace};
use fleet_model::{Cloud, Desired, Market, Share};
use std::collections::BTreeSet;
use std::fmt;

/// A share limit that leaves machines without a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfReach {
    /// The limit as the spec names it.
    pub limit: &'static str,
    /// What it is.
    pub share: Share,
    /// What the recording has of what it limits.
    pub places: Vec<String>,
    /// Machines that can stand at once.
    pub most: u32,
    /// Machines wanted.
    pub target: u32,
    /// The least share at which all of them could.
    pub raise_to: Share,
}

impl fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfReach { limit, share, places, most, target, raise_to } = self;
        write!(
            f,
            "{limit} {share} allows {most} of {target} machines at once on what this recording has \
             ({}), so some are always missing: raise it to {raise_to} or more, or take a recording \
             with more zones",
            places.join(", ")
        )
    }
}

/// The first limit, from the widest to the closest, that the recording is too small for.
pub fn out_of_reach(trace: &Trace, setup: &Setup, desired: &Desired) -> Option<OutOfReach> {
    let spread = desired.placement.spread;
    let zones: BTreeSet<String> = trace.zones.iter().cloned().collect();
    let regions: BTreeSet<String> = trace.regions.iter().cloned().collect();
    let clouds: BTreeSet<Cloud> =
        (0..trace.zones.len()).map(|zone| pool(trace, zone, Market::Spot).place.cloud).collect();
    let clouds = clouds.into_iter().map(|cloud| cloud.as_str().to_owned()).collect();
    // A zone has two pools: spot and on-demand.
    let pools = zones.iter().flat_map(|zone| {
        let of_zone = [Market::Spot, Market::OnDemand];
        of_zone.map(|market| format!("{zone} {}", market.as_str()))
    });
    let checks: [(&'static str, Option<Share>, BTreeSet<String>); 4] = [
        ("maxSharePerProvider", spread.max_share_per_provider, clouds),
        ("maxSharePerRegion", spread.max_share_per_region, regions),
        ("maxSharePerZone", spread.max_share_per_zone, zones.clone()),
        ("maxSharePerPool", spread.max_share_per_pool, pools.collect()),
    ];
    checks.into_iter().find_map(|(limit, share, places)| {
        let (share, target) = (share?, u64::from(setup.target));
        let each = places.len().max(1) as u64;
        let most = share.floor_of(target * 1000) / 1000 * each;
        // As a whole per cent: what people write.
        let per_cent = (target.div_ceil(each) * 100).div_ceil(target.max(1));
        (most < target).then(|| OutOfReach {
            limit,
            share,
            places: places.into_iter().collect(),
            most: most as u32,
            target: setup.target,
            raise_to: Share::from_percent(per_cent as f64).unwrap_or(Share::ALL),
        })
    })
}
