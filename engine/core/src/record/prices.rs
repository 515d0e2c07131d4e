//! What the ledger needs of the journal besides launches and ends: prices that moved, what machines are
//! worth, and when they ended by their cloud's own word.

use crate::offers::{find_offering, weight};
use crate::record::beside::extras_seen;
use fleet_model::{
    Action, Event, Inputs, MachineId, MachineState, Market, MicroUsd, OnRecord, Plan, PoolId,
    PriceStep, PricedAt, Recorded, Scope, SlotState, Timestamp, Vacated, Worth,
};
use std::collections::{BTreeMap, BTreeSet};

/// What clouds are asked for, once per look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadingsWanted {
    /// Pools whose prices the bill follows, and since when.
    pub pools: Vec<(PoolId, Timestamp)>,
    /// Machines on record that are gone.
    pub gone: Vec<(MachineId, Scope)>,
}

/// Which readings a look lacks.
pub fn readings_wanted(inputs: &Inputs) -> ReadingsWanted {
    let known = followed(&inputs.recorded);
    let pools = known.into_iter().map(|(pool, known)| (pool.clone(), known.since)).collect();
    let gone = |OnRecord { machine, pool, .. }: OnRecord<'_>| {
        let listed = inputs.observed.machines.get(machine);
        let ended = listed.is_some_and(|seen| seen.state == MachineState::Terminated);
        let is_gone = ended || inputs.observed.gone.contains_key(machine);
        is_gone.then(|| (machine.clone(), pool.place.scope()))
    };
    ReadingsWanted { pools, gone: inputs.recorded.machines().filter_map(gone).collect() }
}

/// The last price on record of a pool that holds machines.
struct Known {
    since: Timestamp,
    price: Option<MicroUsd>,
}

/// Pools that hold machines whose bill follows the market.
fn followed(recorded: &Recorded) -> BTreeMap<&PoolId, Known> {
    let mut known: BTreeMap<&PoolId, Known> = BTreeMap::new();
    for record in recorded.slots.values() {
        let SlotState::Filled { pool, launched_at, price, .. } = &record.state else { continue };
        if pool.market != Market::Spot {
            continue;
        }
        let first = known.entry(pool).or_insert(Known { since: *launched_at, price: *price });
        if *launched_at < first.since {
            *first = Known { since: *launched_at, price: *price };
        }
    }
    for (pool, known) in &mut known {
        if let Some(PricedAt { since, price }) = recorded.priced.get(*pool)
            && *since >= known.since
        {
            *known = Known { since: *since, price: Some(*price) };
        }
    }
    known
}

/// Prices that moved since they were last written down, and what is bought ahead, if either is another. Where
/// a cloud does not tell when a price moved, the price of this look counts from now on.
pub fn prices_seen(inputs: &Inputs) -> Option<Event> {
    let mut told: BTreeMap<&PoolId, Vec<&PriceStep>> = BTreeMap::new();
    for step in &inputs.observed.readings.prices {
        told.entry(&step.pool).or_default().push(step);
    }
    let mut prices = Vec::new();
    for (pool, Known { since, mut price }) in followed(&inputs.recorded) {
        let steps = told.remove(pool).unwrap_or_default();
        let mut last = since;
        for step in steps.into_iter().filter(|step| step.since > since) {
            last = step.since;
            if price != Some(step.price) {
                price = Some(step.price);
                prices.push(step.clone());
            }
        }
        let Some(offering) = find_offering(inputs, pool) else { continue };
        let since = offering.signals.price_as_of.unwrap_or(inputs.now);
        match offering.price {
            Some(now) if price != Some(now) && since > last => {
                prices.push(PriceStep { pool: pool.clone(), since, price: now });
            }
            Some(_) | None => {}
        }
    }
    let bought = &inputs.desired.placement.commitments;
    let commitments = (*bought != inputs.recorded.commitments).then(|| bought.clone());
    let extras = extras_seen(inputs);
    let news = !prices.is_empty() || commitments.is_some() || !extras.is_empty();
    news.then_some(Event::Priced { prices, commitments, extras })
}

/// Keeps what comes beside machines of the pools that a round launches from, until the next round says otherwise.
pub(super) fn fold_worth(recorded: &mut Recorded, worth: &[Worth]) {
    let launched: BTreeSet<&PoolId> =
        recorded.in_doubt.values().flat_map(|attempt| attempt.create.pools()).collect();
    recorded.extras.retain(|pool, _| launched.contains(pool));
    let news = worth.iter().filter_map(|one| Some((one.pool.clone(), one.extras?)));
    recorded.extras.extend(news);
}

/// Folds prices. Those of pools that hold nothing any more are dropped.
pub(super) fn fold_prices(recorded: &mut Recorded, prices: &[PriceStep]) {
    let held: BTreeSet<PoolId> = followed(recorded).into_keys().cloned().collect();
    for PriceStep { pool, since, price } in prices {
        recorded.priced.insert(pool.clone(), PricedAt { since: *since, price: *price });
    }
    recorded.priced.retain(|pool, _| held.contains(pool));
}

/// Machines that are gone, each with its times where its cloud tells.
pub fn with_times(inputs: &Inputs, gone: &[Vacated]) -> Vec<Vacated> {
    let one = |vacated: &Vacated| {
        let ran = inputs.observed.readings.ran.get(&vacated.machine).copied().unwrap_or_default();
        Vacated { started: ran.from, at: ran.until, deleted: ran.deleted, ..vacated.clone() }
    };
    gone.iter().map(one).collect()
}

/// What machines are worth of the pools that a plan launches from.
pub fn worth(inputs: &Inputs, plan: &Plan) -> Vec<Worth> {
    let pools = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Create(create) => Some(create.pools()),
        Action::Destroy(_) => None,
    });
    let pools: BTreeSet<&PoolId> = pools.flatten().collect();
    let one = |pool: &PoolId| {
        let offering = find_offering(inputs, pool)?;
        Some(Worth {
            pool: pool.clone(),
            on_demand: offering.on_demand,
            units: weight(&inputs.desired, &offering.kind),
            unit: inputs.desired.capacity.unit.to_string(),
            extras: Some(offering.extras),
        })
    };
    pools.into_iter().filter_map(one).collect()
}
