//! One group after the other: what goes, what is launched, and what stays for want of a replacement.

use crate::decide::decision::{Choice, Outgoing, Situation};
use crate::decide::removals::{Quota, Removals};
use crate::decide::resting::resting;
use crate::fallback::stand;
use crate::place::{Taken, Usage};
use fleet_model::{FallbackStep, Group, MicroUsd, Units};
use std::collections::{BTreeMap, BTreeSet};

/// Whether and how machines that should stand elsewhere are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// Some at a time, so that no more than target and surge stand, within the budget.
    Surge,
    /// All of them, as if old and new never stood side by side: what the spec asks for in the end.
    AtOnce,
    /// None.
    No,
}

/// Places groups in this order: what the first takes of a share, the second cannot have.
pub(crate) fn choose_in(
    situation: Situation<'_>,
    quota: Quota,
    replace: Replace,
    order: [Group; 2],
) -> Choice {
    let Situation { inputs, problem, inventory, allowance: money } = situation;
    let goal = inputs.desired.capacity;
    let mut removals = Removals::new(situation, quota);
    removals.destroy_useless();
    let replaces = replace != Replace::No;
    removals.end_surplus(Group::Base, goal.on_demand, replaces);
    let hedge = inputs.desired.placement.hedge;
    match hedge {
        None => {
            removals.find_moved(goal.spot);
            let side_by_side = removals.end_moved();
            removals.end_surplus(Group::Burst, goal.spot + side_by_side, replaces);
        }
        Some(rule) => removals.end_committed_surplus(goal.spot, rule),
    }
    removals.shed_over_budget();
    let mut replaced = BTreeSet::new();
    if replaces {
        removals.replace_disallowed(&mut replaced);
        removals.replace_over_caps(&mut replaced);
    }
    let mut usage = removals.hold_kept();
    let stand = stand(inputs, inventory);
    // Without a rule of its own, or with a hedge, the fleet has nothing to fall back from.
    let over = inputs.recorded.spot.fallen_back.filter(|_| stand.is_none());
    let (mut fallback, mut moving) = (over.map(|_| FallbackStep::Ended), None);

    // What may be launched before something else is gone.
    let mut allowance = match replace {
        Replace::Surge | Replace::No => {
            (goal.target + removals.surge()).saturating_sub(removals.standing())
        }
        Replace::AtOnce => Units(u64::MAX),
    };
    let mut update_allowance = match replace {
        Replace::Surge | Replace::No => removals.update_allowance(),
        Replace::AtOnce => Units(u64::MAX),
    };
    let (mut cheaper, mut savings) = (None, Vec::new());
    let mut surged = Units(0);
    let mut taken = BTreeMap::new();
    let mut waiting = 0;
    let (mut base_after, mut new) = (Units(0), Units(0));
    let mut outlook = None;
    let mut outgoing = Outgoing::default();
    let mut leave = |removals: &mut Removals<'_>, group, launched, wanted, usage: &mut Usage| {
        let mut of_group = removals.destroy_requested(group, launched, wanted, usage);
        if replace != Replace::AtOnce {
            removals.wait_for_ready(group, wanted, usage, &mut of_group);
        }
        outgoing.join(of_group);
    };
    for group in order {
        let wanted = match group {
            Group::Base => goal.on_demand,
            // What the base gives beyond its share, the burst need not.
            Group::Burst => goal.spot.saturating_sub(base_after.saturating_sub(goal.on_demand)),
        };
        let burst = removals.pays(Group::Burst);
        usage.limit = match group {
            Group::Base => money.for_base(burst),
            Group::Burst => money.for_burst(usage.spend - burst),
        };
        if resting(inputs, inventory, group).is_some() {
            // Nothing is launched, so nothing is ended in favour of it either.
            let all = Units(u64::MAX);
            waiting += removals.keep_unreplaced(group, &mut replaced, all, &mut usage);
            // What failed and nobody misses costs money all the same: swarm seed 950028891.
            let whole = removals.kept(group) >= wanted;
            waiting += removals.destroy_replaced_failures(group, Units(0), whole, &mut replaced);
            leave(&mut removals, group, Units(0), wanted, &mut usage);
            if group == Group::Base {
                base_after = removals.kept(group);
            }
            taken.insert(group, Taken::default());
            continue;
        }
        if let (Group::Burst, Some(rule)) = (group, hedge) {
            let side_by_side = replace != Replace::AtOnce;
            removals.bound_replacements(&mut replaced, &mut usage, side_by_side);
            let hedged =
                removals.hedge(&mut usage, wanted, rule, &mut replaced, &mut waiting, side_by_side);
            let launched = problem.units(&hedged.taken);
            let whole = hedged.taken.short.is_zero();
            waiting += removals.destroy_replaced_failures(group, launched, whole, &mut replaced);
            leave(&mut removals, group, launched, wanted, &mut usage);
            taken.insert(group, hedged.taken);
            outlook = Some(hedged.portfolio);
            continue;
        }
        let mut later = Units(0);
        let mut kept_for_surge = 0;
        let filled = loop {
            // Never past the target, whatever the mix: a tier grows as fast as the other shrinks.
            let all = removals.kept(Group::Base) + removals.kept(Group::Burst) + new;
            let room = goal.target.saturating_sub(all);
            let full = wanted.saturating_sub(removals.kept(group)).min(room);
            // What a change of template asks for has limits of its own.
            let updating = removals.updating(group).min(full);
            let by_updates = (full - updating) + updating.min(update_allowance);
            let need = full.min(allowance).min(by_updates);
            let mut tried = usage.clone();
            // Old and new machines are paid for side by side.
            let leaving = match replace {
                Replace::Surge | Replace::No => removals.leaving_bill(),
                Replace::AtOnce => MicroUsd(0),
            };
            tried.spend += leaving;
            let afterwards = match (group, group == order[0]) {
                (Group::Base, true) => goal.spot.saturating_sub(removals.kept(Group::Burst)),
                (Group::Burst, true) => goal.on_demand.saturating_sub(removals.kept(Group::Base)),
                (_, false) => Units(0),
            };
            let filled = match (group, &stand) {
                (Group::Burst, Some(stand)) => {
                    let missing = removals.missing_spot(wanted, &replaced);
                    let filled = stand.fill(problem, &mut tried, (need, missing), afterwards);
                    fallback = stand.news(inventory, &filled, missing);
                    filled.taken
                }
                _ => problem.fill(&mut tried, group.market(), need, afterwards),
            };
            tried.spend = tried.spend - leaving;
            // A machine without a replacement stays, and then less is needed: fill anew.
            // If even less can be had than may stand, it is not the surge that stands in the way.
            let surge_binds = need < full && filled.short.is_zero();
            if surge_binds {
                later = later.max(full - need);
            }
            let short = filled.short + (full - need);
            let stay = removals.keep_unreplaced(group, &mut replaced, short, &mut usage);
            if stay == 0 {
                usage = tried;
                break filled;
            }
            match surge_binds {
                true => kept_for_surge += stay,
                false => waiting += stay,
            }
        };
        let mut filled = filled;
        let launched = problem.units(&filled);
        if group == Group::Burst && replace == Replace::Surge {
            let step = stand
                .as_ref()
                .and_then(|stand| removals.go_back(stand, &mut usage, wanted, allowance));
            let step = step.or_else(|| {
                let rule = inputs.desired.rebalance.as_ref()?;
                let stand = stand.as_ref();
                let found = removals.rebalance(rule, stand, &mut usage, wanted, allowance);
                (cheaper, savings) = (found.news, found.savings);
                found.step
            });
            if let Some(step) = step {
                filled.join(step.taken);
                moving = Some(step.moving);
            }
        }
        if launched.is_zero() && !allowance.is_zero() {
            // The limits allow some, and no pool can supply any.
            waiting += kept_for_surge;
        } else {
            surged += later;
        }
        allowance = allowance.saturating_sub(launched);
        update_allowance = update_allowance.saturating_sub(launched.min(removals.updating(group)));
        let whole = removals.kept(group) + launched >= wanted;
        waiting += removals.destroy_replaced_failures(group, launched, whole, &mut replaced);
        leave(&mut removals, group, launched, wanted, &mut usage);
        if group == Group::Base {
            base_after = removals.kept(group) + launched;
        }
        new += launched;
        taken.insert(group, filled);
    }
    let victims = removals.victims;
    Choice {
        taken,
        victims,
        replaced,
        waiting,
        outgoing,
        surged,
        usage,
        outlook,
        fallback,
        cheaper,
        savings,
        moving,
    }
}
