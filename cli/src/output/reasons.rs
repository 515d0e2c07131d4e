//! Reasons: `is` names one for programs, `why` is the sentence that people read, `next` says what would
//! change it.

use super::words::{
    Architecture, CauseKind, Departure, Group, Market, Operation, Provider, QuotaUnit, Strategy,
    Time, Together, Unit, percent, usd,
};
use crate::sentences;
use crate::text::clean_line;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// A reason with its sentence.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Said{R}")]
pub(crate) struct Said<R> {
    #[serde(flatten)]
    pub reason: R,
    /// The reason as a sentence, for people.
    pub why: String,
    /// What would change it; `null` if nothing is to be done.
    pub next: Option<String>,
}

/// What rules pools out, and how many.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counted {
    /// How many pools it rules out.
    pub pools: u32,
    #[serde(flatten)]
    pub reason: Rejection,
    /// The reason as a sentence, for people.
    pub why: String,
    /// What would change it; `null` if nothing is to be done.
    pub next: Option<String>,
}

/// Rejections, each with the number of pools.
pub(crate) fn counted(rejections: &[(model::Rejection, u32)]) -> Vec<Counted> {
    let one = |(rejection, pools): &(model::Rejection, u32)| {
        let Said { reason, why, next } = Said::from(rejection);
        Counted { pools: *pools, reason, why, next }
    };
    rejections.iter().map(one).collect()
}

/// Why a step is in the plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Why {
    /// There is less capacity than wanted.
    BelowTarget {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine was interrupted, or is about to be.
    ReplaceInterrupted {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine stands in a pool that the spec no longer allows.
    ReplaceDisallowed {
        /// The part of the fleet.
        group: Group,
    },
    /// A machine was made from an older template.
    ReplaceOldTemplate {
        /// The part of the fleet.
        group: Group,
    },
    /// There is more capacity than wanted.
    AboveTarget {
        /// The part of the fleet.
        group: Group,
    },
    /// The spec no longer allows the pool.
    PoolNotAllowed {
        /// What rules it out.
        because: Box<Said<Rejection>>,
    },
    /// It was made from an older template; its replacement is there.
    TemplateChanged,
    /// The fleet costs more than its budget.
    OverBudget {
        /// The limit per hour.
        limit_hourly_usd: f64,
    },
    /// The cloud says that the machine does not work.
    Failed {
        /// Why, as far as the cloud says.
        cause: CauseKind,
    },
    /// The machine is shut down and still paid for.
    Stopped,
    /// The machine was recorded as gone, came back, and its slot has another one by now.
    CameBack,
    /// The whole fleet is to be destroyed.
    FleetDestroyed,
}

impl From<&model::Why> for Said<Why> {
    fn from(why: &model::Why) -> Self {
        use model::Why as Model;
        let reason = match why {
            Model::BelowTarget { group } => Why::BelowTarget { group: (*group).into() },
            Model::ReplaceInterrupted { group } => {
                Why::ReplaceInterrupted { group: (*group).into() }
            }
            Model::ReplaceDisallowed { group } => Why::ReplaceDisallowed { group: (*group).into() },
            Model::ReplaceOldTemplate { group } => {
                Why::ReplaceOldTemplate { group: (*group).into() }
            }
            Model::AboveTarget { group } => Why::AboveTarget { group: (*group).into() },
            Model::PoolNotAllowed { because } => {
                Why::PoolNotAllowed { because: Box::new(Said::from(because)) }
            }
            Model::OverBudget { limit } => Why::OverBudget { limit_hourly_usd: usd(*limit) },
            Model::TemplateChanged => Why::TemplateChanged,
            Model::Failed { kind } => Why::Failed { cause: (*kind).into() },
            Model::Stopped => Why::Stopped,
            Model::CameBack => Why::CameBack,
            Model::FleetDestroyed => Why::FleetDestroyed,
        };
        Said { reason, why: sentences::why(why), next: None }
    }
}

/// Why something that the spec asks for is held back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Hold {
    /// More machines would be destroyed than one apply may destroy.
    DestroyLimit {
        /// How many one apply may destroy.
        allowed: u32,
        /// How many the spec asks to destroy.
        wanted: u32,
        /// How many of those are held back.
        held: u32,
        /// The number of `--allow-destroy`, which is not the number wanted.
        said: Option<u32>,
    },
    /// Replacements are not up yet; the old machines stay.
    WaitingForReplacement {
        /// How many machines.
        machines: u32,
    },
    /// More than the target and its surge would stand at once.
    Surge {
        /// Capacity that waits.
        missing: f64,
        /// The unit.
        unit: Unit,
        /// How much may stand beyond the target.
        surge: f64,
    },
    /// Many machines vanished: nothing is changed until a person has looked.
    Frozen {
        /// How many vanished.
        missing: u32,
        /// Of how many.
        of: u32,
    },
    /// There is no journal, and machines carry this fleet's name.
    JournalLost {
        /// How many machines.
        machines: u32,
    },
    /// A slot was tried as often as it may be in an hour.
    AttemptLimit {
        /// The slot.
        slot: String,
        /// How often it was tried.
        tries: u32,
        /// Until when.
        until: Time,
    },
    /// Machines ended right after their launch, several in a row.
    BootFailures {
        /// The part of the fleet.
        group: Group,
        /// How many.
        failures: u32,
        /// Until when.
        until: Time,
    },
    /// The target does not fit into the budget, and the spec says to wait then.
    Budget {
        /// The limit per hour.
        limit_hourly_usd: f64,
        /// What the target would cost per hour.
        needed_hourly_usd: f64,
    },
    /// Launched moments ago, and not listed yet.
    NotSeenYet {
        /// How many machines.
        machines: u32,
    },
    /// A region did not answer, so its machines are left as they are.
    Gap {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// How many machines.
        machines: u32,
    },
}

