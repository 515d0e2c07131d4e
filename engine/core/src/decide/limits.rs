//! The limits on a choice as a whole: how many machines one apply may destroy, and the budget.

use crate::budget::{Allowance, Limit};
use crate::clock::{is_over, target_lowered};
use crate::decide::choose::{choose, choose_with};
use crate::decide::decision::{Choice, Consent, Limited, Outgoing, Situation};
use crate::decide::groups::Replace;
use crate::decide::holds::unseen;
use crate::decide::removals::{Quota, Removals, is_used_up, keep_everything};
use crate::decide::seams;
use crate::holdings::{Holding, Inventory};
use fleet_model::{AtCap, Budget, Group, Hold, MicroUsd, Rejection, Share, WhenDone, Why};

/// Destroys no more machines than one apply may, unless a person allowed the exact number.
pub(crate) fn within_limits(situation: Situation<'_>, consent: Consent) -> (Choice, Limited) {
    let Situation { inputs, inventory, .. } = situation;
    let limits = inputs.limits;
    let free = choose(situation, Quota::ALL);
    // All that the spec asks to destroy, also what has to wait for room.
    let goes = !free.victims.is_empty() || !free.outgoing.misplaced.is_empty();
    let idle = !goes && !free.buys();
    let (wanted, end) = match idle || free.surged.is_zero() && free.waiting == 0 {
        true => (limited_victims(&free), free.usage.spend),
        false => {
            let all = choose_with(situation, Quota::ALL, Replace::AtOnce);
            (limited_victims(&all).max(limited_victims(&free)), all.usage.spend)
        }
    };
    // What is to be destroyed is: now, or when it is listed.
    let unseen = unseen(situation, &free);
    let asked = wanted as u32 + unseen;
    let left = inventory.ends_at_once().saturating_sub(limits.already_destroyed);
    let allowed = seams::may_destroy(left, inputs.desired.capacity.target);
    let exact = limits.allow_destroy.map(|n| n.saturating_sub(limits.already_destroyed));
    // What the user's own lower target asks for has a limit of its own.
    let is_lowered = |why: &&Why| matches!(why, Why::TargetLowered { .. });
    let mut lowered = free.victims.values().filter(is_lowered).count() as u32;
    let is_over = is_over(&inputs.desired, inputs.now);
    if is_over || Group::ALL.iter().any(|group| target_lowered(inputs, *group).is_some()) {
        lowered += unseen;
    }
    let share = inputs.desired.max_destroy.floor_of(inventory.recorded_live.into());
    let most = match is_over && inputs.desired.max_destroy == Share::ALL {
        // All of it, also what a run that died asked to end before.
        true => u32::MAX,
        false => u32::try_from(share).unwrap_or(u32::MAX),
    };
    let most = most.saturating_sub(limits.already_destroyed);
    let besides = if lowered <= most { lowered } else { 0 };
    // What is used up is used up, as the spec says: half of the fleet at a time, as with a lower target,
    // because a limit may be a slip of the pen.
    let shed = free.victims.values().filter(|why| is_used_up(why)).count() as u32;
    let shed = shed.min(if limits.already_destroyed == 0 { most.max(1) } else { most });
    let mut limited = Limited::default();
    let within = asked.saturating_sub(besides + shed) <= allowed;
    let choice = if within || exact == Some(asked) || consent == Consent::Given {
        free
    } else {
        let choice = choose(situation, Quota { any: allowed, lowered: besides, shed });
        let held = asked.saturating_sub(limited_victims(&choice) as u32);
        // Later rounds of the same apply count from what is left.
        let said = limits.allow_destroy.filter(|_| limits.already_destroyed == 0);
        let lowered = lowered - besides;
        limited.destroy = Some(Hold::DestroyLimit { allowed, wanted: asked, held, said, lowered });
        choice
    };
    // What a person wants replaced goes as well, once its successor is up.
    let end = end.saturating_sub(outgoing_bill(inventory, &choice));
    if end != choice.usage.spend {
        let all_at_once = limited.destroy.as_ref().map(|_| asked);
        let most = inputs.desired.max_destroy;
        let applies =
            all_at_once.map_or(1, |asked| applies(inventory.recorded_live, asked, lowered, most));
        limited.when_done = Some(WhenDone { hourly: end, applies, allow_destroy: all_at_once });
    }
    limited.budget = at_cap(situation, &choice);
    match limited.budget {
        Some(_) => (shed_only(situation, &choice), limited),
        None => (choice, limited),
    }
}

