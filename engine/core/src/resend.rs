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
use fleet_model::{Attempt, Block, Group, Inputs, MicroUsd, Token, Units};
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
    let mut room = Room::new(inputs, field, ledger);
    let fits = attempts.filter(|attempt| may_launch(inputs, ledger, attempt) && room.take(attempt));
    fits.map(|attempt| attempt.create.token.clone()).collect()
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

/// What may be launched without what is in doubt.
struct Room {
    /// What each group lacks.
    groups: BTreeMap<Group, Units>,
    /// What may stand in all.
    all: Units,
    money: Option<MicroUsd>,
    weights: BTreeMap<Token, Units>,
}

impl Room {
    fn new(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger) -> Self {
        let goal = inputs.desired.capacity;
        let known = |holding: &&Holding| holding.machine.is_some();
        let mut groups: BTreeMap<Group, Units> =
            [(Group::Base, goal.on_demand), (Group::Burst, goal.spot)].into();
        if inputs.desired.placement.hedge.is_some() {
            // Spares are a decision: twice the need is the most that they come to.
            groups.insert(Group::Burst, goal.spot + goal.spot);
        }
        let mut all = groups.values().copied().sum::<Units>().max(goal.target);
        for holding in ledger.holdings.iter().filter(known).filter(|h| h.standing.stands()) {
            all = all.saturating_sub(holding.weight);
            if let (Some(lacks), true) =
                (groups.get_mut(&holding.slot.name.group), holding.standing.counts())
            {
                *lacks = lacks.saturating_sub(holding.weight);
            }
        }
        let work = Work { inputs, field, ledger, quota: 0, victims: BTreeMap::new() };
        let paid = ledger.holdings.iter().filter(known).filter(|h| h.standing.stands());
        let spent: MicroUsd = paid.filter_map(Holding::bill).sum();
        let money = inputs.desired.budget.hourly.map(|limit| limit.saturating_sub(spent));
        let mut weights: BTreeMap<Token, Units> = BTreeMap::new();
        for (token, attempt) in &inputs.recorded.in_doubt {
            let of_it =
                |h: &&Holding| h.machine.is_none() && attempt.create.slots.contains(&h.slot);
            let weight = ledger.holdings.iter().filter(of_it).map(|holding| holding.weight).sum();
            weights.insert(token.clone(), weight);
        }
        Room { groups, all: all + work.surge(), money, weights }
    }

    /// Takes what a launch would make, if there is room for all of it.
    fn take(&mut self, attempt: &Attempt) -> bool {
        let create = &attempt.create;
        let weight = self.weights.get(&create.token).copied().unwrap_or_default();
        let price = create.dearest().unwrap_or_default() * create.slots.len() as u64;
        let Some(group) = create.slots.first().map(|slot| slot.name.group) else { return false };
        let lacks = self.groups.get(&group).copied().unwrap_or_default();
        let each = Units(weight.0 / (create.slots.len() as u64).max(1));
        // Whole machines: the last one may be more than what is missing.
        let fits = !lacks.is_zero() && weight < lacks + each.max(Units(1)) && weight <= self.all;
        let paid = self.money.is_none_or(|money| price <= money);
        if fits && paid {
            self.groups.insert(group, lacks.saturating_sub(weight));
            self.all = self.all.saturating_sub(weight);
            self.money = self.money.map(|money| money.saturating_sub(price));
        }
        fits && paid
    }
}
