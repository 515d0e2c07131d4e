//! The limits on a choice as a whole: how many machines one apply may destroy, and the budget.

use crate::decide::choose::{choose, choose_with};
use crate::decide::decision::{Choice, Limited, Situation};
use crate::decide::groups::Replace;
use crate::decide::holds::unseen;
use crate::decide::removals::Removals;
use crate::decide::seams;
use crate::holdings::{Holding, Inventory};
use fleet_model::{AtCap, Hold, MicroUsd, Rejection, WhenDone};

/// Destroys no more machines than one apply may, unless a person allowed the exact number.
pub(crate) fn within_limits(situation: Situation<'_>) -> (Choice, Limited) {
    let Situation { inputs, inventory, .. } = situation;
    let limits = inputs.limits;
    let free = choose(situation, u32::MAX);
    // All that the spec asks to destroy, also what has to wait for room.
    let idle = free.victims.is_empty() && !free.buys();
    let (wanted, end) = match idle || free.surged.is_zero() && free.waiting == 0 {
        true => (free.victims.len(), free.usage.spend),
        false => {
            let all = choose_with(situation, u32::MAX, Replace::AtOnce);
            (all.victims.len().max(free.victims.len()), all.usage.spend)
        }
    };
    // Who destroys a fleet destroys all of it: now, or when its machines are listed.
    let asked = wanted as u32 + unseen(inputs, inventory);
    let left = (inventory.recorded_live / 10).max(1).saturating_sub(limits.already_destroyed);
    let allowed = seams::may_destroy(left);
    let exact = limits.allow_destroy.map(|n| n.saturating_sub(limits.already_destroyed));
    let mut limited = Limited::default();
    let choice = if asked <= allowed || exact == Some(asked) {
        free
    } else {
        let choice = choose(situation, allowed);
        let held = asked.saturating_sub(choice.victims.len() as u32);
        // Later rounds of the same apply count from what is left.
        let said = limits.allow_destroy.filter(|_| limits.already_destroyed == 0);
        limited.destroy = Some(Hold::DestroyLimit { allowed, wanted: asked, held, said });
        choice
    };
    // What a person wants replaced goes as well, once its successor is up.
    let end = end.saturating_sub(outgoing_bill(inventory, &choice));
    if end != choice.usage.spend {
        let all_at_once = limited.destroy.as_ref().map(|_| asked);
        let applies = all_at_once.map_or(1, |asked| applies(inventory.recorded_live, asked));
        limited.when_done = Some(WhenDone { hourly: end, applies, allow_destroy: all_at_once });
    }
    limited.budget = at_cap(situation, &choice);
    match limited.budget {
        Some(_) => (Choice::keep_everything(Removals::new(situation, 0).hold_kept()), limited),
        None => (choice, limited),
    }
}

/// What machines cost that stay until their successors are up, where those are on their way.
fn outgoing_bill(inventory: &Inventory, choice: &Choice) -> MicroUsd {
    let (slots, starting) = &choice.outgoing;
    if !choice.buys() && *starting == 0 {
        return MicroUsd(0);
    }
    let outgoing = inventory.holdings.iter().filter(|holding| slots.contains(&holding.slot.name));
    outgoing.filter_map(Holding::bill).sum()
}

/// About how many applies it takes to destroy so many machines of a fleet, a tenth at a time.
fn applies(mut live: u32, mut left: u32) -> u32 {
    let mut applies = 0;
    while left > 0 {
        let now = (live / 10).max(1).min(left);
        (live, left) = (live.saturating_sub(now), left - now);
        applies += 1;
    }
    applies
}

/// The spec says to wait until the whole target fits the budget, and it does not.
fn at_cap(situation: Situation<'_>, choice: &Choice) -> Option<Hold> {
    let Situation { inputs, problem, .. } = situation;
    let limit = inputs.desired.budget.hourly?;
    if inputs.desired.budget.at_cap != AtCap::Hold {
        return None;
    }
    let over = choice.usage.spend > limit;
    let capped = over
        || choice.taken.values().any(|taken| {
            taken.refused.keys().any(|reason| matches!(reason, Rejection::BudgetReached { .. }))
                && !taken.short.is_zero()
        });
    if !capped {
        return None;
    }
    let mut unlimited = inputs.clone();
    unlimited.desired.budget.hourly = None;
    let problem = problem.with_spec(&unlimited.desired);
    let without_budget = Situation { inputs: &unlimited, problem: &problem, ..situation };
    let needed = choose(without_budget, u32::MAX).usage.spend;
    Some(Hold::Budget { limit, needed })
}
