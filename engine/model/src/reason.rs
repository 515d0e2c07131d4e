//! Reasons, as values, from the decision to the screen.

use crate::{
    Architecture, BlockScope, Bounds, Cap, CauseKind, Cloud, Departure, FallbackWhy, FleetUid,
    Group, HaltCause, InstanceType, MachineId, Market, MicroUsd, MoveWhy, NoPrice, PoolId,
    QuotaUnit, Region, Scope, Share, SlotName, Strategy, Timestamp, Together, Token, Unit, Units,
    WayBack,
};
use serde::{Deserialize, Serialize};

/// Why a step is in the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Why {
    /// There is less capacity than wanted.
    BelowTarget {
        /// The group that is short.
        group: Group,
    },
    /// A machine was, or is about to be, taken back.
    ReplaceInterrupted {
        /// The group that is short.
        group: Group,
    },
    /// A machine stands in a pool that the spec no longer allows; its replacement comes first.
    ReplaceDisallowed {
        /// The group concerned.
        group: Group,
    },
    /// A machine was made from an older template; its replacement comes first.
    ReplaceOldTemplate {
        /// The group concerned.
        group: Group,
    },
    /// A person asked for a machine to be replaced; its successor comes first.
    ReplaceRequested {
        /// The group concerned.
        group: Group,
    },
    /// There is more capacity than wanted.
    AboveTarget {
        /// The group that has too much.
        group: Group,
    },
    /// The spec asks for less than it did.
    TargetLowered {
        /// The group that has too much.
        group: Group,
        /// What the group was meant to hold.
        from: Units,
        /// What it is meant to hold now.
        to: Units,
    },
    /// The pool is no longer allowed by the spec.
    PoolNotAllowed {
        /// What rules it out.
        because: Rejection,
    },
    /// It was made from an older template than the spec's; its replacement comes first.
    TemplateChanged,
    /// A person asked for its replacement, and its successor is up.
    Requested,
    /// Its cloud recommends to move off it, and its successor is ready.
    AtRisk,
    /// Spot is lost or cannot be had: on-demand takes its place for a while.
    InPlaceOfSpot,
    /// It is moved, and its successor comes first.
    Moved {
        /// Why.
        why: MoveWhy,
    },
    /// The fleet costs more than its budget.
    OverBudget {
        /// The limit per hour; of a month or a total, what is left of it per hour.
        limit: MicroUsd,
        /// Which limit of the budget.
        #[serde(default, skip_serializing_if = "Cap::is_hourly")]
        cap: Cap,
    },
    /// Its cloud says that it does not work.
    Failed {
        /// Why, as far as the cloud tells.
        kind: CauseKind,
    },
    /// It is shut down and still paid for.
    Stopped,
    /// It was written down as gone, came back, and its slot has another machine by now.
    CameBack,
    /// The user asked for the whole fleet to go.
    FleetDestroyed,
}

