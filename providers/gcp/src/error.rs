//! Every code of Compute Engine that we know, and what the caller can do about it.
//!
//! Codes come from two places: the answer to a call (`rateLimitExceeded`, in lower camel case) and
//! the errors inside an operation that has ended (`ZONE_RESOURCE_POOL_EXHAUSTED`). The status
//! comes first. A 5xx says that something is broken, whatever words it carries: after one, a
//! launch may or may not have happened. A code that is not in the tables is never taken for
//! "nothing happened" either.

use fleet_model::Cloud;
pub(crate) use fleet_provider::Asked;
use fleet_provider::{Class, Error};
use google_cloud_compute_v1::model::Operation;
use google_cloud_gax::error::Error as SdkError;
use google_cloud_gax::error::rpc::StatusDetails;
use std::error::Error as StdError;
use std::time::Duration;

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// A resource that is being changed is ready for the next change soon.
const READY_SOON: Duration = Duration::from_secs(5);

/// Turned away at the door, whatever status carries it: nothing happened. Over the rate is a 403
/// here.
const THROTTLED: &[&str] = &[
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "RATE_LIMIT_EXCEEDED",
    "RESOURCE_OPERATION_RATE_EXCEEDED",
    "resourceOperationRateExceeded",
    "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
];

/// The thing is being changed by somebody else: nothing happened.
const NOT_READY: &[&str] = &["RESOURCE_NOT_READY", "resourceNotReady", "RESOURCE_IN_USE"];

/// The pool has nothing for us now.
const CAPACITY: &[&str] = &[
    "ZONE_RESOURCE_POOL_EXHAUSTED",
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
    "REGION_RESOURCE_POOL_EXHAUSTED",
    "RESOURCE_POOL_EXHAUSTED",
    "RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
    "INSUFFICIENT_CAPACITY",
    "VM_MIN_COUNT_NOT_REACHED",
    "IP_SPACE_EXHAUSTED",
    "IP_SPACE_EXHAUSTED_WITH_DETAILS",
    "stockout",
];

/// The zone does not sell this at all. Zones gain types, but not within the hour.
const UNSUPPORTED: &[&str] = &["UNSUPPORTED_OPERATION"];

/// A limit of the project.
const QUOTA: &[&str] = &["QUOTA_EXCEEDED", "quotaExceeded", "limitExceeded"];

/// The project, its keys or its rights.
const AUTH: &[&str] = &[
    "IAM_PERMISSION_DENIED",
    "PERMISSIONS_ERROR",
    "PERMISSION_DENIED",
    "forbidden",
    "insufficientPermissions",
    "authError",
    "accessNotConfigured",
    "SERVICE_DISABLED",
    "BILLING_DISABLED",
    "CONSUMER_INVALID",
    "USER_PROJECT_DENIED",
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
    "inactiveBillingState",
];

/// The request is wrong and stays wrong.
const INVALID: &[&str] = &[
    "invalid",
    "invalidParameter",
    "badRequest",
    "required",
    "parseError",
    "notFound",
    "RESOURCE_NOT_FOUND",
    "INVALID_FIELD_VALUE",
    "INVALID_USAGE",
    "CONDITION_NOT_MET",
    "conditionNotMet",
    "INVALID_STATE",
];

/// A name is taken. Whose it is has to be looked at.
pub(crate) const TAKEN: &[&str] = &["alreadyExists", "RESOURCE_ALREADY_EXISTS", "duplicate"];

