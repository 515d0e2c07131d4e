//! From what is chosen to steps in order: create before destroy.

use crate::decide::Decision;
use crate::holdings::{Holding, Standing};
use crate::offers::{Candidate, max_spot_price};
use crate::plan::token;
use fleet_model::{
    Action, CauseKind, Create, Departure, Desired, Destroy, Fulfilment, Group, Inputs, Market,
    MicroUsd, Offering, OtherPool, Plan, PoolId, Premises, Readopt, SlotId, SlotName, SlotState,
    Step, StepId, Vacated, Victim, Why,
};
use petgraph::graph::DiGraph;
use std::collections::{BTreeMap, BTreeSet};

/// Machines ended by one request.
const MAX_PER_DESTROY: usize = 100;

/// Turns a decision into a plan that stands on some premises.
pub(crate) fn steps(decision: &Decision<'_>, premises: Premises) -> Plan {
    let inputs = decision.inputs;
    let mut actions: Vec<(Action, Why)> = Vec::new();
    let limit = decision.choice.usage.limit.map(|limit| limit.hourly);
    let mut spare = limit.map(|limit| limit.saturating_sub(decision.choice.usage.spend));
    for group in Group::ALL {
        creates(decision, group, &mut spare, &mut actions);
    }
    let launches = actions.len();
    destroys(decision, &mut actions);
    let before: BTreeSet<StepId> = (0..launches as u32).map(StepId).collect();
    // Money that is overspent, and a fleet that is to go, wait for nobody.
    let gated = inputs.desired.updates.health_gate;
    let waits = |why: &Why| match why {
        // Enough others are ready already.
        Why::TemplateChanged => !gated,
        Why::Requested | Why::AtRisk => false,
        Why::OverBudget { .. } | Why::FleetDestroyed | Why::Stopped | Why::CameBack => false,
        // What never worked keeps nobody waiting; what worked once stays until its replacement is.
        Why::Failed { kind: CauseKind::NeverReady | CauseKind::LaunchFailed } => false,
        Why::Failed { .. } => true,
        Why::BelowTarget { .. }
        | Why::ReplaceInterrupted { .. }
        | Why::ReplaceDisallowed { .. }
        | Why::AboveTarget { .. }
        | Why::TargetLowered { .. }
        | Why::PoolNotAllowed { .. }
        | Why::ReplaceRequested { .. }
        | Why::InPlaceOfSpot
        | Why::Moved { .. }
        | Why::ReplaceOldTemplate { .. } => true,
    };
    let steps: Vec<Step> = actions
        .into_iter()
        .zip(0u32..)
        .map(|((action, why), number)| {
            let after = match &action {
                Action::Create(_) => BTreeSet::new(),
                Action::Destroy(_) if waits(&why) => before.clone(),
                Action::Destroy(_) => BTreeSet::new(),
            };
            Step { id: StepId(number), action, after, why }
        })
        .collect();
    Plan {
        fleet: inputs.desired.fleet.clone(),
        uid: inputs.uid.clone(),
        steps: sorted(steps),
        vacate: decision.vacate.clone(),
        failed: decision.inventory.failed.clone(),
        readopt: decision.inventory.readopt.clone(),
        health: decision.inventory.health.clone(),
        rollout: decision.rollout.clone(),
        drain: decision.drain.clone(),
        resend: decision.resend.clone(),
        clear: decision.clear.clone(),
        relabel: decision.relabel.clone(),
        fallback: decision.choice.fallback,
        cheaper: decision.choice.cheaper.clone(),
        moving: decision.choice.moving.clone(),
        premises,
    }
}

/// The steps as a graph: an edge from each step to those that wait for it.
pub(crate) fn graph(steps: &[Step]) -> DiGraph<StepId, ()> {
    let mut graph = DiGraph::with_capacity(steps.len(), 0);
    let nodes: BTreeMap<StepId, _> =
        steps.iter().map(|step| (step.id, graph.add_node(step.id))).collect();
    for step in steps {
        for before in &step.after {
            if let Some(from) = nodes.get(before) {
                graph.add_edge(*from, nodes[&step.id], ());
            }
        }
    }
    graph
}

