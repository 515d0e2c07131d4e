//! What machines have cost up to the last moment that nothing can change any more: what budgets are counted
//! from. A machine that runs is settled when the price of its pool moves, and when it is gone.

use fleet_model::{MachineId, PoolId, PriceStep, Recorded, SlotName, SlotState, Timestamp};
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// No cloud bills less than this.
const LEAST: SignedDuration = SignedDuration::from_mins(1);
/// A price that moved so lately may have moved earlier.
const NOTICED: SignedDuration = SignedDuration::from_hours(1);

/// Prices of pools moved: up to there machines are paid for at the price before.
pub(super) fn priced(recorded: &mut Recorded, prices: &[PriceStep], at: Timestamp) {
    let mut moved: BTreeMap<&PoolId, Vec<&PriceStep>> = BTreeMap::new();
    for step in prices {
        moved.entry(&step.pool).or_default().push(step);
    }
    let mut spent = std::mem::take(&mut recorded.spent);
    for record in recorded.slots.values() {
        let SlotState::Filled { pool, launched_at, price, .. } = &record.state else { continue };
        let Some(steps) = moved.get(pool) else { continue };
        let (mut began, mut hourly) = recorded.unsettled(pool, *launched_at, *price);
        for step in steps {
            // A cloud that does not tell when a price moved shows it at a look: it may have been higher all the
            // time before.
            let noticed = at.duration_since(step.since) < NOTICED;
            let dearer = hourly.max(Some(step.price).filter(|_| noticed));
            spent.add(dearer.unwrap_or_default(), began, step.since);
            if step.since > began {
                (began, hourly) = (step.since, Some(step.price));
            }
        }
    }
    recorded.spent = spent;
}

/// Machines are gone, or somebody else's, since a moment.
pub(super) fn closed<'a>(
    recorded: &mut Recorded,
    gone: impl Iterator<Item = (SlotName, &'a MachineId, Timestamp)>,
) {
    for (slot, machine, at) in gone {
        let state = recorded.slots.get(&slot).map(|record| &record.state);
        let Some(SlotState::Filled { machine: there, pool, launched_at, price, .. }) = state else {
            continue;
        };
        if there == machine {
            let (began, hourly) = recorded.unsettled(pool, *launched_at, *price);
            let at = launched_at.checked_add(LEAST).map_or(at, |least| at.max(least));
            recorded.spent.add(hourly.unwrap_or_default(), began, at);
        }
    }
}
