//! Which machines are to end, and which of them stay after all.

use crate::budget::{Allowance, Limit};
use crate::clock::{is_over, target_lowered};
use crate::decide::decision::{Choice, Situation};
use crate::decide::rollout::part;
use crate::holdings::{Holding, Inventory, Standing, Zones};
use crate::place::{Problem, Usage};
use fleet_model::{
    AtCap, CauseKind, Group, Inputs, MicroUsd, Rejection, Spread, Units, UpdateStrategy, Why,
};
use std::collections::{BTreeMap, BTreeSet};

/// The choice of victims, step by step.
pub(crate) struct Removals<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) inventory: &'a Inventory,
    pub(crate) allowance: &'a Allowance,
    pub(crate) quota: Quota,
    pub(crate) victims: BTreeMap<usize, Why>,
    /// How many of them the lowered target asks for.
    lowered: u32,
    /// How many of them go because the money is used up.
    shed: u32,
    /// How many of them a change of template replaces: that has its own limits.
    updated: u32,
    /// How much may be missing while machines are replaced, and is not yet.
    pub(super) spare: Units,
    /// Machines that move and whose successors stand: they are about to be victims.
    pub(crate) leaving: BTreeSet<usize>,
}

/// How many machines may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    /// For whatever reason.
    pub(crate) any: u32,
    /// Besides, because the user lowered the target.
    pub(crate) lowered: u32,
    /// Besides, because the money of a month or of the fleet's life is used up.
    pub(crate) shed: u32,
}

impl Quota {
    /// No limit.
    pub(crate) const ALL: Quota = Quota { any: u32::MAX, lowered: 0, shed: 0 };
    /// Nothing ends.
    pub(crate) const NONE: Quota = Quota { any: 0, lowered: 0, shed: 0 };
}

/// Nothing is launched and nothing is destroyed.
pub(crate) fn keep_everything(situation: Situation<'_>) -> Choice {
    Choice::keep_everything(Removals::new(situation, Quota::NONE).hold_kept())
}

impl<'a> Removals<'a> {
    /// None yet; at most `quota`.
    pub(crate) fn new(situation: Situation<'a>, quota: Quota) -> Self {
        let Situation { inputs, problem, inventory, allowance } = situation;
        let victims = BTreeMap::new();
        let mut removals = Removals {
            inputs,
            problem,
            inventory,
            allowance,
            quota,
            victims,
            lowered: 0,
            shed: 0,
            updated: 0,
            spare: Units(0),
            leaving: BTreeSet::new(),
        };
        removals.spare = removals.unavailable();
        removals
    }

    pub(crate) fn group(&self, group: Group) -> impl Iterator<Item = (usize, &Holding)> {
        let numbered = self.inventory.holdings.iter().enumerate();
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
        if matches!(why, Why::TargetLowered { .. }) && self.lowered < self.quota.lowered {
            self.lowered += 1;
            self.victims.insert(at, why);
            return true;
        }
        if is_used_up(&why) && self.shed < self.quota.shed {
            self.shed += 1;
            self.victims.insert(at, why);
            return true;
        }
        if why == Why::TemplateChanged && self.quota != Quota::NONE {
            self.updated += 1;
            self.victims.insert(at, why);
            return true;
        }
        let others = self.lowered + self.shed + self.updated;
        let free = (self.victims.len() as u32).saturating_sub(others) < self.quota.any;
        if free {
            self.victims.insert(at, why);
        }
        free
    }

    /// Why a machine of a group is too many: the user asked for less, as far as that goes.
    pub(crate) fn too_many(&self, group: Group, weight: Units, asked: &mut Units) -> Why {
        match self.lowered_to(group) {
            Some((from, to)) if weight <= *asked => {
                *asked = *asked - weight;
                Why::TargetLowered { group, from, to }
            }
            _ => Why::AboveTarget { group },
        }
    }

    /// How much less of a group the user asks for.
    pub(crate) fn asked_off(&self, group: Group) -> Units {
        self.lowered_to(group).map_or(Units(0), |(from, to)| from - to)
    }

