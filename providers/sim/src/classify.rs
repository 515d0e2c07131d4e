//! What each answer of each cloud means for the caller: by the table of evidence that real providers
//! use as well.

use crate::event::Refusal;
use fleet_model::Cloud;
use fleet_provider::evidence::{self, Call};
use fleet_provider::{Class, Error};
use std::time::Duration;

/// What was asked, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A list or a poll: asking again is harmless.
    Read,
    /// A launch.
    Launch,
    /// An end.
    End,
}

/// The error a caller gets for a cloud's refusal.
pub(crate) fn classify(cloud: Cloud, asked: Asked, refusal: &Refusal) -> Error {
    let after = refusal.after.map(Duration::from_millis);
    let Refusal { status, code, message, .. } = refusal;
    if code == "ConnectionRefused" {
        // A connection that was never made carried nothing.
        return Error::new(cloud, Class::Retry { after }, code, message);
    }
    let call = match asked {
        Asked::Read => Call::Look,
        Asked::Launch => Call::Launch,
        Asked::End => Call::End,
    };
    evidence::judge(cloud, call, *status, code, message, after)
}

/// An answer as the table of evidence has it. Words that the cloud's meaning hangs on are part of it.
pub(crate) fn answer(cloud: Cloud, call: Call, code: &str, message: &str) -> Refusal {
    let row = evidence::row(cloud, call, code, message);
    let message = match row.is_in(message) {
        true => message.to_owned(),
        false => format!("{message} ({})", row.words),
    };
    Refusal::new(row.status.unwrap_or(400), row.code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_never_taken_for_a_no_and_a_no_is_never_taken_for_silence() {
        let check = |cloud, asked, status, code: &str, expect| {
            let error = classify(cloud, asked, &Refusal::new(status, code, ""));
            assert_eq!(error.class, expect, "{cloud} {asked:?} {status} {code}");
        };
        let retry = Class::Retry { after: None };
        for cloud in Cloud::ALL {
            let refused = Class::Refused { block: evidence::UNKNOWN_REFUSAL };
            check(cloud, Asked::Launch, 400, "InsufficientPatience", refused);
            check(cloud, Asked::Launch, 0, "RequestTimeout", Class::Unknown);
            check(cloud, Asked::End, 0, "RequestTimeout", Class::Unknown);
            check(cloud, Asked::Read, 0, "RequestTimeout", retry);
            check(cloud, Asked::Launch, 0, "ConnectionRefused", retry);
            check(cloud, Asked::Launch, 503, "InsufficientInstanceCapacity", Class::Unknown);
        }
        check(Cloud::Gcp, Asked::Launch, 503, "ZONE_RESOURCE_POOL_EXHAUSTED", Class::Unknown);
        check(Cloud::Aws, Asked::Launch, 503, "RequestLimitExceeded", retry);
        let full = classify(
            Cloud::Aws,
            Asked::Launch,
            &answer(Cloud::Aws, Call::Launch, "InsufficientInstanceCapacity", "no more"),
        );
        assert!(matches!(full.class, Class::Capacity { .. }), "{full:?}");
    }
}
