//! Disks and interfaces that outlive their machine.
//!
//! A machine is forgotten only when nothing of it is left. Until then its record stays, its slot is
//! not free, and each apply clears away what it left. That a thing is there without its machine
//! proves nothing by itself: a cloud may make it before the machine, or list it earlier. So what is
//! cleared away belongs to a machine that is *gone*, as the inventory sees it, or to a launch of which
//! absence proves that it made no machine.

use crate::holdings::seams;
use fleet_model::{Attempt, Departure, Inputs, MachineId, Observed, Orphans, PoolId};

/// What a machine left behind, and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) orphans: Orphans,
    pub(crate) how: Departure,
}

/// What is left of a machine that is gone.
pub(crate) fn of_machine(inputs: &Inputs, machine: &MachineId, pool: &PoolId) -> Option<Orphans> {
    let left = seams::left_behind(&inputs.observed, machine)?;
    (left.scope == pool.place.scope()).then(|| left.clone())
}

/// What is left of launches that made no machine: no answer settled them, and absence would.
pub(crate) fn of_doubts(inputs: &Inputs) -> impl Iterator<Item = Leftover> {
    let observed = &inputs.observed;
    let attempts = inputs.recorded.in_doubt.values();
    let left = attempts.filter_map(|attempt| Some((attempt, orphans_of(attempt, observed)?)));
    left.filter(|(attempt, _)| made_nothing(attempt, observed))
        .map(|(_, orphans)| Leftover { orphans: orphans.clone(), how: Departure::Ended })
}

/// What is there of a launch besides machines.
pub fn orphans_of<'a>(attempt: &Attempt, observed: &'a Observed) -> Option<&'a Orphans> {
    let create = &attempt.create;
    let scope = create.pool.place.scope();
    observed.orphans.values().find(|left| left.token == create.token && left.scope == scope)
}

/// Whether absence proves that a launch made no machine.
fn made_nothing(attempt: &Attempt, observed: &Observed) -> bool {
    let create = &attempt.create;
    let age = observed.taken_at.duration_since(attempt.last_sent);
    let old = age >= seams::absence_proves_after();
    let mut owners = observed.machines.values().filter_map(|machine| machine.owner.as_ref());
    old && observed.is_complete(&create.pool.place.scope())
        && !owners.any(|owner| owner.token == create.token)
}

/// What is to be cleared away. Nothing of machines that vanished, while a person has not said that
/// they are to be given up.
pub(crate) fn to_clear(left: &[Leftover], frozen: bool) -> Vec<Orphans> {
    let given_up = |left: &&Leftover| !(frozen && left.how == Departure::Vanished);
    seams::cleared_away(left.iter().filter(given_up).map(|left| left.orphans.clone()).collect())
}
