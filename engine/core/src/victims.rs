//! Which machines are to end, and which of them stay after all.

use crate::decide::{held, hold};
use crate::field::{Field, Usage};
use crate::ledger::{Holding, Ledger, Standing};
use crate::zones::Zones;
use fleet_model::{AtCap, Group, Inputs, MicroUsd, Rejection, Spread, Units, Why};
use std::collections::{BTreeMap, BTreeSet};

/// The choice of victims, step by step.
pub(crate) struct Work<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) field: &'a Field<'a>,
    pub(crate) ledger: &'a Ledger,
    pub(crate) quota: u32,
    pub(crate) victims: BTreeMap<usize, Why>,
}

impl<'a> Work<'a> {
    pub(crate) fn group(&self, group: Group) -> impl Iterator<Item = (usize, &Holding)> {
        let numbered = self.ledger.holdings.iter().enumerate();
        numbered.filter(move |(_, h)| h.slot.name.group == group && h.standing.counts())
    }

    /// Capacity of a group that stays.
    pub(crate) fn kept(&self, group: Group) -> Units {
        self.group(group)
            .filter(|(at, _)| !self.victims.contains_key(at))
            .map(|(_, holding)| holding.weight)
            .sum()
    }

    pub(crate) fn end(&mut self, at: usize, why: Why) -> bool {
        let free = (self.victims.len() as u32) < self.quota;
        if free {
            self.victims.insert(at, why);
        }
        free
    }

    /// Holdings of a group that may be ended, worst first: asked to end before, not allowed, over
    /// a share limit, unpriced, dearest per unit, youngest.
    fn worst_first(&self, group: Group) -> Vec<usize> {
        let excess = self.over_caps();
        let mut order: Vec<(usize, &Holding)> = self
            .group(group)
            .filter(|(at, h)| h.standing != Standing::Fixed && !self.victims.contains_key(at))
            .collect();
        order.sort_by_cached_key(|(at, holding)| {
            let per_unit = holding
                .bill()
                .map(|p| u128::from(p.0) * 1000 / u128::from(holding.weight.0.max(1)));
            (
                !holding.ending,
                !matches!(holding.standing, Standing::Disallowed(_)),
                !excess.contains_key(at),
                !holding.old_template,
                per_unit.is_some(),
                std::cmp::Reverse(per_unit),
                std::cmp::Reverse(holding.launched_at),
                std::cmp::Reverse(holding.slot),
            )
        });
        order.into_iter().map(|(at, _)| at).collect()
    }

    pub(crate) fn end_surplus(&mut self, group: Group, wanted: Units) {
        let mut have = self.kept(group);
        if have <= wanted || self.rounding(group, have - wanted) {
            return;
        }
        let mut zones = self.zones();
        for at in self.worst_first(group) {
            let holding = &self.ledger.holdings[at];
            if holding.weight.is_zero() || have - holding.weight < wanted || have < holding.weight {
                continue;
            }
            if !wanted.is_zero() && !zones.leave(&holding.pool.place) {
                continue;
            }
            have = have - holding.weight;
            let why = match &holding.standing {
                Standing::Disallowed(because) => Why::PoolNotAllowed { because: because.clone() },
                _ => Why::AboveTarget { group },
            };
            self.end(at, why);
        }
    }

    /// Whether a surplus comes of whole machines alone: less than the largest is too much, and the
    /// fleet as a whole has no more than its target.
    fn rounding(&self, group: Group, surplus: Units) -> bool {
        let largest = self.group(group).map(|(_, holding)| holding.weight).max();
        let all = self.kept(Group::Base) + self.kept(Group::Burst);
        largest.is_some_and(|weight| surplus < weight) && all <= self.inputs.desired.capacity.target
    }

