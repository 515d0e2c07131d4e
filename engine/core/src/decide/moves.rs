//! Moves: a machine that works gets a successor elsewhere, and is destroyed when that one is up.
//!
//! For a while more stands than is wanted. What is too much then is not just any machine but the one that
//! moves, so the journal names it before its successor is launched.

use crate::decide::removals::Removals;
use crate::fallback::{Stand, is_in_place_of_spot};
use crate::holdings::{Holding, Standing};
use crate::place::{Taken, Usage};
use fleet_model::{Group, Inputs, Market, MicroUsd, MoveWhy, Moving, Units, Why};
use std::collections::BTreeSet;

/// A move that a plan makes: the successors, and whose they are.
pub(crate) struct Move {
    pub(crate) taken: Taken,
    pub(crate) moving: Moving,
}

/// Why a machine moves, if it was named in the last move and is still the same.
pub(crate) fn moves(inputs: &Inputs, holding: &Holding) -> Option<MoveWhy> {
    let (generation, why) = inputs.recorded.spot.moving.get(&holding.slot.name)?;
    (*generation == holding.slot.generation && holding.standing == Standing::Good).then_some(*why)
}

impl Removals<'_> {
    /// Burst machines that move and whose successors stand, as far as more stands than is wanted.
    pub(crate) fn find_moved(&mut self, wanted: Units) {
        let mut beyond = self.kept(Group::Burst).saturating_sub(wanted);
        let moved = self.group(Group::Burst).filter(|(_, h)| moves(self.inputs, h).is_some());
        let mut leaving = BTreeSet::new();
        for (at, holding) in moved {
            if holding.weight <= beyond {
                beyond = beyond - holding.weight;
                leaving.insert(at);
            }
        }
        self.leaving = leaving;
    }

    /// What the burst lacks, apart from spot machines that are to be replaced: those work, and on-demand is
    /// not for them.
    pub(crate) fn missing_spot(&self, wanted: Units, replaced: &BTreeSet<usize>) -> Units {
        let holdings = self.inventory.holdings.iter().enumerate();
        let outgoing = holdings.filter(|(at, holding)| {
            let requested = holding.standing == Standing::ToReplace;
            holding.slot.name.group == Group::Burst
                && holding.pool.market == Market::Spot
                && (requested && !self.victims.contains_key(at) || replaced.contains(at))
        });
        let outgoing: Units = outgoing.map(|(_, holding)| holding.weight).sum();
        wanted.saturating_sub(self.kept(Group::Burst) + outgoing)
    }

    /// Whether something of the burst was launched and is not up yet.
    fn burst_is_starting(&self) -> bool {
        self.group(Group::Burst).any(|(_, holding)| holding.starting)
    }

    /// Destroys what moved, now that nothing of the burst is starting any more. How much beyond what is
    /// wanted has to stand until then.
    pub(crate) fn end_moved(&mut self) -> Units {
        let weight = |at: &usize| self.inventory.holdings[*at].weight;
        if self.burst_is_starting() {
            return self.leaving.iter().map(weight).sum();
        }
        let mut zones = self.zones();
        for at in std::mem::take(&mut self.leaving) {
            let holding = &self.inventory.holdings[at];
            let Some(why) = moves(self.inputs, holding) else { continue };
            if zones.leave(&holding.pool.place) {
                self.end(at, Why::Moved { why });
            }
        }
        Units(0)
    }

    /// Whether a move may begin: nothing of the burst is missing, starting, leaving or replaced.
    pub(crate) fn is_quiet(&self, wanted: Units) -> bool {
        let of_burst = |at: &usize| self.inventory.holdings[*at].slot.name.group == Group::Burst;
        self.kept(Group::Burst) >= wanted
            && self.leaving.is_empty()
            && !self.burst_is_starting()
            && !self.victims.keys().any(of_burst)
    }

    /// The next few machines that go back to spot, with their successors: a tenth of the burst and of the
    /// fleet at most, at least one machine.
    pub(crate) fn go_back(
        &mut self,
        stand: &Stand,
        usage: &mut Usage,
        wanted: Units,
        allowance: Units,
    ) -> Option<Move> {
        if !stand.may_go_back(self.inputs.now) || !self.is_quiet(wanted) {
            return None;
        }
        let mut movable: Vec<(usize, &Holding)> = self
            .group(Group::Burst)
            .filter(|(_, holding)| {
                let age = self.inputs.now.duration_since(holding.launched_at);
                is_in_place_of_spot(holding)
                    && holding.standing == Standing::Good
                    && age.unsigned_abs() >= stand.wait
            })
            .collect();
        movable.sort_by_key(|(at, holding)| {
            let price = holding.price.unwrap_or_default().0;
            let per_unit = u128::from(price) * 1000 / u128::from(holding.weight.0.max(1));
            (std::cmp::Reverse(per_unit), holding.launched_at, *at)
        });
        let tenth = Units(self.inputs.desired.capacity.spot.0 / 10);
        let most = self.inventory.ends_at_once() as usize;
        let mut some = Vec::new();
        let mut units = Units(0);
        for (at, holding) in movable {
            let more = units + holding.weight;
            let few = more <= tenth || some.is_empty();
            if few && more <= allowance && some.len() < most {
                units = more;
                some.push(at);
            }
        }
        self.move_to_spot(some, usage, MoveWhy::BackToSpot)
    }

    /// Successors for some machines, on spot: for all of them, or for the first so many that there is spot
    /// for. They are placed as if the old machines were gone, and paid for beside them.
    pub(crate) fn move_to_spot(
        &mut self,
        mut some: Vec<usize>,
        usage: &mut Usage,
        why: MoveWhy,
    ) -> Option<Move> {
        while !some.is_empty() {
            for at in &some {
                self.victims.insert(*at, Why::Moved { why });
            }
            let mut placed = self.hold_kept();
            (placed.spend, placed.limit) = (usage.spend, usage.limit);
            for at in &some {
                self.victims.remove(at);
            }
            let holdings = some.iter().map(|at| &self.inventory.holdings[*at]);
            let need: Units = holdings.clone().map(|holding| holding.weight).sum();
            let bill: MicroUsd = holdings.clone().map(Holding::bill).sum();
            let before = placed.spend;
            let taken = self.problem.fill_from(&mut placed, Market::Spot, need, Units(0));
            let cheaper = placed.spend - before < bill;
            if taken.short.is_zero() && cheaper {
                let slots = holdings.map(|holding| holding.slot).collect();
                self.problem.take_all(usage, &taken);
                return Some(Move { taken, moving: Moving { why, slots } });
            }
            some.pop();
        }
        None
    }
}
