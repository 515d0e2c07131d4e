//! What greedy leaves to be gained, found exactly.
//!
//! Dual prices tell which machines every better fill takes, and which none takes. What is left in
//! doubt is solved by dynamic programming along the tree of limits: the least cost of every number
//! of units within a zone, joined zone by zone within a region, and so on to the whole.

use crate::place::bound::Dual;
use crate::place::need::{Certificate, Goal, Taken};
use crate::place::problem::Problem;
use crate::place::rank;
use crate::place::table::{Effort, Size, Table};
use crate::place::tail::gcd;
use crate::place::usage::Usage;
use fleet_model::{Market, Strategy, Units};
use std::collections::BTreeMap;

/// Prices are sums of fractions: so close to being in doubt is in doubt, as a share of the cost.
const ROUNDING: f64 = 1e-7;

/// Needs of more grains than this are left as they are: one machine matters little then.
const GRAINS: u64 = 16_384;

/// What is not worth the work where needs are larger than this many grains: a ten-thousandth.
const SMALL: u64 = 1024;
const TRIFLE: f64 = 1e-4;

/// A fill that is to be beaten.
#[derive(Clone, Copy)]
struct Bar<'a> {
    /// What no fill can be cheaper than.
    dual: &'a Dual,
    /// What this one costs.
    cost: f64,
}

/// Machines per candidate.
type Counts = BTreeMap<u32, u32>;

/// Machines of one candidate at one cost: cost, candidate, how many.
type Run = (u64, u32, u64);

/// Machines in doubt, by cloud, region and zone as far as these have limits, then by weight.
type Doubt = BTreeMap<[u32; 3], BTreeMap<u64, Vec<Run>>>;

