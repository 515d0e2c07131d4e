//! On-demand in the place of spot that is lost or cannot be had, and the way back.

use crate::{PoolId, Share, SlotId, SlotName, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When on-demand takes the place of missing spot, how much of it, and when it goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fallback {
    /// So many machines lost, or launches refused; `None`: three, and at least a tenth of the burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<u32>,
    /// Within so long.
    pub within_seconds: u32,
    /// Or spot could not fill the burst for so long.
    pub unfilled_seconds: u32,
    /// At most this share of the burst is on demand.
    pub share: Share,
    /// Spot must hold for so long before machines go back to it.
    pub return_after_seconds: u32,
}

impl Default for Fallback {
    fn default() -> Self {
        Fallback {
            losses: None,
            within_seconds: 3600,
            unfilled_seconds: 900,
            share: Share::ALL,
            return_after_seconds: 1800,
        }
    }
}

/// Why a fleet fell back to on-demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum FallbackWhy {
    /// Spot machines were taken back.
    Lost {
        /// How many, within the window.
        machines: u32,
    },
    /// Spot launches were refused, or machines taken back, and no other spot pool can fill the gap.
    Refused {
        /// How often, within the window.
        times: u32,
    },
    /// Spot could not fill the burst.
    Unfilled {
        /// Since when.
        since: Timestamp,
    },
}

/// News of the fallback, for the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum FallbackStep {
    /// Spot cannot fill the burst from here on.
    Short,
    /// The burst has all that it wants again.
    Filled,
    /// What is missing is bought on demand from here on.
    Began {
        /// Why.
        why: FallbackWhy,
    },
    /// Nothing of the burst is on demand in the place of spot any more.
    Ended,
}

/// Machines that are about to be moved: each is destroyed when its successor is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moving {
    /// Why.
    pub why: MoveWhy,
    /// The slots that they fill.
    pub slots: Vec<SlotId>,
}

/// Why machines are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MoveWhy {
    /// From on-demand back to spot.
    BackToSpot,
    /// To a cheaper pool.
    Cheaper,
}

/// What was seen of the spot market as a whole, and what was done about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpotRecord {
    /// Machines taken back lately, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Times>,
    /// Launches refused lately, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Times>,
    /// Since when spot cannot fill the burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_since: Option<Timestamp>,
    /// Missing spot is bought on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallen_back: Option<FallenBack>,
    /// When that last ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Pools whose machines are worth moving to cheaper ones, and since when.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cheaper: BTreeMap<PoolId, Timestamp>,
    /// Machines moved lately, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moved>,
    /// The machines of the last move, by slot and generation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub moving: BTreeMap<SlotName, (u32, MoveWhy)>,
}

impl SpotRecord {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == SpotRecord::default()
    }
}

/// How often something happened at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// When.
    pub at: Timestamp,
    /// How often.
    pub count: u32,
}

/// Machines that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// When.
    pub at: Timestamp,
    /// How many.
    pub machines: u32,
    /// Why.
    pub why: MoveWhy,
}

/// Since when a fleet buys on demand what spot does not give, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FallenBack {
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub why: FallbackWhy,
}

/// When machines go back to spot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum WayBack {
    /// When spot holds until then.
    Holds {
        /// The moment.
        until: Timestamp,
        /// For how long it must hold.
        for_seconds: u32,
    },
    /// Some went back already, and the next few follow if spot holds until then.
    Next {
        /// The moment.
        at: Timestamp,
    },
    /// Now: the plan launches successors.
    Now {
        /// How many machines go back.
        machines: u32,
    },
    /// Successors are starting; the machines go when these are up.
    Starting {
        /// How many machines go back.
        machines: u32,
    },
    /// Spot holds, and no successor can be had: no pool has room, or none is cheaper, or the budget is
    /// used up.
    NoSuccessor,
}
