//! Every code of Azure's that we know, and what the caller can do about it.
//!
//! The status comes first. A 5xx says that something is broken, whatever words it carries: after
//! one, a launch may or may not have happened. A code that is not in the tables is never taken for
//! "nothing happened" either. Codes come wrapped in others; the one inside counts.

use crate::wire::{ErrorBody, Failure};
use fleet_model::{Cloud, Market};
use fleet_provider::{Class, Error, with_causes};
pub(crate) use fleet_provider::{LOOK_AGAIN, SETTLE};
use std::time::Duration;

/// What was asked, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A list or a look: asking again is harmless.
    Read,
    /// A launch in a market.
    Launch(Market),
    /// An end.
    End,
}

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// Turned away at the door, or somebody else's operation is in the way: nothing happened.
const LATER: &[&str] = &[
    "TooManyRequests",
    "SubscriptionRequestsThrottled",
    "ResourceRequestsThrottled",
    "AnotherOperationInProgress",
    "RetryableError",
];

/// The region or zone has no room for us now.
const CAPACITY: &[&str] = &[
    "AllocationFailed",
    "ZonalAllocationFailed",
    "OverconstrainedAllocationRequest",
    "OverconstrainedZonalAllocationRequest",
];

/// A limit of the subscription.
const QUOTA: &[&str] = &["QuotaExceeded"];

/// The subscription, our identity or its rights.
const AUTH: &[&str] = &[
    "ClientAuthenticationError",
    "AuthenticationFailed",
    "AuthorizationFailed",
    "LinkedAuthorizationFailed",
    "InvalidAuthenticationToken",
    "InvalidAuthenticationTokenTenant",
    "ExpiredAuthenticationToken",
    "ReadOnlyDisabledSubscription",
    "SubscriptionNotFound",
    "MissingSubscriptionRegistration",
];

/// The request is wrong and stays wrong.
const INVALID: &[&str] = &[
    "VMSizeNotSupported",
    "InvalidParameter",
    "InvalidTemplateDeployment",
    "InvalidRequestContent",
    "InvalidRequestFormat",
    "InvalidResource",
    "InvalidResourceReference",
    "InvalidApiVersionParameter",
    "LinkedInvalidPropertyId",
    "LocationNotAvailableForResourceType",
    "ImageNotFound",
    "PlatformImageNotFound",
    "ResourceGroupNotFound",
    "RequestDisallowedByPolicy",
    "ResourcePurchaseValidationFailed",
    "SubnetIsFull",
    "BadRequest",
];

/// Something that must not be.
const FREEZE: &[&str] = &["PropertyChangeNotAllowed"];

/// Says only that something inside went wrong.
const WRAPPERS: &[&str] =
    &["InvalidTemplateDeployment", "DeploymentFailed", "MultipleErrorsOccurred", "Conflict", ""];

/// The error inside an error: a wrapper's first detail, and so on.
pub(crate) fn innermost(error: &ErrorBody) -> &ErrorBody {
    let mut error = error;
    // Deeper than any service nests, and an end for those who nest for ever.
    for _ in 0..16 {
        if !WRAPPERS.contains(&error.code.as_str()) {
            break;
        }
        let known = error.details.iter().find(|inner| is_known(innermost_code(inner)));
        let Some(inner) = known.or(error.details.first()) else { break };
        error = inner;
    }
    error
}

fn innermost_code(error: &ErrorBody) -> &str {
    let wrapped = WRAPPERS.contains(&error.code.as_str());
    match error.details.first() {
        Some(inner) if wrapped => &inner.code,
        _ => &error.code,
    }
}

fn is_known(code: &str) -> bool {
    let tables = [LATER, CAPACITY, QUOTA, AUTH, INVALID, FREEZE, &["SkuNotAvailable"]];
    tables.iter().any(|table| table.contains(&code)) || code == "OperationNotAllowed"
}

/// What a status and an error mean for whoever asked.
pub(crate) fn classify(
    asked: Asked,
    status: u16,
    error: &ErrorBody,
    after: Option<Duration>,
) -> Class {
    let code = error.code.as_str();
    let is = |codes: &[&str]| codes.contains(&code);
    if status == 429 || is(LATER) {
        return Class::Retry { after };
    }
    if status >= 500 {
        return silence(asked);
    }
    if is(CAPACITY) {
        Class::Capacity { block: minutes(60) }
    } else if code == "SkuNotAvailable" {
        let spot = asked == Asked::Launch(Market::Spot);
        Class::Capacity { block: if spot { minutes(60) } else { minutes(23 * 60) } }
    } else if is(QUOTA) || (code == "OperationNotAllowed" && speaks_of_quota(&error.message)) {
        Class::Quota { block: quota_block(&error.message) }
    } else if is(FREEZE) {
        Class::Freeze
    } else if is(INVALID) {
        Class::Invalid
    } else if is(AUTH) || matches!(status, 401 | 403) {
        Class::Auth
    } else {
        silence(asked)
    }
}

/// `OperationNotAllowed` says many things; only its words tell.
fn speaks_of_quota(message: &str) -> bool {
    let words = message.to_ascii_lowercase();
    words.contains("quota") && words.contains("cores")
}

/// Ten minutes for a family; an hour where the limit is nothing, or all spot machines share it.
fn quota_block(message: &str) -> Duration {
    let words: String = message.split_whitespace().collect::<String>().to_ascii_lowercase();
    let nothing =
        words.contains("limit:0,") || words.contains("limit:0.") || words.ends_with("limit:0");
    if words.contains("lowprioritycores") || nothing { minutes(60) } else { minutes(10) }
}

/// What no answer means.
pub(crate) fn silence(asked: Asked) -> Class {
    match asked {
        Asked::Read => Class::Retry { after: None },
        Asked::Launch(_) | Asked::End => Class::Unknown,
    }
}

/// An error of our own making.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Azure, class, code, message)
}

/// Reads a refusal.
pub(crate) fn read(asked: Asked, status: u16, body: &[u8], after: Option<Duration>) -> Error {
    let outer = serde_json::from_slice::<Failure>(body).unwrap_or_default().error;
    of_body(asked, status, &outer, after)
}

/// The same from an error that was found inside something else.
pub(crate) fn of_body(
    asked: Asked,
    status: u16,
    outer: &ErrorBody,
    after: Option<Duration>,
) -> Error {
    let inner = innermost(outer);
    let class = classify(asked, status, inner, after);
    let code = if inner.code.is_empty() { format!("Http{status}") } else { inner.code.clone() };
    let message = if inner.message.is_empty() { &outer.message } else { &inner.message };
    refused(class, &code, if message.is_empty() { "(no message)" } else { message })
}

/// Reads what became of a call that got no answer.
pub(crate) fn unanswered(asked: Asked, error: &reqwest::Error) -> Error {
    // A connection that was never made carried nothing.
    let (class, code) = if error.is_connect() {
        (Class::Retry { after: None }, "NoConnection")
    } else if error.is_timeout() {
        (silence(asked), "RequestTimeout")
    } else {
        (silence(asked), "NoAnswer")
    };
    refused(class, code, with_causes(error))
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
