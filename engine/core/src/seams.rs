//! Where seeded bugs enter tokens and the record, so that both are written once. Without the feature
//! `bugs` each of these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{Block, Recorded, SlotId, Token};

/// A slot's part of a token: its name, its generation and the attempt, so that a new filling and a new
/// try are new requests.
pub(crate) fn part_of_token(slot: SlotId, attempt: u32) -> String {
    if bugs::on(Bug::TokenWithoutAttempt) {
        return slot.to_string();
    }
    if bugs::on(Bug::TokenWithoutGeneration) {
        return format!("{}/{attempt}", slot.name);
    }
    format!("{slot}/{attempt}")
}

/// What is remembered of a no: all of it.
pub(crate) fn remembered(block: &Block) -> Option<&Block> {
    (!bugs::on(Bug::BlocksForgotten)).then_some(block)
}

/// Slots that are free because a launch got no answer: none. It may have filled them.
pub(crate) fn freed_by_silence(recorded: &Recorded, token: &Token) -> Vec<SlotId> {
    if !bugs::on(Bug::DoubtFreesSlots) {
        return Vec::new();
    }
    let attempt = recorded.in_doubt.get(token);
    attempt.map(|attempt| attempt.create.slots.clone()).unwrap_or_default()
}
