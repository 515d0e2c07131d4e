//! What a plan means, for people and programs.

use crate::{
    Gap, Group, Hold, InDoubt, MicroUsd, Notice, Obtainability, PoolId, Rejection, Share,
    Shortfall, Unit, Units,
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
    /// What is held back, and why.
    pub held: Vec<Hold>,
    /// What could not be placed, and why.
    pub unplaced: Vec<Shortfall>,
    /// Requests whose outcome is not known.
    pub in_doubt: Vec<InDoubt>,
    /// Scopes that did not answer.
    pub gaps: Vec<Gap>,
    /// What a person should know besides.
    pub notices: Vec<Notice>,
    /// How many pools the spec allows, and what rules out the others (reason, pools).
    pub candidates: u32,
    /// See `candidates`.
    pub rejected: Vec<(Rejection, u32)>,
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
    /// Price of one machine per hour now.
    pub price: Option<MicroUsd>,
    /// The on-demand price of the same.
    pub on_demand: Option<MicroUsd>,
    /// The cloud's word on launches.
    pub obtainability: Option<Obtainability>,
    /// Share of the target that stands here afterwards, 100 % at most.
    pub share: Share,
}

/// Money, before and after. Unpriced machines are counted apart, not as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Per hour before.
    pub hourly_before: MicroUsd,
    /// Per hour after.
    pub hourly_after: MicroUsd,
    /// The same machines at on-demand prices, after.
    pub hourly_on_demand: MicroUsd,
    /// The limit per hour.
    pub hourly_limit: Option<MicroUsd>,
    /// Machines without a known price, after.
    pub unpriced: u32,
}
