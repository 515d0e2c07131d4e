//! From what is chosen to steps in order: create before destroy.

use crate::candidates::max_spot_price;
use crate::decide::Decision;
use crate::ledger::{Standing, template_digests};
use crate::{staleness, token};
use fleet_model::{
    Action, Create, Departure, Destroy, Group, Inputs, Market, Plan, PoolId, SlotId, SlotName,
    SlotState, Step, StepId, Vacated, Victim, Why,
};
use petgraph::graph::DiGraph;
use std::collections::{BTreeMap, BTreeSet};

/// Machines ended by one request.
const MAX_PER_DESTROY: usize = 100;

/// Turns a decision into a plan.
pub(crate) fn order(decision: &Decision<'_>) -> Plan {
    let inputs = decision.inputs;
    let mut actions: Vec<(Action, Why)> = Vec::new();
    for group in Group::ALL {
        creates(decision, group, &mut actions);
    }
    let launches = actions.len();
    destroys(decision, &mut actions);
    let before: BTreeSet<StepId> = (0..launches as u32).map(StepId).collect();
    // Money that is overspent, and a fleet that is to go, wait for nobody.
    let waits = |why: &Why| match why {
        Why::OverBudget { .. } | Why::FleetDestroyed => false,
        Why::BelowTarget { .. }
        | Why::ReplaceInterrupted { .. }
        | Why::ReplaceDisallowed { .. }
        | Why::AboveTarget { .. }
        | Why::PoolNotAllowed { .. }
        | Why::TemplateChanged
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
        premises: staleness::premises(inputs, decision.choice.usage.spend),
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

fn creates(decision: &Decision<'_>, group: Group, actions: &mut Vec<(Action, Why)>) {
    let Some(taken) = decision.choice.taken.get(&group) else { return };
    let inputs = decision.inputs;
    let templates = template_digests(&inputs.desired);
    let why = why_create(decision, group);
    let mut slots = free_slots(inputs, &decision.vacate, group);
    for (&at, &count) in &taken.counts {
        let candidate = decision.candidate(at);
        let pool = &candidate.offering.pool;
        let mut left = count;
        while left > 0 {
            let now = left.min(pool.place.cloud.max_per_create());
            left -= now;
            let filled: Vec<(SlotId, u32)> = slots.by_ref().take(now as usize).collect();
            let max_price = match pool.market {
                Market::Spot => max_spot_price(&inputs.desired, candidate.offering),
                Market::OnDemand | Market::Reserved => None,
            };
            let create = Create {
                pool: pool.clone(),
                token: token::token(&inputs.uid, pool, &filled),
                slots: filled.into_iter().map(|(slot, _)| slot).collect(),
                price: candidate.offering.price,
                max_price,
                template: templates[&pool.place.cloud],
                image: candidate.offering.image.as_deref().map(str::to_owned),
            };
            actions.push((Action::Create(create), why.clone()));
        }
    }
}

fn why_create(decision: &Decision<'_>, group: Group) -> Why {
    let of_group = |name: SlotName| name.group == group;
    let replaces =
        decision.choice.replaced.iter().any(|at| of_group(decision.ledger.holdings[*at].slot.name));
    let lost =
        decision.ledger.holdings.iter().any(|holding| {
            of_group(holding.slot.name) && holding.standing == Standing::Interrupted
        }) || decision
            .vacate
            .iter()
            .any(|vacated| of_group(vacated.slot) && vacated.how != Departure::Ended);
    let old_only = replaces
        && decision.choice.replaced.iter().all(|at| {
            !of_group(decision.ledger.holdings[*at].slot.name)
                || decision.choice.victims.get(at) == Some(&Why::TemplateChanged)
        });
    if old_only && !lost {
        return Why::ReplaceOldTemplate { group };
    }
    match (replaces, lost) {
        (true, _) => Why::ReplaceDisallowed { group },
        (false, true) => Why::ReplaceInterrupted { group },
        (false, false) => Why::BelowTarget { group },
    }
}

/// Vacant slots of a group, lowest first, each with the number of its attempts so far.
fn free_slots(
    inputs: &Inputs,
    vacate: &[Vacated],
    group: Group,
) -> impl Iterator<Item = (SlotId, u32)> {
    let gone: BTreeSet<SlotName> = vacate.iter().map(|vacated| vacated.slot).collect();
    (0u32..).filter_map(move |ordinal| {
        let name = SlotName { group, ordinal };
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
        let holding = &decision.ledger.holdings[*at];
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