/// Why something that the spec asks for is not in the plan, although it could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Hold {
    /// More machines would be ended than one apply may end.
    DestroyLimit {
        /// How many one apply may end.
        allowed: u32,
        /// How many the spec asks to end.
        wanted: u32,
        /// How many of those are held back.
        held: u32,
        /// The number a person allowed, which is not the number wanted.
        said: Option<u32>,
        /// How many of those wanted the lowered target asks for, where they are more than one apply may
        /// destroy without a person.
        #[serde(default, skip_serializing_if = "none")]
        lowered: u32,
    },
    /// A person wants nothing to be changed, and something would be.
    ByHand {
        /// The person's reason.
        reason: String,
        /// Until when; `None`: until somebody thaws it.
        until: Option<Timestamp>,
        /// Machines that would be launched.
        launches: u32,
        /// Machines that would be destroyed.
        destroys: u32,
    },
    /// So many machines are unhealthy that it is the template or the check: none of them is replaced.
    ManyUnhealthy {
        /// How many.
        unhealthy: u32,
        /// Of how many.
        of: u32,
    },
    /// A change of template is under way and waits.
    Rollout {
        /// Machines that have the new template.
        updated: u32,
        /// Machines that do not.
        left: u32,
        /// For what.
        waits: RolloutWait,
    },
    /// Replacements are not up yet; the old machines stay.
    WaitingForReplacement {
        /// How many old machines stay.
        machines: u32,
    },
    /// Machines that a person wants replaced stay until their successors are up.
    SuccessorsNotUp {
        /// The slots of the machines that stay.
        slots: Vec<SlotName>,
        /// Successors that were launched and are not up yet.
        starting: u32,
    },
    /// More machines than the target and its surge would stand at once; the rest comes when old
    /// machines are gone.
    Surge {
        /// Capacity that has to wait.
        missing: Units,
        /// In what unit.
        unit: Unit,
        /// How much beyond the target may stand.
        surge: Units,
    },
    /// Many machines vanished and nobody said why: nothing is changed until a person has looked.
    Frozen {
        /// How many are missing.
        missing: u32,
        /// Of how many.
        of: u32,
    },
    /// There is no journal, and machines carry this fleet's name: it was lost, or another state is
    /// in charge. Nothing is changed until a person has looked.
    JournalLost {
        /// How many machines carry the name.
        machines: u32,
    },
    /// A slot was tried as often as it may be in an hour; its group launches nothing for a while.
    AttemptLimit {
        /// Which slot.
        slot: SlotName,
        /// How often.
        tries: u32,
        /// Until when.
        until: Timestamp,
    },
    /// Machines of a group ended right after their launch, in a row; it launches nothing for a while.
    BootFailures {
        /// Which group.
        group: Group,
        /// How many.
        failures: u32,
        /// Until when.
        until: Timestamp,
    },
    /// The target does not fit into the budget, and the spec says to wait then.
    Budget {
        /// The limit per hour; of a month or a total, what is left of it per hour.
        limit: MicroUsd,
        /// Which limit of the budget.
        #[serde(default, skip_serializing_if = "Cap::is_hourly")]
        cap: Cap,
        /// What the target would cost.
        needed: MicroUsd,
    },
    /// Launched moments ago, and their clouds do not show them yet: what is not seen is not ended.
    NotSeenYet {
        /// How many machines.
        machines: u32,
    },
    /// The scope did not answer, so its machines are left as they are.
    Gap {
        /// Which scope.
        scope: Scope,
        /// How many machines of ours are recorded there.
        machines: u32,
    },
}

/// What a change of template waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "for")]
pub enum RolloutWait {
    /// New machines are not ready yet.
    Ready {
        /// Which wave, from 1; the canary is the first.
        wave: u32,
        /// New machines that are launching.
        launching: u32,
        /// New machines whose checks fail.
        failing: u32,
    },
    /// The last wave must stay ready for a while.
    Pause {
        /// Until when.
        until: Timestamp,
    },
    /// No wave may begin now.
    Window {
        /// When one may; `None`: not in sight.
        opens: Option<Timestamp>,
    },
    /// A person stopped it.
    Person,
    /// New machines failed, and it stopped by itself.
    Halt {
        /// Why.
        why: HaltCause,
    },
}

fn none(count: &u32) -> bool {
    *count == 0
}

/// Capacity that could not be placed, and the first reason that stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shortfall {
    /// The group that is short.
    pub group: Group,
    /// By how much.
    pub missing: Units,
    /// In what unit.
    pub unit: Unit,
    /// What stands in the way, most pools first: the reason and how many pools it rules out.
    pub because: Vec<(Rejection, u32)>,
}

/// A request whose outcome is not known. Its slots are frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InDoubt {
    /// Which request.
    pub token: Token,
    /// Where it was sent.
    pub pool: PoolId,
    /// Which slots wait for it.
    pub slots: Vec<SlotName>,
    /// Since when.
    pub since: Timestamp,
}

/// What a spec that does not say otherwise leaves out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "rule")]
pub enum DefaultRule {
    /// Types that run at a fraction of their speed when their credits are spent.
    Burstable,
    /// Machines of less than two vCPUs.
    Small,
    /// Machines with accelerators, for a fleet that asks for none.
    Accelerated,
    /// A slice that spans several hosts is no machine.
    SeveralHosts,
    /// Regions for some customers only: sovereign clouds, edge sites, previews.
    RestrictedRegion,
    /// The other instruction set: one image runs on one.
    Architecture {
        /// The fleet's.
        fleet: Architecture,
    },
    /// Another accelerator than the rest of the fleet has.
    Accelerator {
        /// The fleet's.
        fleet: String,
    },
}

