//! Why machines are launched in one pool and not in another.

use crate::decide::Decision;
use crate::holdings::Holding;
use crate::place::Usage;
use crate::place::rank::{self, Key};
use fleet_model::{Group, Market, PoolId, PoolReason, Rejection, Strategy, Units};
use std::collections::BTreeMap;

/// The reason of every pool in which machines are launched.
pub(crate) fn pool_reasons<'a>(decision: &'a Decision<'_>) -> BTreeMap<&'a PoolId, PoolReason> {
    let mut found = BTreeMap::new();
    for (&group, taken) in &decision.choice.taken {
        let hedged = group == Group::Burst && decision.inputs.desired.placement.hedge.is_some();
        let order = (!hedged && !taken.counts.is_empty()).then(|| Order::new(decision, group));
        for &at in taken.counts.keys() {
            let candidate = decision.candidate(at);
            let pool = &candidate.offering.pool;
            let paid_for = candidate
                .commitment
                .is_some_and(|one| decision.choice.usage.committed[one as usize].used() > 0);
            let reason = match &order {
                _ if paid_for => PoolReason::PaidFor,
                _ if group == Group::Burst && pool.market != Market::Spot => {
                    PoolReason::InPlaceOfSpot
                }
                Some(order) => order.reason(decision, at),
                None => PoolReason::Hedge,
            };
            found.entry(pool).or_insert(reason);
        }
    }
    found
}

/// What comes first in the order of a strategy, as things stand once a group is filled.
struct Order {
    strategy: Strategy,
    usage: Usage,
    first: Option<Key>,
    /// The first that would take another machine.
    open: Option<Key>,
    /// The first that would not, and why.
    full: Option<(Key, Rejection)>,
}

/// What stays, and what is launched for a group and those before it.
fn filled_up_to(decision: &Decision<'_>, group: Group) -> Usage {
    let stays = |(at, holding): &(usize, &Holding)| {
        holding.standing.counts() && !decision.choice.victims.contains_key(at)
    };
    let holdings = decision.inventory.holdings.iter().enumerate().filter(stays);
    let mut usage = decision.problem.held(holdings.map(|(_, holding)| holding));
    for (_, taken) in decision.choice.taken.range(..=group) {
        decision.problem.take_all(&mut usage, taken);
    }
    usage
}

impl Order {
    fn new(decision: &Decision<'_>, group: Group) -> Self {
        let problem = &decision.problem;
        let strategy = problem.desired.placement.strategy;
        let usage = filled_up_to(decision, group);
        let mut order = Order { strategy, usage, first: None, open: None, full: None };
        if strategy == Strategy::Diversified {
            return order;
        }
        for at in problem.of_market(group.market()) {
            let key = order.key(decision, at);
            order.first = Some(order.first.map_or(key, |first| first.min(key)));
            let full = order.full.as_ref().is_none_or(|(full, _)| key < *full);
            if !full && order.open.is_some_and(|open| open < key) {
                continue;
            }
            match problem.misfit(&order.usage, at) {
                Some(because) if full => order.full = Some((key, because)),
                Some(_) => {}
                None => order.open = Some(order.open.map_or(key, |open| open.min(key))),
            }
        }
        order
    }

    /// Where a candidate stands while it carries nothing.
    fn key(&self, decision: &Decision<'_>, at: u32) -> Key {
        let candidate = decision.candidate(at);
        let target = decision.problem.desired.capacity.target;
        rank::key(self.strategy, candidate, at, Units(0), candidate.weight, target, false)
    }

    fn reason(&self, decision: &Decision<'_>, at: u32) -> PoolReason {
        if self.strategy == Strategy::Diversified {
            return PoolReason::Even;
        }
        let key = self.key(decision, at);
        if self.first.is_none_or(|first| key <= first) {
            return PoolReason::Best { strategy: self.strategy };
        }
        let (problem, usage) = (&decision.problem, &self.usage);
        if self.open.is_some_and(|open| open < key) {
            let spot = decision.candidate(at).offering.pool.market == Market::Spot;
            return match self.strategy {
                _ if problem.holds_a_zone(usage, at) => PoolReason::AnotherZone,
                Strategy::LowestPrice | Strategy::Prioritized => PoolReason::Size,
                _ if spot => PoolReason::OthersCrowded,
                _ => PoolReason::Size,
            };
        }
        match &self.full {
            Some((full, because)) if *full < key => {
                PoolReason::OthersFull { because: because.clone() }
            }
            _ => PoolReason::Best { strategy: self.strategy },
        }
    }
}
