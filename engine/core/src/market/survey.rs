//! What a hedge is decided from: the pools worth looking at, how much each can supply, and at what price.

use crate::clock::target_lowered;
use crate::holdings::{Holding, Inventory, Zones, by_pool};
use crate::market::belief::{self, Prior};
use crate::market::boot;
use crate::market::choice::{Choice, Step};
use crate::market::evidence::{latest, lost_now, refreshed};
use crate::market::moved::Fare;
use crate::market::need::{Need, is_counted};
use crate::market::prior::Siblings;
use crate::offers::{Candidate, find_offering, weight};
use crate::place::Problem;
use fleet_model::{Group, Hedge, Inputs, Market, PoolBelief, PoolId, Units};
use std::collections::{BTreeMap, BTreeSet};

/// Moving to a new machine must pay for its start within this many hours.
const START_PAID_IN: f64 = 3.0;
/// How much better another way to stand must be, as a share of one on-demand machine.
const INERTIA: f64 = 0.02;
/// What of the work of a machine is lost with it, as a share of what on-demand would cost while it is
/// replaced.
const WORK: f64 = 0.2;
/// The same of a machine that we end ourselves for another one: less, since the other is up by then.
const MOVED_WORK: f64 = 0.1;
/// Nothing is replaced sooner, in hours.
const LEAST_HOURS: f64 = 1.0 / 3600.0;
/// So many pools are looked at whatever they cost, as many of each zone.
const POOLS: usize = 4096;
/// At least so many of each zone, and so many times as many as a limit on the share of a pool makes necessary.
const POOLS_OF_ZONE: usize = 24;
const POOLS_PER_SHARE: usize = 4;
/// What a launch that is refused costs, as a share of the on-demand price: time, not money.
const REFUSAL: f64 = 0.05;

/// One pool, and what we have in it.
pub(super) struct Stand<'a> {
    pub(super) pool: &'a PoolId,
    pub(super) candidate: Option<u32>,
    pub(super) weight: Units,
    pub(super) price: f64,
    /// Positions in the inventory.
    pub(super) holdings: Vec<usize>,
    /// How many of them stay whatever is: see [`settle`].
    pub(super) settled: usize,
    /// The most machines that it may carry.
    pub(super) most: usize,
    pub(super) belief: PoolBelief,
    pub(super) prior: Prior,
}

/// What the burst is decided from.
pub(crate) struct HedgeInputs<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) inventory: &'a Inventory,
    /// Machines that end for other reasons.
    gone: &'a BTreeSet<usize>,
    /// What of the burst is decided here. What is paid for already stays whatever is.
    burst: Vec<(usize, &'a Holding)>,
}

impl<'a> HedgeInputs<'a> {
    pub(crate) fn new(
        inputs: &'a Inputs,
        problem: &'a Problem<'a>,
        inventory: &'a Inventory,
        gone: &'a BTreeSet<usize>,
    ) -> Self {
        let decided = |(at, holding): &(usize, &Holding)| {
            holding.slot.name.group == Group::Burst
                && holding.standing.counts()
                && !holding.covered
                && !gone.contains(at)
        };
        let burst = inventory.holdings.iter().enumerate().filter(decided).collect();
        HedgeInputs { inputs, problem, inventory, gone, burst }
    }
}

impl HedgeInputs<'_> {
    /// What is decided here of a market.
    pub(super) fn burst(&self, market: Market) -> impl Iterator<Item = (usize, &Holding)> {
        self.burst.iter().copied().filter(move |(_, holding)| holding.pool.market == market)
    }

    /// What of the burst stays unless it is ended here.
    pub(super) fn standing(&self) -> Units {
        let all = [Market::Spot, Market::OnDemand].into_iter();
        all.flat_map(|market| self.burst(market)).map(|(_, holding)| holding.weight).sum()
    }

    /// Machines that stay, by zone.
    pub(super) fn zones(&self) -> Zones<'_> {
        let least = self.inputs.desired.placement.spread.min_zones as usize;
        let holdings = self.inventory.holdings.iter().enumerate();
        Zones::new(holdings.filter(|(at, _)| !self.gone.contains(at)).map(|(_, h)| h), least)
    }

    pub(super) fn ready(&self, holding: &Holding, hedge: Hedge) -> bool {
        is_ready(self.inputs, holding, hedge)
    }

    /// Whether enough is of use without a machine: see [`enough_without`].
    pub(super) fn enough(&self, wanted: Units, serving: Units, at: &Holding, hedge: Hedge) -> bool {
        enough_without(self.inputs, at, hedge, (wanted, serving))
    }
}

