//! What is known of pools that hold something.

use crate::offers::{find_offering, weight};
use fleet_model::{Extras, Inputs, MicroUsd, PoolId, Rejection, Units};

/// What is known of a pool that holds something.
pub(super) struct PoolFacts {
    /// Its number among those of the inventory.
    pub(super) nth: u32,
    pub(super) weight: Option<Units>,
    pub(super) price: Option<MicroUsd>,
    pub(super) extras: Extras,
    pub(super) rejection: Option<Rejection>,
    /// Whether its cloud showed all that stands there.
    pub(super) complete: bool,
}

/// Looks a pool up, and gives it the next number.
pub(super) fn pool_facts(inputs: &Inputs, pool: &PoolId, pools: &mut u32) -> PoolFacts {
    let nth = *pools;
    *pools += 1;
    let complete = inputs.observed.is_complete(&pool.place.scope());
    if let Some(offering) = find_offering(inputs, pool) {
        return PoolFacts {
            nth,
            weight: weight(&inputs.desired, &offering.kind),
            price: offering.price,
            extras: offering.extras,
            rejection: None,
            complete,
        };
    }
    let held = inputs.held_pools.get(pool).cloned().unwrap_or_default();
    PoolFacts {
        nth,
        weight: held.kind.and_then(|kind| weight(&inputs.desired, &kind)),
        price: None,
        extras: held.extras,
        rejection: held.rejection,
        complete,
    }
}
