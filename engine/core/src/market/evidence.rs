//! What was seen of a pool, by this fleet or others, and what is seen now.

use crate::market::belief;
use crate::market::learn;
use fleet_model::{Inputs, PoolBelief, PoolId, Throttle, Timestamp, Vacated};
use std::collections::BTreeMap;

/// The latest that is known of a pool, from this fleet or others.
pub(crate) fn latest<'a>(inputs: &'a Inputs, pool: &PoolId) -> Option<&'a PoolBelief> {
    let own = inputs.recorded.beliefs.get(pool);
    own.into_iter().chain(inputs.beliefs.get(pool)).max_by_key(|belief| belief.as_of)
}

/// The last no of a pool, to this fleet or others, and what was granted since.
pub(crate) fn throttle(inputs: &Inputs, pool: &PoolId) -> Option<Throttle> {
    let own = inputs.recorded.beliefs.get(pool).and_then(|belief| belief.throttle);
    let of_others = inputs.beliefs.get(pool).and_then(|belief| belief.throttle);
    own.into_iter().chain(of_others).max_by_key(|throttle| throttle.at)
}

/// Machines that each pool took back, as this look found.
pub(crate) fn lost_now(inputs: &Inputs, vacate: &[Vacated]) -> BTreeMap<PoolId, u32> {
    learn::lost(&inputs.recorded, vacate)
}

/// What is believed of a pool at this moment: what was seen, and what we see now.
pub(crate) fn refreshed(inputs: &Inputs, pool: &PoolId, held: u32, lost: u32) -> PoolBelief {
    let mut belief = latest(inputs, pool).cloned().unwrap_or_default();
    let now: Timestamp = inputs.now;
    if lost > 0 {
        belief::interrupted(&mut belief, now, held + lost, held);
    } else if held > 0 {
        belief::alive(&mut belief, now, held);
    }
    belief
}