/// How long ago a machine was launched, in seconds.
fn age(inputs: &Inputs, holding: &Holding) -> i64 {
    inputs.now.as_second() - holding.launched_at.as_second()
}

/// Whether a machine has had the time that it usually takes to be of use.
fn had_time(inputs: &Inputs, holding: &Holding, hedge: Hedge) -> bool {
    age(inputs, holding) >= i64::from(hedge.ready_after_seconds)
}

/// Whether a machine is of use, as far as anybody can tell. Where checks are made they tell, and time does not:
/// one that passed them is ready sooner than others, and one that did not may never be. Nor does what was learned
/// of boots, which is no more than when checks of other machines passed. Without checks there is only time.
pub(crate) fn is_ready(inputs: &Inputs, holding: &Holding, hedge: Hedge) -> bool {
    let checked = !inputs.desired.health.probes.is_empty();
    holding.is_ready() && (checked || had_time(inputs, holding, hedge))
}

/// Whether enough is of use without a machine, where so much is wanted and all that is ready comes to `serving`.
///
/// One that is not ready adds nothing to that, and goes once there is enough. Not before: a check that breaks
/// says of all machines that they are of no use, and they would go before their successors are of any. A machine
/// that has just been launched is of no use whatever its checks say, and may go at any time.
pub(crate) fn enough_without(
    inputs: &Inputs,
    holding: &Holding,
    hedge: Hedge,
    (wanted, serving): (Units, Units),
) -> bool {
    if is_ready(inputs, holding, hedge) {
        return serving >= wanted + holding.weight;
    }
    serving >= wanted || !had_time(inputs, holding, hedge)
}

/// What pools can supply, and at what price: the same however it is decided.
pub(super) struct Survey<'a> {
    pub(super) wanted: Units,
    pub(super) hedge: Hedge,
    pub(super) stands: Vec<Stand<'a>>,
    pub(super) choices: Vec<Choice>,
    /// On demand that stays whatever is: see [`settle`].
    pub(super) settled: Units,
    pub(super) grain: Units,
    /// What a grain costs on demand, where that is to be had.
    pub(super) per_grain: Option<f64>,
    /// The same, or its list price.
    pub(super) reference: f64,
    /// Work that ends with a machine, in hours of it, if the spec says so.
    lost_work: Option<f64>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(given: &'a HedgeInputs<'a>, wanted: Units, hedge: Hedge) -> Self {
        let mut stands = stands(given, wanted);
        let settled = settle(given, &mut stands, wanted, hedge);
        let grain = grain(&stands, wanted);
        let per_grain = on_demand_price(given).map(|per_unit| per_unit * grain.0 as f64 / 1000.0);
        let reference = per_grain.or_else(|| list_price(given.inputs, grain)).unwrap_or_default();
        let choice = |stand| choice(given, stand, grain, reference, hedge);
        let choices = stands.iter().map(choice).collect();
        let lost_work = given.inputs.desired.placement.lost_work_hours();
        Survey { wanted, hedge, stands, choices, settled, grain, per_grain, reference, lost_work }
    }
}

impl Survey<'_> {
    /// What is asked of a portfolio, with at most so much on demand.
    pub(super) fn need(&self, given: &HedgeInputs<'_>, most_on_demand: Units) -> Need {
        let &Survey { wanted, hedge, grain, reference, .. } = self;
        let grains = |units: Units| units.0.div_ceil(grain.0) as usize;
        let held: Units = given.burst(Market::OnDemand).map(|(_, holding)| holding.weight).sum();
        let ahead = f64::from(hedge.ready_after_seconds) / 3600.0;
        Need {
            wanted: grains(wanted),
            is_small: is_counted(grains(wanted), self.stands.len()),
            on_demand: self.per_grain,
            held: grains(held),
            settled: grains(self.settled),
            most: grains(most_on_demand),
            start: reference * ahead / START_PAID_IN,
            moving: self.fare(given.inventory),
            missing: reference * f64::from(hedge.penalty_milli) / 1000.0,
            inertia: INERTIA * reference,
        }
    }

    /// What it costs to end machines for others.
    pub(super) fn fare(&self, inventory: &Inventory) -> Fare {
        let (mut paid, mut units, mut machines) = (0.0, 0.0, 0.0);
        let held = self.stands.iter().filter(|stand| !stand.holdings.is_empty());
        for stand in held.filter(|stand| stand.price.is_finite()) {
            let count = stand.holdings.len() as f64;
            paid += count * stand.price;
            units += count * (stand.weight.0.div_ceil(self.grain.0)) as f64;
            machines += count;
        }
        // Where no spot is held, what is moved is on demand.
        let (price, size) = match machines > 0.0 {
            true => (paid / units, units / machines),
            false => (self.reference, 1.0),
        };
        let hours = f64::from(self.hedge.reconcile_every_seconds) / 3600.0;
        let at_once = f64::from(inventory.ends_at_once());
        let moved = self.lost_work.unwrap_or(MOVED_WORK);
        Fare {
            work: moved * self.reference / START_PAID_IN,
            overlap: price * hours / START_PAID_IN,
            at_once: at_once * size,
        }
    }
}

