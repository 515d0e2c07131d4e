//! Money of a decision.

use crate::decide::Decision;
use crate::holdings::Standing;
use crate::offers::{Covered, find_offering};
use fleet_model::{Cost, MicroUsd};

/// What the fleet costs before and after.
pub(crate) fn cost(decision: &Decision<'_>) -> Cost {
    let mut before = MicroUsd(0);
    let mut on_demand = MicroUsd(0);
    let mut dearer = MicroUsd(0);
    let mut cheaper = MicroUsd(0);
    let mut unpriced = 0;
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        if holding.standing != Standing::Ending {
            before += holding.bill().unwrap_or_default();
        }
        let stays = holding.standing.counts() && !decision.choice.victims.contains_key(&at);
        if stays {
            unpriced += u32::from(holding.price.is_none());
            let offering = find_offering(decision.inputs, &holding.pool);
            let list = offering.and_then(|o| o.on_demand);
            on_demand += list.or(holding.price).unwrap_or_default();
            let billed = holding.bill().unwrap_or_default();
            let present = offering.and_then(|o| o.price).filter(|_| billed > MicroUsd(0));
            let present = present.unwrap_or(billed);
            dearer += present.saturating_sub(billed);
            cheaper += billed.saturating_sub(present);
        }
    }
    for taken in decision.choice.taken.values() {
        for (&at, &count) in &taken.counts {
            let offering = decision.candidate(at).offering;
            if offering.price.is_none() {
                unpriced += count;
            }
            let list = offering.on_demand.or(offering.price).unwrap_or_default();
            on_demand += list * u64::from(count);
        }
    }
    Cost {
        hourly_before: before,
        hourly_after: decision.choice.usage.spend,
        hourly_at_present: (decision.choice.usage.spend + dearer).saturating_sub(cheaper),
        hourly_on_demand: on_demand,
        hourly_limit: decision.inputs.desired.budget.hourly,
        unpriced,
        committed: decision.choice.usage.committed.iter().map(Covered::used).sum(),
        when_done: decision.when_done,
        range: None,
    }
}
