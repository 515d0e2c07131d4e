//! What can be bought now, and what the clouds say about getting it.

use crate::{Cloud, InstanceKind, Market, MicroUsd, PoolId, Region};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A pool that the spec allows, with what is known of it at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offering {
    /// Which pool.
    pub pool: PoolId,
    /// What machines it has.
    pub kind: Arc<InstanceKind>,
    /// Price per hour now; `None` is unpriced.
    pub price: Option<MicroUsd>,
    /// The on-demand price of the same type in the same place.
    pub on_demand: Option<MicroUsd>,
    /// How likely the cloud thinks a launch is.
    pub obtainability: Option<Obtainability>,
}

/// A cloud's own word on how likely a launch is to succeed and last: 0 hopeless, 100 certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Obtainability {
    /// 0 to 100.
    pub percent: u8,
    /// Who says so.
    pub source: SignalSource,
}

/// Where a signal comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SignalSource {
    /// EC2 spot placement score.
    SpotPlacementScore,
    /// GCP capacity advice.
    CapacityAdvice,
    /// Azure spot placement score.
    PlacementScore,
    /// Lambda's list of regions with capacity.
    RegionsWithCapacity,
}

/// What a provider says of one pool now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// Price per hour now; `None` if the provider does not know (the catalog's then stands).
    pub price: Option<MicroUsd>,
    /// The provider's word on launches.
    pub obtainability: Option<Obtainability>,
}

/// A limit that the cloud sets on one account. A quota that is not listed is unknown, not zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// The cloud.
    pub cloud: Cloud,
    /// The region it holds in.
    pub region: Region,
    /// The market it holds for.
    pub market: Market,
    /// vCPUs allowed.
    pub vcpus: u64,
    /// vCPUs in use, by anyone.
    pub used_vcpus: u64,
}
