//! Where seeded bugs enter an apply, so that it is written once. Without the feature `bugs` each of these
//! does what its first line says.

use fleet_core::{ABSENCE_PROVES, Stale, orphans_of, same_steps};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    Attempt, Create, Event, Labelled, MachineId, Observed, Orphans, Plan, Timestamp, Token,
};
use fleet_provider::{Class, Created, Error};
use std::borrow::Cow;
use std::time::Duration;

/// What is recorded before a fleet is changed: who changes it.
pub(super) fn before_changes(epoch: Event) -> Vec<Event> {
    if bugs::on(Bug::NoEpochRecord) { Vec::new() } else { vec![epoch] }
}

/// What makes a saved plan stale: whatever of its premises broke.
pub(super) fn what_broke(broken: Option<Stale>) -> Option<Stale> {
    broken.filter(|_| !bugs::on(Bug::StalePlanTaken))
}

/// Whether a saved plan decides what would be decided now: if its steps are the same.
pub(super) fn decides_the_same(saved: &Plan, fresh: &Plan) -> bool {
    same_steps(saved, fresh) || bugs::on(Bug::ForgedPlanTaken)
}

/// Whether a no in this round keeps others from asking again: it does.
pub(super) fn heeds(said_no: bool) -> bool {
    said_no && !bugs::on(Bug::BlocksOfRoundIgnored)
}

/// What is recorded before a launch is sent, and what after: everything before.
pub(super) fn around_sending(intent: Event) -> (Vec<Event>, Vec<Event>) {
    match bugs::on(Bug::SendBeforeAppend) {
        false => (vec![intent], Vec::new()),
        true => (Vec::new(), vec![intent]),
    }
}

/// The request as it is sent: as it is recorded.
pub(super) fn as_sent(create: &Create) -> Cow<'_, Create> {
    if bugs::on(Bug::TokenPerSending) {
        let token = Token::new(format!("{}{}", create.token, bugs::nonce()));
        return Cow::Owned(Create { token, ..create.clone() });
    }
    Cow::Borrowed(create)
}

/// What is recorded before a launch is sent once more: that it is.
pub(super) fn before_resending(create: &Create) -> Vec<Event> {
    match bugs::on(Bug::ResendNotRecorded) {
        false => vec![Event::CreateResent { token: create.token.clone() }],
        true => Vec::new(),
    }
}

/// Whether a launch waits until it may leave: it does.
pub(super) fn waits_to_leave() -> bool {
    !bugs::on(Bug::LaunchesLeaveTogether)
}

/// What a cloud said to a launch that made nothing: its words as they are.
pub(super) fn as_said(error: Error) -> Error {
    let refused = matches!(error.class, Class::Capacity { .. } | Class::Refused { .. });
    if refused && bugs::on(Bug::RefusalIsSilence) {
        return Error { class: Class::Unknown, ..error };
    }
    error
}

/// Whether an outcome that nobody knows passes for a no: never.
pub(super) fn passes_for_a_no(error: &Error) -> bool {
    bugs::on(Bug::SilenceIsRefusal)
        || bugs::on(Bug::GatewayWordsBelieved) && error.code.contains("Capacity")
}

/// Machines that nobody asked for, as they are written down: all of them.
pub(super) fn written_down(surplus: Vec<MachineId>) -> Vec<MachineId> {
    if bugs::on(Bug::SurplusDropped) { Vec::new() } else { surplus }
}

/// How many machines of an end without an answer count toward the limit: all, they may be gone.
pub(super) fn perhaps_destroyed(victims: u32) -> u32 {
    if bugs::on(Bug::SilentEndsNotCounted) { 0 } else { victims }
}

/// Machines whose labels change without a request: none.
pub(super) fn relabelled_unasked(machines: &[Labelled]) -> Option<Vec<MachineId>> {
    let all = || machines.iter().map(|one| one.machine.clone()).collect();
    bugs::on(Bug::LabelsNeverSent).then(all)
}

/// Whether a list is enough to settle a launch: if it shows all of it.
pub(super) fn list_is_enough(whole: bool) -> bool {
    whole || bugs::on(Bug::ListBelieved)
}

/// Whether the answer to a second sending settles a launch: if it shows machines. A no says nothing of
/// the first sending.
pub(super) fn settles(answer: &Result<Created, Error>) -> bool {
    answer.is_ok() || bugs::on(Bug::RefusalOfResendBelieved)
}

/// How long after a launch was sent absence proves something: [`ABSENCE_PROVES`].
pub(super) fn absence_proves_after() -> Duration {
    if bugs::on(Bug::NoSettleWindow) { Duration::ZERO } else { ABSENCE_PROVES }
}

/// When a launch was sent: the last time counts.
pub(super) fn sent_at(attempt: &Attempt) -> Timestamp {
    match bugs::on(Bug::SettleWindowFromIntent) {
        false => attempt.last_sent,
        true => attempt.intended_at,
    }
}

/// How many slots of a launch count as filled: those that are, however many machines there are.
pub(super) fn counted_as_filled(slots: usize, machines: usize) -> usize {
    if bugs::on(Bug::MachinesCountedForSlots) { machines } else { slots }
}

/// What is there of a launch that made no machine: what is listed.
pub(super) fn left_of<'a>(attempt: &Attempt, observed: &'a Observed) -> Option<&'a Orphans> {
    if bugs::on(Bug::DoubtWrittenOffBeforeChildren) {
        return None;
    }
    orphans_of(attempt, observed)
}