/// The pools that can supply something, and those that hold something.
fn stands<'a>(given: &'a HedgeInputs<'a>, wanted: Units) -> Vec<Stand<'a>> {
    let inputs = given.inputs;
    let mut held = by_pool(given.burst(Market::Spot));
    let lost = lost_now(inputs, &given.inventory.vacate);
    let siblings = Siblings::new(inputs, &lost);
    let stand = |pool: &'a PoolId, candidate: Option<(u32, &Candidate<'a>)>, held: Vec<usize>| {
        let first = held.first().map(|at| &given.inventory.holdings[*at]);
        let offering = candidate.map(|(_, c)| c.offering).or_else(|| find_offering(inputs, pool));
        let price = offering.and_then(|o| o.full_price());
        let price = price.or_else(|| first.and_then(|holding| holding.full_price()));
        let weight = candidate.map(|(_, c)| c.weight).or_else(|| first.map(|h| h.weight));
        let weight = weight.filter(|w| !w.is_zero())?;
        let taken = lost.get(pool).copied().unwrap_or_default();
        // What just took machines back has no room for more.
        let open = candidate.is_some() && taken == 0;
        let more = if open { wanted.0.div_ceil(weight.0) as usize } else { 0 };
        Some(Stand {
            pool,
            candidate: candidate.map(|(at, _)| at),
            weight,
            price: price.map_or(f64::INFINITY, |price| price.0 as f64),
            most: held.len() + more,
            belief: refreshed(inputs, pool, held.len() as u32, taken),
            prior: siblings.prior_of(inputs, pool, offering),
            holdings: held,
            settled: 0,
        })
    };
    let mut all = Vec::new();
    let dear = dear(given, &held);
    for (at, candidate) in given.problem.candidates.iter().enumerate() {
        let pool = &candidate.offering.pool;
        if pool.market != Market::Spot || candidate.price.is_none() || dear.contains(&at) {
            continue;
        }
        let ours = held.remove(pool).unwrap_or_default();
        all.extend(stand(pool, Some((at as u32, candidate)), ours));
    }
    for (pool, ours) in held {
        all.extend(stand(pool, None, ours));
    }
    all.sort_by(|a, b| a.pool.cmp(b.pool));
    all
}

/// Of a catalog with very many pools, those that so many others of their zone undercut that no limit and no risk
/// leads to them: every look at a pool costs time. What was ever used is no stranger, and is looked at whatever it costs.
fn dear(given: &HedgeInputs<'_>, held: &BTreeMap<&PoolId, Vec<usize>>) -> BTreeSet<usize> {
    let candidates = &given.problem.candidates;
    let known = |pool: &PoolId| held.contains_key(pool) || latest(given.inputs, pool).is_some();
    let mut zones: BTreeMap<u32, Vec<(f64, usize)>> = BTreeMap::new();
    let mut strangers = 0;
    for (at, candidate) in candidates.iter().enumerate() {
        let Some(price) = candidate.price.filter(|_| !candidate.weight.is_zero()) else { continue };
        let pool = &candidate.offering.pool;
        if pool.market == Market::Spot && !known(pool) {
            let per_unit = price.0 as f64 / candidate.weight.0 as f64;
            zones.entry(candidate.zone).or_default().push((per_unit, at));
            strangers += 1;
        }
    }
    if strangers <= POOLS {
        return BTreeSet::new();
    }
    let least = given.problem.fewest_pools().saturating_mul(POOLS_PER_SHARE);
    let most = (POOLS / zones.len()).max(POOLS_OF_ZONE).max(least);
    let beyond = |mut pools: Vec<(f64, usize)>| {
        pools.sort_unstable_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)));
        pools.into_iter().skip(most).map(|(_, at)| at)
    };
    zones.into_values().flat_map(beyond).collect()
}

/// Whether a machine was launched since somebody last looked. What a look launched stands until the next
/// one: a grant changes what is believed of its pool, and each look would overthrow the one before.
pub(super) fn is_fresh(inputs: &Inputs, holding: &Holding, hedge: Hedge) -> bool {
    age(inputs, holding) < i64::from(hedge.reconcile_every_seconds) / 2
}