    /// By how much the user asks for less of a group. Of a fleet that expired nothing is wanted, also where
    /// it never came to hold what it was meant to.
    fn lowered_to(&self, group: Group) -> Option<(Units, Units)> {
        if is_over(&self.inputs.desired, self.inputs.now) {
            let held = self.group(group).map(|(_, holding)| holding.weight).sum();
            return Some((held, Units(0)));
        }
        target_lowered(self.inputs, group)
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
                .full_price()
                .map(|p| u128::from(p.0) * 1000 / u128::from(holding.weight.0.max(1)));
            let keep_old = self.inventory.keep_old;
            (
                !holding.ending,
                !holding.failing,
                !matches!(holding.standing, Standing::Disallowed(_)),
                !excess.contains_key(at),
                holding.old_template == keep_old,
                per_unit.is_some(),
                std::cmp::Reverse(per_unit),
                std::cmp::Reverse(holding.launched_at),
                std::cmp::Reverse(holding.slot),
            )
        });
        order.into_iter().map(|(at, _)| at).collect()
    }

    /// What costs money and is no use: shut down, never came up, or came back too late. It loses
    /// nobody anything, so it waits for nobody.
    pub(crate) fn destroy_useless(&mut self) {
        for (at, holding) in self.inventory.holdings.iter().enumerate() {
            let why = match &holding.standing {
                Standing::Stopped => Why::Stopped,
                Standing::CameBack => Why::CameBack,
                Standing::Failed(kind) if never_worked(*kind) => Why::Failed { kind: *kind },
                Standing::Failed(_)
                | Standing::Good
                | Standing::ToReplace
                | Standing::Disallowed(_)
                | Standing::Fixed
                | Standing::Interrupted
                | Standing::Ending => continue,
            };
            self.end(at, why);
        }
    }

    /// Machines that their cloud calls failed and that worked once: they may still serve, so each
    /// waits for its replacement. `whole`: the group has all it wants without them. How many wait on.
    pub(crate) fn destroy_replaced_failures(
        &mut self,
        group: Group,
        launched: Units,
        whole: bool,
        replaced: &mut BTreeSet<usize>,
    ) -> u32 {
        let mut waiting = 0;
        // What stands beyond the target may go as well: its replacements were launched before.
        let beyond = self.standing().saturating_sub(self.inputs.desired.capacity.target);
        let mut left = launched + beyond;
        for (at, holding) in self.inventory.holdings.iter().enumerate() {
            let Standing::Failed(kind) = holding.standing else { continue };
            if holding.slot.name.group != group || never_worked(kind) {
                continue;
            }
            if !whole && holding.weight > left {
                waiting += 1;
                continue;
            }
            left = left.saturating_sub(holding.weight);
            if self.end(at, Why::Failed { kind }) {
                replaced.insert(at);
            }
        }
        waiting
    }

    /// What one machine counts for, at the most.
    fn one(&self) -> Units {
        let held = self.inventory.holdings.iter().map(|holding| holding.weight).max();
        let offered = self.problem.candidates.iter().map(|candidate| candidate.weight).min();
        held.unwrap_or_default().max(offered.unwrap_or_default())
    }

    /// How much more may stand beyond the target while machines are replaced: a tenth, at least one
    /// machine, and what a change of template may have.
    pub(crate) fn surge(&self) -> Units {
        let target = self.inputs.desired.capacity.target;
        Units(target.0 / 10).max(self.one()).max(self.update_surge())
    }

    /// How much more may stand while a change of template is under way: as the spec says, and at least one
    /// machine unless it says none.
    pub(crate) fn update_surge(&self) -> Units {
        let updates = &self.inputs.desired.updates;
        if updates.strategy == UpdateStrategy::Recreate || updates.max_surge.is_none() {
            return Units(0);
        }
        let one = self.one();
        part(updates.max_surge, self.inputs.desired.capacity.target, one).max(one)
    }

    /// What a change of template replaces now, of one group.
    pub(crate) fn updating(&self, group: Group) -> Units {
        let holdings = self.inventory.holdings.iter();
        let ours = holdings.filter(|holding| holding.slot.name.group == group);
        ours.filter(|holding| is_updating(holding)).map(|holding| holding.weight).sum()
    }

    /// What a change of template may launch before something else is gone.
    pub(crate) fn update_allowance(&self) -> Units {
        let counted = self.kept(Group::Base) + self.kept(Group::Burst);
        let all = counted + self.updating(Group::Base) + self.updating(Group::Burst);
        (self.inputs.desired.capacity.target + self.update_surge()).saturating_sub(all)
    }

    /// How much may be missing while machines are replaced.
    pub(crate) fn unavailable(&self) -> Units {
        let updates = &self.inputs.desired.updates;
        let target = self.inputs.desired.capacity.target;
        match updates.strategy {
            UpdateStrategy::Recreate => target,
            UpdateStrategy::Rolling => part(updates.max_unavailable, target, self.one()),
        }
    }

    /// Everything that stands until somebody destroys it, what is to be destroyed included: a
    /// replacement is launched before the old machine goes.
    pub(crate) fn standing(&self) -> Units {
        let holdings = self.inventory.holdings.iter();
        holdings.filter(|holding| holding.standing.stands()).map(|holding| holding.weight).sum()
    }

    /// What machines that are to be destroyed cost until they are.
    pub(crate) fn leaving_bill(&self) -> MicroUsd {
        let leaving = self.victims.keys().map(|at| &self.inventory.holdings[*at]);
        leaving.filter(|h| h.standing.stands()).map(Holding::bill).sum()
    }

    /// Ends what is too many. `replaces`: what stands in a pool that may not be used goes in its own way,
    /// and what was launched for it is not too many beside it.
    pub(crate) fn end_surplus(&mut self, group: Group, wanted: Units, replaces: bool) {
        let apart =
            |h: &Holding| replaces && matches!(h.standing, Standing::Disallowed(_)) && h.is_ready();
        let misplaced = self.group(group).filter(|(_, holding)| apart(holding));
        let misplaced: Units = misplaced.map(|(_, holding)| holding.weight).sum();
        let mut have = self.kept(group).saturating_sub(misplaced);
        if have <= wanted || self.rounding(group, have - wanted) {
            return;
        }
        let mut zones = self.zones();
        let mut asked = self.asked_off(group);
        for at in self.worst_first(group) {
            let holding = &self.inventory.holdings[at];
            let spare = have >= wanted + holding.weight && !holding.weight.is_zero();
            if !spare || apart(holding) {
                continue;
            }
            if !wanted.is_zero() && !zones.leave(&holding.pool.place) {
                continue;
            }
            have = have - holding.weight;
            let why = match &holding.standing {
                Standing::Disallowed(because) => Why::PoolNotAllowed { because: because.clone() },
                _ => self.too_many(group, holding.weight, &mut asked),
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
        let inventory: &'a Inventory = self.inventory;
        let least = self.inputs.desired.placement.spread.min_zones as usize;
        let holdings = inventory.holdings.iter().enumerate();
        Zones::new(holdings.filter(|(at, _)| !self.victims.contains_key(at)).map(|(_, h)| h), least)
    }

    /// What machines of a group that stay cost per hour.
    pub(crate) fn pays(&self, group: Group) -> MicroUsd {
        self.paid().filter(|(_, h)| h.slot.name.group == group).map(|(_, h)| h.bill()).sum()
    }

    /// Everything that is paid for and stays, as far as is decided.
    fn paid(&self) -> impl Iterator<Item = (usize, &Holding)> {
        let holdings = self.inventory.holdings.iter().enumerate();
        holdings.filter(|(at, h)| h.standing.stands() && !self.victims.contains_key(at))
    }

    /// Sheds burst, dearest first, until what is left fits the budget. Never the base.
    pub(crate) fn shed_over_budget(&mut self) {
        let base = self.pays(Group::Base);
        let limit = match self.inputs.desired.budget.at_cap {
            AtCap::ShrinkBurst => self.allowance.to_keep(base),
            // What is used up is used up, whatever the spec says of prices per hour.
            AtCap::Hold => self.allowance.of_caps().to_keep(base),
        };
        let Some(Limit { hourly: limit, cap }) = limit else { return };
        let mut spend = base + self.pays(Group::Burst);
        if spend <= limit {
            return;
        }
        for at in self.worst_first(Group::Burst) {
            if spend <= limit {
                break;
            }
            if self.inventory.holdings[at].covered {
                continue;
            }
            spend = spend - self.inventory.holdings[at].bill();
            self.end(at, Why::OverBudget { limit, cap });
        }
    }

    /// Machines in pools that the spec no longer allows.
    pub(crate) fn replace_disallowed(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, holding) in self.inventory.holdings.iter().enumerate() {
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
        let holdings = &self.inventory.holdings;
        let mut kept: Vec<usize> = self.all_kept().collect();
        kept.sort_by_key(|at| {
            let holding = &holdings[*at];
            (holding.standing != Standing::Fixed, holding.slot.name.group, holding.launched_at, *at)
        });
        kept
    }

    fn all_kept(&self) -> impl Iterator<Item = usize> {
        let holdings =
            self.inventory.holdings.iter().enumerate().filter(|(_, h)| h.standing.counts());
        holdings.map(|(at, _)| at).filter(|at| !self.victims.contains_key(at))
    }

    /// What is over a share limit, and which.
    fn over_caps(&self) -> BTreeMap<usize, Rejection> {
        let mut over = BTreeMap::new();
        if self.inputs.desired.placement.spread == Spread::default() {
            return over;
        }
        let mut usage = self.problem.usage();
        // What is about to leave takes nobody's share.
        let stays = |at: &usize| !self.leaving.contains(at);
        for at in self.kept_in_order().into_iter().filter(stays) {
            let holding = &self.inventory.holdings[at];
            match self.problem.holds_within_caps(&usage, &holding.pool, holding.weight) {
                Some(because) => {
                    over.insert(at, because);
                }
                None => self.problem.hold(&mut usage, holding),
            }
        }
        over
    }

    /// Machines over a share limit.
    pub(crate) fn replace_over_caps(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, because) in self.over_caps() {
            let movable = self.inventory.holdings[at].standing == Standing::Good;
            if movable && self.end(at, Why::PoolNotAllowed { because }) {
                replaced.insert(at);
            }
        }
    }

    /// Counts what stays against every limit. What is no capacity costs money all the same.
    pub(crate) fn hold_kept(&self) -> Usage {
        let holdings = &self.inventory.holdings;
        let all = |at: usize| &holdings[at];
        // Who comes first matters to what is paid for already, and to no sum.
        let mut usage = match self.problem.commitments.is_empty() {
            true => self.problem.held(self.all_kept().map(all)),
            false => self.problem.held(self.kept_in_order().into_iter().map(all)),
        };
        for (at, holding) in holdings.iter().enumerate() {
            let useless = holding.standing.stands() && !holding.standing.counts();
            if useless && !self.victims.contains_key(&at) {
                usage.spend += holding.bill();
            }
        }
        usage
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
        let of_group = |at: &usize| self.inventory.holdings[*at].slot.name.group == group;
        let candidates: Vec<usize> = replaced.iter().copied().filter(of_group).rev().collect();
        for at in candidates {
            if short.is_zero() {
                break;
            }
            let holding = &self.inventory.holdings[at];
            replaced.remove(&at);
            self.victims.remove(&at);
            self.problem.hold(usage, holding);
            short = short.saturating_sub(holding.weight);
            kept += 1;
        }
        kept
    }
}

/// Whether a machine goes because the money of a month, or of the fleet's life, is used up.
pub(crate) fn is_used_up(why: &Why) -> bool {
    matches!(why, Why::OverBudget { cap, .. } if !cap.is_hourly())
}

/// Whether a change of template replaces a machine now.
fn is_updating(holding: &Holding) -> bool {
    holding.standing == Standing::ToReplace && holding.leaving == Why::TemplateChanged
}

/// Whether a failed machine never was of any use to anybody.
fn never_worked(kind: CauseKind) -> bool {
    match kind {
        CauseKind::NeverReady | CauseKind::LaunchFailed => true,
        CauseKind::Unwell
        | CauseKind::NotReady
        | CauseKind::Interrupted
        | CauseKind::Person
        | CauseKind::Guest
        | CauseKind::Expired => false,
    }
}