/// Why a pool is not used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Rejection {
    /// The spec does not name this cloud.
    CloudNotAllowed {
        /// The cloud.
        cloud: Cloud,
    },
    /// The spec does not name this region.
    RegionNotAllowed,
    /// The spec does not name this zone.
    ZoneNotAllowed,
    /// An account must opt into this zone, and the spec does not name it.
    NeedsOptIn,
    /// Left out unless the spec names it. Machines that stand there already may stay.
    NotByDefault {
        /// By which rule.
        #[serde(flatten)]
        rule: DefaultRule,
    },
    /// The fleet stands together elsewhere.
    Apart {
        /// What its machines share.
        together: Together,
        /// Where that is.
        place: String,
    },
    /// A policy wants somebody's approval first. Machines that stand there already may stay.
    NeedsApproval {
        /// The policy.
        policy: String,
        /// The label that gives it.
        label: String,
        /// What the label's value must match; `None`: anything.
        value: Option<String>,
        /// What the policy's author wants to be said.
        message: Option<String>,
    },
    /// Neither a family nor a type of the spec matches.
    FamilyNotAllowed,
    /// The spec excludes it.
    Excluded {
        /// By which pattern.
        pattern: String,
    },
    /// A requirement does not hold.
    OutOfBounds {
        /// Which requirement, as the spec names it.
        requirement: String,
        /// What the type has; `None`: unknown.
        has: Option<u64>,
        /// What is asked.
        wants: Bounds,
    },
    /// The architecture is not allowed.
    ArchitectureNotAllowed,
    /// It has no accelerator that the spec names.
    AcceleratorNotAllowed {
        /// What it has.
        has: Option<String>,
    },
    /// A local disk is required and missing, or excluded and there.
    LocalDisk,
    /// It has nothing of the unit in which the fleet counts, or it is not known how much.
    NoWeight {
        /// The unit.
        unit: Unit,
    },
    /// It is not sold in this market.
    NotSold {
        /// The market.
        market: Market,
    },
    /// Its price is not known, so no budget can be kept with it.
    Unpriced,
    /// What its traffic costs is not known, so no budget can be kept with it.
    UnpricedTraffic {
        /// Why not.
        because: NoPrice,
    },
    /// Spot costs more than the spec allows.
    AboveMaxSpotPrice {
        /// The limit per hour.
        limit: MicroUsd,
    },
    /// Spot costs as much as on-demand or more.
    SpotNotCheaper,
    /// It said no, and is not asked again before a time.
    Blocked {
        /// How wide the no reaches.
        scope: BlockScope,
        /// Until when.
        until: Timestamp,
        /// The cloud's code.
        code: String,
    },
    /// The scope did not answer.
    InGap {
        /// Which scope.
        scope: Scope,
    },
    /// It refused or interrupted machines lately, so it is tried with a few before it is asked for more.
    TriedFirst {
        /// The most machines that it may carry for now.
        most: u32,
    },
    /// Its cloud is taking back a machine of it right now.
    GaveNotice,
    /// A share limit is reached.
    ShareReached {
        /// Of what: pool, zone, region or provider.
        of: String,
        /// The limit.
        limit: Share,
    },
    /// One machine is larger than a share limit allows.
    LargerThanShare {
        /// Of what: pool, zone, region or provider.
        of: String,
        /// The limit.
        limit: Share,
        /// What one machine counts for.
        weight: Units,
    },
    /// The account's quota is used up.
    QuotaReached {
        /// In which region.
        region: Region,
        /// What the cloud calls it.
        name: String,
        /// How much is allowed.
        limit: u64,
        /// Of what.
        unit: QuotaUnit,
    },
    /// The cloud says that this account cannot launch it as the template asks.
    CannotLaunch {
        /// Why, in its words.
        why: String,
    },
    /// On demand in place of spot, and nothing bought ahead of time covers it any more.
    NotCommitted,
    /// The budget is used up.
    BudgetReached {
        /// The limit per hour; of a month or a total, what is left of it per hour.
        limit: MicroUsd,
        /// Which limit of the budget.
        #[serde(default, skip_serializing_if = "Cap::is_hourly")]
        cap: Cap,
    },
    /// Other pools came first and were enough.
    Outranked {
        /// The worst pool that was still chosen.
        by: PoolId,
    },
}

