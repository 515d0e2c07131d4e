//! Refusals, each of which the table of evidence knows: a fake knows only what somebody has seen.

use fleet_model::Cloud;
use fleet_provider::evidence::{Call, rows};
use fleet_testkit::Answer;
use serde_json::{Value, json};

/// Whether the table has this answer to this call.
fn is_known(call: Call, status: u16, code: &str, message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    rows(Cloud::Azure).iter().any(|row| {
        row.code == code
            && (row.call == call || row.call == Call::Any)
            && row.status.is_none_or(|seen| seen == status)
            && message.contains(&row.words.to_ascii_lowercase())
    })
}

/// A refusal as the table has it. Panics if it does not: then nobody has seen it.
pub(super) fn seen(call: Call, status: u16, code: &str, message: &str) -> Answer {
    assert!(
        is_known(call, status, code, message),
        "the table of evidence has no {status} {code} for {call:?}"
    );
    error(status, code, message)
}

/// The error of an operation that was accepted before. A code that the table does not know may be
/// asked for by a test, and is what it is.
pub(super) fn late(code: &str) -> Value {
    let words = rows(Cloud::Azure)
        .iter()
        .find(|row| row.code == code && row.status == Some(0) && !row.words.is_empty())
        .map_or_else(|| format!("It failed: {code}."), |row| format!("It exceeds {}.", row.words));
    json!({ "code": code, "message": words })
}

/// Compute's own limits speak with the code of a refusal; the name of the limit is inside.
pub(super) fn too_many(seconds: u32) -> Answer {
    let code = "OperationNotAllowed";
    let words = "The server rejected the request because too many requests have been received for \
                 this subscription.";
    assert!(is_known(Call::Any, 429, code, words), "the table of evidence has no 429 {code}");
    let inside = json!({
        "code": "TooManyRequests", "target": "HighCostGet",
        "message": "{\"operationGroup\":\"HighCostGet\",\"allowedRequestCount\":300}",
    });
    let body = json!({ "error": { "code": code, "message": words, "details": [inside] } });
    Answer::json(429, body).header("Retry-After", seconds.to_string())
}

pub(super) fn error(status: u16, code: &str, message: &str) -> Answer {
    Answer::json(status, json!({ "error": { "code": code, "message": message } }))
}

/// What Resource Manager says of something that was deleted through it: from its own cache.
pub(super) fn not_found(what: &str) -> Answer {
    seen(Call::Look, 404, "ResourceNotFound", &format!("The resource '{what}' was not found."))
        .header("x-ms-failure-cause", "gateway")
}

/// What Compute says of a machine that the platform took back.
pub(super) fn taken_back() -> Answer {
    seen(Call::Look, 404, "NotFound", "The entity was not found in this Azure location.")
}
