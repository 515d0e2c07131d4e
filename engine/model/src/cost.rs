//! Money of a plan: totals, lines that add up to them, and how far they may vary.

use crate::{Cloud, CostKind, Group, Market, MicroUsd, PoolId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Money, before and after: machines with their disks, addresses and traffic. What has no known price is
/// told apart ([`crate::Uncounted`]), not counted as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Per hour before.
    pub hourly_before: MicroUsd,
    /// Per hour after.
    pub hourly_after: MicroUsd,
    /// The same at the prices of now: spot machines that stand are counted above at what they cost when
    /// they were launched. Plans that were saved before this was counted read back as they were written.
    #[serde(default, skip_serializing_if = "is_free")]
    pub hourly_at_present: MicroUsd,
    /// The same machines at on-demand prices, after.
    pub hourly_on_demand: MicroUsd,
    /// The limit per hour.
    pub hourly_limit: Option<MicroUsd>,
    /// Machines without a known price, after.
    pub unpriced: u32,
    /// Machines that are paid for already, after: they add nothing to the price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub committed: u32,
    /// Where this plan is only a part of the way: what the fleet costs at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_done: Option<WhenDone>,
    /// How far the price per hour after the plan may vary; `None` without spot machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<CostRange>,
}

/// The end of a way that takes several plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhenDone {
    /// Per hour, at the prices of now.
    pub hourly: MicroUsd,
    /// About how many applies it takes, this one included.
    pub applies: u32,
    /// The number of machines to allow so that one apply does.
    pub allow_destroy: Option<u32>,
}

/// How far the price per hour of a fleet with spot machines may vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostRange {
    /// Every launch is granted, and spot costs what it costs at the low end of its recorded range.
    pub low: MicroUsd,
    /// At the prices of now, less the time in which interrupted machines are missing. Launches that are not
    /// granted are bought on demand where the spec has a fallback, and elsewhere as spot at the same price.
    pub expected: MicroUsd,
    /// Spot costs the most that the spec pays for it, or, with a fallback or without a limit, what
    /// on-demand costs; no more than the budget. `None`: some spot machines have no such price.
    pub high: Option<MicroUsd>,
    /// Spot machines whose price range was recorded.
    pub recorded: u32,
    /// Spot machines without: their low end is the price of now.
    pub unrecorded: u32,
}

/// A part of a fleet, by what it is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The on-demand base.
    Base,
    /// Spot machines.
    Burst,
    /// On-demand machines in the place of spot: of a fallback, a hedge or a commitment.
    Fallback,
}

impl Tier {
    /// Every tier.
    pub const ALL: [Tier; 3] = [Tier::Base, Tier::Burst, Tier::Fallback];

    /// The tier of a machine, by its group and market.
    pub fn of(group: Group, market: Market) -> Self {
        match (group, market) {
            (Group::Base, _) => Tier::Base,
            (Group::Burst, Market::Spot) => Tier::Burst,
            (Group::Burst, Market::OnDemand | Market::Reserved) => Tier::Fallback,
        }
    }

    /// The word as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Base => "base",
            Tier::Burst => "burst",
            Tier::Fallback => "fallback",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What machines of one tier in one pool cost for one kind of thing, per hour. The lines of a report add
/// up to its totals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostLine {
    /// The part of the fleet.
    pub tier: Tier,
    /// Which pool.
    pub pool: PoolId,
    /// What for.
    pub kind: CostKind,
    /// Before and after.
    pub change: Change,
    /// Whether the price of another region of the same cloud was taken for some of it.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub about: bool,
}

impl CostLine {
    /// The cloud that sends the bill. Traffic out of the data's cloud is counted here as well: with the
    /// machines that cause it.
    pub fn cloud(&self) -> Cloud {
        self.pool.place.cloud
    }
}

/// An amount per hour, before and after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Before.
    pub before: MicroUsd,
    /// After.
    pub after: MicroUsd,
}

impl Change {
    /// What is added, in micro-dollars; negative where it gets cheaper.
    pub fn difference(self) -> i128 {
        i128::from(self.after.0) - i128::from(self.before.0)
    }

    /// Whether there is nothing to pay, before and after.
    pub fn is_nothing(self) -> bool {
        self == Change::default()
    }
}

impl std::ops::AddAssign for Change {
    fn add_assign(&mut self, other: Self) {
        self.before += other.before;
        self.after += other.after;
    }
}

/// Lines summed up by whatever tells them apart, in its order.
pub fn sum_lines<K: Ord>(
    lines: &[CostLine],
    key: impl Fn(&CostLine) -> K,
) -> std::collections::BTreeMap<K, Change> {
    let mut sums: std::collections::BTreeMap<K, Change> = Default::default();
    for line in lines {
        *sums.entry(key(line)).or_default() += line.change;
    }
    sums
}

fn is_exact(about: &bool) -> bool {
    !about
}

fn is_free(price: &MicroUsd) -> bool {
    *price == MicroUsd(0)
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
