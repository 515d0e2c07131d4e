//! What a spec asks for, whatever stands and whatever can be had today.

use fleet_model::{HeldPool, Inputs, Limits, Machine, MachineId, PoolId, Quota, Recorded};
use std::collections::BTreeMap;

/// The same fleet, to be bought anew at the prices of now: nothing stands, no pool has said no, every cloud
/// answers, and nobody froze it. Two specs that are planned so differ by what they ask for and by nothing
/// else: not by machines that are too young to be touched, a limit on destroys, or a pool that is empty.
pub fn afresh(inputs: &Inputs) -> Inputs {
    let mut fresh = inputs.clone();
    let Recorded { beliefs, heard, signals, .. } = std::mem::take(&mut fresh.recorded);
    // What was learned of pools is a part of what they are worth.
    fresh.recorded = Recorded { beliefs, heard, signals, ..Recorded::default() };
    fresh.observed.machines = BTreeMap::<MachineId, Machine>::new();
    fresh.observed.glimpsed = BTreeMap::new();
    fresh.observed.gone = BTreeMap::new();
    fresh.observed.orphans = BTreeMap::new();
    fresh.observed.gaps = Vec::new();
    fresh.observed.complete.extend(fresh.offerings.iter().map(|one| one.pool.place.scope()));
    fresh.held_pools = BTreeMap::<PoolId, HeldPool>::new();
    // A quota counts what runs, and that is the fleet itself as far as anybody knows.
    fresh.quotas.iter_mut().for_each(|Quota { used, .. }| *used = 0);
    fresh.limits = Limits::default();
    fresh
}
