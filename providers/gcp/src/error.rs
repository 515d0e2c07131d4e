//! What Compute Engine says went wrong, read by the one table of evidence.
//!
//! Codes come from two places: the answer to a call and the errors inside an operation that has
//! ended. What they mean is in [`fleet_provider::evidence`]; here they are only found.

use fleet_model::Cloud;
pub(crate) use fleet_provider::Asked;
use fleet_provider::evidence::{Call, judge};
use fleet_provider::{Class, Error, NO_CREDENTIALS, in_one_line};
use google_cloud_compute_v1::model::Operation;
use google_cloud_compute_v1::model::operation::error::Errors;
use google_cloud_gax::error::Error as SdkError;
use google_cloud_gax::error::rpc::StatusDetails;
use std::time::Duration;

fn call(asked: Asked) -> Call {
    match asked {
        Asked::Read => Call::Look,
        Asked::Launch => Call::Launch,
        Asked::End => Call::End,
    }
}

/// Whether an error says that a name is in use. Nothing else that Google answers makes us stop.
pub(crate) fn is_taken(error: &Error) -> bool {
    error.class == Class::Freeze
}

/// An error of our own making: nothing was sent.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Gcp, class, code, message)
}

/// Reads what the SDK says of a call that did not succeed.
pub(crate) fn read(asked: Asked, error: &SdkError) -> Error {
    if let Some(status) = error.http_status_code() {
        let details = error.status().map(|status| status.details.as_slice()).unwrap_or_default();
        let code = reason(details).unwrap_or_else(|| format!("Http{status}"));
        let message = match error.status() {
            Some(status) if !status.message.is_empty() => status.message.as_str(),
            _ => "(no message)",
        };
        let message = with_limits(message, details);
        return judge(Cloud::Gcp, call(asked), status, &code, &message, wish(details));
    }
    let (class, code) = if error.is_authentication() {
        (Class::Auth, NO_CREDENTIALS)
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
    Error::new(Cloud::Gcp, class, code, in_one_line(error))
}

/// Whether an answer says that there is no such thing.
pub(crate) fn is_missing(error: &SdkError) -> bool {
    error.http_status_code() == Some(404)
}

/// Google's word for an error. The SDK drops the old list of errors as soon as there are details of
/// the new kind, and those need not name a reason: a limit is then known by its own detail.
fn reason(details: &[StatusDetails]) -> Option<String> {
    let named = details.iter().find_map(|detail| match detail {
        StatusDetails::ErrorInfo(info) if !info.reason.is_empty() => Some(info.reason.clone()),
        _ => None,
    });
    let limit = |detail: &StatusDetails| matches!(detail, StatusDetails::QuotaFailure(_));
    named.or_else(|| details.iter().any(limit).then(|| "quotaExceeded".to_owned()))
}

/// The message, and which limits the details name: only the words tell what else they hold for.
fn with_limits(message: &str, details: &[StatusDetails]) -> String {
    let mut text = message.to_owned();
    for detail in details {
        if let StatusDetails::QuotaFailure(failure) = detail {
            for violation in &failure.violations {
                text = format!("{text} ({}: {})", violation.subject, violation.description);
            }
        }
    }
    text
}

/// When Google wants to be asked again, if it says so.
fn wish(details: &[StatusDetails]) -> Option<Duration> {
    details.iter().find_map(|detail| match detail {
        StatusDetails::RetryInfo(info) => Duration::try_from(info.retry_delay?).ok(),
        _ => None,
    })
}

/// What an operation that has ended says went wrong: the error that tells most, first.
pub(crate) fn of_operation(asked: Asked, operation: &Operation) -> Option<Error> {
    let errors = operation.error.as_ref().map(|error| error.errors.as_slice()).unwrap_or_default();
    let read = |error: &Errors| {
        let code = error.code.as_deref().unwrap_or("NoCode");
        // Status 0: the operation's own status is about a call that nobody made.
        judge(Cloud::Gcp, call(asked), 0, code, &told(error), None)
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
    Some(judge(Cloud::Gcp, call(asked), status, &code, &message, None))
}

/// The words of an error inside an operation, with the limit and the zones that its details name:
/// zones that have room are worth telling a person.
fn told(error: &Errors) -> String {
    let mut text = error.message.clone().unwrap_or_default();
    for detail in &error.error_details {
        let limit = detail.quota_info.as_ref().and_then(|info| info.limit_name.as_deref());
        if let Some(limit) = limit {
            text = format!("{text} (limit: {limit})");
        }
        let metadata = detail.error_info.as_ref().map(|info| &info.metadatas);
        let zones = metadata.and_then(|all| all.get("zonesAvailable"));
        if let Some(zones) = zones.filter(|zones| !zones.is_empty()) {
            text = format!("{text} (zones with room: {zones})");
        }
    }
    text
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
