//! What can be made to go wrong.

use fleet_model::{Cloud, Market, PoolId, PoolPattern, Region, Scope, Timestamp, UnknownName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A cloud, or one region of it: `aws`, `gcp/us-central1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The cloud.
    pub cloud: Cloud,
    /// The region; `None`: all of them.
    pub region: Option<Region>,
}

impl Area {
    /// Whether a scope lies inside.
    pub fn covers(&self, scope: &Scope) -> bool {
        let here =
            |region: &Region| *region == scope.region || (region.as_str() == scope.region.name());
        self.cloud == scope.cloud && self.region.as_ref().is_none_or(here)
    }
}

impl From<Cloud> for Area {
    fn from(cloud: Cloud) -> Self {
        Area { cloud, region: None }
    }
}

impl From<Scope> for Area {
    fn from(scope: Scope) -> Self {
        Area { cloud: scope.cloud, region: Some(scope.region) }
    }
}

impl FromStr for Area {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let (cloud, region) = match text.split_once('/') {
            Some((cloud, region)) => (cloud, Some(region)),
            None => (text, None),
        };
        if region.is_some_and(|region| region.is_empty() || region.contains('/')) {
            return Err(UnknownName { what: "cloud or region", text: text.into() });
        }
        Ok(Area { cloud: cloud.parse()?, region: region.map(Region::from) })
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.region {
            Some(region) => write!(f, "{}/{region}", self.cloud),
            None => write!(f, "{}", self.cloud),
        }
    }
}

/// One thing that is going wrong. Without an end it lasts until the world is healed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fault {
    /// Pools have no room for new machines. Those that stand there stay.
    Exhausted {
        /// Which pools.
        pools: PoolPattern,
        /// How many machines of ours each may hold all the same: 0 for none.
        room_for: u32,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// An area answers nothing.
    Outage {
        /// Which area.
        area: Area,
        /// Whether calls may be carried out before the answer is lost. Otherwise nothing gets in.
        lossy: bool,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// Every change and every list is throttled.
    Throttled {
        /// Which cloud.
        cloud: Cloud,
        /// Until when.
        until: Timestamp,
    },
    /// Changes are carried out, but some answers do not arrive.
    LostAnswers {
        /// Which cloud.
        cloud: Cloud,
        /// How many of a hundred.
        percent: u8,
    },
    /// Lists lose a page.
    PartialLists {
        /// Which area.
        area: Area,
    },
    /// New machines are listed at moments of their own, each within this time.
    ScatteredVisibility {
        /// Which cloud.
        cloud: Cloud,
        /// How long at most.
        within: Duration,
    },
    /// Azure takes machines away and forgets their disks and interfaces; clearing them away is
    /// accepted, and then fails.
    ChildrenLeft {
        /// How many of a hundred.
        percent: u8,
    },
    /// New machines take this long to be listed.
    DelayedVisibility {
        /// Which cloud.
        cloud: Cloud,
        /// How long.
        by: Duration,
    },
    /// The account's limit is another one.
    Quota {
        /// Which cloud.
        cloud: Cloud,
        /// Which region.
        region: Region,
        /// Which market.
        market: Market,
        /// vCPUs allowed.
        vcpus: u64,
    },
    /// An area knows us, and lets us do nothing.
    Forbidden {
        /// Which area.
        area: Area,
    },
    /// Launches of several machines make one more than they were asked for.
    Surplus {
        /// Which cloud.
        cloud: Cloud,
        /// How many launches of a hundred.
        percent: u8,
    },
    /// New machines never come up: they stay as they are made, until their cloud calls them failed.
    NeverReady {
        /// Which cloud.
        cloud: Cloud,
    },
    /// Lists lack machines that are there, and say nothing of it.
    ShortLists {
        /// Which area.
        area: Area,
        /// How many machines of a hundred.
        percent: u8,
    },
    /// The credentials are for another account: ours is not to be seen.
    OtherAccount {
        /// Which cloud.
        cloud: Cloud,
    },
}

impl Fault {
    /// Whether it has not run out.
    pub(crate) fn holds_at(&self, now: Timestamp) -> bool {
        match self {
            Fault::Exhausted { until, .. } | Fault::Outage { until, .. } => {
                until.is_none_or(|until| now < until)
            }
            Fault::Throttled { until, .. } => now < *until,
            Fault::LostAnswers { .. }
            | Fault::PartialLists { .. }
            | Fault::DelayedVisibility { .. }
            | Fault::Quota { .. }
            | Fault::Forbidden { .. }
            | Fault::Surplus { .. }
            | Fault::ChildrenLeft { .. }
            | Fault::ScatteredVisibility { .. }
            | Fault::ShortLists { .. }
            | Fault::OtherAccount { .. }
            | Fault::NeverReady { .. } => true,
        }
    }

    /// How many machines of ours a pool may hold, if this fault says so.
    pub(crate) fn room_for(&self, pool: &PoolId) -> Option<u32> {
        match self {
            Fault::Exhausted { pools, room_for, .. } if pools.matches(pool) => Some(*room_for),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, until: &Option<Timestamp>| match until {
            Some(until) => write!(f, " until {until}"),
            None => Ok(()),
        };
        match self {
            Fault::Exhausted { pools, room_for: 0, until } => {
                write!(f, "{pools} exhausted")?;
                end(f, until)
            }
            Fault::Exhausted { pools, room_for, until } => {
                write!(f, "{pools} with room for {room_for}")?;
                end(f, until)
            }
            Fault::Outage { area, lossy, until } => {
                write!(f, "{area} in {}outage", if *lossy { "lossy " } else { "" })?;
                end(f, until)
            }
            Fault::Throttled { cloud, until } => write!(f, "{cloud} throttled until {until}"),
            Fault::LostAnswers { cloud, percent } => {
                write!(f, "{cloud} loses {percent}% of its answers")
            }
            Fault::PartialLists { area } => write!(f, "{area} loses a page of every list"),
            Fault::DelayedVisibility { cloud, by } => {
                write!(f, "{cloud} lists new machines after {} s", by.as_secs())
            }
            Fault::Quota { cloud, region, market, vcpus } => {
                write!(f, "{cloud}/{region} allows {vcpus} vCPUs of {market}")
            }
            Fault::Forbidden { area } => write!(f, "{area} refuses us"),
            Fault::Surplus { cloud, percent } => {
                write!(f, "{cloud} makes one too many in {percent}% of its launches")
            }
            Fault::ScatteredVisibility { cloud, within } => {
                write!(
                    f,
                    "new machines on {cloud} are listed one by one, within {} s",
                    within.as_secs()
                )
            }
            Fault::ChildrenLeft { percent } => {
                write!(f, "azure leaves disks and interfaces behind in {percent}% of all ends")
            }
            Fault::NeverReady { cloud } => write!(f, "new machines on {cloud} never come up"),
            Fault::ShortLists { area, percent } => {
                write!(f, "{area} hides {percent}% of its machines from lists")
            }
            Fault::OtherAccount { cloud } => write!(f, "{cloud} is another account"),
        }
    }
}
