//! What the journal keeps: one event for every intent and every outcome.

use crate::{
    AccountKey, Block, CapacityGoal, Cause, Cloud, Commitment, Create, Digest, ExtrasStep,
    FallbackStep, FleetName, FleetUid, HealthNews, Heard, InterruptionNotice, Labels, MachineId,
    MicroUsd, Moving, PoolId, PriceStep, RolloutNews, SlotId, SlotName, Strategy, Template,
    TemplateFields, Timestamp, Token, Worth,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Format number of journal records.
pub const JOURNAL_FORMAT: u32 = 1;

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Something that was meant, done, refused or seen. Never withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "event", rename_all_fields = "camelCase")]
pub enum Event {
    /// The fleet's first record gives it its identity.
    Opened {
        /// Its name.
        fleet: FleetName,
        /// Its identity.
        uid: FleetUid,
    },
    /// A new holder of the lease begins. Appends of older epochs are refused from here on.
    Epoch {
        /// Its number.
        epoch: u64,
        /// Who holds it, for people.
        holder: String,
    },
    /// A round of changes begins.
    RoundStarted {
        /// The spec it works towards.
        spec: Digest,
        /// Machines to launch.
        create: u32,
        /// Machines to end.
        destroy: u32,
        /// Price per hour expected afterwards.
        hourly_after: MicroUsd,
        /// What the clouds' signals said of the pools that it launches from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        heard: Vec<Heard>,
        /// What machines of those pools are worth, for the ledger.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        worth: Vec<Worth>,
    },
    /// A launch is about to be sent.
    CreateIntended {
        /// The request, resolved.
        create: Create,
    },
    /// A launch whose outcome is not known is about to be sent again, unchanged.
    CreateResent {
        /// Which request.
        token: Token,
    },
    /// A launch was answered with machines: all that were asked for, or some.
    Created {
        /// Which request.
        token: Token,
        /// The machines, each with its slot.
        machines: Vec<NewMachine>,
        /// Slots that got none.
        missing: Vec<SlotId>,
        /// Machines that nobody asked for. They are reported until a person ends them.
        surplus: Vec<MachineId>,
        /// Those that are missing were refused for want of capacity, and for nothing else.
        #[serde(default, skip_serializing_if = "is_false")]
        no_room: bool,
    },
    /// A launch was refused: it is proven that nothing was made.
    CreateRefused {
        /// Which request.
        token: Token,
        /// The cloud's code.
        code: String,
        /// For want of capacity, and for nothing else.
        #[serde(default, skip_serializing_if = "is_false")]
        no_room: bool,
    },
    /// The outcome of a launch is not known; its slots stay frozen.
    CreateUnknown {
        /// Which request.
        token: Token,
        /// The cloud's code, or what happened instead of an answer.
        code: String,
    },
    /// Machines are about to be ended.
    DestroyIntended {
        /// Which, and where.
        pool: PoolId,
        /// The slots they fill.
        slots: Vec<SlotId>,
    },
    /// A cloud declined to end machines that are not what we took them for.
    DestroyRefused {
        /// The slots concerned.
        slots: Vec<SlotId>,
        /// Why.
        why: String,
    },
    /// Nobody knows whether machines were ended. If they are gone at the next look, it was us.
    DestroyUnknown {
        /// The slots concerned.
        slots: Vec<SlotId>,
        /// The cloud's code, or what happened instead of an answer.
        code: String,
    },
    /// Machines were seen to be gone; their slots are free.
    Vacated {
        /// Which.
        gone: Vec<Vacated>,
    },
    /// Machines were first seen to be failed: there, paid for, and of no use.
    Failed {
        /// Which.
        failed: Vec<FailedMachine>,
    },
    /// The account behind a cloud, noted before the first launch there.
    AccountSeen {
        /// Which cloud, and which of its accounts by the spec's name.
        key: AccountKey,
        /// The cloud's own name for it.
        account: String,
    },
    /// From here on, machines that are launched on a cloud carry these labels.
    LabelsMeant {
        /// Which cloud.
        cloud: Cloud,
        /// Every label and tag of the user's own.
        labels: Labels,
    },
    /// Machines are launched on a cloud from a template that was not used before.
    TemplateMeant {
        /// Which cloud.
        cloud: Cloud,
        /// Its fingerprint, which machines are on record with.
        template: Digest,
        /// What it sets, for people.
        fields: TemplateFields,
        /// All of it but the user data, which may hold secrets: what an undo returns to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Box<Template>>,
    },
    /// Machines carry the labels of a version, which were changed in place.
    Relabelled {
        /// Which version of their cloud's labels.
        version: u32,
        /// The slots that they fill.
        slots: Vec<SlotId>,
    },
    /// A machine that was written down as gone is there after all: its slot is its own again.
    Readopted {
        /// The machine.
        machine: NewMachine,
        /// The template it was made from.
        template: Digest,
    },
    /// Somebody on a machine says that it will be taken back. Some clouds tell the machine first, or alone.
    NoticeTold {
        /// The machine.
        machine: MachineId,
        /// When it will be taken back.
        notice: InterruptionNotice,
    },
    /// Machines said how busy they were.
    BusyTold {
        /// Which, and how busy.
        told: Vec<Busy>,
    },
    /// A person asked for machines to be replaced: each goes when its successor is up.
    ReplaceAsked {
        /// The slots that they fill.
        slots: Vec<SlotId>,
    },
    /// A person no longer wants machines to be replaced.
    ReplaceWithdrawn {
        /// The slots that they fill.
        slots: Vec<SlotId>,
    },
    /// Checks of machines pass or fail, and did not before.
    HealthSeen {
        /// Which.
        #[serde(flatten)]
        news: HealthNews,
    },
    /// A change of template came further, or a person had a say in it.
    Rollout {
        /// What happened.
        #[serde(flatten)]
        news: RolloutNews,
    },
    /// The work on machines was asked to end, because they will be taken back or replaced.
    Drained {
        /// The slots that they fill.
        slots: Vec<SlotId>,
    },
    /// A person wants nothing to be changed for a while.
    Frozen {
        /// Why.
        reason: String,
        /// Until when; `None`: until somebody thaws it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The fleet may be changed again.
    Thawed,
    /// The fleet has another name from here on. Its journal moves there, and this record with it.
    Renamed {
        /// The name before.
        from: FleetName,
        /// The name from here on.
        to: FleetName,
    },
    /// Machines that somebody else launched are of this fleet from here on. Written before their tags are:
    /// until those say so too, nothing is done to them.
    Adopted {
        /// The machines, each with its slot and its pool.
        machines: Vec<NewMachine>,
        /// The template that they count as made from.
        template: Digest,
        /// The version of their cloud's labels that they are given.
        labels: u32,
    },
    /// Machines are of this fleet no longer, and run on.
    Released {
        /// Which.
        machines: Vec<ReleasedMachine>,
    },
    /// On-demand takes the place of spot, or no longer.
    Fallback {
        /// The news.
        step: FallbackStep,
    },
    /// Machines of these pools, and of no others, are worth moving to cheaper ones from here on.
    Cheaper {
        /// Which pools.
        pools: BTreeSet<PoolId>,
    },
    /// Machines are about to be moved: their successors are launched, and they are destroyed when those
    /// are up.
    Moving {
        /// Which, and why.
        moving: Moving,
    },
    /// Prices of pools that hold machines moved. Only what the bill follows: prices that are fixed at
    /// launch are on record with it.
    Priced {
        /// Which, since when.
        prices: Vec<PriceStep>,
        /// What the spec says is bought ahead, from here on; `None`: what it said before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitments: Option<Vec<Commitment>>,
        /// What comes beside machines from here on, where that is not what was written down.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extras: Vec<ExtrasStep>,
    },
    /// A scope said no.
    Blocked {
        /// Which, and until when.
        block: Block,
    },
    /// A round of changes ended.
    RoundEnded {
        /// Machines launched.
        created: u32,
        /// Machines ended.
        destroyed: u32,
        /// Steps that were refused.
        refused: u32,
        /// Steps whose outcome is not known.
        unknown: u32,
        /// What the fleet was meant to hold, where nothing that stood beyond it is left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reached: Option<CapacityGoal>,
        /// The strategy by which pools were chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strategy: Option<Strategy>,
    },
}

/// A machine that a launch made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewMachine {
    /// The slot it fills.
    pub slot: SlotId,
    /// The cloud's name for it.
    pub machine: MachineId,
    /// When it was launched.
    pub launched_at: Timestamp,
    /// The price it was launched at.
    pub price: Option<MicroUsd>,
    /// The pool it came from, where the request left a choice and it is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
}

