//! Which launches in doubt are sent again.
//!
//! A launch whose outcome nobody knows is sent again only if the fleet would launch it today: the
//! spec, the budget and the limits of now decide, not those of the run that died. What is not wanted
//! any more waits until absence is proof, and its slots are free then.

use crate::decide::decision::Situation;
use crate::decide::removals::{Quota, Removals};
use crate::decide::resting::resting;
use crate::decide::seams;
use crate::holdings::{Holding, Inventory, template_digests};
use crate::offers::find_offering;
use crate::record::labels_version;
use fleet_model::{Attempt, Block, Group, Inputs, MicroUsd, SlotId, Token, Units};
use std::collections::BTreeMap;

/// Launches in doubt that are still wanted, in the order of their tokens.
pub(crate) fn wanted(situation: Situation<'_>) -> Vec<Token> {
    let Situation { inputs, inventory, .. } = situation;
    if inputs.recorded.in_doubt.is_empty() {
        return Vec::new();
    }
    let templates = template_digests(&inputs.desired);
    let repeatable = |attempt: &&Attempt| {
        let create = &attempt.create;
        let cloud = create.pool.place.cloud;
        // With another template or other labels it would be another request under the same token.
        cloud.launches_are_idempotent()
            && templates.get(&cloud) == Some(&create.template)
            && attempt.labels == labels_version(inputs, cloud)
    };
    let attempts = inputs.recorded.in_doubt.values().filter(repeatable);
    if seams::unwanted_is_sent_again() {
        return attempts.map(|attempt| attempt.create.token.clone()).collect();
    }
    let open = open_slots(inventory);
    if inputs.limits.destroy_all || !fits(situation, &open) {
        return Vec::new();
    }
    let rests = |group: &Group| resting(inputs, inventory, *group).is_some();
    let at_rest: Vec<Group> = Group::ALL.into_iter().filter(rests).collect();
    let mut lacking = lacking(inputs, inventory);
    let wanted = attempts.filter(|attempt| {
        let rests = |slot: &SlotId| at_rest.contains(&slot.name.group);
        !attempt.create.slots.iter().any(rests)
            && may_launch(inputs, attempt)
            && take(&mut lacking, &open, attempt)
    });
    wanted.map(|attempt| attempt.create.token.clone()).collect()
}

/// Whether the pools of a launch are allowed and open now.
fn may_launch(inputs: &Inputs, attempt: &Attempt) -> bool {
    let create = &attempt.create;
    let open = |block: &Block| {
        block.until <= inputs.now || !create.pools().any(|pool| block.scope.covers(pool))
    };
    create.pools().all(|pool| find_offering(inputs, pool).is_some())
        && inputs.observed.is_complete(&create.pool.place.scope())
        && inputs.recorded.blocks.iter().all(open)
}

/// Slots in doubt that no machine is known to fill, and what each would bring.
fn open_slots(inventory: &Inventory) -> BTreeMap<SlotId, Units> {
    let open = inventory.holdings.iter().filter(|holding| holding.machine.is_none());
    open.map(|holding| (holding.slot, holding.weight)).collect()
}

/// Spares of a hedge are a decision: twice the need is the most that they come to.
fn most_spot(inputs: &Inputs) -> Units {
    let spot = inputs.desired.capacity.spot;
    inputs.desired.placement.hedge.map_or(spot, |_| spot + spot)
}

/// Whether everything fits that stands, and that may stand: nobody knows which of the launches in doubt
/// were carried out, and one that is sent again surely is.
fn fits(situation: Situation<'_>, open: &BTreeMap<SlotId, Units>) -> bool {
    let Situation { inputs, inventory, .. } = situation;
    let goal = inputs.desired.capacity;
    let target = (goal.on_demand + goal.spot).max(goal.target) + (most_spot(inputs) - goal.spot);
    let removals = Removals::new(situation, Quota::NONE);
    let known = inventory.holdings.iter().filter(|h| h.machine.is_some() && h.standing.stands());
    let spent: MicroUsd = known.map(Holding::bill).sum();
    let unfilled = |attempt: &Attempt| {
        attempt.create.slots.iter().filter(|slot| open.contains_key(slot)).count() as u64
    };
    let attempts = inputs.recorded.in_doubt.values();
    let doubt: MicroUsd =
        attempts.map(|a| a.create.dearest().unwrap_or_default() * unfilled(a)).sum();
    let unseen = inventory.holdings.iter().filter(|holding| holding.machine.is_none());
    let beside: MicroUsd = unseen.map(Holding::beside).sum();
    let most = spent + doubt + beside;
    let limit = situation.allowance.to_keep(removals.pays(Group::Base));
    let paid = limit.is_none_or(|limit| most <= limit.hourly);
    paid && removals.standing() <= target + removals.surge()
}

/// What each group lacks without what is in doubt.
fn lacking(inputs: &Inputs, inventory: &Inventory) -> BTreeMap<Group, Units> {
    let goal = inputs.desired.capacity;
    let mut groups: BTreeMap<Group, Units> =
        [(Group::Base, goal.on_demand), (Group::Burst, most_spot(inputs))].into();
    let known = inventory.holdings.iter().filter(|h| h.machine.is_some() && h.standing.counts());
    for holding in known {
        if let Some(lacks) = groups.get_mut(&holding.slot.name.group) {
            *lacks = lacks.saturating_sub(holding.weight);
        }
    }
    groups
}

/// Takes what a launch would make off what its group lacks, if it lacks as much.
fn take(
    lacking: &mut BTreeMap<Group, Units>,
    open: &BTreeMap<SlotId, Units>,
    attempt: &Attempt,
) -> bool {
    let create = &attempt.create;
    let weight: Units = create.slots.iter().filter_map(|slot| open.get(slot)).copied().sum();
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
