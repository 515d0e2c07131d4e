//! What is held back, and why.

use crate::decide::decision::{Choice, Limited, Outgoing, Situation};
use crate::decide::removals::{Quota, Removals};
use crate::decide::resting::resting;
use crate::decide::seams;
use crate::holdings::{Holding, Inventory, Standing};
use fleet_model::{Freeze, Group, Hold, Inputs, SlotName, Units, Why};
use std::collections::BTreeSet;

/// Everything that is held back.
pub(crate) fn holds(situation: Situation<'_>, choice: &Choice, limited: Limited) -> Vec<Hold> {
    let Situation { inputs, inventory, .. } = situation;
    let Limited { frozen, by_hand, rollout, destroy, budget, when_done: _ } = limited;
    // What a person holds back need not be waited for.
    let unseen = if by_hand.is_some() { 0 } else { unseen(situation, choice) };
    let short =
        |group: &Group| choice.taken.contains_key(group) && is_short(inputs, inventory, *group);
    let at_rest = Group::ALL.into_iter().filter(short);
    let at_rest = at_rest.filter_map(|group| resting(inputs, inventory, group));
    let surge = || Hold::Surge {
        missing: choice.surged,
        unit: inputs.desired.capacity.unit,
        surge: Removals::new(situation, Quota::NONE).surge(),
    };
    let waiting = Hold::WaitingForReplacement { machines: choice.waiting };
    let Outgoing { mut slots, starting, .. } = choice.outgoing.clone();
    // Those that a change of template replaces are its own matter.
    let updating = |holding: &&Holding| holding.leaving == Why::TemplateChanged;
    let updating: BTreeSet<SlotName> =
        inventory.holdings.iter().filter(updating).map(|holding| holding.slot.name).collect();
    slots.retain(|slot| !updating.contains(slot));
    let outgoing = (!slots.is_empty()).then_some(Hold::SuccessorsNotUp { slots, starting });
    gaps(inputs, inventory)
        .chain((unseen > 0).then_some(Hold::NotSeenYet { machines: unseen }))
        .chain(frozen)
        .chain(by_hand)
        .chain(inventory.sick.clone())
        .chain(destroy)
        .chain(rollout)
        .chain(budget)
        .chain(at_rest)
        .chain((!choice.surged.is_zero()).then(surge))
        .chain((choice.waiting > 0).then_some(waiting))
        .chain(outgoing)
        .collect()
}

/// The person's wish that nothing be changed, while it holds.
pub(crate) fn by_hand(inputs: &Inputs) -> Option<&Freeze> {
    let freeze = seams::word_to_freeze(&inputs.recorded)?;
    freeze.until.is_none_or(|until| until > inputs.now).then_some(freeze)
}

/// What such a wish holds back. A fleet that is as it should be has nothing to hold.
pub(crate) fn held_by_hand(
    freeze: &Freeze,
    choice: &Choice,
    limited: &Limited,
    would: bool,
) -> Option<Hold> {
    let launches = choice.taken.values().flat_map(|taken| taken.counts.values()).sum::<u32>();
    let destroys = match &limited.destroy {
        Some(Hold::DestroyLimit { wanted, .. }) => *wanted,
        _ => choice.victims.len() as u32,
    };
    let Freeze { reason, until, .. } = freeze.clone();
    let held = would || launches > 0 || destroys > 0;
    held.then_some(Hold::ByHand { reason, until, launches, destroys })
}

/// Many machines missing at once, and nobody said why: more likely a wrong account than a loss.
pub(crate) fn frozen(situation: Situation<'_>) -> Option<Hold> {
    let Situation { inputs, inventory, .. } = situation;
    let namesakes = if inputs.recorded.uid.is_some() { 0 } else { namesakes(inputs) };
    let namesakes = seams::signs_of_a_lost_journal(namesakes);
    if namesakes > 0 && inputs.limits.accept_loss != Some(namesakes) {
        return Some(Hold::JournalLost { machines: namesakes });
    }
    let missing = seams::unexplained_losses(inventory.vanished);
    let of = inventory.recorded_live;
    let suspicious = missing > 3 && u64::from(missing) * 10 > u64::from(of) * 3;
    let accepted = inputs.limits.accept_loss == Some(missing);
    (suspicious && !accepted).then_some(Hold::Frozen { missing, of })
}

/// Live machines that carry the name of a fleet without a journal. A list that is not whole is proof
/// enough of those that it shows: swarm seed 70005990.
fn namesakes(inputs: &Inputs) -> u32 {
    let seen = inputs.observed.machines.values().chain(inputs.observed.glimpsed.values());
    let named = seen.filter(|machine| {
        let owner = machine.owner.as_ref();
        machine.state.is_live() && owner.is_some_and(|o| o.name == inputs.desired.fleet)
    });
    named.count() as u32
}

/// Machines in places that did not answer.
fn gaps(inputs: &Inputs, inventory: &Inventory) -> impl Iterator<Item = Hold> {
    let inside = |scope| {
        let there = |holding: &&Holding| holding.pool.place.scope() == scope;
        inventory.holdings.iter().filter(there).count() as u32
    };
    let gaps = inputs.observed.gaps.iter();
    gaps.map(move |gap| Hold::Gap { scope: gap.scope.clone(), machines: inside(gap.scope.clone()) })
        .filter(|hold| !matches!(hold, Hold::Gap { machines: 0, .. }))
}

/// Machines that are to be destroyed as soon as they are listed.
pub(crate) fn unseen(situation: Situation<'_>, choice: &Choice) -> u32 {
    match situation.inventory.unseen {
        0 => 0,
        all if situation.inputs.limits.destroy_all => all,
        _ => Group::ALL.map(|group| hidden_surplus(situation, choice, group)).iter().sum(),
    }
}

/// Machines of a group that are too many, and that cannot be destroyed because no list shows them yet.
fn hidden_surplus(situation: Situation<'_>, choice: &Choice, group: Group) -> u32 {
    let Situation { inputs, inventory, .. } = situation;
    let stays = |(at, holding): &(usize, &Holding)| {
        let of_group = holding.slot.name.group == group;
        // What waits for its successor is on its way out.
        let goes = choice.victims.contains_key(at) || choice.outgoing.misplaced.contains(at);
        of_group && holding.standing.counts() && !goes
    };
    let kept: Vec<&Holding> =
        inventory.holdings.iter().enumerate().filter(stays).map(|(_, holding)| holding).collect();
    let wanted = inputs.desired.capacity.of(group);
    let have: Units = kept.iter().map(|holding| holding.weight).sum();
    let mut surplus = have.saturating_sub(wanted);
    let hidden = |holding: &&&Holding| {
        let listed = |machine| inputs.observed.machines.contains_key(machine);
        holding.standing == Standing::Fixed
            && !holding.ending
            && holding.machine.as_ref().is_some_and(|machine| !listed(machine))
            && inputs.observed.is_complete(&holding.pool.place.scope())
    };
    let mut machines = 0;
    for holding in kept.iter().filter(hidden) {
        if holding.weight <= surplus && !holding.weight.is_zero() {
            surplus = surplus - holding.weight;
            machines += 1;
        }
    }
    machines
}

/// Whether a group has less than its spec wants.
fn is_short(inputs: &Inputs, inventory: &Inventory, group: Group) -> bool {
    let of_group = |holding: &&Holding| holding.slot.name.group == group;
    let counted = inventory.holdings.iter().filter(of_group).filter(|h| h.standing.counts());
    counted.map(|holding| holding.weight).sum::<Units>() < inputs.desired.capacity.of(group)
}