/// Steps in an order that respects `after`; among free choices, by number.
fn sorted(mut steps: Vec<Step>) -> Vec<Step> {
    let graph = graph(&steps);
    // Creates are numbered before the destroys that wait for them, so numbers are such an order;
    // the graph proves it, and a plan with a cycle would be refused by `check`.
    debug_assert!(petgraph::algo::toposort(&graph, None).is_ok());
    steps.sort_by_key(|step| step.id);
    steps
}

fn creates(
    decision: &Decision<'_>,
    group: Group,
    spare: &mut Option<MicroUsd>,
    actions: &mut Vec<(Action, Why)>,
) {
    let taken = decision.choice.taken.get(&group);
    let Some(taken) = taken.filter(|taken| !taken.counts.is_empty()) else { return };
    let inputs = decision.inputs;
    let templates = &decision.inventory.templates;
    let why = why_create(decision, group);
    let mut slots = free_slots(inputs, &decision.vacate, &decision.inventory.readopt, group);
    let chosen = taken.counts.iter().map(|(&at, &count)| (decision.candidate(at), count));
    for batch in batches(&inputs.desired, chosen.collect(), spare) {
        let Some(&(first, _)) = batch.first() else { continue };
        let pool = &first.offering.pool;
        let why = why_of_pool(decision, group, first).unwrap_or_else(|| why.clone());
        let other = |(candidate, _): &(&Candidate<'_>, u32)| OtherPool {
            pool: candidate.offering.pool.clone(),
            price: candidate.offering.price,
            max_price: max_price(&inputs.desired, candidate.offering),
        };
        let others: Vec<OtherPool> = batch.iter().skip(1).map(other).collect();
        let mut left: u32 = batch.iter().map(|(_, count)| count).sum();
        while left > 0 {
            let now = left.min(pool.place.cloud.max_per_create());
            left -= now;
            let filled: Vec<(SlotId, u32)> = slots.by_ref().take(now as usize).collect();
            let pools = batch.iter().map(|(candidate, _)| &candidate.offering.pool);
            let create = Create {
                pool: pool.clone(),
                others: others.clone(),
                token: token::token(&inputs.uid, pools, &filled),
                slots: filled.into_iter().map(|(slot, _)| slot).collect(),
                price: first.offering.price,
                max_price: max_price(&inputs.desired, first.offering),
                template: templates[&pool.place.cloud],
                image: first.offering.image.as_deref().map(str::to_owned),
            };
            actions.push((Action::Create(create), why.clone()));
        }
    }
}

/// Why machines come from a pool, where it is not for the sake of their group.
fn why_of_pool(decision: &Decision<'_>, group: Group, first: &Candidate<'_>) -> Option<Why> {
    let hedged = decision.inputs.desired.placement.hedge.is_some();
    if group != Group::Burst || hedged || first.commitment.is_some() {
        return None;
    }
    if first.offering.pool.market != Market::Spot {
        return Some(Why::InPlaceOfSpot);
    }
    decision.choice.moving.as_ref().map(|moving| Why::Moved { why: moving.why })
}

fn max_price(desired: &Desired, offering: &Offering) -> Option<MicroUsd> {
    match offering.pool.market {
        Market::Spot => max_spot_price(desired, offering),
        Market::OnDemand | Market::Reserved => None,
    }
}

/// Pools that one launch asks, and how many machines the plan means for each.
type Batch<'a> = Vec<(&'a Candidate<'a>, u32)>;

/// What is asked for together: each pool alone, or all pools of a region among which its cloud may
/// choose. The machines of a batch count alike and start from one image, so that the choice
/// changes neither the capacity nor what runs. If the dearest choice would not fit into what is
/// left of the budget, there is none.
fn batches<'a>(
    desired: &Desired,
    chosen: Batch<'a>,
    spare: &mut Option<MicroUsd>,
) -> Vec<Batch<'a>> {
    let mut alone: Vec<Batch<'a>> = Vec::new();
    let mut together: BTreeMap<_, Batch<'a>> = BTreeMap::new();
    for (candidate, count) in chosen {
        let offering = candidate.offering;
        let joins = match desired.placement.fulfilment {
            Fulfilment::Exact => false,
            Fulfilment::Flexible => {
                let cloud = offering.pool.place.cloud;
                let template = desired.templates.get(&cloud);
                // What was bought ahead of time lies in one pool: there is nothing to choose.
                let reserved = template.is_some_and(|template| template.reservation.is_some());
                cloud.chooses_among_pools() && !reserved && candidate.commitment.is_none()
            }
        };
        if joins {
            let pool = &offering.pool;
            let image = offering.image.as_deref();
            let key = (pool.place.scope(), pool.market, candidate.weight, image);
            together.entry(key).or_default().push((candidate, count));
        } else {
            alone.push(vec![(candidate, count)]);
        }
    }
    for mut batch in together.into_values() {
        batch.sort_by_key(|(candidate, _)| {
            let offering = candidate.offering;
            (offering.price.is_none(), offering.price, &offering.pool)
        });
        let price = |(candidate, _): &(&Candidate<'_>, u32)| candidate.offering.price;
        let dearest = batch.iter().filter_map(price).max().unwrap_or_default();
        let more = |one: &(&Candidate<'_>, u32)| {
            dearest.saturating_sub(price(one).unwrap_or_default()) * u64::from(one.1)
        };
        let more: MicroUsd = batch.iter().map(more).sum();
        match spare {
            Some(left) if more > *left => alone.extend(batch.into_iter().map(|one| vec![one])),
            _ => {
                *spare = spare.map(|left| left.saturating_sub(more));
                alone.push(batch);
            }
        }
    }
    alone
}