/// Something a person should know that is no change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Notice {
    /// Pools that the spec allows are not used, because a policy wants somebody's approval first.
    NeedsApproval {
        /// The policy.
        policy: String,
        /// The label that gives it.
        label: String,
        /// What the label's value must match; `None`: anything.
        value: Option<String>,
        /// What the policy's author wants to be said.
        message: Option<String>,
        /// How many pools.
        pools: u32,
    },
    /// Of what was bought ahead of time, some is not used.
    CommitmentUnused {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: String,
        /// The type.
        instance_type: InstanceType,
        /// How many machines are paid for.
        count: u32,
        /// How many of them will not run.
        unused: u32,
    },
    /// The cloud recommends to move off a machine: it is more likely to be interrupted than it was.
    AtRisk {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
    },
    /// A machine carries our tags, but the journal does not know it. It is left alone.
    NotRecorded {
        /// Which machine.
        machine: MachineId,
        /// Its pool.
        pool: PoolId,
    },
    /// Machines carry this fleet's name and another identity: another state is in charge of them.
    Namesakes {
        /// How many machines.
        machines: u32,
        /// The identity that they carry.
        uid: FleetUid,
    },
    /// A machine is there and does not work, and why.
    Failed {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
        /// The cloud's words, escaped.
        words: String,
    },
    /// The checks of a machine fail.
    ChecksFail {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
        /// What was seen, escaped; empty: nobody checked this time.
        words: String,
    },
    /// A person undid the spec's template, and the one before it holds.
    Undone {
        /// Since when.
        since: Timestamp,
    },
    /// A machine is shut down and still paid for.
    Stopped {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
        /// The cloud's words, escaped.
        words: String,
    },
    /// A machine that was written down as gone is there after all.
    CameBack {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
    },
    /// The journal knows a machine that no longer carries our tags. It is left alone.
    TagsLost {
        /// Which machine.
        machine: MachineId,
        /// The slot it fills.
        slot: SlotName,
    },
    /// A machine was taken back or is gone.
    Gone {
        /// Which machine.
        machine: MachineId,
        /// The slot it filled.
        slot: SlotName,
        /// How it went.
        how: Departure,
        /// The cloud's words, escaped; empty where it does not tell.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// A machine is gone, and disks or interfaces of it are still there. Its record stays until they
    /// are cleared away.
    LeftBehind {
        /// Which machine.
        machine: MachineId,
        /// Where.
        scope: Scope,
    },
    /// The spec ranks pools otherwise than it did. What stands stays; launches follow.
    StrategyChanged {
        /// How it was.
        from: Strategy,
        /// How it is.
        to: Strategy,
    },
    /// The schedule's target holds, in the place of the spec's.
    Scheduled {
        /// How much.
        target: Units,
        /// In what unit.
        unit: Unit,
        /// Since when.
        since: Timestamp,
        /// When it changes next, and to how much.
        next: Option<(Timestamp, Units)>,
    },
    /// A part of the burst is on demand in the place of spot.
    Fallback {
        /// How much.
        on_demand: Units,
        /// Of how much.
        burst: Units,
        /// In what unit.
        unit: Unit,
        /// Since when.
        since: Timestamp,
        /// Why.
        why: FallbackWhy,
        /// When it goes back.
        back: WayBack,
    },
    /// Spot cannot fill the burst, and on-demand takes its place if that lasts.
    SpotShort {
        /// Since when.
        since: Timestamp,
        /// From when on it is bought on demand.
        on_demand_from: Timestamp,
    },
    /// A person wants nothing to be changed.
    ByHand {
        /// The person's reason.
        reason: String,
        /// Since when.
        since: Timestamp,
        /// Until when; `None`: until somebody thaws it.
        until: Option<Timestamp>,
    },
    /// The fleet ends by itself within a day, or has.
    Expires {
        /// When.
        at: Timestamp,
        /// Whether it has.
        over: bool,
    },
    /// A group holds much more than is wanted, and each of its machines is too large to be destroyed.
    Oversized {
        /// Which group.
        group: Group,
        /// How much more.
        surplus: Units,
        /// In what unit.
        unit: Unit,
        /// The slot of the machine whose replacement by a smaller one would help.
        slot: SlotName,
    },
    /// Machines run an older template than the spec's.
    OldTemplate {
        /// How many.
        machines: u32,
    },
    /// Machines carry labels of an earlier spec, and their cloud cannot change them.
    OldLabels {
        /// Which cloud.
        cloud: Cloud,
        /// How many.
        machines: u32,
    },
    /// The cheapest spread does not reach the zones asked for.
    FewerZones {
        /// Reached.
        zones: u32,
        /// Asked for.
        wanted: u32,
    },
    /// A cloud made a machine that nobody asked for. It is left alone.
    Surplus {
        /// Which machine.
        machine: MachineId,
    },
    /// Machines of a type that the catalog does not know. They stay, and count for nothing.
    UnknownType {
        /// Their pool.
        pool: PoolId,
        /// How many.
        machines: u32,
    },
    /// The cloud did not say anew what pools of this plan cost: its last word is used.
    OldPrices {
        /// Which cloud.
        cloud: Cloud,
        /// How old the oldest price is.
        seconds: u64,
    },
    /// Machines without a known price; cost figures leave them out.
    UnpricedMachines {
        /// How many.
        machines: u32,
    },
}
