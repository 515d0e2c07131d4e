//! What else there is to know.

use super::{FallbackWhy, Said, WayBack};
use crate::output::words::{Departure, Group, Provider, Strategy, Time, Unit};
use crate::sentences;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Something to know that is no change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Notice {
    /// Pools that the spec allows are not used: a policy wants an approval first.
    NeedsApproval {
        /// The policy.
        policy: String,
        /// The label that gives it.
        label: String,
        /// What the label's value must match; `null`: anything.
        value: Option<String>,
        /// What the policy's author says about it.
        message: Option<String>,
        /// How many pools.
        pools: u32,
    },
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
    /// The checks of a machine fail.
    ChecksFail {
        /// The machine's id.
        machine: String,
        /// The slot.
        slot: String,
        /// What was seen; empty: nobody checked this time.
        words: String,
    },
    /// A person undid the spec's template, and the one before it holds.
    Undone {
        /// Since when.
        since: Time,
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
    /// A part of the fleet holds much more than is wanted, and each of its machines is too large to be
    /// destroyed.
    Oversized {
        /// The part of the fleet.
        group: Group,
        /// How much more.
        surplus: f64,
        /// The unit.
        unit: Unit,
        /// The slot of the machine whose replacement by a smaller one would help.
        slot: String,
    },
    /// The spec ranks pools otherwise than it did. What stands stays; launches follow.
    StrategyChanged {
        /// How it was.
        from: Strategy,
        /// How it is.
        to: Strategy,
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
    /// The schedule's target holds, in the place of the spec's.
    Scheduled {
        /// How much.
        target: f64,
        /// The unit of capacity.
        unit: Unit,
        /// Since when.
        since: Time,
        /// When it changes next; `null` if it does not.
        next_at: Option<Time>,
        /// To how much.
        next_target: Option<f64>,
    },
    /// A part of the burst is on demand in the place of spot.
    Fallback {
        /// How much.
        on_demand: f64,
        /// Of how much.
        burst: f64,
        /// The unit of capacity.
        unit: Unit,
        /// Since when.
        since: Time,
        /// Why.
        because: FallbackWhy,
        /// When it goes back.
        back: WayBack,
    },
    /// Spot cannot fill the burst, and on-demand takes its place if that lasts.
    SpotShort {
        /// Since when.
        since: Time,
        /// From when on it is bought on demand.
        on_demand_from: Time,
    },
    /// A person wants nothing to be changed (`fleet freeze`).
    ByHand {
        /// The person's reason.
        reason: String,
        /// Since when.
        since: Time,
        /// Until when; `null`: until `fleet thaw`.
        until: Option<Time>,
    },
    /// The fleet ends by itself within a day, or has.
    Expires {
        /// When.
        at: Time,
        /// Whether it has: its target is 0 since then.
        over: bool,
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
            Model::NeedsApproval { policy, label, value, message, pools } => {
                Notice::NeedsApproval {
                    policy: policy.clone(),
                    label: label.clone(),
                    value: value.clone(),
                    message: message.clone(),
                    pools: *pools,
                }
            }
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
            Model::ChecksFail { machine, slot, words } => Notice::ChecksFail {
                machine: machine.to_string(),
                slot: slot.to_string(),
                words: words.clone(),
            },
            Model::Undone { since } => Notice::Undone { since: Time(*since) },
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
            Model::Oversized { group, surplus, unit, slot } => Notice::Oversized {
                group: (*group).into(),
                surplus: surplus.as_f64(),
                unit: (*unit).into(),
                slot: slot.to_string(),
            },
            Model::Scheduled { target, unit, since, next } => Notice::Scheduled {
                target: target.as_f64(),
                unit: (*unit).into(),
                since: Time(*since),
                next_at: next.map(|(at, _)| Time(at)),
                next_target: next.map(|(_, target)| target.as_f64()),
            },
            Model::Fallback { on_demand, burst, unit, since, why, back } => Notice::Fallback {
                on_demand: on_demand.as_f64(),
                burst: burst.as_f64(),
                unit: (*unit).into(),
                since: Time(*since),
                because: (*why).into(),
                back: (*back).into(),
            },
            Model::SpotShort { since, on_demand_from } => {
                Notice::SpotShort { since: Time(*since), on_demand_from: Time(*on_demand_from) }
            }
            Model::ByHand { reason, since, until } => Notice::ByHand {
                reason: reason.clone(),
                since: Time(*since),
                until: until.map(Time),
            },
            Model::Expires { at, over } => Notice::Expires { at: Time(*at), over: *over },
            Model::StrategyChanged { from, to } => {
                Notice::StrategyChanged { from: (*from).into(), to: (*to).into() }
            }
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
