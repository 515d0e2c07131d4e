//! What a fleet may still spend: the limits of its budget against what the journal says was spent.

mod left;
mod months;
pub(crate) mod seams;
mod spent;

pub(crate) use left::{Allowance, Left, Limit, cost};

use crate::holdings::Inventory;
use crate::offers::find_offering;
use fleet_model::{Cap, Group, Inputs, Market, MicroUsd, Uncounted};

/// How long a machine may take until it is seen to be gone, in seconds.
const GOING: u64 = 1800;
/// A machine that is launched should be of use for so long at least, in seconds.
const OF_USE: u64 = 3600;
/// What a spot machine may come to cost where nobody knows its on-demand price, in thousandths: clouds
/// speak of "up to 90 % off". A guess.
const UNKNOWN_DEAREST: u64 = 10_000;

/// What may be paid per hour.
pub(crate) fn allowance(inputs: &Inputs, inventory: &Inventory) -> Allowance {
    let budget = &inputs.desired.budget;
    let hourly = budget.hourly;
    if !budget.has_caps() {
        return Allowance { hourly, ..Allowance::default() };
    }
    let every = u64::from(budget.reconcile_every());
    let (keep, launch) = seams::horizons(2 * every + GOING, 2 * every + GOING + every.max(OF_USE));
    Allowance {
        hourly,
        caps: caps(inputs, keep),
        dearest_milli: dearest(inputs, inventory),
        keep,
        launch,
    }
}

/// What is left of every limit on what is spent.
fn caps(inputs: &Inputs, keep: u64) -> Vec<Left> {
    let budget = &inputs.desired.budget;
    let now = inputs.now;
    let mut caps = Vec::new();
    if let Some(limit) = budget.calendar_month {
        let (from, until) = months::around(now, &budget.time_zone);
        let spent_on = spent::since(inputs, Some(from));
        let (cap, rest) = (Cap::CalendarMonth, Some(seconds(now, until)));
        caps.push(Left { cap, limit, spent: spent_on.total(), spent_on, rest });
    }
    if let Some(limit) = budget.lifetime {
        // What stands when the fleet expires is destroyed by the look after that.
        let rest = inputs.desired.expires.map(|end| seconds(now, end) + keep);
        let spent_on = spent::since(inputs, None);
        caps.push(Left { cap: Cap::Lifetime, limit, spent: spent_on.total(), spent_on, rest });
    }
    caps
}

/// What is in none of the amounts that were spent, as the limits count them.
pub(crate) fn uncounted(inputs: &Inputs) -> Vec<Uncounted> {
    let budget = &inputs.desired.budget;
    let month = || Some(months::around(inputs.now, &budget.time_zone).0);
    match (budget.lifetime, budget.calendar_month) {
        (Some(_), _) => spent::uncounted(inputs, None),
        (None, Some(_)) => spent::uncounted(inputs, month()),
        (None, None) => Vec::new(),
    }
}

fn seconds(now: fleet_model::Timestamp, until: fleet_model::Timestamp) -> u64 {
    u64::try_from(until.duration_since(now).as_secs()).unwrap_or(0)
}

/// What a burst machine may come to cost before somebody looks again, in thousandths of its price: spot
/// follows the market, and no further than on-demand.
fn dearest(inputs: &Inputs, inventory: &Inventory) -> u64 {
    // Machines that stand are counted at the price of their launch, so that is what may rise.
    let held = inventory.holdings.iter().filter(|h| h.slot.name.group == Group::Burst);
    let held = held.filter(|h| h.pool.market == Market::Spot).map(|h| {
        let list = find_offering(inputs, &h.pool).and_then(|offering| offering.on_demand);
        (h.price, list)
    });
    let offered = inputs.offerings.iter().filter(|o| o.pool.market == Market::Spot);
    let offered = offered.map(|offering| (offering.price, offering.on_demand));
    let rises = held.chain(offered).filter_map(|(price, list)| {
        let price = price.filter(|price| *price > MicroUsd(0))?;
        Some(match list {
            Some(list) => (list.0.saturating_mul(1000)).div_ceil(price.0).max(1000),
            None => UNKNOWN_DEAREST,
        })
    });
    rises.max().unwrap_or(1000).min(UNKNOWN_DEAREST)
}
