//! What comes beside machines, where a look shows another than is on record.

use crate::offers::{extras_by, find_offering, weight};
use fleet_model::{
    Extras, ExtrasStep, Inputs, MachineState, PoolId, SlotId, SlotRecord, SlotState, Units,
};
use fleet_money::extras::foreign;
use std::collections::BTreeMap;

/// A disk and an address cost what they cost at the launch; traffic is shared out anew with every target, and among
/// all that stands while that is more. Of machines that were launched before it was written down, or by somebody else,
/// all of it is news. Machines that do not run are left alone: one that is gone ended before this look, and is settled
/// by its end.
pub(super) fn extras_seen(inputs: &Inputs) -> Vec<ExtrasStep> {
    let mut steps: Vec<ExtrasStep> = Vec::new();
    let mut pools: BTreeMap<&PoolId, Option<Now>> = BTreeMap::new();
    let slots = inputs.recorded.slots.iter().filter(|(_, record)| runs(inputs, record));
    let running: Vec<_> = slots
        .filter_map(|(name, record)| match &record.state {
            SlotState::Filled { pool, template, extras, adopted, .. } => {
                let now = *pools.entry(pool).or_insert_with(|| now(inputs, pool));
                let slot = SlotId { name: *name, generation: record.generation };
                let made = adopted.is_none().then_some(template);
                Some((slot, pool, made, extras, now?))
            }
            SlotState::InDoubt { .. } | SlotState::Vacant => None,
        })
        .collect();
    let standing = Units(running.iter().map(|(.., now)| now.weight.0).sum());
    for (slot, pool, made, written, Now { extras: now, .. }) in running {
        let egress = now.egress.shared(inputs.desired.capacity.target, standing);
        let now = Extras { egress, ..now };
        let now = match written {
            Some(written) if written.egress == egress => continue,
            Some(written) => Extras { egress, ..*written },
            // A machine that somebody else launched counts as made from the fleet's template, and has a disk of its own.
            None => match made.map(|made| inputs.recorded.templates.get(made)) {
                None => Extras { egress, ..foreign(pool.place.cloud) },
                Some(Some(fields)) => extras_by(now, fields, pool),
                Some(None) => now,
            },
        };
        match steps.iter_mut().find(|step| step.extras == now) {
            Some(step) => step.slots.push(slot),
            None => steps.push(ExtrasStep { slots: vec![slot], extras: now }),
        }
    }
    steps
}

fn runs(inputs: &Inputs, record: &SlotRecord) -> bool {
    let SlotState::Filled { machine, .. } = &record.state else { return false };
    let seen = inputs.observed.machines.get(machine).map(|seen| seen.state);
    matches!(seen, Some(MachineState::Pending | MachineState::Running))
}

/// A machine of a pool now.
#[derive(Clone, Copy)]
struct Now {
    /// What it counts for; nothing if nobody knows.
    weight: Units,
    /// What comes beside it, as one of a fleet that stands as it is meant.
    extras: Extras,
}

/// `None`: nothing is known of the pool.
fn now(inputs: &Inputs, pool: &PoolId) -> Option<Now> {
    let (kind, extras) = match find_offering(inputs, pool) {
        Some(offering) => (Some(&offering.kind), offering.extras),
        None => {
            let held = inputs.held_pools.get(pool)?;
            (held.kind.as_ref(), held.extras)
        }
    };
    let weight = kind.and_then(|kind| weight(&inputs.desired, kind)).unwrap_or_default();
    Some(Now { weight, extras })
}
