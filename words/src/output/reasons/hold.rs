//! Why something is held back.

use super::Said;
use crate::output::words::{BudgetCap, Group, Provider, Time, Unit, usd};
use crate::sentences;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Why something that the spec asks for is held back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Hold {
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
        /// How many of those wanted the lowered target asks for, where they are more than one apply may
        /// destroy without a person.
        lowered: u32,
    },
    /// A person wants nothing to be changed (`fleet freeze`), and something would be.
    ByHand {
        /// The person's reason.
        reason: String,
        /// Until when; `null`: until `fleet thaw`.
        until: Option<Time>,
        /// Machines that would be launched.
        launches: u32,
        /// Machines that would be destroyed.
        destroys: u32,
    },
    /// More than one machine in five is unhealthy: none of them is replaced.
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
        /// For what: `ready`, `pause`, `window`, `person` or `halt`.
        waits_for: RolloutWait,
        /// Until when, for `pause`; when the next one opens, for `window`; otherwise `null`.
        until: Option<Time>,
        /// New machines that failed, for `halt`; otherwise 0.
        failed: u32,
    },
    /// Replacements are not up yet; the old machines stay.
    WaitingForReplacement {
        /// How many machines.
        machines: u32,
    },
    /// Successors of machines that a person wants replaced are not up yet; the old machines stay.
    SuccessorsNotUp {
        /// The slots of the machines that stay.
        slots: Vec<String>,
        /// Successors that were launched and are not up yet.
        starting: u32,
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
        /// The limit per hour; of a month or a lifetime, what is left of it per hour.
        limit_hourly_usd: f64,
        /// Which limit of the budget.
        limit: BudgetCap,
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

/// What a change of template waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RolloutWait {
    /// New machines are not ready yet.
    Ready,
    /// The last wave must stay ready for a while.
    Pause,
    /// No wave may begin now.
    Window,
    /// A person stopped it.
    Person,
    /// New machines failed, and it stopped by itself.
    Halt,
}

fn rollout(updated: u32, left: u32, waits: &model::RolloutWait) -> Hold {
    use model::RolloutWait as Waits;
    let (waits_for, until, failed) = match waits {
        Waits::Ready { .. } => (RolloutWait::Ready, None, 0),
        Waits::Pause { until } => (RolloutWait::Pause, Some(*until), 0),
        Waits::Window { opens } => (RolloutWait::Window, *opens, 0),
        Waits::Person => (RolloutWait::Person, None, 0),
        Waits::Halt { why } => (RolloutWait::Halt, None, why.failed),
    };
    Hold::Rollout { updated, left, waits_for, until: until.map(Time), failed }
}

impl From<&model::Hold> for Said<Hold> {
    fn from(hold: &model::Hold) -> Self {
        use model::Hold as Model;
        let reason = match hold {
            Model::DestroyLimit { allowed, wanted, held, said, lowered } => Hold::DestroyLimit {
                allowed: *allowed,
                wanted: *wanted,
                held: *held,
                said: *said,
                lowered: *lowered,
            },
            Model::ManyUnhealthy { unhealthy, of } => {
                Hold::ManyUnhealthy { unhealthy: *unhealthy, of: *of }
            }
            Model::Rollout { updated, left, waits } => rollout(*updated, *left, waits),
            Model::WaitingForReplacement { machines } => {
                Hold::WaitingForReplacement { machines: *machines }
            }
            Model::SuccessorsNotUp { slots, starting } => Hold::SuccessorsNotUp {
                slots: slots.iter().map(ToString::to_string).collect(),
                starting: *starting,
            },
            Model::Surge { missing, unit, surge } => Hold::Surge {
                missing: missing.as_f64(),
                unit: (*unit).into(),
                surge: surge.as_f64(),
            },
            Model::Frozen { missing, of } => Hold::Frozen { missing: *missing, of: *of },
            Model::ByHand { reason, until, launches, destroys } => Hold::ByHand {
                reason: reason.clone(),
                until: until.map(Time),
                launches: *launches,
                destroys: *destroys,
            },
            Model::JournalLost { machines } => Hold::JournalLost { machines: *machines },
            Model::AttemptLimit { slot, tries, until } => {
                Hold::AttemptLimit { slot: slot.to_string(), tries: *tries, until: Time(*until) }
            }
            Model::BootFailures { group, failures, until } => Hold::BootFailures {
                group: (*group).into(),
                failures: *failures,
                until: Time(*until),
            },
            Model::Budget { limit, needed, cap } => {
                let (limit_hourly_usd, needed_hourly_usd) = (usd(*limit), usd(*needed));
                Hold::Budget { limit_hourly_usd, needed_hourly_usd, limit: (*cap).into() }
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
