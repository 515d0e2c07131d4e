//! Everything a decision is made from, in one value that can be saved and replayed.

use crate::{
    Beliefs, Desired, Extras, FleetUid, InstanceKind, Observed, Offering, PoolId, Quota, Recorded,
    Rejection, SignalRecords, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Format number of saved inputs.
pub const INPUTS_FORMAT: u32 = 1;

/// The version of the engine that decides; part of a saved plan's premises.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// All that a plan depends on: same inputs, same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inputs {
    /// The fleet's identity: the recorded one, or a new one that the first apply will record.
    pub uid: FleetUid,
    /// What should exist.
    pub desired: Desired,
    /// What the journal says.
    pub recorded: Recorded,
    /// What the clouds say.
    pub observed: Observed,
    /// Pools that the spec allows, in the order of their ids.
    pub offerings: Vec<Offering>,
    /// What rules out the other pools of the catalog, and how many.
    pub rejected: Vec<(Rejection, u32)>,
    /// Pools that hold machines of ours and are not among the offerings.
    pub held_pools: BTreeMap<PoolId, HeldPool>,
    /// Known limits of the accounts.
    pub quotas: Vec<Quota>,
    /// What other fleets saw of spot pools. What this one saw is in `recorded`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beliefs: Beliefs,
    /// How well the clouds' signals foretold what happened to other fleets. The record of this one is in
    /// `recorded`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub signals: SignalRecords,
    /// How much one apply may do.
    pub limits: Limits,
    /// The moment of decision.
    pub now: Timestamp,
}

/// How much one apply may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// The exact number of machines a person allowed to be ended; `None`: one in ten, at least one.
    pub allow_destroy: Option<u32>,
    /// The exact number of vanished machines a person accepted as lost.
    pub accept_loss: Option<u32>,
    /// How many this apply has ended in earlier rounds.
    pub already_destroyed: u32,
    /// The fleet is to be taken down altogether.
    pub destroy_all: bool,
}

/// A pool that holds machines of ours and is not among the offerings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldPool {
    /// What its machines are; `None`: the catalog does not know the type.
    pub kind: Option<Arc<InstanceKind>>,
    /// What in the spec rules it out; `None`: nothing does, so its machines stay.
    pub rejection: Option<Rejection>,
    /// What one machine costs beside its price.
    #[serde(default, skip_serializing_if = "Extras::is_nothing")]
    pub extras: Extras,
}
