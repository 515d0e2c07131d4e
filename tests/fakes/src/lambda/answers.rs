//! Answers. Statuses and codes are the table of evidence's: what it does not know is not said here.

use fleet_model::Cloud;
use fleet_provider::evidence::{Call, row};
use fleet_testkit::Answer;
use serde_json::{Value, json};

const NOT_THERE: &str = "global/object-does-not-exist";

pub(super) fn data(body: Value) -> Answer {
    Answer::json(200, json!({ "data": body }))
}

/// A refusal that the table knows, with the status that it was seen with.
pub(super) fn refusal(call: Call, code: &str, message: &str) -> Answer {
    // Where the table takes any status: the description has 404 for what is not there.
    let usual = if code == NOT_THERE { 404 } else { 400 };
    let status = row(Cloud::Lambda, call, code, message).status.unwrap_or(usual);
    error(status, code, message)
}

/// A refusal in a test's own words, known or not.
pub(super) fn error(status: u16, code: &str, message: &str) -> Answer {
    let error = json!({ "code": code, "message": message, "suggestion": "Try again later." });
    Answer::json(status, json!({ "error": error }))
}

pub(super) fn invalid(why: &str) -> Answer {
    refusal(Call::Launch, "global/invalid-parameters", why)
}

pub(super) fn not_found(call: Call, what: &str) -> Answer {
    refusal(call, NOT_THERE, &format!("{what} does not exist"))
}
