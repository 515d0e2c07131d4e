//! What was spent, by the journal, and what may have been.

use crate::budget::left::cost;
use crate::budget::seams;
use crate::offers::find_offering;
use fleet_model::{Attempt, Inputs, Market, MicroUsd, PoolId, SlotState, Timestamp};

/// What was spent since a moment, at the dearest; `None`: since the beginning.
pub(super) fn since(inputs: &Inputs, from: Option<Timestamp>) -> MicroUsd {
    let recorded = &inputs.recorded;
    let counted = |began: Timestamp| {
        let began = from.map_or(began, |from| from.max(began));
        u64::try_from(inputs.now.duration_since(began).as_secs() + 1).unwrap_or(0)
    };
    let open = recorded.slots.values().filter_map(|record| match &record.state {
        SlotState::Filled { pool, launched_at, price, .. } => {
            let (since, price) = recorded.unsettled(pool, *launched_at, *price);
            Some(cost(dearer(inputs, pool, price?), counted(since)))
        }
        SlotState::Vacant | SlotState::InDoubt { .. } => None,
    });
    let doubt = recorded.in_doubt.values().map(|attempt: &Attempt| {
        let each = attempt.create.dearest().unwrap_or_default();
        cost(each, counted(attempt.intended_at)) * attempt.create.slots.len() as u64
    });
    recorded.spent.since(from) + open.sum() + seams::doubt(doubt.sum())
}

/// The price of a machine, which may have moved since it was last written down.
fn dearer(inputs: &Inputs, pool: &PoolId, written: MicroUsd) -> MicroUsd {
    let present = match pool.market {
        Market::Spot => find_offering(inputs, pool).and_then(|offering| offering.price),
        Market::OnDemand | Market::Reserved => None,
    };
    present.map_or(written, |present| present.max(written))
}
