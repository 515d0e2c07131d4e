//! Azure's refusals, read by the table of evidence.
//!
//! Codes come wrapped in others; the one inside counts. What a code means, and how we know, is in
//! `fleet_provider::evidence`: nothing is judged here but what the table cannot know, the market.

use crate::wire::{ErrorBody, Failure};
use fleet_model::{Cloud, Market};
pub(crate) use fleet_provider::LOOK_AGAIN;
use fleet_provider::evidence::{self, Call};
use fleet_provider::{Class, Error, with_causes};
use std::time::Duration;

/// What was asked, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A list or a look: asking again is harmless.
    Read,
    /// A launch in a market.
    Launch(Market),
    /// The deletion of something.
    End,
}

impl Asked {
    fn call(self) -> Call {
        match self {
            Asked::Read => Call::Look,
            Asked::Launch(_) => Call::Launch,
            Asked::End => Call::End,
        }
    }
}

/// How long a size that has no capacity is left alone on demand. Spot waits as long as the table says.
///
/// Reports speak of minutes as well as of hours. Karpenter waits 23 hours, with hundreds of pools to
/// choose from; a spec often allows two.
const NO_CAPACITY_ON_DEMAND: Duration = Duration::from_secs(15 * 60);

/// The status that stands for an error inside an operation that was accepted before.
pub(crate) const LATE: u16 = 0;

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
    evidence::rows(Cloud::Azure).iter().any(|row| row.code == code)
}

/// What a status and an error mean for whoever asked.
pub(crate) fn classify(
    asked: Asked,
    status: u16,
    error: &ErrorBody,
    after: Option<Duration>,
) -> Error {
    let ErrorBody { code, message, .. } = error;
    let code = if code.is_empty() { format!("Http{status}") } else { code.clone() };
    let words = if message.is_empty() { "(no message)" } else { message };
    let after = after.or_else(|| named_wait(words).filter(|_| status == 429));
    let judged = evidence::judge(Cloud::Azure, asked.call(), status, &code, words, after);
    let full = judged.code == "SkuNotAvailable" && matches!(judged.class, Class::Capacity { .. });
    if full && asked != Asked::Launch(Market::Spot) {
        return Error { class: Class::Capacity { block: NO_CAPACITY_ON_DEMAND }, ..judged };
    }
    judged
}

/// The wait that a throttling answer names in its words: "try again after '324' seconds". Some have no
/// header.
fn named_wait(words: &str) -> Option<Duration> {
    let (_, rest) = words.split_once("after '")?;
    let (number, rest) = rest.split_once('\'')?;
    let seconds = number.parse().ok().filter(|_| rest.trim_start().starts_with("seconds"))?;
    Some(Duration::from_secs(seconds).min(LONGEST_WISH))
}

/// Longer than this we do not wait, whatever the cloud says. Compute asks for up to 20 minutes.
pub(crate) const LONGEST_WISH: Duration = Duration::from_secs(1200);

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
    let outer = match serde_json::from_slice::<Failure>(body) {
        Ok(failure) => failure.error,
        // Some services, and some limits in front of others, leave out the outer `error`.
        Err(_) => serde_json::from_slice::<ErrorBody>(body).unwrap_or_default(),
    };
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
    if inner.message.is_empty() {
        let told = ErrorBody { message: outer.message.clone(), ..inner.clone() };
        return classify(asked, status, &told, after);
    }
    classify(asked, status, inner, after)
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
