//! What can be bought now, and what the clouds say about getting it.

use crate::{
    Cloud, Extras, InstanceKind, Interrupted, Market, MicroUsd, PoolId, Region, Share,
    SignalSource, Timestamp,
};
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
    /// What one machine costs beside: its disk, its address, its traffic.
    #[serde(default, skip_serializing_if = "Extras::is_nothing")]
    pub extras: Extras,
    /// What the cloud says of it besides.
    pub signals: Signals,
    /// The image that a launch here uses: what the template's name stood for when we looked.
    /// `None`: the template's own words are used as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Arc<str>>,
    /// Why a launch here cannot succeed for this account and template, whatever the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Arc<str>>,
    /// Limits of the account that it counts toward, as positions in the list of quotas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<u32>,
}

impl Offering {
    /// What one machine costs per hour with all that comes beside; `None` if it is unpriced, or if nobody
    /// can tell what its traffic costs. A disk or an address without a price is left out: those are small,
    /// and much the same everywhere.
    pub fn full_price(&self) -> Option<MicroUsd> {
        let price = self.price.filter(|_| self.extras.egress.unknown().is_none());
        price.map(|price| price + self.extras.known())
    }
}

/// What a cloud says of a pool besides its price. Hints, each of which may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Signals {
    /// How likely a launch is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obtainability: Option<Obtainability>,
    /// Since when that word is taken to have stood: never below half of what it is now, as far as we heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_since: Option<Timestamp>,
    /// How much the price moved lately: its standard deviation over some days, as a share of its
    /// mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volatility: Option<Share>,
    /// How many machines like these are taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interrupted>,
    /// When the price was true, if the cloud itself said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_as_of: Option<Timestamp>,
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

/// What a provider says of one pool now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quote {
    /// Price per hour now; `None` if the provider does not know (the catalog's then stands).
    pub price: Option<MicroUsd>,
    /// What it says besides.
    pub signals: Signals,
    /// What the template's image stands for here.
    pub image: Option<Arc<str>>,
    /// Why a launch here cannot succeed for this account and template.
    pub refusal: Option<Arc<str>>,
    /// Limits that it counts toward, as positions in the answer's own list.
    pub quotas: Vec<u32>,
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
    /// What the cloud calls it, for people.
    pub name: String,
    /// What is counted.
    pub unit: QuotaUnit,
    /// How much is allowed.
    pub limit: u64,
    /// How much is in use, by anyone.
    pub used: u64,
}

/// What a quota counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuotaUnit {
    /// Virtual processors.
    Vcpus,
    /// GPUs and their like.
    Accelerators,
    /// Machines of any size.
    Machines,
}

impl QuotaUnit {
    /// What is counted, as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            QuotaUnit::Vcpus => "vCPUs",
            QuotaUnit::Accelerators => "accelerators",
            QuotaUnit::Machines => "machines",
        }
    }

    /// How much of a quota one machine uses, rounded up.
    pub fn of(self, kind: &InstanceKind) -> u64 {
        match self {
            QuotaUnit::Vcpus => kind.resources.vcpus.unwrap_or_default().into(),
            QuotaUnit::Accelerators => {
                let milli = kind.resources.accelerators.as_ref().map_or(0, |a| a.count_milli);
                u64::from(milli).div_ceil(1000)
            }
            QuotaUnit::Machines => 1,
        }
    }
}