impl From<&model::Hold> for Said<Hold> {
    fn from(hold: &model::Hold) -> Self {
        use model::Hold as Model;
        let reason = match hold {
            Model::DestroyLimit { allowed, wanted, held, said } => {
                Hold::DestroyLimit { allowed: *allowed, wanted: *wanted, held: *held, said: *said }
            }
            Model::WaitingForReplacement { machines } => {
                Hold::WaitingForReplacement { machines: *machines }
            }
            Model::Surge { missing, unit, surge } => Hold::Surge {
                missing: missing.as_f64(),
                unit: (*unit).into(),
                surge: surge.as_f64(),
            },
            Model::Frozen { missing, of } => Hold::Frozen { missing: *missing, of: *of },
            Model::JournalLost { machines } => Hold::JournalLost { machines: *machines },
            Model::AttemptLimit { slot, tries, until } => {
                Hold::AttemptLimit { slot: slot.to_string(), tries: *tries, until: Time(*until) }
            }
            Model::BootFailures { group, failures, until } => Hold::BootFailures {
                group: (*group).into(),
                failures: *failures,
                until: Time(*until),
            },
            Model::Budget { limit, needed } => {
                Hold::Budget { limit_hourly_usd: usd(*limit), needed_hourly_usd: usd(*needed) }
            }
            Model::NotSeenYet { machines } => Hold::NotSeenYet { machines: *machines },
            Model::Gap { scope, machines } => Hold::Gap {
                provider: scope.cloud.into(),
                region: scope.region.to_string(),
                machines: *machines,
            },
        };
        let said = sentences::hold(hold);
        Said { reason, why: said.what, next: said.next }
    }
}

