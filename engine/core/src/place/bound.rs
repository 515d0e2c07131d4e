//! How good a fill is: what it costs, and what none can be cheaper than.
//!
//! With machines cut into units, greedy by cost per unit is the optimum: share limits are nested,
//! so what may be taken is a polymatroid. Its dual prices also tell which machines are beyond doubt.

use crate::place::need::{Goal, Taken};
use crate::place::problem::Problem;
use crate::place::rank;
use crate::place::tail::per_unit;
use crate::place::usage::Usage;
use fleet_model::{Cloud, Strategy, Units};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The least that any fill can cost if machines could be cut, and the prices that prove it.
#[derive(Debug, Clone)]
pub(crate) struct Dual {
    /// The bound.
    pub(crate) least: f64,
    /// What the last unit cost.
    price: f64,
    /// What the last unit cost that still went into a zone, region or cloud which is full now.
    zones: Vec<f64>,
    regions: Vec<f64>,
    clouds: [f64; Cloud::ALL.len()],
}

impl Dual {
    /// What a unit of a candidate is worth: a machine above it must pay for being taken, one below
    /// it for being left.
    pub(crate) fn worth(&self, problem: &Problem<'_>, at: u32) -> f64 {
        let candidate = &problem.candidates[at as usize];
        let cloud = candidate.offering.pool.place.cloud;
        let full = self.zones[candidate.zone as usize].min(self.regions[candidate.region as usize]);
        self.price.min(full).min(self.clouds[cloud as usize])
    }
}

impl Problem<'_> {
    /// The least that any fill can cost: greedy with machines cut into units. Whole machines come to
    /// multiples of a grain, and so does what they cover. `None` if even that does not cover the need.
    pub(crate) fn bound(&self, before: &Usage, goal: Goal, grain: u64) -> Option<Dual> {
        let Goal { market, strategy, need, .. } = goal;
        let mut usage = before.clone();
        let mut left = need.0.div_ceil(grain).saturating_mul(grain);
        let mut dual = Dual {
            least: 0.0,
            price: 0.0,
            zones: vec![f64::INFINITY; self.places.zones()],
            regions: vec![f64::INFINITY; self.places.regions()],
            clouds: [f64::INFINITY; Cloud::ALL.len()],
        };
        let next = |usage: &Usage, at: u32| {
            let cost = self.cost_of_next(strategy, at, usage.in_pool(at))?;
            // Ratios as whole numbers for the order; the bound itself is summed exactly.
            Some(Reverse((per_unit(cost, self.weight(at)), cost, at)))
        };
        let heads: Vec<_> = self.of_market(market).filter_map(|at| next(&usage, at)).collect();
        let mut heap: BinaryHeap<_> = heads.into();
        while left > 0 {
            let Reverse((_, cost, at)) = heap.pop()?;
            let weight = self.weight(at);
            let target = self.desired.capacity.target;
            let candidate = &self.candidates[at as usize];
            let level = rank::machines_at_level(strategy, candidate, usage.in_pool(at), target);
            let room = self.room_in_units((before, &usage), at, grain).min(left);
            let units = level.saturating_mul(weight).min(room);
            if units == 0 {
                continue;
            }
            dual.price = cost as f64 / weight as f64;
            dual.least += dual.price * units as f64;
            left -= units;
            self.take_units(&mut usage, at, Units(units));
            let cloud = candidate.offering.pool.place.cloud as usize;
            let rooms = self.rooms_in_grains((before, &usage), at, grain);
            let [zone, region, provider] = rooms.map(|room| room == Some(0));
            let close = |level: &mut f64, full: bool| {
                if full {
                    *level = level.min(dual.price);
                }
            };
            close(&mut dual.zones[candidate.zone as usize], zone);
            close(&mut dual.regions[candidate.region as usize], region);
            close(&mut dual.clouds[cloud], provider);
            if units < room {
                heap.extend(next(&usage, at));
            }
        }
        Some(dual)
    }

    /// What a fill costs under its strategy.
    pub(crate) fn cost_of(&self, before: &Usage, taken: &Taken, strategy: Strategy) -> Option<f64> {
        let mut sum = 0.0;
        for (&at, &count) in &taken.counts {
            let (mut carried, mut left) = (before.in_pool(at), u64::from(count));
            let candidate = &self.candidates[at as usize];
            while left > 0 {
                let target = self.desired.capacity.target;
                let level = rank::machines_at_level(strategy, candidate, carried, target).min(left);
                sum += self.cost_of_next(strategy, at, carried)? as f64 * level as f64;
                carried += Units(level * self.weight(at));
                left -= level;
            }
        }
        Some(sum)
    }
}
