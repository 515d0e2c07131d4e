//! What a plan means, for people and programs.

use crate::{
    ByKind, Cap, Cloud, Cost, CostLine, Gap, Group, Heeded, Hold, InDoubt, MicroUsd, Notice,
    Obtainability, PoolId, Rejection, Share, Shortfall, Strategy, Timestamp, Uncounted, Unit,
    Units,
};
use serde::{Deserialize, Serialize};

/// The plan explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// In what unit capacity is counted.
    pub unit: Unit,
    /// Per group: wanted, had, will have.
    pub groups: Vec<GroupLine>,
    /// Per pool that holds, gains or loses machines.
    pub pools: Vec<PoolLine>,
    /// Money.
    pub cost: Cost,
    /// The same, line by line: they add up to `cost`. Plans that were saved before there were lines have
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cost_lines: Vec<CostLine>,
    /// What no amount counts after the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<Uncounted>,
    /// The same before it. Plans that were saved before this was counted have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted_before: Vec<Uncounted>,
    /// What is held back, and why.
    pub held: Vec<Hold>,
    /// What could not be placed, and why.
    pub unplaced: Vec<Shortfall>,
    /// Requests whose outcome is not known.
    pub in_doubt: Vec<InDoubt>,
    /// Scopes that did not answer.
    pub gaps: Vec<Gap>,
    /// How many scopes did. Plans that were saved before this was counted read back as they were written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answered: u32,
    /// What a person should know besides.
    pub notices: Vec<Notice>,
    /// How many pools the spec allows, and what rules out the others (reason, pools).
    pub candidates: u32,
    /// See `candidates`.
    pub rejected: Vec<(Rejection, u32)>,
    /// What the template sets otherwise than the one that machines were made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template_changes: Vec<TemplateChange>,
    /// What is to be expected of the spot part; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlook: Option<Outlook>,
    /// Limits on what is spent, and how far they reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetLine>,
    /// What is in none of the amounts that `budgets` says were spent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_uncounted: Vec<Uncounted>,
}

/// A limit on what is spent, and how far it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetLine {
    /// Which limit.
    pub cap: Cap,
    /// How much.
    pub limit: MicroUsd,
    /// What is spent of it by the journal; what is in doubt at the dearest.
    pub spent: MicroUsd,
    /// The same by what it was spent on. Plans that were saved before that was told apart have nothing here.
    #[serde(default)]
    pub spent_on: ByKind,
    /// What the base costs to the end, which is set aside.
    pub set_aside: MicroUsd,
    /// Until when it has to last; `None`: nobody knows.
    pub until: Option<Timestamp>,
    /// What is spent by then, at what the plan costs per hour; `None` without an end.
    pub forecast: Option<MicroUsd>,
    /// When nothing is left for the burst (of a fleet without one: for the base), at what the plan costs
    /// per hour, if that is before the end.
    pub used_up_at: Option<Timestamp>,
    /// The most that the fleet may cost per hour now for it.
    pub hourly_limit: MicroUsd,
}

/// A field of the template that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateChange {
    /// The cloud.
    pub cloud: Cloud,
    /// The field, as the spec names it.
    pub field: String,
    /// What it was; `None`: not set.
    pub from: Option<String>,
    /// What it is; `None`: not set.
    pub to: Option<String>,
}

impl Report {
    /// Whether nobody answered who was asked: then this is no picture of the fleet.
    pub fn is_blind(&self) -> bool {
        self.answered == 0 && !self.gaps.is_empty()
    }
}

/// What is to be expected of the spot part of a fleet, from what is believed of its pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// Chance that every launch of the plan is granted.
    pub fill: Share,
    /// Spot machines taken back in a day, in thousandths.
    pub interruptions_per_day_milli: u64,
    /// Price per hour of the whole fleet, of which one in ten outcomes is cheaper.
    pub hourly_p10: MicroUsd,
    /// The middle.
    pub hourly_p50: MicroUsd,
    /// Of which one in ten is dearer.
    pub hourly_p90: MicroUsd,
    /// Share of time at target if `fleet reconcile` runs as often as the spec says; `None`: not hedged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Share>,
    /// How often that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile_every_seconds: Option<u32>,
    /// Share of time at target if `fleet reconcile` runs every five minutes.
    #[serde(default = "not_counted", skip_serializing_if = "is_not_counted")]
    pub at_target_every_five_minutes: Share,
    /// The same if it runs once a night.
    #[serde(default = "not_counted", skip_serializing_if = "is_not_counted")]
    pub at_target_nightly: Share,
}

/// For plans that were saved before something was counted.
fn not_counted() -> Share {
    Share::NONE
}

fn is_not_counted(share: &Share) -> bool {
    *share == Share::NONE
}

/// What is believed of one spot pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolChance {
    /// Chance that what the plan holds and launches here is granted.
    pub fill: Share,
    /// How long half of the machines live.
    pub life_minutes: u64,
}

fn is_nothing(units: &Units) -> bool {
    units.is_zero()
}

/// One group, before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupLine {
    /// Which group.
    pub group: Group,
    /// What the spec asks for.
    pub wanted: Units,
    /// What there is, requests in doubt included.
    pub before: Units,
    /// What there will be.
    pub after: Units,
    /// How much of both is in doubt: asked for, and nobody knows whether it is there.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub doubt: Units,
    /// Machines kept.
    pub keep: u32,
    /// Machines launched.
    pub create: u32,
    /// Machines ended.
    pub destroy: u32,
}

/// One pool, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolLine {
    /// Which pool.
    pub pool: PoolId,
    /// Capacity of one machine.
    pub weight: Units,
    /// Machines kept.
    pub keep: u32,
    /// Machines launched.
    pub create: u32,
    /// Machines ended.
    pub destroy: u32,
    /// What machines that are kept add to the cost per hour: the prices at which they were launched.
    #[serde(default, skip_serializing_if = "is_free")]
    pub kept_hourly: MicroUsd,
    /// The same of machines that are ended.
    #[serde(default, skip_serializing_if = "is_free")]
    pub ended_hourly: MicroUsd,
    /// Price of one machine per hour now.
    pub price: Option<MicroUsd>,
    /// The on-demand price of the same.
    pub on_demand: Option<MicroUsd>,
    /// The cloud's word on launches.
    pub obtainability: Option<Obtainability>,
    /// Share of the target that stands here afterwards, 100 % at most.
    pub share: Share,
    /// Of the machines kept and launched, those that are paid for already.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub committed: u32,
    /// What is believed of it, if it is spot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<PoolChance>,
    /// What the cloud's signals say, and how far each is believed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Heeded>,
    /// Why machines are launched here and not elsewhere; `None` if none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<PoolReason>,
}

/// Why machines are launched in one pool and not in another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum PoolReason {
    /// They are paid for already.
    PaidFor,
    /// No pool comes before it in the order of the strategy.
    Best {
        /// The strategy.
        strategy: Strategy,
    },
    /// Pools that come before it take no more.
    OthersFull {
        /// Why the first of them does not.
        because: Rejection,
    },
    /// Pools that come before it would carry too much together: what stands together falls together.
    OthersCrowded,
    /// It brings a zone that the spec asks for.
    AnotherZone,
    /// The strategy takes evenly from everywhere.
    Even,
    /// Its machines come to the least cost together with the others.
    Size,
    /// Its price for its risk, beside pools that fail at other times.
    Hedge,
    /// On demand, because spot is too likely to be missing.
    InPlaceOfSpot,
}

fn is_free(price: &MicroUsd) -> bool {
    *price == MicroUsd(0)
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
