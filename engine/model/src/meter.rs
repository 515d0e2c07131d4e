//! What bills are reckoned from: prices as they moved, when machines ran, and what is on the meter now.
//! Plain data; the arithmetic is in fleet-money.

use crate::{Extras, MachineId, MicroUsd, PoolId, SlotId, SlotName, Timestamp, Units};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The price of a pool from a moment on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceStep {
    /// Which pool.
    pub pool: PoolId,
    /// Since when.
    pub since: Timestamp,
    /// Price per hour from then on.
    pub price: MicroUsd,
}

/// When a machine ran, as far as its cloud tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// When it began to run. Later than its launch: on some clouds the time between is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// When it left the last state that its cloud bills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// When its disk was deleted. Disks are billed until then, also while a machine is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Timestamp>,
}

/// What clouds tell of prices and of machines that are gone, for the ledger. Only those who may change a
/// fleet ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Readings {
    /// How prices of pools that hold machines moved, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<PriceStep>,
    /// When machines ran that are gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ran: BTreeMap<MachineId, Ran>,
}

impl Readings {
    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.prices.is_empty() && self.ran.is_empty()
    }
}

/// What a machine from a pool is worth, as known when one was launched: history is not valued by today's
/// catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worth {
    /// Which pool.
    pub pool: PoolId,
    /// The on-demand price of the same type in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<MicroUsd>,
    /// How much capacity it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// What capacity was counted in.
    pub unit: String,
    /// What comes beside the price of the machine: its disk, its address, its share of the traffic. `None`: the record
    /// is from before that was written down, so nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Extras>,
}

/// What comes beside the price of machines from a moment on: the traffic that a spec expects is shared out anew when
/// its target changes, and of machines that were launched before this was written down it is told later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtrasStep {
    /// The slots that they fill.
    pub slots: Vec<SlotId>,
    /// What comes beside each.
    pub extras: Extras,
}

/// The price of a pool that is on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PricedAt {
    /// Since when.
    pub since: Timestamp,
    /// Price per hour.
    pub price: MicroUsd,
}

/// How a machine is billed, where that depends on what runs on it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Product {
    /// As most are.
    #[default]
    Usual,
    /// SUSE Linux, which some clouds bill by the hour.
    Suse,
}

/// Machines that are on the meter, and the prices that matter to them. One per fleet; a fold over its
/// journal that can be saved at any moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meter {
    /// Machines that run, by the slot that each fills. Boxed: they come and go, and their neighbours would be moved
    /// each time.
    pub lives: BTreeMap<SlotName, Box<OpenLife>>,
    /// How prices of their pools moved, oldest first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<PoolId, Vec<PricedAt>>,
    /// Machines that were written down as gone lately, and when: one may turn out to be there.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub departed: VecDeque<(Timestamp, Box<OpenLife>)>,
}

/// A machine on the meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenLife {
    /// Which machine.
    pub machine: MachineId,
    /// The slot that it fills.
    pub slot: SlotId,
    /// Where it came from.
    pub pool: PoolId,
    /// When its cloud made it.
    pub launched_at: Timestamp,
    /// From here on it is counted: its launch, its adoption, or what was settled last.
    pub since: Timestamp,
    /// Price per hour at that moment. `None`: nobody knows.
    pub price: Option<MicroUsd>,
    /// The on-demand price of the same type in the same place, at its launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<MicroUsd>,
    /// How much capacity it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// What comes beside its price. `None`: nobody wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Extras>,
    /// From here on that is counted.
    #[serde(default)]
    pub extras_since: Timestamp,
    /// From here on its disk is, where that is later: it outlived a machine that came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_since: Option<Timestamp>,
    /// What runs on it, as far as that matters.
    #[serde(default)]
    pub product: Product,
    /// The version of its cloud's labels that it was launched with, and later ones with their times.
    #[serde(default)]
    pub labels: u32,
    /// Later versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relabelled: Vec<(Timestamp, u32)>,
    /// When its end was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Timestamp>,
    /// Its first minutes, where the rest is settled and they are not: when it began to run is told at its
    /// end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Box<Head>>,
}

/// The first minutes of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Until when.
    pub until: Timestamp,
    /// Price per hour at the launch.
    pub price: Option<MicroUsd>,
    /// How it moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PricedAt>,
    /// The version of the labels.
    #[serde(default)]
    pub labels: u32,
}
