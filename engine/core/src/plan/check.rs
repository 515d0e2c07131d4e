//! A linter that every plan passes before anything is sent.

use crate::offers::{find_offering, weight};
use crate::plan::planned::Planned;
use crate::plan::steps::graph;
use fleet_model::{
    Action, Create, Group, Inputs, MachineId, MicroUsd, Orphans, PoolId, Scope, SlotId, SlotState,
    StepId, Token, Units,
};
use std::collections::BTreeSet;
use std::fmt;

/// A rule that a plan breaks. Never expected: it is a bug in the engine, and stops the apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant says it in its message")]
pub enum Violation {
    Cycle,
    UnknownPredecessor { step: StepId },
    SlotTwice { slot: SlotId },
    SlotOccupied { slot: SlotId },
    TokenTwice { token: Token },
    EmptyStep { step: StepId },
    TooManyAtOnce { step: StepId },
    TouchesGap { step: StepId, scope: Scope },
    PoolNotOffered { step: StepId, pool: PoolId },
    PoolsDiffer { step: StepId },
    UnknownVictim { step: StepId, slot: SlotId },
    UnknownRemains { machine: MachineId },
    OverBudget { limit: MicroUsd, after: MicroUsd },
    OverTarget { after: Units, bound: Units },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Cycle => write!(f, "steps wait for each other in a circle"),
            Violation::UnknownPredecessor { step } => {
                write!(f, "step {step} waits for a step that is not in the plan")
            }
            Violation::SlotTwice { slot } => write!(f, "slot {slot} is filled twice"),
            Violation::SlotOccupied { slot } => write!(f, "slot {slot} is filled already"),
            Violation::TokenTwice { token } => write!(f, "token {token} is used twice"),
            Violation::EmptyStep { step } => write!(f, "step {step} does nothing"),
            Violation::TooManyAtOnce { step } => {
                write!(f, "step {step} asks for more machines than one request may")
            }
            Violation::TouchesGap { step, scope } => {
                write!(f, "step {step} touches {scope}, which did not answer")
            }
            Violation::PoolNotOffered { step, pool } => {
                write!(f, "step {step} buys from {pool}, which the spec does not allow")
            }
            Violation::PoolsDiffer { step } => {
                write!(f, "step {step} leaves a choice between pools that are not alike")
            }
            Violation::UnknownVictim { step, slot } => {
                write!(f, "step {step} ends a machine in {slot} that the journal does not know")
            }
            Violation::UnknownRemains { machine } => {
                write!(f, "the plan clears away what {machine} left, which is not on record")
            }
            Violation::OverBudget { limit, after } => {
                write!(f, "the plan launches machines and costs {after} of {limit} per hour")
            }
            Violation::OverTarget { after, bound } => {
                write!(f, "the plan would hold {after} units, and may hold {bound}")
            }
        }
    }
}

/// Every rule that a plan breaks.
pub fn check(inputs: &Inputs, planned: &Planned) -> Vec<Violation> {
    let mut found = Vec::new();
    let steps = &planned.plan.steps;
    if petgraph::algo::is_cyclic_directed(&graph(steps)) {
        found.push(Violation::Cycle);
    }
    let ids: BTreeSet<StepId> = steps.iter().map(|step| step.id).collect();
    let vacated: BTreeSet<_> = planned.plan.vacate.iter().map(|vacated| vacated.slot).collect();
    let mut slots = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    let mut creates = false;
    for step in steps {
        let id = step.id;
        if !step.after.is_subset(&ids) {
            found.push(Violation::UnknownPredecessor { step: id });
        }
        if step.action.count() == 0 {
            found.push(Violation::EmptyStep { step: id });
        }
        let scope = step.action.pool().place.scope();
        if !inputs.observed.is_complete(&scope) {
            found.push(Violation::TouchesGap { step: id, scope });
        }
        match &step.action {
            Action::Create(create) => {
                creates = true;
                if create.slots.len() > create.pool.place.cloud.max_per_create() as usize {
                    found.push(Violation::TooManyAtOnce { step: id });
                }
                for pool in create.pools().filter(|pool| find_offering(inputs, pool).is_none()) {
                    found.push(Violation::PoolNotOffered { step: id, pool: pool.clone() });
                }
                if !are_alike(inputs, create) {
                    found.push(Violation::PoolsDiffer { step: id });
                }
                if !tokens.insert(&create.token) {
                    found.push(Violation::TokenTwice { token: create.token.clone() });
                }
                for &slot in &create.slots {
                    if !slots.insert(slot.name) {
                        found.push(Violation::SlotTwice { slot });
                    }
                    let free = inputs.recorded.slots.get(&slot.name).is_none_or(|record| {
                        matches!(record.state, SlotState::Vacant) || vacated.contains(&slot.name)
                    });
                    if !free {
                        found.push(Violation::SlotOccupied { slot });
                    }
                }
            }
            Action::Destroy(destroy) => {
                for victim in &destroy.victims {
                    let known =
                        inputs.recorded.slots.get(&victim.slot.name).is_some_and(|record| {
                            record.generation == victim.slot.generation
                                && matches!(&record.state,
                                SlotState::Filled { machine, .. } if *machine == victim.machine)
                        });
                    // Written down as gone, and there after all.
                    let departed = inputs.recorded.departed.get(&victim.machine);
                    if !known && departed.is_none_or(|departed| departed.slot != victim.slot) {
                        let slot = victim.slot;
                        found.push(Violation::UnknownVictim { step: id, slot });
                    }
                }
            }
        }
    }
    let strangers = planned.plan.clear.iter().filter(|left| !is_known(inputs, left));
    found.extend(strangers.map(|left| {
        let machine = left.machine.clone();
        Violation::UnknownRemains { machine }
    }));
    check_amounts(inputs, planned, creates, &mut found);
    found
}