/// Why a pool is not used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Rejection {
    /// The spec does not name the cloud.
    CloudNotAllowed {
        /// The cloud.
        provider: Provider,
    },
    /// The spec does not name the region.
    RegionNotAllowed,
    /// The spec does not name the zone.
    ZoneNotAllowed,
    /// The account has to opt into the zone, and the spec does not name it.
    NeedsOptIn,
    /// Left out unless the spec names it. Machines that stand there may stay.
    NotByDefault {
        /// By which rule.
        default: DefaultRule,
    },
    /// The fleet stands together elsewhere.
    Apart {
        /// What its machines share.
        together: Together,
        /// Where that is.
        place: String,
    },
    /// No family and no type of the spec matches.
    FamilyNotAllowed,
    /// The spec excludes it.
    Excluded {
        /// The pattern of the spec.
        pattern: String,
    },
    /// A requirement does not hold.
    OutOfBounds {
        /// The requirement, as the spec names it.
        requirement: String,
        /// What the type has; `null`: unknown.
        has: Option<f64>,
        /// The least that is asked for.
        min: Option<f64>,
        /// The most that is asked for.
        max: Option<f64>,
    },
    /// The spec does not allow the instruction set.
    ArchitectureNotAllowed,
    /// It has no accelerator that the spec names.
    AcceleratorNotAllowed {
        /// What it has.
        has: Option<String>,
    },
    /// A local disk is required and missing, or excluded and there.
    LocalDisk,
    /// It has nothing of the fleet's unit, or it is not known how much.
    NoWeight {
        /// The unit.
        unit: Unit,
    },
    /// It is not sold in this market.
    NotSold {
        /// The market.
        market: Market,
    },
    /// Its price is not known.
    Unpriced,
    /// Spot costs more than the spec allows.
    AboveMaxSpotPrice {
        /// The limit per hour.
        limit_hourly_usd: f64,
    },
    /// Spot costs as much as on-demand, or more.
    SpotNotCheaper,
    /// It refused a launch, and is not retried before a time.
    Blocked {
        /// How wide the refusal reaches.
        scope: BlockScope,
        /// Until when.
        until: Time,
        /// The cloud's code.
        code: String,
    },
    /// Its region did not answer.
    InGap {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
    },
    /// A share limit is reached.
    ShareReached {
        /// Of what: `pool`, `zone`, `region` or `provider`.
        of: String,
        /// The limit.
        limit_percent: f64,
    },
    /// One machine is larger than a share limit allows.
    LargerThanShare {
        /// Of what: `pool`, `zone`, `region` or `provider`.
        of: String,
        /// The limit.
        limit_percent: f64,
        /// What one machine counts for.
        weight: f64,
    },
    /// The account's quota is used up.
    QuotaReached {
        /// The region.
        region: String,
        /// What the cloud calls the quota.
        name: String,
        /// How much is allowed.
        limit: u64,
        /// The unit.
        unit: QuotaUnit,
    },
    /// This account cannot launch it as the template asks.
    CannotLaunch {
        /// The cloud's words.
        words: String,
    },
    /// On-demand in place of spot, and no commitment covers it any more.
    NotCommitted,
    /// The budget is used up.
    BudgetReached {
        /// The limit per hour.
        limit_hourly_usd: f64,
    },
    /// Other pools came first and were enough.
    Outranked {
        /// The last pool that was still chosen.
        by: String,
    },
}

impl From<&model::Rejection> for Said<Rejection> {
    fn from(rejection: &model::Rejection) -> Self {
        Said {
            reason: Rejection::from(rejection),
            why: sentences::rejection(rejection),
            next: sentences::relax(rejection),
        }
    }
}