fn why_create(decision: &Decision<'_>, group: Group) -> Why {
    let of_group = |name: SlotName| name.group == group;
    let replaces = decision
        .choice
        .replaced
        .iter()
        .any(|at| of_group(decision.inventory.holdings[*at].slot.name));
    let holdings = decision.inventory.holdings.iter();
    let mut ours = holdings.filter(|holding| of_group(holding.slot.name));
    let leaving = |why: &Why| {
        let is = |h: &Holding| h.standing == Standing::ToReplace && h.leaving == *why;
        ours.clone().any(is)
    };
    let (requested, updating) = (leaving(&Why::Requested), leaving(&Why::TemplateChanged));
    let at_risk = leaving(&Why::AtRisk);
    let lost = ours
        .any(|holding| !holding.standing.counts() && holding.standing != Standing::ToReplace)
        || decision
            .vacate
            .iter()
            .any(|vacated| of_group(vacated.slot) && vacated.how != Departure::Ended);
    if updating && !replaces && !lost {
        return Why::ReplaceOldTemplate { group };
    }
    if requested && !replaces && !lost {
        return Why::ReplaceRequested { group };
    }
    match (replaces, lost || at_risk) {
        (true, _) => Why::ReplaceDisallowed { group },
        (false, true) => Why::ReplaceInterrupted { group },
        (false, false) => Why::BelowTarget { group },
    }
}

/// Vacant slots of a group, lowest first, each with the number of its attempts so far.
pub(super) fn free_slots(
    inputs: &Inputs,
    vacate: &[Vacated],
    readopt: &[Readopt],
    group: Group,
) -> impl Iterator<Item = (SlotId, u32)> {
    let gone: BTreeSet<SlotName> = vacate.iter().map(|vacated| vacated.slot).collect();
    let back: BTreeSet<SlotName> = readopt.iter().map(|one| one.machine.slot.name).collect();
    (0u32..).filter_map(move |ordinal| {
        let name = SlotName { group, ordinal };
        if back.contains(&name) {
            return None;
        }
        let Some(record) = inputs.recorded.slots.get(&name) else {
            return Some((SlotId { name, generation: 1 }, 0));
        };
        if gone.contains(&name) {
            return Some((SlotId { name, generation: record.generation + 1 }, 0));
        }
        let slot = SlotId { name, generation: record.generation };
        matches!(record.state, SlotState::Vacant).then_some((slot, record.attempt))
    })
}

fn destroys(decision: &Decision<'_>, actions: &mut Vec<(Action, Why)>) {
    let mut batches: BTreeMap<(&PoolId, &Why), Vec<Victim>> = BTreeMap::new();
    for (at, why) in &decision.choice.victims {
        let holding = &decision.inventory.holdings[*at];
        let Some(machine) = holding.machine.clone() else { continue };
        batches.entry((&holding.pool, why)).or_default().push(Victim {
            machine,
            slot: holding.slot,
            launched_at: holding.launched_at,
            price: holding.price,
        });
    }
    for ((pool, why), victims) in batches {
        for chunk in victims.chunks(MAX_PER_DESTROY) {
            let destroy = Destroy { pool: pool.clone(), victims: chunk.to_vec() };
            actions.push((Action::Destroy(destroy), why.clone()));
        }
    }
}
