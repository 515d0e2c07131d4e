//! Which launches in doubt are sent again.
//!
//! A launch whose outcome nobody knows is sent again only if the fleet would launch it today: the
//! spec, the budget and the limits of now decide, not those of the run that died. What is not wanted
//! any more waits until absence is proof, and its slots are free then.

use crate::field::Field;
use crate::guard;
use crate::ledger::{Holding, Ledger, find_offering, template_digests};
use crate::victims::Work;
use fleet_model::bugs::{self, Bug};
use fleet_model::{Attempt, Block, Group, Inputs, MicroUsd, SlotId, Token, Units};
use std::collections::BTreeMap;

/// Launches in doubt that are still wanted, in the order of their tokens.
pub(crate) fn wanted(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger) -> Vec<Token> {
    if inputs.limits.destroy_all && !bugs::on(Bug::UnwantedSentAgain)
        || inputs.recorded.in_doubt.is_empty()
    {
        return Vec::new();
    }
    let templates = template_digests(&inputs.desired);
    let repeatable = |attempt: &&Attempt| {
        let create = &attempt.create;
        let cloud = create.pool.place.cloud;
        // With another template it would be another request under the same token.
        cloud.launches_are_idempotent() && templates.get(&cloud) == Some(&create.template)
    };
    let attempts = inputs.recorded.in_doubt.values().filter(repeatable);
    if bugs::on(Bug::UnwantedSentAgain) {
        return attempts.map(|attempt| attempt.create.token.clone()).collect();
    }
    if !fits(inputs, field, ledger) {
        return Vec::new();
    }
    let mut lacking = lacking(inputs, ledger);
    let wanted = attempts.filter(|attempt| {
        may_launch(inputs, ledger, attempt) && take(&mut lacking, ledger, attempt)
    });
    wanted.map(|attempt| attempt.create.token.clone()).collect()
}

/// Whether the pools of a launch are allowed and open now.
fn may_launch(inputs: &Inputs, ledger: &Ledger, attempt: &Attempt) -> bool {
    let create = &attempt.create;
    let open = |block: &Block| {
        block.until <= inputs.now || !create.pools().any(|pool| block.scope.covers(pool))
    };
    let rests = |group| guard::resting(inputs, ledger, group).is_some();
    create.pools().all(|pool| find_offering(inputs, pool).is_some())
        && inputs.observed.is_complete(&create.pool.place.scope())
        && inputs.recorded.blocks.iter().all(open)
        && !create.slots.iter().any(|slot| rests(slot.name.group))
}

/// Whether everything fits that stands, and that may stand: nobody knows which of the launches in doubt
/// were carried out, and one that is sent again surely is.
fn fits(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger) -> bool {
    let goal = inputs.desired.capacity;
    // Spares of a hedge are a decision: twice the need is the most that they come to.
    let spares = inputs.desired.placement.hedge.map_or(Units(0), |_| goal.spot);
    let target = (goal.on_demand + goal.spot).max(goal.target) + spares;
    let work = Work { inputs, field, ledger, quota: 0, victims: BTreeMap::new() };
    let known = ledger.holdings.iter().filter(|h| h.machine.is_some() && h.standing.stands());
    let spent: MicroUsd = known.filter_map(Holding::bill).sum();
    let unfilled = |attempt: &Attempt| {
        let open = |slot: &&SlotId| {
            ledger.holdings.iter().any(|h| h.machine.is_none() && h.slot == **slot)
        };
        attempt.create.slots.iter().filter(open).count() as u64
    };
    let attempts = inputs.recorded.in_doubt.values();
    let doubt: MicroUsd =
        attempts.map(|a| a.create.dearest().unwrap_or_default() * unfilled(a)).sum();
    let paid = inputs.desired.budget.hourly.is_none_or(|limit| spent + doubt <= limit);
    paid && work.standing() <= target + work.surge()
}

/// What each group lacks without what is in doubt.
fn lacking(inputs: &Inputs, ledger: &Ledger) -> BTreeMap<Group, Units> {
    let goal = inputs.desired.capacity;
    let spares = inputs.desired.placement.hedge.map_or(Units(0), |_| goal.spot);
    let mut groups: BTreeMap<Group, Units> =
        [(Group::Base, goal.on_demand), (Group::Burst, goal.spot + spares)].into();
    let known = ledger.holdings.iter().filter(|h| h.machine.is_some() && h.standing.counts());
    for holding in known {
        if let Some(lacks) = groups.get_mut(&holding.slot.name.group) {
            *lacks = lacks.saturating_sub(holding.weight);
        }
    }
    groups
}

/// Takes what a launch would make off what its group lacks, if it lacks as much.
fn take(lacking: &mut BTreeMap<Group, Units>, ledger: &Ledger, attempt: &Attempt) -> bool {
    let create = &attempt.create;
    let of_it = |h: &&Holding| h.machine.is_none() && create.slots.contains(&h.slot);
    let weight: Units = ledger.holdings.iter().filter(of_it).map(|h| h.weight).sum();
    let Some(group) = create.slots.first().map(|slot| slot.name.group) else { return false };
    let lacks = lacking.get(&group).copied().unwrap_or_default();
    let each = Units(weight.0 / (create.slots.len() as u64).max(1));
    // Whole machines: the last one may be more than what is missing.
    let fits = !lacks.is_zero() && weight < lacks + each.max(Units(1));
    if fits {
        lacking.insert(group, lacks.saturating_sub(weight));
    }
    fits
}