impl From<&model::Rejection> for Rejection {
    fn from(rejection: &model::Rejection) -> Self {
        use model::Rejection as Model;
        match rejection {
            Model::CloudNotAllowed { cloud } => {
                Rejection::CloudNotAllowed { provider: (*cloud).into() }
            }
            Model::RegionNotAllowed => Rejection::RegionNotAllowed,
            Model::ZoneNotAllowed => Rejection::ZoneNotAllowed,
            Model::NeedsOptIn => Rejection::NeedsOptIn,
            Model::NotByDefault { rule } => Rejection::NotByDefault { default: rule.into() },
            Model::Apart { together, place } => {
                Rejection::Apart { together: (*together).into(), place: place.clone() }
            }
            Model::FamilyNotAllowed => Rejection::FamilyNotAllowed,
            Model::Excluded { pattern } => Rejection::Excluded { pattern: pattern.clone() },
            Model::OutOfBounds { requirement, has, wants } => {
                let divisor = sentences::divisor(requirement);
                let show = |value: Option<u64>| value.map(|value| value as f64 / divisor);
                Rejection::OutOfBounds {
                    requirement: requirement.clone(),
                    has: show(*has),
                    min: show(wants.min),
                    max: show(wants.max),
                }
            }
            Model::ArchitectureNotAllowed => Rejection::ArchitectureNotAllowed,
            Model::AcceleratorNotAllowed { has } => {
                Rejection::AcceleratorNotAllowed { has: has.clone() }
            }
            Model::LocalDisk => Rejection::LocalDisk,
            Model::NoWeight { unit } => Rejection::NoWeight { unit: (*unit).into() },
            Model::NotSold { market } => Rejection::NotSold { market: (*market).into() },
            Model::Unpriced => Rejection::Unpriced,
            Model::AboveMaxSpotPrice { limit } => {
                Rejection::AboveMaxSpotPrice { limit_hourly_usd: usd(*limit) }
            }
            Model::SpotNotCheaper => Rejection::SpotNotCheaper,
            Model::Blocked { scope, until, code } => Rejection::Blocked {
                scope: scope.into(),
                until: Time(*until),
                code: clean_line(code),
            },
            Model::InGap { scope } => {
                Rejection::InGap { provider: scope.cloud.into(), region: scope.region.to_string() }
            }
            Model::ShareReached { of, limit } => {
                Rejection::ShareReached { of: of.clone(), limit_percent: percent(*limit) }
            }
            Model::LargerThanShare { of, limit, weight } => Rejection::LargerThanShare {
                of: of.clone(),
                limit_percent: percent(*limit),
                weight: weight.as_f64(),
            },
            Model::QuotaReached { region, name, limit, unit } => Rejection::QuotaReached {
                region: region.to_string(),
                name: name.clone(),
                limit: *limit,
                unit: (*unit).into(),
            },
            Model::CannotLaunch { why } => Rejection::CannotLaunch { words: clean_line(why) },
            Model::NotCommitted => Rejection::NotCommitted,
            Model::BudgetReached { limit } => {
                Rejection::BudgetReached { limit_hourly_usd: usd(*limit) }
            }
            Model::Outranked { by } => Rejection::Outranked { by: by.to_string() },
        }
    }
}

/// What a spec that does not say otherwise leaves out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum DefaultRule {
    /// Types that run at a fraction of their speed when their credits are spent.
    Burstable,
    /// Machines of less than two vCPUs.
    Small,
    /// Machines with accelerators, for a fleet that asks for none.
    Accelerated,
    /// Slices that span several hosts.
    SeveralHosts,
    /// Regions for some customers only.
    RestrictedRegion,
    /// The other instruction set.
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

impl From<&model::DefaultRule> for DefaultRule {
    fn from(rule: &model::DefaultRule) -> Self {
        use model::DefaultRule as Model;
        match rule {
            Model::Burstable => DefaultRule::Burstable,
            Model::Small => DefaultRule::Small,
            Model::Accelerated => DefaultRule::Accelerated,
            Model::SeveralHosts => DefaultRule::SeveralHosts,
            Model::RestrictedRegion => DefaultRule::RestrictedRegion,
            Model::Architecture { fleet } => DefaultRule::Architecture { fleet: (*fleet).into() },
            Model::Accelerator { fleet } => DefaultRule::Accelerator { fleet: fleet.clone() },
        }
    }
}

/// How wide a refusal reaches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum BlockScope {
    /// One pool has no capacity.
    Pool {
        /// The pool, as `provider/region/zone/type/market`.
        pool: String,
    },
    /// A quota of a region and market is used up.
    Quota {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The market.
        market: Market,
    },
    /// A limit that several types share is used up, in a region and market.
    Class {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The market.
        market: Market,
        /// The types.
        class: String,
    },
    /// Everything in a zone.
    Zone {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The zone.
        zone: String,
    },
    /// Everything in a region.
    Region {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
    },
    /// Everything of an account, or one market or class of types.
    Account {
        /// The cloud.
        provider: Provider,
        /// The account that the spec names; `null`: the one of the credentials.
        account: Option<String>,
        /// Only this market; `null`: all.
        market: Option<Market>,
        /// Only these types; `null`: all.
        class: Option<String>,
    },
    /// The whole cloud.
    Cloud {
        /// The cloud.
        provider: Provider,
    },
    /// One kind of request failed in a region several times in a row.
    Breaker {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The kind of request.
        operation: Operation,
    },
}

