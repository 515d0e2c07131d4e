//! What to launch and what to destroy: the ways to try, and the best of them.

use crate::decide::decision::{Choice, Situation};
use crate::decide::groups::{Replace, choose_in};
use crate::decide::removals::{Quota, Removals, keep_everything};
use crate::decide::seams;
use crate::holdings::{Holding, Standing};
use fleet_model::{Group, MicroUsd, Units, Why};

/// Chooses, ending no more machines than the quota allows.
pub(crate) fn choose(situation: Situation<'_>, quota: Quota) -> Choice {
    let inputs = situation.inputs;
    if inputs.limits.destroy_all {
        return destroy_all(situation, quota);
    }
    if seams::surge_is_unbounded() {
        return choose_with(situation, quota, Replace::AtOnce);
    }
    let choice = choose_with(situation, quota, Replace::Surge);
    let choice = burst_first(situation, quota, &choice).unwrap_or(choice);
    // Money set free by a replacement that is then not found may be spent already. Without
    // replacements everything that stays is paid for before anything is bought.
    let over = choice.usage.is_over();
    let buys = choice.buys();
    if over && buys {
        return choose_with(situation, quota, Replace::No);
    }
    // The budget has no room for an old machine and its replacement at once.
    let surged = choice.surged;
    let waits = choice.waiting > 0 || !surged.is_zero();
    let on_the_way = !choice.outgoing.misplaced.is_empty();
    if waits && !buys && choice.victims.is_empty() && !on_the_way {
        let room = make_room(situation, quota);
        return room.map_or(choice, |room| Choice { surged, ..room });
    }
    choice
}

/// The other way round, if that places more: the base is placed first, and where it takes up the shares
/// of places that sell spot, the burst finds none, while others that sell on demand alone stay empty. The
/// base never has less for it.
fn burst_first(situation: Situation<'_>, quota: Quota, choice: &Choice) -> Option<Choice> {
    let inputs = situation.inputs;
    let short = |choice: &Choice, group| choice.taken.get(&group).map_or(Units(0), |t| t.short);
    let rules = &inputs.desired.placement;
    // A hedge chooses for both groups, and what is committed counts for either: those have an order. What
    // the base costs to the end of a month is set aside first.
    let ordered =
        rules.hedge.is_some() || !rules.commitments.is_empty() || inputs.desired.budget.has_caps();
    if short(choice, Group::Burst).is_zero() || ordered {
        return None;
    }
    let order = [Group::Burst, Group::Base];
    let other = choose_in(situation, quota, Replace::Surge, order);
    let better = short(&other, Group::Burst) < short(choice, Group::Burst)
        && short(&other, Group::Base) <= short(choice, Group::Base);
    better.then_some(other)
}

/// Destroys some of the machines that are to be replaced before their replacements are launched: no
/// more than the surge would launch, and only if there are replacements that the budget then has
/// room for. The next round launches them.
fn make_room(situation: Situation<'_>, quota: Quota) -> Option<Choice> {
    let Situation { inventory, .. } = situation;
    // A few at a time: the budget may have room for one more, and not for all of them.
    let few = quota.any.min(inventory.ends_at_once());
    let wish = choose_with(situation, Quota { any: few, ..quota }, Replace::AtOnce);
    let limited = wish.usage.limit.is_some();
    if !limited || wish.replaced.is_empty() || wish.usage.is_over() {
        return None;
    }
    let mut choice = keep_everything(situation);
    // The others wait for their turn.
    choice.waiting = 1;
    let removals = Removals::new(situation, quota);
    let mut room = removals.surge();
    for at in wish.replaced {
        let holding = &inventory.holdings[at];
        // What is over a share limit would be launched in the same place again.
        let over_share = holding.standing == Standing::Good;
        if holding.weight > room || !holding.standing.counts() || over_share {
            continue;
        }
        room = room - holding.weight;
        choice.usage.spend = choice.usage.spend - holding.bill();
        choice.victims.insert(at, wish.victims[&at].clone());
    }
    (!choice.victims.is_empty()).then_some(choice)
}

/// Places the base first, then the burst.
pub(crate) fn choose_with(situation: Situation<'_>, quota: Quota, replace: Replace) -> Choice {
    choose_in(situation, quota, replace, Group::ALL)
}

fn destroy_all(situation: Situation<'_>, quota: Quota) -> Choice {
    let inventory = situation.inventory;
    let mut choice = keep_everything(situation);
    let touchable = |holding: &Holding| match holding.standing {
        Standing::Good
        | Standing::Disallowed(_)
        | Standing::ToReplace
        | Standing::Failed(_)
        | Standing::Stopped
        | Standing::CameBack
        | Standing::Interrupted => true,
        Standing::Fixed | Standing::Ending => false,
    };
    let holdings = inventory.holdings.iter().enumerate().filter(|(_, h)| touchable(h));
    let victims = holdings.take(quota.any as usize);
    choice.victims = victims.map(|(at, _)| (at, Why::FleetDestroyed)).collect();
    let gone = choice.victims.keys().map(|at| &inventory.holdings[*at]);
    let gone: MicroUsd = gone.filter(|holding| holding.standing.stands()).map(Holding::bill).sum();
    choice.usage.spend = choice.usage.spend - gone;
    choice
}
