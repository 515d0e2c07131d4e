//! Where seeded bugs enter the send path, so that the path itself is written once. Without the feature
//! `bugs` each of these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{Create, Event, Token};
use std::borrow::Cow;

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
