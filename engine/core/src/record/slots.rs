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
        refused: Vec::new(),
    })
}

/// Puts a machine that runs already into its slot, if nobody else has it. The pool it came from, if it did.
pub(super) fn fill_vacant(
    recorded: &mut Recorded,
    new: &NewMachine,
    template: Digest,
    labels: u32,
    adopted: Option<Timestamp>,
) -> Option<PoolId> {
    let pool = new.pool.clone()?;
    let was = recorded.departed.get(&new.machine);
    // What it cost until it was written down as gone is counted already.
    let counted = match (was, adopted) {
        (_, Some(_)) | (None, None) => Counted { adopted, since: adopted, extras: None },
        (Some(was), None) => {
            Counted { adopted: was.adopted, since: Some(was.at), extras: was.extras }
        }
    };
    let record = record(recorded, new.slot);
    if record.state != SlotState::Vacant {
        return None;
    }
    record.generation = new.slot.generation;
    record.attempt = 0;
    record.state = filled_by(new, pool.clone(), template, labels, counted);
    recorded.departed.remove(&new.machine);
    Some(pool)
}

/// From when on a machine is counted, and with what beside it.
#[derive(Default)]
pub(super) struct Counted {
    /// What comes beside; `None`: nobody wrote it down.
    pub(super) extras: Option<Extras>,
    /// Since when that counts, if not since its launch.
    pub(super) since: Option<Timestamp>,
    /// Since when it is of the fleet, if somebody else launched it.
    pub(super) adopted: Option<Timestamp>,
}

/// A slot with a machine of which nothing is known yet.
pub(super) fn filled_by(
    new: &NewMachine,
    pool: PoolId,
    template: Digest,
    labels: u32,
    Counted { extras, since: extras_since, adopted }: Counted,
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
        adopted,
    }
}