/// A machine that is of a fleet no longer, and runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleasedMachine {
    /// The slot it filled.
    pub slot: SlotName,
    /// Which machine.
    pub machine: MachineId,
}

/// A machine that is there and does not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedMachine {
    /// The slot it fills.
    pub slot: SlotName,
    /// Which machine.
    pub machine: MachineId,
    /// What its cloud says.
    pub cause: Cause,
}

/// How busy a machine was for a while, by its own word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Busy {
    /// The machine.
    pub machine: MachineId,
    /// Since when.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// The mean use of what the fleet is bought for, in hundredths.
    pub percent: u8,
}

/// A machine that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vacated {
    /// The slot it filled.
    pub slot: SlotName,
    /// Which machine.
    pub machine: MachineId,
    /// How it went.
    pub how: Departure,
    /// When it began to run, where its cloud tells and bills from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it ended by its cloud's own word. `None`: nobody said; it was noticed when this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// When its disk was deleted by its cloud's own word. `None`: nobody said; nothing of it was left when this was
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Timestamp>,
}

/// How a machine went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Departure {
    /// We ended it.
    Ended,
    /// It ended, and its cloud does not say by whose hand: it is listed as terminated.
    Terminated,
    /// It is gone, and nobody said why.
    Vanished,
    /// The cloud took it back.
    Interrupted,
    /// Somebody else ended it, or it shut itself down.
    EndedByOther,
    /// Its time was limited from the start and is over.
    Expired,
    /// It never came up, or failed: whoever ended it, it was no use.
    Failed,
}
