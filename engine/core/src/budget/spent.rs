//! What was spent, by the journal, and what may have been: machines with all that comes beside them.

use crate::budget::left::cost;
use crate::budget::seams;
use crate::offers::find_offering;
use fleet_model::{
    Attempt, ByKind, CostKind, Create, Extra, Extras, Inputs, Market, MicroUsd, NoPrice, PoolId,
    Timestamp, Uncounted,
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

/// What may come beside a machine of a launch in doubt: its cloud chooses among the pools that it names.
fn may_come(inputs: &Inputs, attempt: &Attempt) -> Vec<Extras> {
    let others = attempt.create.others.iter();
    let others = others.map(|other| inputs.recorded.extras.get(&other.pool).copied());
    std::iter::once(attempt.extras).chain(others).map(or_unknown).collect()
}

/// The dearest of it, kind by kind.
fn dearest(inputs: &Inputs, attempt: &Attempt) -> Extras {
    let all = may_come(inputs, attempt);
    let dearest = |of: fn(&Extras) -> Extra| {
        all.iter().map(of).max_by_key(|extra| extra.hourly()).unwrap_or_default()
    };
    Extras {
        disk: dearest(|one| one.disk),
        address: dearest(|one| one.address),
        egress: dearest(|one| one.egress),
    }
}

/// What nobody wrote down is not known.
fn or_unknown(extras: Option<Extras>) -> Extras {
    let unknown = Extra::Unknown(NoPrice::NotRecorded);
    extras.unwrap_or(Extras { disk: unknown, address: unknown, egress: unknown })
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
    let no_traffic = inputs.desired.placement.traffic.is_nothing();
    let mut leave_out = |what: Uncounted| {
        let Uncounted { kind, because, cloud, machines } = what;
        // A version before this one did not write down that none is expected.
        let none = kind == CostKind::Egress && because == NoPrice::NotRecorded && no_traffic;
        if !none {
            *all.entry((kind, because, cloud)).or_default() += machines;
        }
    };
    let gone = recorded.uncounted.iter();
    gone.filter(|one| from.is_none_or(|from| one.until > from)).for_each(|one| leave_out(one.what));
    for open in recorded.running() {
        let cloud = open.pool.place.cloud;
        for (kind, because) in unknown(open.price.is_some(), &[or_unknown(open.extras)]) {
            leave_out(Uncounted { kind, because, cloud, machines: 1 });
        }
    }
    for attempt in recorded.in_doubt.values() {
        let Create { pool, slots, price, others, .. } = &attempt.create;
        let machines = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        let priced = price.is_some() && others.iter().all(|other| other.price.is_some());
        for (kind, because) in unknown(priced, &may_come(inputs, attempt)) {
            leave_out(Uncounted { kind, because, cloud: pool.place.cloud, machines });
        }
    }
    let one = |((kind, because, cloud), machines)| Uncounted { kind, because, cloud, machines };
    all.into_iter().map(one).collect()
}

/// What of a machine has no price, if any of this may come beside it; and why.
fn unknown(priced: bool, beside: &[Extras]) -> Vec<(CostKind, NoPrice)> {
    let machine = (!priced).then_some((CostKind::Machine, NoPrice::Machine));
    let kind = |at: usize| {
        let each = beside.iter().map(|one| one.each()[at]);
        each.filter_map(|(kind, extra)| Some((kind, extra.unknown()?))).next()
    };
    machine.into_iter().chain((0..CostKind::BESIDE.len()).filter_map(kind)).collect()
}