impl From<&model::BlockScope> for BlockScope {
    fn from(scope: &model::BlockScope) -> Self {
        use model::BlockScope as Model;
        match scope {
            Model::Pool { pool } => BlockScope::Pool { pool: pool.to_string() },
            Model::Quota { cloud, region, market } => BlockScope::Quota {
                provider: (*cloud).into(),
                region: region.to_string(),
                market: (*market).into(),
            },
            Model::Class { cloud, region, market, class } => BlockScope::Class {
                provider: (*cloud).into(),
                region: region.to_string(),
                market: (*market).into(),
                class: class.clone(),
            },
            Model::Zone { place } => BlockScope::Zone {
                provider: place.cloud.into(),
                region: place.region.to_string(),
                zone: place.zone.to_string(),
            },
            Model::Region { cloud, region } => {
                BlockScope::Region { provider: (*cloud).into(), region: region.to_string() }
            }
            Model::Account { cloud, account, market, class } => BlockScope::Account {
                provider: (*cloud).into(),
                account: account.clone(),
                market: market.map(Into::into),
                class: class.clone(),
            },
            Model::Cloud { cloud } => BlockScope::Cloud { provider: (*cloud).into() },
            Model::Breaker { cloud, region, operation } => BlockScope::Breaker {
                provider: (*cloud).into(),
                region: region.to_string(),
                operation: (*operation).into(),
            },
        }
    }
}

/// Why machines are launched in this pool and not in another.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum PoolReason {
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
        because: Box<Said<Rejection>>,
    },
    /// Pools that come before it would carry too much together.
    OthersCrowded,
    /// It brings a zone that the spec asks for.
    AnotherZone,
    /// The strategy takes evenly from everywhere.
    Even,
    /// Its machines come to the least cost together with the others.
    Size,
    /// Its price for its risk, beside pools that fail at other times.
    Hedge,
    /// On-demand, because spot is too likely to be missing.
    InPlaceOfSpot,
}

impl From<&model::PoolReason> for Said<PoolReason> {
    fn from(reason: &model::PoolReason) -> Self {
        use model::PoolReason as Model;
        let why = sentences::pool_reason(reason);
        let reason = match reason {
            Model::PaidFor => PoolReason::PaidFor,
            Model::Best { strategy } => PoolReason::Best { strategy: (*strategy).into() },
            Model::OthersFull { because } => {
                PoolReason::OthersFull { because: Box::new(Said::from(because)) }
            }
            Model::OthersCrowded => PoolReason::OthersCrowded,
            Model::AnotherZone => PoolReason::AnotherZone,
            Model::Even => PoolReason::Even,
            Model::Size => PoolReason::Size,
            Model::Hedge => PoolReason::Hedge,
            Model::InPlaceOfSpot => PoolReason::InPlaceOfSpot,
        };
        Said { reason, why, next: None }
    }
}

/// Something to know that is no change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Notice {
    /// A part of a commitment is not used.
    CommitmentUnused {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The instance type.
        r#type: String,
        /// How many machines are paid for.
        count: u32,
        /// How many of them will not run.
        unused: u32,
    },
    /// The cloud recommends to move off a machine.
    AtRisk {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
    },
    /// A machine carries our tags, and the journal does not know it. It is left alone.
    NotRecorded {
        /// The machine's id.
        machine: String,
        /// The pool, as `provider/region/zone/type/market`.
        pool: String,
    },
    /// Machines carry this fleet's name and another identity.
    Namesakes {
        /// How many machines.
        machines: u32,
        /// The identity that they carry.
        uid: String,
    },
    /// A machine does not work.
    Failed {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
        /// The cloud's words.
        words: String,
    },
    /// A machine is shut down and still paid for.
    Stopped {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
        /// The cloud's words.
        words: String,
    },
    /// A machine that was recorded as gone is there after all.
    CameBack {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
    },
    /// A machine of the journal no longer carries our tags. It is left alone.
    TagsLost {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
    },
    /// A machine is gone.
    Gone {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
        /// How it left.
        how: Departure,
        /// The cloud's words; empty where it has none.
        words: String,
    },
    /// A machine is gone, and disks or interfaces of it are still there.
    LeftBehind {
        /// The machine's id.
        machine: String,
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
    },
    /// Machines run an older template than the spec's.
    OldTemplate {
        /// How many machines.
        machines: u32,
    },
    /// Machines carry labels of an earlier spec, and their cloud cannot change them.
    OldLabels {
        /// The cloud.
        provider: Provider,
        /// How many machines.
        machines: u32,
    },
    /// The machines stand in fewer zones than asked for.
    FewerZones {
        /// Reached.
        zones: u32,
        /// Asked for.
        wanted: u32,
    },
    /// A cloud made a machine that nobody asked for. It is left alone.
    Surplus {
        /// The machine's id.
        machine: String,
    },
    /// The catalog does not know the type of some machines. They stay, and count for nothing.
    UnknownType {
        /// The pool, as `provider/region/zone/type/market`.
        pool: String,
        /// How many machines.
        machines: u32,
    },
    /// The cloud did not say its prices anew.
    OldPrices {
        /// The cloud.
        provider: Provider,
        /// How old the oldest price is.
        seconds: u64,
    },
    /// Machines without a known price: no amount counts them.
    UnpricedMachines {
        /// How many machines.
        machines: u32,
    },
}

