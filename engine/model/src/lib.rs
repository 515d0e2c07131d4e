//! The vocabulary of `fleet`: ids, money, offerings, machines, desired and observed state, plans
//! and the reasons for every decision.
//!
//! Nothing here does IO or decides anything. Every type is plain data that can be printed, saved
//! and compared, so that each arrow of the pipeline is a value a test can hold.

mod accelerators;
mod access;
mod approval;
mod aws_name;
mod belief;
pub mod bugs;
mod capacity;
mod catalog;
mod clock;
mod cost;
mod cron;
mod desired;
mod digest;
mod extras;
mod facts;
mod fallback;
mod figures;
mod health;
mod id;
mod inputs;
mod interruption;
mod journal;
mod limit_class;
mod machine;
mod meter;
mod money;
mod offering;
mod pattern;
mod plan;
mod pool_pattern;
mod reason;
mod rebalance;
mod recorded;
mod report;
mod resources;
mod said;
mod secret;
mod share;
mod signal;
mod spent;
mod template;
mod unusual;
mod updates;

pub use access::{Access, address, dns_name, user_name};
pub use approval::Approval;
pub use aws_name::AwsName;
pub use belief::{Beliefs, PoolBelief, SlotRun, Throttle};
pub use capacity::{Unit, Units};
pub use catalog::{Catalog, CatalogRow, InstanceKind};
pub use clock::{ScheduleEntry, time_zone};
pub use cost::{Change, Cost, CostLine, CostRange, Tier, WhenDone, sum_lines};
pub use cron::Cron;
pub use desired::{
    AcceleratorRules, AtCap, Bounds, Budget, Cap, CapacityGoal, CloudRule, Commitment, Desired,
    Fulfilment, Hedge, InstanceRules, Labels, LocalDiskRule, MaxSpotPrice, PlacementRules, Spread,
    Strategy, TimeZoneName, Together, Traffic, Weight, WeightOf,
};
pub use digest::{Digest, digest};
pub use extras::{CostKind, Extra, Extras, NoPrice, Uncounted};
pub use facts::{Billing, Bucket, CloudFacts, Rates, SETTLE_WINDOW, TokenRule};
pub use fallback::{
    Fallback, FallbackStep, FallbackWhy, FallenBack, MoveWhy, Moved, Moving, SpotRecord, Times,
    WayBack,
};
pub use figures::{Chip, Figure, Grade};
pub use health::{Health, HealthNews, Probe, ProbeAddress, Probed, Readiness, SlotHealth};
pub use id::{
    Cloud, FleetName, FleetUid, Group, InstanceType, MachineId, Market, Place, PoolId, Region,
    Scope, SlotId, SlotName, StepId, Token, UnknownName, Zone,
};
pub use inputs::{ENGINE_VERSION, HeldPool, INPUTS_FORMAT, Inputs, Limits};
pub use interruption::{Interruption, OnNotice, OnRebalance};
pub use journal::{
    Busy, Departure, Event, FailedMachine, JOURNAL_FORMAT, NewMachine, ReleasedMachine, Vacated,
};
pub use machine::{
    AccountKey, Cause, CauseKind, Gap, GapCause, InterruptionNotice, Machine, MachineState,
    NoticeKind, Observed, Orphans, Ownership,
};
pub use meter::{
    ExtrasStep, Head, Meter, OpenLife, PriceStep, PricedAt, Product, Ran, Readings, Worth,
};
pub use money::{HOURS_PER_MONTH, MicroUsd, MoneyError, thousands};
pub use offering::{Obtainability, Offering, Quota, QuotaUnit, Quote, Signals};
pub use pattern::Pattern;
pub use plan::{
    Action, Create, Destroy, Labelled, OtherPool, PLAN_FORMAT, Plan, Premises, Readopt, Relabel,
    Step, Victim,
};
pub use pool_pattern::PoolPattern;
pub use reason::{DefaultRule, Hold, InDoubt, Notice, Rejection, RolloutWait, Shortfall, Why};
pub use rebalance::{MoveCost, Rebalance, Saving, SavingVerdict};
pub use recorded::{
    Attempt, Block, BlockScope, Departed, EarlyEnds, Freeze, HeardAt, LabelsRecord, OnRecord,
    Operation, Recorded, SlotRecord, SlotState, UncountedUntil, Unsettled,
};
pub use report::{
    BudgetLine, GroupLine, Outlook, PoolChance, PoolLine, PoolReason, Report, TemplateChange,
};
pub use resources::{Accelerators, Architecture, Maker, Resources};
pub use said::{AllSaid, Said};
pub use secret::Secret;
pub use share::Share;
pub use signal::{
    Heard, Heeded, Interrupted, SIGNALS, Says, SignalRecord, SignalRecords, SignalRow, SignalSet,
    SignalSource, Word,
};
pub use spent::{ByKind, Spent};
pub use template::{Disk, Template, TemplateFields};
pub use updates::{
    HaltCause, Part, Rollout, RolloutNews, RolloutState, TemplateSet, Undone, UpdateStrategy,
    Updates, Window,
};

/// A moment in time, to the nanosecond, in UTC.
pub use jiff::Timestamp;
