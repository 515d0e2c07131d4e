//! Slots of the record: found, filled.

use fleet_model::{
    Digest, Extras, NewMachine, PoolId, Recorded, SlotHealth, SlotId, SlotRecord, SlotState,
    Timestamp,
};

/// The machine on record in a slot, if it is still the one that was meant.
pub(super) fn filled(recorded: &mut Recorded, slot: SlotId) -> Option<&mut SlotState> {
    let record = recorded.slots.get_mut(&slot.name)?;
    let same = record.generation == slot.generation;
    (same && matches!(record.state, SlotState::Filled { .. })).then_some(&mut record.state)
}

/// What is known of a slot; a new one is vacant.
pub(super) fn record(recorded: &mut Recorded, slot: SlotId) -> &mut SlotRecord {
    recorded.slots.entry(slot.name).or_insert(SlotRecord {
        generation: slot.generation,
        attempt: 0,
        state: SlotState::Vacant,
        tried: Vec::new(),
    })
}

/// Puts a machine that runs already into its slot, if nobody else has it. The pool it came from, if it did.
pub(super) fn fill_vacant(
    recorded: &mut Recorded,
    new: &NewMachine,
    template: Digest,
    labels: u32,
) -> Option<PoolId> {
    let pool = new.pool.clone()?;
    let was = recorded.departed.get(&new.machine);
    // What it cost until it was written down as gone is counted already.
    let beside = was.map_or((None, None), |was| (was.extras, Some(was.at)));
    let record = record(recorded, new.slot);
    if record.state != SlotState::Vacant {
        return None;
    }
    record.generation = new.slot.generation;
    record.attempt = 0;
    record.state = filled_by(new, pool.clone(), template, labels, beside);
    recorded.departed.remove(&new.machine);
    Some(pool)
}

/// A slot with a machine of which nothing is known yet.
pub(super) fn filled_by(
    new: &NewMachine,
    pool: PoolId,
    template: Digest,
    labels: u32,
    (extras, extras_since): (Option<Extras>, Option<Timestamp>),
) -> SlotState {
    SlotState::Filled {
        machine: new.machine.clone(),
        pool,
        launched_at: new.launched_at,
        price: new.price,
        template,
        ending: false,
        failed: false,
        labels,
        replace: false,
        health: SlotHealth::default(),
        drained: false,
        extras,
        extras_since,
    }
}