impl From<&model::Notice> for Said<Notice> {
    fn from(notice: &model::Notice) -> Self {
        let said = sentences::notice(notice);
        Said { reason: Notice::from(notice), why: said.what, next: said.next }
    }
}

impl From<&model::Notice> for Notice {
    fn from(notice: &model::Notice) -> Self {
        use model::Notice as Model;
        match notice {
            Model::CommitmentUnused { cloud, region, instance_type, count, unused } => {
                Notice::CommitmentUnused {
                    provider: (*cloud).into(),
                    region: region.clone(),
                    r#type: instance_type.to_string(),
                    count: *count,
                    unused: *unused,
                }
            }
            Model::AtRisk { machine, slot } => {
                Notice::AtRisk { machine: machine.to_string(), slot: slot.to_string() }
            }
            Model::NotRecorded { machine, pool } => {
                Notice::NotRecorded { machine: machine.to_string(), pool: pool.to_string() }
            }
            Model::Namesakes { machines, uid } => {
                Notice::Namesakes { machines: *machines, uid: uid.to_string() }
            }
            Model::Failed { machine, slot, words } => Notice::Failed {
                machine: machine.to_string(),
                slot: slot.to_string(),
                words: words.clone(),
            },
            Model::Stopped { machine, slot, words } => Notice::Stopped {
                machine: machine.to_string(),
                slot: slot.to_string(),
                words: words.clone(),
            },
            Model::CameBack { machine, slot } => {
                Notice::CameBack { machine: machine.to_string(), slot: slot.to_string() }
            }
            Model::TagsLost { machine, slot } => {
                Notice::TagsLost { machine: machine.to_string(), slot: slot.to_string() }
            }
            Model::Gone { machine, slot, how, words } => Notice::Gone {
                machine: machine.to_string(),
                slot: slot.to_string(),
                how: (*how).into(),
                words: words.clone(),
            },
            Model::LeftBehind { machine, scope } => Notice::LeftBehind {
                machine: machine.to_string(),
                provider: scope.cloud.into(),
                region: scope.region.to_string(),
            },
            Model::OldTemplate { machines } => Notice::OldTemplate { machines: *machines },
            Model::OldLabels { cloud, machines } => {
                Notice::OldLabels { provider: (*cloud).into(), machines: *machines }
            }
            Model::FewerZones { zones, wanted } => {
                Notice::FewerZones { zones: *zones, wanted: *wanted }
            }
            Model::Surplus { machine } => Notice::Surplus { machine: machine.to_string() },
            Model::UnknownType { pool, machines } => {
                Notice::UnknownType { pool: pool.to_string(), machines: *machines }
            }
            Model::OldPrices { cloud, seconds } => {
                Notice::OldPrices { provider: (*cloud).into(), seconds: *seconds }
            }
            Model::UnpricedMachines { machines } => {
                Notice::UnpricedMachines { machines: *machines }
            }
        }
    }
}
