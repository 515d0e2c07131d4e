//! What was spent, by the journal, and what may have been: machines with all that comes beside them.

use crate::budget::left::cost;
use crate::budget::seams;
use crate::offers::find_offering;
use fleet_model::{
    Attempt, ByKind, CostKind, Extra, Extras, Inputs, Market, MicroUsd, NoPrice, PoolId, Timestamp,
    Uncounted,
};
use std::collections::BTreeMap;

/// What was spent since a moment, at the dearest; `None`: since the beginning.
pub(super) fn since(inputs: &Inputs, from: Option<Timestamp>) -> ByKind {
    let recorded = &inputs.recorded;
    let counted = |began: Timestamp| {
        let began = from.map_or(began, |from| from.max(began));
        u64::try_from(inputs.now.duration_since(began).as_secs() + 1).unwrap_or(0)
    };
    let mut beside = ByKind::default();
    let mut machines = recorded.spent.since(from);
    for (kind, spent) in &recorded.spent_beside {
        *beside.of(*kind) += spent.since(from);
    }
    for open in recorded.running() {
        if let Some(price) = open.price {
            machines += cost(dearer(inputs, open.pool, price), counted(open.since));
        }
        let seconds = counted(open.extras_since);
        beside.add_extras(open.extras.unwrap_or_default(), |hourly| cost(hourly, seconds));
    }
    for attempt in recorded.in_doubt.values() {
        let (seconds, count) = (counted(attempt.intended_at), attempt.create.slots.len() as u64);
        let each = attempt.create.dearest().unwrap_or_default();
        machines += seams::doubt(cost(each, seconds) * count);
        let extras = dearest(inputs, attempt);
        beside.add_extras(extras, |hourly| seams::doubt(cost(hourly, seconds) * count));
    }
    let mut all = seams::beside(beside);
    all.machine += machines;
    all
}

/// What comes beside a machine of a launch in doubt, at the dearest of the pools that it names.
fn dearest(inputs: &Inputs, attempt: &Attempt) -> Extras {
    let others = attempt.create.others.iter().map(|other| &other.pool);
    let others = others.filter_map(|pool| inputs.recorded.extras.get(pool).copied());
    attempt.extras.into_iter().chain(others).max_by_key(|one| one.known()).unwrap_or_default()
}

/// The price of a machine, which may have moved since it was last written down.
fn dearer(inputs: &Inputs, pool: &PoolId, written: MicroUsd) -> MicroUsd {
    let present = match pool.market {
        Market::Spot => find_offering(inputs, pool).and_then(|offering| offering.price),
        Market::OnDemand | Market::Reserved => None,
    };
    present.map_or(written, |present| present.max(written))
}

/// What is in no amount that [`since`] the earliest of some moments gives out.
pub(super) fn uncounted(inputs: &Inputs, from: Option<Timestamp>) -> Vec<Uncounted> {
    let recorded = &inputs.recorded;
    let mut all = BTreeMap::new();
    let mut leave_out = |what: Uncounted| {
        let Uncounted { kind, because, cloud, machines } = what;
        *all.entry((kind, because, cloud)).or_default() += machines;
    };
    let gone = recorded.uncounted.iter();
    gone.filter(|one| from.is_none_or(|from| one.until > from)).for_each(|one| leave_out(one.what));
    for open in recorded.running() {
        let cloud = open.pool.place.cloud;
        let unknown = CostKind::BESIDE.map(|kind| (kind, Extra::Unknown(NoPrice::NotRecorded)));
        let machine = match open.price {
            Some(_) => Extra::default(),
            None => Extra::Unknown(NoPrice::Machine),
        };
        let beside = open.extras.map_or(unknown, Extras::each);
        for (kind, extra) in [(CostKind::Machine, machine)].into_iter().chain(beside) {
            if let Some(because) = extra.unknown() {
                leave_out(Uncounted { kind, because, cloud, machines: 1 });
            }
        }
    }
    let one = |((kind, because, cloud), machines)| Uncounted { kind, because, cloud, machines };
    all.into_iter().map(one).collect()
}
