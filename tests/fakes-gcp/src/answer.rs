//! Answers, and refusals in Google's envelope.

use serde_json::{Value, json};

/// A status and a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Answer { status: 200, body }
    }

    /// A refusal: `{"error": {"code": 403, "errors": [{"reason": …}], …}}`.
    pub(crate) fn error(status: u16, reason: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let domain = match reason {
            "rateLimitExceeded" | "quotaExceeded" => "usageLimits",
            _ => "global",
        };
        let error = json!({ "domain": domain, "reason": reason, "message": message });
        let body = json!({ "code": status, "message": message, "errors": [error] });
        Answer { status, body: json!({ "error": body }) }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Answer::error(404, "notFound", format!("The resource '{what}' was not found"))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Answer::error(400, "invalid", message)
    }

    pub(crate) fn throttled() -> Self {
        Answer::error(403, "rateLimitExceeded", "Rate Limit Exceeded")
    }

    pub(crate) fn broken(words: &str) -> Self {
        Answer::error(503, "backendError", words)
    }
}
