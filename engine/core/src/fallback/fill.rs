//! What the burst is filled with: spot, and on-demand in its place.

use crate::fallback::stand::{Stand, is_in_place_of_spot};
use crate::holdings::Inventory;
use crate::place::{Need, Problem, Taken, Usage};
use fleet_model::{FallbackStep, FallbackWhy, Market, Rejection, Units};

/// What the burst is filled with.
pub(crate) struct Filled {
    pub(crate) taken: Taken,
    /// Why some of it is on demand, if any is.
    pub(crate) in_place_of_spot: Option<FallbackWhy>,
    /// Whether no spot pool can give what is missing. The budget is no fault of the market.
    pub(crate) spot_is_short: bool,
}

impl Stand {
    /// Fills the burst. Of what is needed, no more than `missing` may be on demand: the rest is to take
    /// the place of spot machines that stand.
    pub(crate) fn fill(
        &self,
        problem: &Problem<'_>,
        usage: &mut Usage,
        (need, missing): (Units, Units),
        later: Units,
    ) -> Filled {
        let room = self.room.min(missing);
        let need = Need { now: need, later };
        let Some(why) = self.distrusts_spot().filter(|_| !room.is_zero()) else {
            return self.spot_first(problem, usage, need, room);
        };
        let mut other = usage.clone();
        let filled = self.on_demand_first(problem, usage, need, room, why);
        if filled.taken.short.is_zero() {
            return filled;
        }
        // On-demand uses the budget up sooner: more for the same money comes first.
        let spot_first = self.spot_first(problem, &mut other, need, room);
        if spot_first.taken.short < filled.taken.short {
            *usage = other;
            return spot_first;
        }
        filled
    }

    /// Spot, and on-demand for what it cannot give.
    fn spot_first(
        &self,
        problem: &Problem<'_>,
        usage: &mut Usage,
        need: Need,
        room: Units,
    ) -> Filled {
        let mut taken = problem.fill(usage, Market::Spot, need.now, need.later);
        let spot_is_short = is_short(&taken);
        let why = self.gives_up_on_spot().filter(|_| spot_is_short);
        let more = taken.short.min(room);
        let Some(why) = why.filter(|_| !more.is_zero()) else {
            return Filled { taken, in_place_of_spot: None, spot_is_short };
        };
        let on_demand = self.on_demand(problem, usage, more, need.later);
        let got = problem.units(&on_demand);
        taken.short = taken.short.saturating_sub(got);
        taken.join(on_demand);
        if !got.is_zero() {
            taken.certificate = None;
        }
        Filled { taken, in_place_of_spot: (!got.is_zero()).then_some(why), spot_is_short }
    }

    /// On-demand, and spot for what that cannot give.
    fn on_demand_first(
        &self,
        problem: &Problem<'_>,
        usage: &mut Usage,
        need: Need,
        room: Units,
        why: FallbackWhy,
    ) -> Filled {
        let mut taken = problem.fill_committed(usage, Market::Spot, need);
        let paid = problem.units(&taken);
        let more = room.min(need.now.saturating_sub(paid));
        let on_demand = self.on_demand(problem, usage, more, need.later);
        let got = problem.units(&on_demand);
        let left = need.now.saturating_sub(paid + got);
        let spot = problem.fill_from(usage, Market::Spot, left, need.later);
        taken.short = spot.short;
        let spot_is_short = is_short(&spot);
        taken.join(on_demand);
        taken.join(spot);
        Filled { taken, in_place_of_spot: (!got.is_zero()).then_some(why), spot_is_short }
    }

    /// What is new: the fallback begins with the first machine on demand and ends with the last. Spot that
    /// is short counts from the moment it is seen until the burst is whole: that a pool may be asked again
    /// proves nothing.
    pub(crate) fn news(
        &self,
        inventory: &Inventory,
        filled: &Filled,
        missing: Units,
    ) -> Option<FallbackStep> {
        let begins = filled.in_place_of_spot.filter(|_| self.on.is_none());
        if let Some(why) = begins {
            return Some(FallbackStep::Began { why });
        }
        if self.on.is_some() {
            let some = inventory.holdings.iter().any(is_in_place_of_spot);
            let over = !some && filled.in_place_of_spot.is_none();
            return over.then_some(FallbackStep::Ended);
        }
        match self.short_since {
            None if filled.spot_is_short => Some(FallbackStep::Short),
            Some(_) if missing.is_zero() => Some(FallbackStep::Filled),
            _ => None,
        }
    }

    /// On-demand machines, no more than the share of them: the last one may be larger than what is
    /// missing, and then goes unless there is room for all of it.
    fn on_demand(
        &self,
        problem: &Problem<'_>,
        usage: &mut Usage,
        more: Units,
        later: Units,
    ) -> Taken {
        let mut taken = problem.fill_from(usage, Market::OnDemand, more, later);
        while problem.units(&taken) > self.room {
            let weight = |at: &u32| problem.candidates[*at as usize].weight;
            let Some(largest) = taken.counts.keys().copied().max_by_key(weight) else { break };
            problem.untake_one(usage, &mut taken, largest);
        }
        taken
    }
}

fn is_short(taken: &Taken) -> bool {
    let budget = |because: &Rejection| matches!(because, Rejection::BudgetReached { .. });
    !taken.short.is_zero() && !taken.refused.keys().any(budget)
}
