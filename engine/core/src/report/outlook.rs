//! What is to be expected of a plan: what it will cost, whether it is granted, how long it lasts.

use crate::decide::Decision;
use crate::market::{Odds, Siblings, belief, lost_now, refreshed};
use crate::offers::find_offering;
use fleet_model::{Hedge, Market, MicroUsd, Outlook, PoolChance, PoolLine, Share};

/// More slots than this are judged by the first ones.
const SLOTS: usize = 4096;
/// Steps between nothing and the whole price.
const STEPS: usize = 256;
const DAY: f64 = 24.0;
/// Hours until a machine is of use.
const READY: f64 = Hedge::READY_AFTER_SECONDS as f64 / 3600.0;

/// What of the price is not paid, or paid elsewhere, if things go as they are expected to, per hour.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expected {
    /// The price of launches that are not granted.
    pub(crate) refused: f64,
    /// What the same machines cost on demand.
    pub(crate) refused_on_demand: f64,
    /// The price of machines that are interrupted, as long as they are missing.
    pub(crate) missing: f64,
}

/// Puts what is believed to each spot pool, and sums it up beside what the plan costs per hour.
pub(crate) fn outlook(
    decision: &Decision<'_>,
    lines: &mut [PoolLine],
    planned: MicroUsd,
) -> Option<(Outlook, Expected)> {
    let inputs = decision.inputs;
    let gone = lost_now(inputs, &decision.inventory.vacate);
    let siblings = Siblings::new(inputs, &gone);
    let (mut fill, mut lost) = (1.0, 0.0);
    let mut any = false;
    let mut expected = Expected::default();
    let replaced_after = inputs.desired.placement.hedge.unwrap_or(Hedge::at(0)).missing_hours();
    // What of the price is saved, unasked, by launches that are not granted.
    let mut refused = Odds::new(planned.0 as f64, STEPS);
    for line in lines.iter_mut().filter(|line| line.pool.market == Market::Spot) {
        any = true;
        let held = (line.keep + line.destroy) as usize;
        let all = ((line.keep + line.create) as usize).min(SLOTS);
        let prior = siblings.prior(inputs, &line.pool);
        let gone = gone.get(&line.pool).copied().unwrap_or_default();
        let seen = refreshed(inputs, &line.pool, held as u32, gone);
        let chances = belief::chances(&seen, prior, inputs.now, DAY, all);
        let lost_here =
            chances.iter().map(|chance| belief::interruptions(chance.stays)).sum::<f64>();
        lost += lost_here;
        let beside = find_offering(inputs, &line.pool).map_or(MicroUsd(0), |o| o.extras.known());
        let price = (line.price.unwrap_or_default() + beside).0 as f64;
        let on_demand = line.on_demand.map_or(price, |list| (list + beside).0 as f64);
        expected.missing += price * lost_here * (replaced_after / DAY).min(1.0);
        let asked = f64::from(line.create);
        // Slots are nested: the chance of at least k never rises with k.
        let mut at_least = 1.0f64;
        let mut pool = Vec::new();
        for (granted, chance) in chances.iter().skip(line.keep as usize).enumerate() {
            let next = at_least.min(chance.up);
            pool.push((at_least - next, (asked - granted as f64) * price));
            expected.refused += (1.0 - next) * price;
            expected.refused_on_demand += (1.0 - next) * on_demand;
            at_least = next;
        }
        pool.push((at_least, 0.0));
        refused.add(&pool);
        fill *= at_least;
        let life = belief::median_life(&seen, prior, inputs.now) * 60.0;
        line.chance = Some(PoolChance { fill: share(at_least), life_minutes: life as u64 });
    }
    if !any {
        return None;
    }
    let whole = decision.choice.outlook.as_ref().map(|portfolio| portfolio.whole);
    let hedge = decision.inputs.desired.placement.hedge;
    let while_missing = hedge.map_or(READY, Hedge::missing_hours);
    let at_target = |every: f64| share(at_target((whole, while_missing), lost, every));
    let hourly = |likely: f64| planned - MicroUsd(refused.below(1.0 - likely) as u64);
    let outlook = Outlook {
        fill: share(fill),
        interruptions_per_day_milli: (lost * 1000.0) as u64,
        hourly_p10: hourly(0.1),
        hourly_p50: hourly(0.5),
        hourly_p90: hourly(0.9),
        whole: whole.map(share),
        reconcile_every_seconds: hedge.map(|hedge| hedge.reconcile_every_seconds),
        at_target_every_five_minutes: at_target(5.0 / 60.0),
        at_target_nightly: at_target(DAY),
    };
    Some((outlook, expected))
}

/// The share of time in which nothing is missing, if somebody looks every so many hours. A loss is
/// found half of that later in the middle, and its replacement is up after the usual time. `whole` is
/// the chance to lose nothing that matters in so many hours; without spares every loss matters.
fn at_target(whole: (Option<f64>, f64), lost_per_day: f64, every: f64) -> f64 {
    let rate = match whole {
        (Some(whole), hours) => -whole.max(1e-9).ln() / hours,
        (None, _) => lost_per_day / DAY,
    };
    (-rate * (every / 2.0 + READY)).exp()
}

fn share(chance: f64) -> Share {
    Share::from_ppm((chance.clamp(0.0, 1.0) * 1e6) as u32).unwrap_or(Share::ALL)
}