/// Nothing is launched, and nothing is destroyed but what there is no money for.
fn shed_only(situation: Situation<'_>, choice: &Choice) -> Choice {
    let mut kept = keep_everything(situation);
    for (at, why) in choice.victims.iter().filter(|(_, why)| is_used_up(why)) {
        let bill = situation.inventory.holdings[*at].bill();
        kept.usage.spend = kept.usage.spend - bill;
        kept.victims.insert(*at, why.clone());
    }
    kept
}

/// Machines to be destroyed, now or when their successors are up, that the limit on destroys is for: a
/// change of template has limits of its own.
fn limited_victims(choice: &Choice) -> usize {
    let now = choice.victims.values().filter(|why| **why != Why::TemplateChanged).count();
    now + choice.outgoing.misplaced.len()
}

/// What machines cost that stay until their successors are up, where those are on their way.
fn outgoing_bill(inventory: &Inventory, choice: &Choice) -> MicroUsd {
    let Outgoing { slots, starting, .. } = &choice.outgoing;
    if !choice.buys() && *starting == 0 {
        return MicroUsd(0);
    }
    let outgoing = inventory.holdings.iter().filter(|holding| slots.contains(&holding.slot.name));
    outgoing.map(Holding::bill).sum()
}

/// About how many applies it takes to destroy so many machines of a fleet: a tenth at a time, and what a
/// lowered target asks for at once, as soon as it is no more than a share of what stands.
fn applies(mut live: u32, mut left: u32, mut lowered: u32, most: Share) -> u32 {
    let mut applies = 0;
    while left > 0 {
        let at_once = u64::from(lowered) <= most.floor_of(live.into());
        let asked = if at_once { lowered } else { 0 };
        let others = (live / 10).max(1).min(left - asked);
        let now = asked + others;
        lowered = if at_once { 0 } else { lowered.saturating_sub(others) };
        (live, left) = (live.saturating_sub(now), left - now);
        applies += 1;
    }
    applies
}

/// The spec says to wait until the whole target fits the budget, and it does not.
fn at_cap(situation: Situation<'_>, choice: &Choice) -> Option<Hold> {
    let Situation { inputs, problem, .. } = situation;
    if inputs.desired.budget.at_cap != AtCap::Hold {
        return None;
    }
    let base = Removals::new(situation, Quota::NONE).pays(Group::Base);
    let limit = situation.allowance.to_keep(base)?;
    let over = (choice.usage.spend > limit.hourly).then_some(limit);
    let short = choice.taken.values().filter(|taken| !taken.short.is_zero());
    let reached = short.flat_map(|taken| taken.refused.keys()).find_map(|reason| match reason {
        Rejection::BudgetReached { limit, cap } => Some(Limit { hourly: *limit, cap: *cap }),
        _ => None,
    });
    let Limit { hourly: limit, cap } = over.or(reached)?;
    let mut unlimited = inputs.clone();
    unlimited.desired.budget = Budget::default();
    let problem = problem.with_spec(&unlimited.desired);
    let allowance = &Allowance::default();
    let without_budget =
        Situation { inputs: &unlimited, problem: &problem, allowance, ..situation };
    let needed = choose(without_budget, Quota::ALL).usage.spend;
    Some(Hold::Budget { limit, needed, cap })
}