    /// Machines that stay, by zone.
    pub(crate) fn zones(&self) -> Zones<'a> {
        let ledger: &'a Ledger = self.ledger;
        let least = self.inputs.desired.placement.spread.min_zones as usize;
        let holdings = ledger.holdings.iter().enumerate();
        Zones::new(holdings.filter(|(at, _)| !self.victims.contains_key(at)).map(|(_, h)| h), least)
    }

    /// Sheds burst, dearest first, until what is left fits the budget. Never the base.
    pub(crate) fn shed_over_budget(&mut self) {
        let budget = self.inputs.desired.budget;
        let (Some(limit), AtCap::ShrinkBurst) = (budget.hourly, budget.at_cap) else { return };
        let counted =
            self.ledger.holdings.iter().enumerate().filter(|(at, holding)| {
                holding.standing.counts() && !self.victims.contains_key(at)
            });
        let mut spend: MicroUsd = counted.filter_map(|(_, holding)| holding.bill()).sum();
        if spend <= limit {
            return;
        }
        for at in self.worst_first(Group::Burst) {
            if spend <= limit {
                break;
            }
            if self.ledger.holdings[at].covered {
                continue;
            }
            spend = spend - self.ledger.holdings[at].price.unwrap_or_default();
            self.end(at, Why::OverBudget { limit });
        }
    }

    /// Machines in pools that the spec no longer allows.
    pub(crate) fn replace_disallowed(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, holding) in self.ledger.holdings.iter().enumerate() {
            if let Standing::Disallowed(because) = &holding.standing
                && !self.victims.contains_key(&at)
                && self.end(at, Why::PoolNotAllowed { because: because.clone() })
            {
                replaced.insert(at);
            }
        }
    }

    /// What stays, in the order in which it is counted against the share limits: what cannot be
    /// moved first, then the base, then the oldest.
    fn kept_in_order(&self) -> Vec<usize> {
        let holdings = &self.ledger.holdings;
        let stays = |at: &usize| holdings[*at].standing.counts() && !self.victims.contains_key(at);
        let mut kept: Vec<usize> = (0..holdings.len()).filter(stays).collect();
        kept.sort_by_key(|at| {
            let holding = &holdings[*at];
            (holding.standing != Standing::Fixed, holding.slot.name.group, holding.launched_at, *at)
        });
        kept
    }

    /// What is over a share limit, and which.
    fn over_caps(&self) -> BTreeMap<usize, Rejection> {
        let mut over = BTreeMap::new();
        if self.inputs.desired.placement.spread == Spread::default() {
            return over;
        }
        let mut usage = self.field.usage();
        for at in self.kept_in_order() {
            let holding = &self.ledger.holdings[at];
            match self.field.holds_within_caps(&usage, &holding.pool, holding.weight) {
                Some(because) => {
                    over.insert(at, because);
                }
                None => hold(self.field, &mut usage, holding),
            }
        }
        over
    }

    /// Machines over a share limit.
    pub(crate) fn replace_over_caps(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, because) in self.over_caps() {
            let movable = self.ledger.holdings[at].standing == Standing::Good;
            if movable && self.end(at, Why::PoolNotAllowed { because }) {
                replaced.insert(at);
            }
        }
    }

    /// Machines made from an older template than the spec's, oldest first.
    pub(crate) fn replace_old_templates(&mut self, replaced: &mut BTreeSet<usize>) {
        let old = |at: &usize| {
            let holding = &self.ledger.holdings[*at];
            holding.old_template && holding.standing == Standing::Good
        };
        let mut old: Vec<usize> = self.kept_in_order().into_iter().filter(old).collect();
        old.sort_by_key(|at| self.ledger.holdings[*at].launched_at);
        for at in old {
            if self.end(at, Why::TemplateChanged) {
                replaced.insert(at);
            }
        }
    }

    /// Counts what stays against every limit.
    pub(crate) fn hold_kept(&self) -> Usage {
        held(self.field, self.kept_in_order().into_iter().map(|at| &self.ledger.holdings[at]))
    }

    /// Keeps machines that were to be replaced, until they make up for what is short. Returns how
    /// many stay.
    pub(crate) fn keep_unreplaced(
        &mut self,
        group: Group,
        replaced: &mut BTreeSet<usize>,
        mut short: Units,
        usage: &mut Usage,
    ) -> u32 {
        let mut kept = 0;
        let of_group = |at: &usize| self.ledger.holdings[*at].slot.name.group == group;
        let candidates: Vec<usize> = replaced.iter().copied().filter(of_group).rev().collect();
        for at in candidates {
            if short.is_zero() {
                break;
            }
            let holding = &self.ledger.holdings[at];
            replaced.remove(&at);
            self.victims.remove(&at);
            hold(self.field, usage, holding);
            short = short.saturating_sub(holding.weight);
            kept += 1;
        }
        kept
    }
}