/// Whether the journal knows the machine, or the launch, that left something, and its scope answered.
fn is_known(inputs: &Inputs, left: &Orphans) -> bool {
    let recorded = &inputs.recorded;
    let of_it = |state: &SlotState| matches!(state, SlotState::Filled { machine, .. } if *machine == left.machine);
    let known = recorded.in_doubt.contains_key(&left.token)
        || recorded.slots.values().any(|record| of_it(&record.state));
    known && inputs.observed.is_complete(&left.scope)
}

/// Whether a cloud may choose between the pools of a launch: nothing but prices may differ, and no
/// pool is named twice.
fn are_alike(inputs: &Inputs, create: &Create) -> bool {
    let cloud = create.pool.place.cloud;
    let facts = |pool: &PoolId| {
        let offering = find_offering(inputs, pool)?;
        let weight = weight(&inputs.desired, &offering.kind);
        Some((pool.place.scope(), pool.market, weight, offering.image.clone()))
    };
    let first = facts(&create.pool);
    let distinct: BTreeSet<&PoolId> = create.pools().collect();
    create.others.is_empty()
        || cloud.chooses_among_pools()
            && distinct.len() == create.others.len() + 1
            && create.others.iter().all(|other| facts(&other.pool) == first)
}

/// What the plan costs if clouds choose the dearest pool wherever they may choose.
fn dearest(planned: &Planned) -> MicroUsd {
    let lines = planned.report.pools.iter();
    let meant: MicroUsd =
        lines.map(|line| line.price.unwrap_or_default() * u64::from(line.create)).sum();
    let most = |create: &Create| create.dearest().unwrap_or_default() * create.slots.len() as u64;
    let steps = planned.plan.steps.iter();
    let worst: MicroUsd = steps
        .filter_map(|step| match &step.action {
            Action::Create(create) => Some(most(create)),
            Action::Destroy(_) => None,
        })
        .sum();
    planned.report.cost.hourly_after + worst.saturating_sub(meant)
}

fn check_amounts(inputs: &Inputs, planned: &Planned, creates: bool, found: &mut Vec<Violation>) {
    if !creates {
        return;
    }
    let cost = planned.report.cost;
    if let Some(limit) = cost.hourly_limit
        && let after = cost.hourly_after.max(dearest(planned))
        && after > limit
    {
        found.push(Violation::OverBudget { limit, after });
    }
    let launches_burst =
        planned.report.groups.iter().any(|l| l.group == Group::Burst && l.create > 0);
    for line in planned.report.budgets.iter().filter(|_| launches_burst) {
        let (limit, after) = (line.hourly_limit, cost.hourly_after);
        if after > limit {
            found.push(Violation::OverBudget { limit, after });
        }
    }
    // Launches never take the fleet further above its target than one machine's overshoot per
    // group: that is what whole machines cost.
    let largest = inputs.offerings.iter().filter_map(|o| weight(&inputs.desired, &o.kind));
    let largest = largest.max().unwrap_or_default();
    // Spares are a decision: twice the need is the most that they come to.
    let hedged = inputs.desired.placement.hedge.is_some();
    let moves = planned.plan.moving.is_some() || inputs.recorded.spot.fallen_back.is_some();
    for line in &planned.report.groups {
        let spare = match line.group {
            Group::Burst if hedged => line.wanted,
            // Successors stand beside what they succeed, from this plan or one before: a tenth, or one
            // machine each.
            Group::Burst if moves => Units(line.wanted.0 / 10) + largest + largest,
            Group::Base | Group::Burst => Units(0),
        };
        let bound = line.before.max(line.wanted + spare + largest);
        if line.after > bound {
            found.push(Violation::OverTarget { after: line.after, bound });
        }
    }
}
