//! How far the cost of a plan may vary: low, expected, high.

use crate::decide::Decision;
use crate::offers::{find_offering, max_spot_price};
use crate::report::outlook::Expected;
use fleet_model::{Cost, CostRange, Market, MicroUsd, PoolLine, Share};

/// So many standard deviations below the price of now is the low end of its range.
const DEVIATIONS: u64 = 2;

/// The range of the price per hour after the plan. All three count what stands at the prices of now.
///
/// *Low*: everything is granted, and spot costs what it costs at the low end of its record: two standard
/// deviations below now where the cloud publishes how its price moved, or what we used to pay. *Expected*:
/// see [`Expected`]. *High*: spot at the most that is paid for it, within the budget.
pub(crate) fn range(
    decision: &Decision<'_>,
    lines: &[PoolLine],
    cost: &Cost,
    expected: Expected,
) -> CostRange {
    let desired = &decision.inputs.desired;
    let now = cost.hourly_at_present;
    let replaced = desired.fallback.is_some() || desired.placement.hedge.is_some();
    // A launch that is not granted is tried in another spot pool, at much the same price; with a fallback,
    // on demand.
    let elsewhere = if replaced { expected.refused_on_demand - expected.refused } else { 0.0 };
    let likely = now.0 as f64 - expected.missing + elsewhere.max(0.0);
    // An estimate: to a hundredth of a cent, so that the same plan a moment later says the same.
    let likely = MicroUsd((likely.max(0.0) / 100.0).round() as u64 * 100);

    let (mut less, mut more) = (MicroUsd(0), Some(MicroUsd(0)));
    let (mut recorded, mut unrecorded) = (0, 0);
    let spot = lines.iter().filter(|line| line.pool.market == Market::Spot);
    for line in spot.filter(|line| line.keep + line.create > 0) {
        let machines = line.keep + line.create;
        let Some(price) = line.price else { continue };
        match low_end(decision, line, price) {
            Some(low) => {
                recorded += machines;
                less += price.saturating_sub(low) * u64::from(machines);
            }
            None => unrecorded += machines,
        }
        let limit = find_offering(decision.inputs, &line.pool);
        let limit = limit.and_then(|offering| max_spot_price(desired, offering));
        let top = match (limit.filter(|_| !replaced), line.on_demand) {
            (Some(limit), Some(list)) => Some(limit.min(list)),
            (limit, list) => limit.or(list),
        };
        let above = top.map(|top| top.saturating_sub(price) * u64::from(machines));
        more = more.zip(above).map(|(sum, above)| sum + above);
    }
    let within = |high: MicroUsd| match cost.hourly_limit {
        Some(limit) => high.min(limit.max(now)),
        None => high,
    };
    CostRange {
        low: now.saturating_sub(less).min(likely),
        expected: likely,
        high: more.map(|more| within(now + more).max(likely)),
        recorded,
        unrecorded,
    }
}

/// The low end of the recorded range of a pool's price; `None` if there is no record.
fn low_end(decision: &Decision<'_>, line: &PoolLine, price: MicroUsd) -> Option<MicroUsd> {
    let inputs = decision.inputs;
    let volatility = find_offering(inputs, &line.pool).and_then(|o| o.signals.volatility);
    let moved = volatility.map(|share: Share| {
        let ppm = u64::from(share.ppm()).saturating_mul(DEVIATIONS).min(1_000_000);
        let less = u128::from(price.0) * u128::from(ppm) / 1_000_000;
        price.saturating_sub(MicroUsd(u64::try_from(less).unwrap_or(u64::MAX)))
    });
    let beliefs = [&inputs.recorded.beliefs, &inputs.beliefs];
    let paid = beliefs.into_iter().filter_map(|known| known.get(&line.pool)?.usual_price).min();
    moved.into_iter().chain(paid.map(|paid| paid.min(price))).min()
}
