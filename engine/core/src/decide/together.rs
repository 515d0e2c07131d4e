//! One place for all machines, where the spec asks for that.

use crate::holdings::{Holding, Inventory, Standing};
use crate::place::{Problem, rank};
use fleet_model::{Inputs, Market, Place, Rejection, Together, Units};
use std::cmp::{Ordering, Reverse};

/// Chooses the place, takes every pool elsewhere out of the problem, and has machines elsewhere
/// replaced, as machines in pools that the spec does not allow are.
pub(crate) fn stand_together<'a>(
    inputs: &Inputs,
    problem: Problem<'a>,
    inventory: &mut Inventory,
) -> Problem<'a> {
    let Some(together) = inputs.desired.placement.together else { return problem };
    let Some(place) = best_place(inputs, &problem, inventory, together) else { return problem };
    let apart = || Rejection::Apart { together, place: together.shown(&place) };
    for holding in &mut inventory.holdings {
        let here = together.joins(&holding.pool.place, &place);
        if !here && holding.standing == Standing::Good {
            holding.standing = Standing::Disallowed(apart());
        }
    }
    problem.only(|other| together.joins(other, &place), apart)
}

/// Where the fleet is to stand. Half of a fleet is not moved: what lacks there may come back. Else a
/// place with room for all comes first, then the one that has most of it already, then the best by the
/// strategy's order.
fn best_place(
    inputs: &Inputs,
    problem: &Problem<'_>,
    inventory: &Inventory,
    together: Together,
) -> Option<Place> {
    let target = inputs.desired.capacity.target;
    let sites = sites(problem, inventory, together);
    let best = sites.into_iter().min_by_key(|site| {
        let held: Units = site.standing.iter().map(|holding| holding.weight).sum();
        let settled = !held.is_zero() && held.0.saturating_mul(2) >= target.0;
        let short = site.shortage();
        (!settled, !short.is_zero(), Reverse(held), short, site.rank(), site.place.clone())
    })?;
    Some(best.place)
}

/// A place that all machines could share.
struct Site<'a> {
    place: Place,
    /// What could be bought there.
    offers: Problem<'a>,
    /// What of the fleet stands there.
    standing: Vec<&'a Holding>,
}

fn sites<'a>(
    problem: &'a Problem<'a>,
    inventory: &'a Inventory,
    together: Together,
) -> Vec<Site<'a>> {
    let standing = || inventory.holdings.iter().filter(|holding| holding.standing.counts());
    let offered = problem.candidates.iter().map(|candidate| &candidate.offering.pool.place);
    let mut all: Vec<&Place> =
        offered.chain(standing().map(|holding| &holding.pool.place)).collect();
    all.dedup();
    all.sort();
    all.dedup_by(|later, first| together.joins(first, later));
    let site = |place: &Place| Site {
        place: place.clone(),
        offers: problem.within(|other| match together.joins(place, other) {
            true => Ordering::Equal,
            false => other.cmp(place),
        }),
        standing: standing().filter(|held| together.joins(place, &held.pool.place)).collect(),
    };
    all.into_iter().map(site).collect()
}

impl Site<'_> {
    /// What the place cannot give of what it does not have yet.
    fn shortage(&self) -> Units {
        let goal = self.offers.desired.capacity;
        let missing = |market: Market, wanted: Units| {
            let has = self.standing.iter().filter(|holding| holding.pool.market == market);
            wanted.saturating_sub(has.map(|holding| holding.weight).sum())
        };
        let base = missing(Market::OnDemand, goal.on_demand);
        let burst = missing(Market::Spot, goal.spot);
        let mut usage = self.offers.held(self.standing.iter().copied());
        let base = self.offers.fill(&mut usage, Market::OnDemand, base, burst).short;
        base + self.offers.fill(&mut usage, Market::Spot, burst, Units(0)).short
    }

    /// Where its best pool stands in the strategy's order: the less, the better.
    fn rank(&self) -> Option<(u64, u64, u64)> {
        let goal = self.offers.desired.capacity;
        let market = if goal.spot.is_zero() { Market::OnDemand } else { Market::Spot };
        let strategy = self.offers.desired.placement.strategy;
        let keys = self.offers.of_market(market).map(|at| {
            let candidate = &self.offers.candidates[at as usize];
            let useful = candidate.weight.min(goal.target);
            let key = rank::key(strategy, candidate, at, Units(0), useful, goal.target, false);
            (key.0, key.1, key.2)
        });
        keys.min()
    }
}