impl Problem<'_> {
    /// Makes the best of a fill, and tells how good it is. `None` where nobody asked for that and
    /// there is nothing to be gained, or where the strategy has an order instead of a cost.
    pub(crate) fn perfect(
        &self,
        before: &Usage,
        usage: &mut Usage,
        taken: &mut Taken,
        goal: Goal,
    ) -> Option<Certificate> {
        let grain = self.grain(goal)?;
        let uneven = self.uneven(goal, grain);
        if uneven.is_none() && !self.certify {
            return None;
        }
        let zones = self.zones_to_hold(usage);
        if uneven.is_some() && !taken.short.is_zero() {
            let counts = self.exact(before, goal, zones, None)?;
            self.adopt(before, usage, taken, (goal, counts));
        }
        let cost = self.cost_of(before, taken, goal.strategy)?;
        let dual = self.bound(before, goal, grain)?;
        if !taken.short.is_zero() {
            return None;
        }
        let proven = Certificate { cost, bound: dual.least };
        let Some(grains) = uneven else { return Some(proven) };
        if proven.gap() <= if grains <= SMALL { ROUNDING } else { TRIFLE } {
            return Some(proven);
        }
        let bar = Bar { dual: &dual, cost };
        let Some(best) = self.exact(before, goal, zones, Some(bar)) else { return Some(proven) };
        let best = Taken { counts: best, ..Taken::default() };
        let bound = self.cost_of(before, &best, goal.strategy)?.min(cost);
        if bound < cost {
            let counts = best.counts;
            self.adopt(before, usage, taken, (goal, counts));
        }
        let cost = self.cost_of(before, taken, goal.strategy)?;
        Some(Certificate { cost, bound: bound.max(dual.least) })
    }

    /// Zones that a fill must not give up: as many as were reached, at most what the spec asks for.
    fn zones_to_hold(&self, usage: &Usage) -> usize {
        self.zones_used(usage).min(self.desired.placement.spread.min_zones as usize)
    }

    /// What every machine's weight is a multiple of, if the strategy minimises a cost.
    fn grain(&self, goal: Goal) -> Option<u64> {
        let costs =
            matches!(goal.strategy, Strategy::LowestPrice | Strategy::PriceCapacityOptimized);
        let mut weights = self.of_market(goal.market).map(|at| self.weight(at));
        let first = weights.next().filter(|_| costs)?;
        let other = weights.filter(|weight| *weight != first);
        Some(other.fold(first, gcd))
    }

    /// The weight of the largest machine: a fleet may be too large by that much.
    fn heaviest(&self, market: Market) -> u64 {
        self.of_market(market).map(|at| self.weight(at)).max().unwrap_or_default()
    }

    /// How many grains are needed, where machines of different weights make greedy less than exact
    /// and the grains are few enough to do something about it.
    fn uneven(&self, goal: Goal, grain: u64) -> Option<u64> {
        let differ = self.of_market(goal.market).any(|at| self.weight(at) != grain);
        let grains = goal.need.0.div_ceil(grain);
        (differ && grains <= GRAINS).then_some(grains)
    }

    /// Takes other machines instead, if every limit allows them and no less is covered.
    fn adopt(
        &self,
        before: &Usage,
        usage: &mut Usage,
        taken: &mut Taken,
        (goal, counts): (Goal, Counts),
    ) {
        let units = |(&at, &n): (&u32, &u32)| Units(self.weight(at) * u64::from(n));
        let all: Units = counts.iter().map(units).sum();
        let short = goal.need.saturating_sub(all);
        let spare = all.saturating_sub(goal.need).0;
        // Zones may come cheapest with large machines, but a fleet is never more than one too large.
        if spare > self.heaviest(goal.market) {
            return;
        }
        // A machine that only holds a zone is too many once another market stands there as well.
        if !goal.later.is_zero() && counts.keys().any(|&at| self.weight(at) <= spare) {
            return;
        }
        let mut tried = before.clone();
        for (&at, &count) in &counts {
            if self.fits(&tried, at) < u64::from(count) {
                return;
            }
            self.take(&mut tried, at, count.into());
        }
        if short <= taken.short && self.zones_used(&tried) >= self.zones_to_hold(usage) {
            *usage = tried;
            taken.counts = counts;
            taken.short = short;
        }
    }

    /// The cheapest fill under share limits and the least number of zones, as machines per
    /// candidate; the largest one where none covers the need. `None` if that is too much work.
    /// With a fill to beat, dearer ones are not looked for.
    fn exact(
        &self,
        before: &Usage,
        goal: Goal,
        zones: usize,
        beat: Option<Bar<'_>>,
    ) -> Option<Counts> {
        let mut usage = before.clone();
        let mut counts = Counts::new();
        let mut doubt = Doubt::new();
        let mut effort = Effort::default();
        let by_zone = zones > self.zones_used(before);
        for at in self.of_market(goal.market) {
            let (sure, runs) = self.in_doubt(before, at, goal, beat);
            if sure > 0 {
                self.take(&mut usage, at, sure);
                counts.insert(at, sure as u32);
            }
            if !runs.is_empty() {
                effort.spend(runs.len())?;
                let here = doubt.entry(self.group(at, by_zone)).or_default();
                here.entry(self.weight(at)).or_default().extend(runs);
            }
        }
        let got: u64 = counts.iter().map(|(&at, &n)| self.weight(at) * u64::from(n)).sum();
        let left = goal.need.0.saturating_sub(got);
        let zones = zones.saturating_sub(self.zones_used(&usage));
        let amount = (left, self.heaviest(goal.market));
        for at in self.settle(&usage, doubt, amount, zones, &mut effort)? {
            *counts.entry(at).or_default() += 1;
        }
        Some(counts)
    }

    /// How many machines of a candidate every better fill takes, and those that it may take.
    fn in_doubt(
        &self,
        before: &Usage,
        at: u32,
        goal: Goal,
        beat: Option<Bar<'_>>,
    ) -> (u64, Vec<Run>) {
        let (target, weight) = (self.desired.capacity.target, self.weight(at));
        let (worth, gap) = match beat {
            Some(Bar { dual, cost }) => {
                let gap = (cost - dual.least).max(0.0) + ROUNDING * cost;
                (dual.worth(self, at) * weight as f64, gap)
            }
            None => (0.0, f64::INFINITY),
        };
        let mut carried = before.in_pool(at);
        let (mut sure, mut runs) = (0, Vec::new());
        let first = self.cost_of_next(goal.strategy, at, carried);
        if first.is_none_or(|cost| cost as f64 - worth > gap) {
            return (sure, runs);
        }
        let mut most = self.fits(before, at).min(goal.need.0.div_ceil(weight));
        while most > 0 {
            let Some(cost) = self.cost_of_next(goal.strategy, at, carried) else { break };
            let pays = cost as f64 - worth;
            if pays > gap {
                break;
            }
            let candidate = &self.candidates[at as usize];
            let level = rank::machines_at_level(goal.strategy, candidate, carried, target);
            let count = level.min(most);
            if pays < -gap {
                sure += count;
            } else {
                runs.push((cost, at, count));
            }
            carried += Units(weight * count);
            most -= count;
        }
        (sure, runs)
    }

    /// The group of a candidate: one number for all where there is no limit to keep apart.
    fn group(&self, at: u32, by_zone: bool) -> [u32; 3] {
        let candidate = &self.candidates[at as usize];
        let [zone, region, cloud] = self.limited();
        let number = |counts: bool, number: u32| if counts { number } else { 0 };
        [
            number(cloud, candidate.offering.pool.place.cloud as u32),
            number(region, candidate.region),
            number(zone || by_zone, candidate.zone),
        ]
    }

    /// The cheapest choice of what is in doubt.
    fn settle(
        &self,
        usage: &Usage,
        doubt: Doubt,
        (left, spare): (u64, u64),
        zones: usize,
        effort: &mut Effort,
    ) -> Option<Vec<u32>> {
        let weights = || doubt.values().flat_map(|classes| classes.keys().copied());
        let Some(heaviest) = weights().max() else { return Some(Vec::new()) };
        let grain = weights().fold(0, gcd).max(1);
        let grains = |units: u64| (units / grain) as usize;
        let need = left.div_ceil(grain) as usize;
        // No machine of the cheapest choice can be left out: it covers something, or holds a zone.
        let most = Size { units: need + grains(heaviest) * zones.max(1), zones };
        let limit = |room: Option<u64>| Size {
            units: room.map_or(most.units, grains).min(most.units),
            zones,
        };
        let mut regions: Groups<[u32; 2]> = BTreeMap::new();
        for ([cloud, region, _], classes) in doubt {
            let Some(&(_, any, _)) = classes.values().flatten().next() else { continue };
            let [room, ..] = self.rooms(usage, any).map(limit);
            let mut zone = Table::nothing();
            for (weight, runs) in classes {
                let cheapest = cheapest(runs, room.units / grains(weight));
                zone = zone.join(Table::machines(grains(weight), &cheapest), room, effort)?;
            }
            if zones > 0 && !self.zone_is_used(usage, any) {
                zone = zone.in_one_zone();
            }
            let [_, room, _] = self.rooms(usage, any).map(limit);
            join_to(&mut regions, [cloud, region], (any, zone), room, effort)?;
        }
        let mut clouds: Groups<u32> = BTreeMap::new();
        for ([cloud, _], (any, region)) in regions {
            let [_, _, room] = self.rooms(usage, any).map(limit);
            join_to(&mut clouds, cloud, (any, region), room, effort)?;
        }
        let mut whole = Table::nothing();
        for (_, cloud) in clouds.into_values() {
            whole = whole.join(cloud, most, effort)?;
        }
        Some(whole.best(need, zones, grains(spare)))
    }
}

/// Tables by group, with any candidate of it.
type Groups<K> = BTreeMap<K, (u32, Table)>;

/// Joins a table to what its group has.
fn join_to<K: Ord>(
    groups: &mut Groups<K>,
    of: K,
    (any, more): (u32, Table),
    room: Size,
    effort: &mut Effort,
) -> Option<()> {
    let (any, had) = groups.remove(&of).unwrap_or((any, Table::nothing()));
    groups.insert(of, (any, had.join(more, room, effort)?));
    Some(())
}

/// The cheapest machines of one weight, one by one: cost and candidate.
fn cheapest(mut runs: Vec<Run>, most: usize) -> Vec<(u64, u32)> {
    runs.sort_unstable();
    let each = |(cost, at, count)| std::iter::repeat_n((cost, at), most.min(count as usize));
    runs.into_iter().flat_map(each).take(most).collect()
}
