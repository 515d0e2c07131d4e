//! What the journal's events say of spot pools.

use crate::market::belief;
use crate::market::boot;
use crate::market::throttle;
use fleet_model::{
    Departure, Market, MicroUsd, PoolBelief, PoolId, Recorded, SlotId, SlotState, Timestamp,
    Vacated,
};
use std::collections::BTreeMap;

fn of<'a>(recorded: &'a mut Recorded, pool: &PoolId) -> Option<&'a mut PoolBelief> {
    if pool.market != Market::Spot {
        return None;
    }
    if !recorded.beliefs.contains_key(pool) {
        recorded.beliefs.insert(pool.clone(), PoolBelief::default());
    }
    recorded.beliefs.get_mut(pool)
}

/// A launch brought some machines, and some not.
pub(crate) fn launched(
    recorded: &mut Recorded,
    pool: &PoolId,
    (got, missing): (usize, usize),
    price: Option<MicroUsd>,
    at: Timestamp,
) {
    let Some(belief) = of(recorded, pool) else { return };
    if let Some(price) = price {
        belief::bought(belief, at, price);
    }
    belief.held += got as u32;
    if missing > 0 {
        throttle::said_no(belief, at);
        belief::exactly(belief, at, belief.held, belief.held + missing as u32);
    } else {
        throttle::granted(belief, got as u32, at);
        belief::alive(belief, at, belief.held);
    }
}

/// A machine of the pool is ours from here on, and no launch of ours: no evidence, but it may be lost.
pub(crate) fn adopted(recorded: &mut Recorded, pool: &PoolId) {
    if let Some(belief) = of(recorded, pool) {
        belief.held += 1;
    }
}

/// A pool said that it has no capacity.
pub(crate) fn refused(recorded: &mut Recorded, pool: &PoolId, at: Timestamp) {
    let Some(belief) = of(recorded, pool) else { return };
    throttle::said_no(belief, at);
    belief::exactly(belief, at, belief.held, belief.held + 1);
}

/// Machines were found ready. To be called before that is written down of their slots. `looked`: when
/// somebody last looked before.
pub(crate) fn ready(
    recorded: &mut Recorded,
    slots: &[SlotId],
    looked: Option<Timestamp>,
    at: Timestamp,
) {
    for slot in slots {
        let record = recorded.slots.get(&slot.name);
        let Some(record) = record.filter(|record| record.generation == slot.generation) else {
            continue;
        };
        let SlotState::Filled { pool, launched_at, health, .. } = &record.state else { continue };
        if health.ready {
            continue;
        }
        let (pool, launched_at) = (pool.clone(), *launched_at);
        let after = |at: Timestamp| {
            u32::try_from((at.as_second() - launched_at.as_second()).max(0)).unwrap_or(u32::MAX)
        };
        let not_yet = looked.max(health.failing_since).map_or(0, after);
        if let Some(belief) = of(recorded, &pool) {
            boot::took(belief, not_yet..=after(at));
        }
    }
}

/// We destroy machines ourselves. That they lived until now is evidence of the pool; that they go is
/// none.
pub(crate) fn ended(recorded: &mut Recorded, pool: &PoolId, count: usize, at: Timestamp) {
    let Some(belief) = of(recorded, pool) else { return };
    if belief.held > 0 {
        belief::alive(belief, at, belief.held);
    }
    belief.held = belief.held.saturating_sub(count as u32);
}

/// Machines are gone. To be called while their slots are still on record.
pub(crate) fn gone(recorded: &mut Recorded, gone: &[Vacated], at: Timestamp) {
    for (pool, lost) in lost(recorded, gone) {
        let Some(belief) = of(recorded, &pool) else { continue };
        let held = belief.held.max(lost);
        belief.held = held - lost;
        throttle::said_no(belief, at);
        belief::interrupted(belief, at, held, held - lost);
    }
    for vacated in gone.iter().filter(|vacated| !is_lost(vacated.how)) {
        let Some(record) = recorded.slots.get(&vacated.slot) else { continue };
        let SlotState::Filled { pool, machine, ending: false, .. } = &record.state else {
            continue;
        };
        // The slot may hold another one by now, which stays.
        if *machine != vacated.machine {
            continue;
        }
        let pool = pool.clone();
        if let Some(belief) = of(recorded, &pool) {
            belief.held = belief.held.saturating_sub(1);
        }
    }
}

/// Whether a departure tells something of the pool: it took a machine back.
pub(crate) fn is_lost(how: Departure) -> bool {
    match how {
        Departure::Interrupted | Departure::Terminated => true,
        Departure::Ended
        | Departure::Vanished
        | Departure::EndedByOther
        | Departure::Expired
        | Departure::Failed => false,
    }
}

/// How many machines each pool took back, of those that are gone.
pub(crate) fn lost(recorded: &Recorded, gone: &[Vacated]) -> BTreeMap<PoolId, u32> {
    let mut lost: BTreeMap<PoolId, u32> = BTreeMap::new();
    for vacated in gone.iter().filter(|vacated| is_lost(vacated.how)) {
        let Some(record) = recorded.slots.get(&vacated.slot) else { continue };
        if let SlotState::Filled { pool, machine, ending: false, .. } = &record.state
            && *machine == vacated.machine
            && pool.market == Market::Spot
        {
            *lost.entry(pool.clone()).or_default() += 1;
        }
    }
    lost
}
