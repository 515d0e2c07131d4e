//! What an answer of Lambda's means: the table of evidence decides, here it is asked.

use fleet_model::Cloud;
use fleet_provider::evidence::{Call, judge};
pub(crate) use fleet_provider::{Asked, LOOK_AGAIN};
use fleet_provider::{Class, Error, with_causes};
use std::time::Duration;

/// What is not there, whatever it was: an instance, a ruleset, a key.
pub(crate) const NOT_THERE: &str = "global/object-does-not-exist";

/// Errors of whoever runs the region for Lambda begin with this.
const UPSTREAM: &str = "provider/";

/// An answer that is no success, in Lambda's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    /// How long the cloud asks us to wait.
    pub(crate) after: Option<Duration>,
}

/// What an answer means for whoever asked.
pub(crate) fn classify(asked: Asked, refusal: Refusal) -> Error {
    let Refusal { status, code, message, after } = refusal;
    let call = match asked {
        Asked::Read => Call::Look,
        Asked::Launch => Call::Launch,
        Asked::End => Call::End,
    };
    let judged = judge(Cloud::Lambda, call, status, &known(&code), &message, after);
    Error { code, ..judged }
}

/// The code that the table knows it by. Upstream codes count by their last part: what comes between
/// names services that nobody has described.
fn known(code: &str) -> String {
    match code.strip_prefix(UPSTREAM).and_then(|rest| rest.rsplit('/').next()) {
        Some(last) => format!("{UPSTREAM}{last}"),
        None => code.to_owned(),
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