/// Fresh machines stay, spot and cheapest first, spares among them: nobody is ever to have more than twice what is
/// wanted. Where less is wanted than before, what is beyond that may go at once. Tells how much stays on demand.
fn settle(given: &HedgeInputs<'_>, stands: &mut [Stand<'_>], wanted: Units, hedge: Hedge) -> Units {
    let lowered = target_lowered(given.inputs, Group::Burst).is_some();
    let mut order: Vec<usize> = (0..stands.len()).collect();
    let per_unit = |nth: usize| stands[nth].price / stands[nth].weight.0 as f64;
    order.sort_by(|&a, &b| per_unit(a).total_cmp(&per_unit(b)).then(a.cmp(&b)));
    let mut left = if lowered { wanted } else { wanted + wanted }.0;
    for nth in order {
        let stand = &mut stands[nth];
        let fresh = |at: &&usize| is_fresh(given.inputs, &given.inventory.holdings[**at], hedge);
        let fresh = stand.holdings.iter().filter(fresh).count() as u64;
        let settled = fresh.min(left / stand.weight.0);
        left -= settled * stand.weight.0;
        stand.settled = settled as usize;
    }
    let on_demand = given.burst(Market::OnDemand).map(|(_, holding)| holding);
    let fresh = on_demand.filter(|holding| is_fresh(given.inputs, holding, hedge));
    fresh.map(|holding| holding.weight).sum::<Units>().min(Units(left))
}

/// The unit of the search: the smallest machine, or, where that makes too many to count, no unit at all.
fn grain(stands: &[Stand<'_>], wanted: Units) -> Units {
    let smallest = stands.iter().map(|stand| stand.weight.0).min().unwrap_or(1000).max(1);
    Units(if is_counted(wanted.0.div_ceil(smallest) as usize, stands.len()) { smallest } else { 1 })
}

fn choice(
    given: &HedgeInputs<'_>,
    stand: &Stand<'_>,
    grain: Units,
    reference: f64,
    hedge: Hedge,
) -> Choice {
    let weight = (stand.weight.0.div_ceil(grain.0)).max(1) as usize;
    let held = stand.holdings.len();
    // Beyond what was ever seen all slots are alike.
    let seen: usize = stand.belief.runs.iter().map(|run| run.slots as usize).sum();
    let different = stand.most.min(seen.max(held) + 1);
    let (now, missing) = (given.inputs.now, hedge.missing_hours());
    let chances = belief::chances(&stand.belief, stand.prior, now, missing, different);
    // A machine that takes longer to be of use is paid for meanwhile, and missing: both are lost time.
    let boot = boot::hours(&stand.belief, hedge.ready_after_seconds);
    let missed = f64::from(hedge.penalty_milli) / 1000.0 * reference * weight as f64;
    let late = missed * boot::late(&stand.belief, hedge.ready_after_seconds) / START_PAID_IN;
    let start = |up: f64| {
        let refused = REFUSAL * reference * weight as f64 * (1.0 - up);
        stand.price * boot / START_PAID_IN + refused + late
    };
    // Spread over the time for which it is asked whether a machine lasts.
    let lost_work = given.inputs.desired.placement.lost_work_hours();
    let work = lost_work.map_or(WORK, |hours| hours / missing.max(LEAST_HOURS));
    let steps = chances.iter().enumerate().map(|(nth, chance)| {
        let last = nth + 1 == different;
        // What stays whatever is costs nothing that could be saved.
        if nth < stand.settled {
            return Step { slots: 1, stays: chance.stays, cost: 0.0 };
        }
        let lost = (1.0 - chance.stays) * (stand.price + work * reference * weight as f64);
        let moved = if nth < held { 0.0 } else { start(chance.up) };
        Step {
            slots: if last { stand.most - nth } else { 1 },
            stays: chance.stays,
            cost: stand.price + lost + moved,
        }
    });
    Choice::new(weight, held, steps)
}

/// What a thousand thousandths of a unit cost on demand, where it is cheapest.
fn on_demand_price(given: &HedgeInputs<'_>) -> Option<f64> {
    let sold = given
        .problem
        .candidates
        .iter()
        .filter(|c| c.offering.pool.market == Market::OnDemand && !c.weight.is_zero());
    sold.filter_map(|c| Some(c.price?.0 as f64 * 1000.0 / c.weight.0 as f64)).min_by(f64::total_cmp)
}

/// The list price of a grain, where no on-demand is to be had.
fn list_price(inputs: &Inputs, grain: Units) -> Option<f64> {
    let listed = inputs.offerings.iter().filter_map(|offering| {
        let weight = weight(&inputs.desired, &offering.kind).filter(|w| !w.is_zero())?;
        Some(offering.on_demand?.0 as f64 * grain.0 as f64 / weight.0 as f64)
    });
    listed.min_by(f64::total_cmp)
}
