//! The order in which pools are taken, one for each strategy.

use crate::offers::{BEST, Candidate};
use fleet_model::{Market, Strategy, Units};

/// Smaller is taken first. The last part is the position among the candidates, which is the order
/// of pool ids: ties have one winner.
pub(crate) type Key = (u64, u64, u64, u32);

/// Points a pool's score loses if it carried the whole fleet. What is taken from a pool makes it
/// shallower, and what stands together falls together.
const CROWDING: u64 = 50;
/// The score of a launch that is certain, where nothing is known of how long it lasts.
const CERTAIN: u64 = 100;
/// Scores this close count as equal, and price decides: the signals are noisy.
const SCORE_STEP: u64 = 10;

/// Where a candidate stands if it carries `carried` already and `useful` units of one more machine
/// would be needed. What is paid for costs what of it is wasted.
pub(crate) fn key(
    strategy: Strategy,
    candidate: &Candidate<'_>,
    at: u32,
    carried: Units,
    useful: Units,
    target: Units,
    paid_for: bool,
) -> Key {
    let price = match candidate.price {
        _ if paid_for => candidate.weight.saturating_sub(useful).0,
        Some(price) => price.0.saturating_mul(1000) / useful.0.max(1),
        None => u64::MAX,
    };
    if price == u64::MAX && strategy != Strategy::Prioritized {
        // Nobody knows what it would cost: the last resort, unless a person put it first.
        return (u64::MAX, carried.0, 0, at);
    }
    let score = match score(candidate, carried, target) {
        // A machine that is larger than what is needed is not the better for lasting longer than others.
        score if useful < candidate.weight => score.min(CERTAIN),
        score => score,
    };
    let depth = (u64::from(BEST) - score) / SCORE_STEP;
    let priority = u64::from(candidate.priority);
    match strategy {
        Strategy::CapacityOptimized => (depth, price, 0, at),
        Strategy::CapacityOptimizedPrioritized => (depth, priority, price, at),
        Strategy::PriceCapacityOptimized => {
            (price.saturating_mul(price_percent(score)) / 100, price, 0, at)
        }
        Strategy::LowestPrice => (price, 0, 0, at),
        Strategy::Diversified => (carried.0 / even_step(target), price, 0, at),
        Strategy::Prioritized => (priority, price, 0, at),
    }
}

/// Pools that carry alike to a ten-thousandth of the fleet are alike.
fn even_step(target: Units) -> u64 {
    (target.0 / 10_000).max(1)
}

/// What one more machine costs under a strategy that minimises a cost, in hundredths of
/// micro-dollars; `None` under one that has an order instead, or without a price.
pub(crate) fn machine_cost(
    strategy: Strategy,
    candidate: &Candidate<'_>,
    carried: Units,
    target: Units,
) -> Option<u64> {
    let price = candidate.price?.0;
    match strategy {
        Strategy::LowestPrice => Some(price.saturating_mul(100)),
        Strategy::PriceCapacityOptimized => {
            Some(price.saturating_mul(price_percent(score(candidate, carried, target))))
        }
        Strategy::CapacityOptimized
        | Strategy::CapacityOptimizedPrioritized
        | Strategy::Diversified
        | Strategy::Prioritized => None,
    }
}

/// How many machines a pool gives before its key rises, if it carries `carried` already.
pub(crate) fn machines_at_level(
    strategy: Strategy,
    candidate: &Candidate<'_>,
    carried: Units,
    target: Units,
) -> u64 {
    let weight = candidate.weight.0.max(1);
    let spot = candidate.offering.pool.market == Market::Spot;
    // Points of crowding that leave the key as it is.
    let points = match strategy {
        Strategy::LowestPrice | Strategy::Prioritized => return u64::MAX,
        Strategy::Diversified => {
            let step = even_step(target);
            let rises_at = (carried.0 / step + 1) * step;
            return (rises_at - carried.0).div_ceil(weight);
        }
        _ if !spot => return u64::MAX,
        Strategy::PriceCapacityOptimized => 0,
        Strategy::CapacityOptimized | Strategy::CapacityOptimizedPrioritized => {
            let score = score(candidate, carried, target);
            SCORE_STEP - 1 - (u64::from(BEST) - score) % SCORE_STEP
        }
    };
    let alike = candidate.prospect.alike(carried.0 / weight);
    let crowding = CROWDING * carried.0.min(target.0) / target.0.max(1);
    if crowding + points >= CROWDING {
        return alike;
    }
    let rises_at = ((crowding + points + 1) * target.0).div_ceil(CROWDING);
    rises_at.saturating_sub(carried.0).div_ceil(weight).max(1).min(alike)
}

/// What a price is taken for. That of a machine that is likely to be lost is nearer to twice the price, and
/// one that outlasts others is worth up to two of them.
fn price_percent(score: u64) -> u64 {
    if score <= CERTAIN { 2 * CERTAIN - score } else { CERTAIN * CERTAIN / score.min(2 * CERTAIN) }
}

/// 0 hopeless, 100 certain, more if it outlasts others, less what the pool carries already.
fn score(candidate: &Candidate<'_>, carried: Units, target: Units) -> u64 {
    let crowding = match candidate.offering.pool.market {
        Market::Spot => CROWDING * carried.0.min(target.0) / target.0.max(1),
        Market::OnDemand | Market::Reserved => 0,
    };
    let slot = carried.0 / candidate.weight.0.max(1);
    candidate.prospect.score(slot).saturating_sub(crowding)
}
