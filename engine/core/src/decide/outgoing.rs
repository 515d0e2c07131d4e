//! Machines that go only when others are ready in their place.

use crate::decide::decision::Outgoing;
use crate::decide::removals::Removals;
use crate::decide::seams;
use crate::holdings::{Holding, Standing};
use crate::place::Usage;
use fleet_model::{Group, Units, Why};
use std::collections::{BTreeMap, BTreeSet};

impl Removals<'_> {
    /// Machines that go when their successors are ready: a person, a new template or their cloud's word
    /// asks for it. Each goes only when what is ready without it is all that the group wants, but for what
    /// may be missing meanwhile. The slots of those that stay, and how many machines are starting.
    pub(crate) fn destroy_requested(
        &mut self,
        group: Group,
        launched: Units,
        wanted: Units,
        usage: &mut Usage,
    ) -> Outgoing {
        let starting = self.group(group).filter(|(_, holding)| holding.starting).count() as u32;
        let is_requested = |holding: &Holding| {
            holding.slot.name.group == group && holding.standing == Standing::ToReplace
        };
        let holdings = &self.inventory.holdings;
        let requested: Vec<usize> =
            (0..holdings.len()).filter(|at| is_requested(&holdings[*at])).collect();
        let gated = seams::waits_for_ready(self.inputs.desired.updates.health_gate);
        let serves = |holding: &Holding| !gated || holding.is_ready();
        let wanted = wanted.max(self.wanted_beside(group, serves));
        let kept = self
            .group(group)
            .filter(|(at, holding)| !self.victims.contains_key(at) && serves(holding));
        let mut serving: Units = kept.map(|(_, holding)| holding.weight).sum();
        serving += if gated { Units(0) } else { launched };
        let leaving = requested.iter().map(|at| &holdings[*at]).filter(|holding| serves(holding));
        serving += leaving.map(|holding| holding.weight).sum::<Units>();
        let mut slots = Vec::new();
        for at in requested {
            let holding = &self.inventory.holdings[at];
            let less = if serves(holding) { holding.weight } else { Units(0) };
            // A fleet that cannot have its target is not to have less for a change of template.
            let level = match holding.leaving {
                Why::TemplateChanged => self.inventory.level.get(&group).copied(),
                _ => None,
            };
            let least = wanted.saturating_sub(self.spare);
            let least = level.map_or(least, |level| level.min(least));
            let enough = serving.saturating_sub(less) >= least;
            if enough && self.end(at, holding.leaving.clone()) {
                serving = serving.saturating_sub(less);
                usage.spend = usage.spend - holding.bill();
            } else {
                slots.push(holding.slot.name);
            }
        }
        self.spare = self.spare.saturating_sub(wanted.saturating_sub(serving));
        Outgoing { slots, starting, misplaced: BTreeSet::new() }
    }

    /// What a group is to hold beside what serves of the base beyond its share.
    fn wanted_beside(&self, group: Group, serves: impl Fn(&Holding) -> bool) -> Units {
        let goal = self.inputs.desired.capacity;
        if group == Group::Base {
            return goal.on_demand;
        }
        let base = self.group(Group::Base);
        let base = base.filter(|(at, holding)| !self.victims.contains_key(at) && serves(holding));
        let base: Units = base.map(|(_, holding)| holding.weight).sum();
        goal.spot.saturating_sub(base.saturating_sub(goal.on_demand))
    }

    /// Machines whose pool may not be used go like those: each waits until what is ready without it is all
    /// that the group wants. Those that wait stay, and their successors are launched all the same.
    pub(crate) fn wait_for_ready(
        &mut self,
        group: Group,
        wanted: Units,
        usage: &mut Usage,
        outgoing: &mut Outgoing,
    ) {
        if !seams::waits_for_ready(self.inputs.desired.updates.health_gate) {
            return;
        }
        let wanted = wanted.max(self.wanted_beside(group, Holding::is_ready));
        let holdings = &self.inventory.holdings;
        // What is over a share limit is not known again once its successor stands beside it.
        let misplaced = |at: &usize, why: &mut Why| {
            let holding = &holdings[*at];
            holding.slot.name.group == group
                && matches!(why, Why::PoolNotAllowed { .. })
                && matches!(holding.standing, Standing::Disallowed(_))
                && holding.is_ready()
        };
        let misplaced: BTreeMap<usize, Why> = self.victims.extract_if(.., misplaced).collect();
        let serves = |(at, holding): &(usize, &Holding)| {
            let there = holding.standing.counts() || holding.standing == Standing::ToReplace;
            let stays = there && !self.victims.contains_key(at);
            stays && holding.slot.name.group == group && holding.is_ready()
        };
        let serving = holdings.iter().enumerate().filter(serves);
        let mut serving: Units = serving.map(|(_, holding)| holding.weight).sum();
        for (at, why) in misplaced {
            let holding = &holdings[at];
            let without = serving.saturating_sub(holding.weight);
            if without >= wanted.saturating_sub(self.spare) {
                self.victims.insert(at, why);
                serving = without;
            } else {
                self.problem.hold(usage, holding);
                outgoing.slots.push(holding.slot.name);
                outgoing.misplaced.insert(at);
            }
        }
        self.spare = self.spare.saturating_sub(wanted.saturating_sub(serving));
    }
}
