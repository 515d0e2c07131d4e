//! What is to be expected of a plan: what it will cost, whether it is granted, how long it lasts.

use crate::decide::Decision;
use crate::hedge::belief_now;
use crate::ledger::find_offering;
use crate::market::belief::{self, Prior};
use fleet_model::{Market, MicroUsd, Outlook, PoolChance, PoolLine, Share};

/// Nine in ten outcomes of a sum of many are below its mean and this many deviations.
const NINE_IN_TEN: f64 = 1.2816;
/// More slots than this are judged by the first ones.
const SLOTS: usize = 4096;

/// Puts what is believed to each spot pool, and sums it up.
pub(crate) fn outlook(decision: &Decision<'_>, lines: &mut [PoolLine]) -> Option<Outlook> {
    let inputs = decision.inputs;
    let mut fill = 1.0;
    let (mut lost, mut below, mut variance) = (0.0, 0.0, 0.0);
    let mut any = false;
    for line in lines.iter_mut().filter(|line| line.pool.market == Market::Spot) {
        any = true;
        let held = (line.keep + line.destroy) as usize;
        let all = ((line.keep + line.create) as usize).min(SLOTS);
        let signals = find_offering(inputs, &line.pool).map(|offering| offering.signals);
        let prior = signals.map_or_else(Prior::default, |signals| Prior::of(&signals));
        let seen = belief_now(inputs, &decision.ledger.vacate, &line.pool, held as u32);
        let chances = belief::chances(&seen, prior, inputs.now, 1.0, all);
        // Slots are nested: the chance of at least k never rises with k.
        let (mut at_least, mut mean, mut square) = (1.0f64, 0.0, 0.0);
        for (nth, chance) in chances.iter().enumerate().skip(line.keep as usize) {
            at_least = at_least.min(chance.up);
            mean += at_least;
            square += (2 * (nth - line.keep as usize) + 1) as f64 * at_least;
        }
        lost += chances.iter().map(|chance| (1.0 - chance.stays) * 24.0).sum::<f64>();
        let price = line.price.unwrap_or_default().0 as f64;
        below += (f64::from(line.create) - mean).max(0.0) * price;
        variance += (square - mean * mean).max(0.0) * price * price;
        fill *= at_least;
        let life = belief::median_life(&seen, prior, inputs.now) * 60.0;
        line.chance = Some(PoolChance { fill: share(at_least), life_minutes: life as u64 });
    }
    if !any {
        return None;
    }
    let planned = decision.choice.usage.spend.0 as f64;
    let middle = (planned - below).max(0.0);
    let spread = NINE_IN_TEN * variance.sqrt();
    let money = |dollars: f64| MicroUsd(dollars.clamp(0.0, planned) as u64);
    Some(Outlook {
        fill: share(fill),
        interruptions_per_day_milli: (lost * 1000.0) as u64,
        hourly_p10: money(middle - spread),
        hourly_p50: money(middle),
        hourly_p90: money(middle + spread),
        whole: decision.choice.outlook.as_ref().map(|portfolio| share(portfolio.whole)),
    })
}

fn share(chance: f64) -> Share {
    Share::from_ppm((chance.clamp(0.0, 1.0) * 1e6) as u32).unwrap_or(Share::ALL)
}