/// What a status and a code mean for whoever asked. Errors inside an operation that has ended come
/// with status 0: the operation's own status is about the call that nobody made.
pub(crate) fn classify(asked: Asked, status: u16, code: &str) -> Class {
    let is = |codes: &[&str]| codes.contains(&code);
    if is(THROTTLED) || status == 429 {
        return Class::Retry { after: None };
    }
    if status >= 500 {
        return asked.silence();
    }
    if is(NOT_READY) {
        return Class::Retry { after: Some(READY_SOON) };
    }
    if is(CAPACITY) {
        Class::Capacity { block: minutes(3) }
    } else if is(UNSUPPORTED) {
        Class::Capacity { block: minutes(24 * 60) }
    } else if is(QUOTA) {
        Class::Quota { block: minutes(15) }
    } else if is(TAKEN) || status == 409 {
        Class::Freeze
    } else if is(AUTH) || status == 401 {
        Class::Auth
    } else if is(INVALID) || matches!(status, 400 | 412) {
        Class::Invalid
    } else {
        asked.silence()
    }
}

/// An error of our own making: nothing was sent.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Gcp, class, code, message)
}

/// Reads what the SDK says of a call that did not succeed.
pub(crate) fn read(asked: Asked, error: &SdkError) -> Error {
    if let Some(status) = error.http_status_code() {
        let code = reason(error).unwrap_or_else(|| format!("Http{status}"));
        let message = match error.status() {
            Some(status) if !status.message.is_empty() => status.message.clone(),
            _ => "(no message)".into(),
        };
        return Error::new(Cloud::Gcp, classify(asked, status, &code), code, message);
    }
    let (class, code) = if error.is_authentication() {
        (Class::Auth, "NoCredentials")
    } else if error.is_connect() {
        // Nobody took the connection: nothing was sent.
        (Class::Retry { after: None }, "NoConnection")
    } else if error.is_binding() || error.is_serialization() {
        (Class::Invalid, "UnsendableRequest")
    } else if error.is_timeout() {
        (asked.silence(), "RequestTimeout")
    } else if error.is_deserialization() {
        (asked.silence(), "UnreadableAnswer")
    } else {
        (asked.silence(), "NoAnswer")
    };
    Error::new(Cloud::Gcp, class, code, words(error))
}

/// Whether an answer says that there is no such thing.
pub(crate) fn is_missing(error: &SdkError) -> bool {
    error.http_status_code() == Some(404)
}

/// Google's word for an error.
fn reason(error: &SdkError) -> Option<String> {
    let details = &error.status()?.details;
    details.iter().find_map(|detail| match detail {
        StatusDetails::ErrorInfo(info) if !info.reason.is_empty() => Some(info.reason.clone()),
        _ => None,
    })
}

/// What an operation that has ended says went wrong: the error that tells most, first.
pub(crate) fn of_operation(asked: Asked, operation: &Operation) -> Option<Error> {
    let errors = operation.error.as_ref().map(|error| error.errors.as_slice()).unwrap_or_default();
    let read = |error: &google_cloud_compute_v1::model::operation::error::Errors| {
        let code = error.code.clone().unwrap_or_else(|| "NoCode".into());
        let mut class = classify(asked, 0, &code);
        let message = error.message.clone().unwrap_or_default();
        if let (Class::Quota { .. }, true) = (class, message.contains("GPUS_ALL_REGIONS")) {
            // The limit is the whole project's: no other region helps, and no wait either.
            class = Class::Quota { block: minutes(60) };
        }
        Error::new(Cloud::Gcp, class, code, message)
    };
    let mut all: Vec<Error> = errors.iter().map(read).collect();
    // "Not enough were made" is true and tells nothing: why they were not comes with it, and must
    // not be taken for a lack of room if it is something that we do not know.
    all.sort_by_key(|error| match error.code.as_str() {
        "VM_MIN_COUNT_NOT_REACHED" => 2,
        _ => u8::from(error.class == Class::Unknown),
    });
    if let Some(first) = all.into_iter().next() {
        return Some(first);
    }
    let status = operation.http_error_status_code?;
    let message = operation.http_error_message.clone().unwrap_or_default();
    let status = u16::try_from(status).unwrap_or(500);
    let code = format!("Http{status}");
    Some(Error::new(Cloud::Gcp, classify(asked, status, &code), code, message))
}

/// An error and its causes, in one line.
pub(crate) fn words(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(this) = cause {
        let more = this.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = this.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
