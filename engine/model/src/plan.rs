//! A plan: every change, in order, with nothing left to choose.

use crate::{
    Digest, FailedMachine, FallbackStep, FleetName, FleetUid, HealthNews, Labels, MachineId,
    MicroUsd, Moving, NewMachine, Orphans, PoolId, RolloutNews, Scope, SlotId, StepId, Timestamp,
    Token, Vacated, Why,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Format number of saved plans.
pub const PLAN_FORMAT: u32 = 1;

/// Everything that should be done to a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Which fleet.
    pub fleet: FleetName,
    /// Its identity: the recorded one, or the one that the first apply will record.
    pub uid: FleetUid,
    /// The steps, in an order that respects `after`.
    pub steps: Vec<Step>,
    /// Machines seen to be gone: apply writes that down before anything else.
    pub vacate: Vec<Vacated>,
    /// Machines that were seen to be failed for the first time: apply writes that down as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedMachine>,
    /// Machines that were written down as gone and are there after all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readopt: Vec<Readopt>,
    /// Machines whose checks pass or fail, and did not before.
    #[serde(default, skip_serializing_if = "HealthNews::is_empty")]
    pub health: HealthNews,
    /// How far a change of template has come: apply writes it down first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rollout: Vec<RolloutNews>,
    /// Machines whose work is to end, because their cloud takes them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drain: Vec<Labelled>,
    /// Launches in doubt that the spec still wants: apply sends them again. The others wait until
    /// absence is proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resend: Vec<Token>,
    /// What machines that are gone left behind: apply clears it away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<Orphans>,
    /// Machines whose labels are those of an earlier spec: apply changes them in place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relabel: Vec<Relabel>,
    /// News of the fallback to on-demand: apply writes it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackStep>,
    /// Pools whose machines are worth moving, where those are news: apply writes it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheaper: Option<BTreeSet<PoolId>>,
    /// Machines whose successors are launched by this plan: apply writes that down before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moving: Option<Moving>,
    /// What must still be true when the first step is taken.
    pub premises: Premises,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.clear.is_empty() && self.relabel.is_empty()
    }

    /// Whether it would ask a cloud for anything: steps, things to clear away, labels to change,
    /// launches to repeat.
    pub fn acts(&self) -> bool {
        !self.is_empty() || !self.resend.is_empty()
    }

    /// Whether there is something to write down.
    pub fn has_news(&self) -> bool {
        !(self.vacate.is_empty()
            && self.failed.is_empty()
            && self.readopt.is_empty()
            && self.health.is_empty()
            && self.rollout.is_empty()
            && self.drain.is_empty()
            && self.fallback.is_none()
            && self.cheaper.is_none())
    }
}

/// Labels to change on machines of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relabel {
    /// Where they stand.
    pub scope: Scope,
    /// Every label and tag of the user's own that they should carry.
    pub set: Labels,
    /// Keys that they should carry no more. What others put on them stays.
    pub remove: BTreeSet<String>,
    /// The machines.
    pub machines: Vec<Labelled>,
}

/// A machine whose labels are to change. It is looked at before, and left alone unless it is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Labelled {
    /// The cloud's name for it.
    pub machine: MachineId,
    /// The slot it fills.
    pub slot: SlotId,
}

/// A machine that is there after all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readopt {
    /// The machine and its slot.
    pub machine: NewMachine,
    /// The template it was made from.
    pub template: Digest,
}

/// What a plan was made from. Apply refuses if any of it moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Premises {
    /// Version of the engine that decided.
    pub engine: String,
    /// Digest of the spec.
    pub spec: Digest,
    /// Number of changes in the journal.
    pub journal: u64,
    /// Digest of the machines seen and the scopes that answered.
    pub observation: Digest,
    /// Expected price per hour after the plan, to notice that prices moved.
    pub hourly_after: MicroUsd,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// After this it is stale whatever else holds.
    pub expires_at: Timestamp,
}

/// One request to one cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its number.
    pub id: StepId,
    /// What to do.
    pub action: Action,
    /// Steps that must be done first. If one of them is not done, this one is not started.
    pub after: BTreeSet<StepId>,
    /// Why.
    pub why: Why,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Launch machines.
    Create(Create),
    /// End machines.
    Destroy(Destroy),
}

impl Action {
    /// How many machines it touches.
    pub fn count(&self) -> usize {
        match self {
            Action::Create(create) => create.slots.len(),
            Action::Destroy(destroy) => destroy.victims.len(),
        }
    }

    /// The pool it touches.
    pub fn pool(&self) -> &PoolId {
        match self {
            Action::Create(create) => &create.pool,
            Action::Destroy(destroy) => &destroy.pool,
        }
    }
}

/// A launch, resolved to the last detail. This is what the journal keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Create {
    /// The pool to launch from.
    pub pool: PoolId,
    /// Further pools of the same cloud, region and market: the cloud takes each machine from
    /// whichever of them all it likes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherPool>,
    /// The slots to fill, one machine each, in this order.
    pub slots: Vec<SlotId>,
    /// The idempotency token.
    pub token: Token,
    /// Expected price of one machine per hour.
    pub price: Option<MicroUsd>,
    /// The most to pay per machine and hour, for spot.
    pub max_price: Option<MicroUsd>,
    /// Fingerprint of the template.
    pub template: Digest,
    /// The image that its name stood for when this was decided. A name that is looked up again
    /// may stand for something else, and then the same token would be another request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Create {
    /// Every pool that machines may come from.
    pub fn pools(&self) -> impl Iterator<Item = &PoolId> {
        std::iter::once(&self.pool).chain(self.others.iter().map(|other| &other.pool))
    }

    /// What a machine may cost at most, as far as prices are known: the cloud may choose the
    /// dearest pool for all of them.
    pub fn dearest(&self) -> Option<MicroUsd> {
        self.others.iter().map(|other| other.price).fold(self.price, Ord::max)
    }

    /// Expected price of one machine of a pool.
    pub fn price_in(&self, pool: &PoolId) -> Option<MicroUsd> {
        match self.others.iter().find(|other| other.pool == *pool) {
            Some(other) => other.price,
            None => self.price,
        }
    }
}

/// A pool besides the first that machines may come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherPool {
    /// Which.
    pub pool: PoolId,
    /// Expected price of one machine per hour.
    pub price: Option<MicroUsd>,
    /// The most to pay per machine and hour, for spot.
    pub max_price: Option<MicroUsd>,
}

/// The end of machines of one pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Destroy {
    /// The pool they stand in.
    pub pool: PoolId,
    /// Exactly these, and only if they still are what they were.
    pub victims: Vec<Victim>,
}

/// A machine to end. Apply looks at it again, and leaves it alone unless all three match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Victim {
    /// The cloud's name for it.
    pub machine: MachineId,
    /// The slot it fills.
    pub slot: SlotId,
    /// When it was launched.
    pub launched_at: Timestamp,
    /// What it costs per hour.
    pub price: Option<MicroUsd>,
}
