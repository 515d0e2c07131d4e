//! Every code of Lambda's that we know, and what the caller can do about it.
//!
//! The status comes first. A 5xx says that something is broken, whatever words it carries: after
//! one, a launch may or may not have happened. A code that is not in the tables is never taken for
//! "nothing happened" either.

use fleet_model::Cloud;
pub(crate) use fleet_provider::{Asked, LOOK_AGAIN, SETTLE};
use fleet_provider::{Class, Error, with_causes};
use std::time::Duration;

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// Turned away at the door: nothing happened.
const THROTTLED: &[&str] = &["global/too-many-requests"];

/// As good as a 5xx, should one ever come with another status.
const BROKEN: &[&str] = &["global/internal-error"];

/// The region has no such machine for us now.
const CAPACITY: &[&str] = &["instance-operations/launch/insufficient-capacity"];

/// A limit of the account.
const QUOTA: &[&str] = &["global/quota-exceeded"];

/// The account or its key.
const AUTH: &[&str] =
    &["global/invalid-api-key", "global/account-inactive", "global/invalid-address"];

/// The request is wrong and stays wrong.
const INVALID: &[&str] = &[
    "global/invalid-parameters",
    "global/object-does-not-exist",
    "instance-operations/launch/file-system-in-wrong-region",
];

/// What a status and a code mean for whoever asked.
pub(crate) fn classify(asked: Asked, status: u16, code: &str, after: Option<Duration>) -> Class {
    let is = |codes: &[&str]| codes.contains(&code);
    if status == 429 || is(THROTTLED) {
        return Class::Retry { after };
    }
    if status >= 500 || is(BROKEN) {
        return asked.silence();
    }
    if asked == Asked::End && code == "global/object-does-not-exist" {
        // Seen a moment ago, when we looked at it: the service's parts do not agree yet.
        return Class::Retry { after: Some(LOOK_AGAIN) };
    }
    if is(CAPACITY) {
        Class::Capacity { block: minutes(3) }
    } else if is(QUOTA) {
        Class::Quota { block: minutes(15) }
    } else if is(AUTH) || matches!(status, 401 | 403) {
        Class::Auth
    } else if is(INVALID) {
        Class::Invalid
    } else {
        asked.silence()
    }
}

/// An error of our own making.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Lambda, class, code, message)
}

/// Reads what became of a call that got no answer.
pub(crate) fn unanswered(asked: Asked, error: &reqwest::Error) -> Error {
    // A connection that was never made carried nothing.
    let (class, code) = if error.is_connect() {
        (Class::Retry { after: None }, "NoConnection")
    } else if error.is_timeout() {
        (asked.silence(), "RequestTimeout")
    } else {
        (asked.silence(), "NoAnswer")
    };
    refused(class, code, with_causes(error))
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
