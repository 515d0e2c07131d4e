//! Answers, and refusals in Google's envelope. What is refused with is in the table of evidence:
//! this server says nothing that nobody has heard Google say, or at least has guessed.

use fleet_model::Cloud;
use fleet_provider::evidence::{self, Call};
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

    /// A refusal that the table knows: `{"error": {"code": 403, "errors": [{"reason": …}], …}}`.
    /// The status is the table's where it has one.
    pub(crate) fn error(call: Call, status: u16, reason: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let row = evidence::row(Cloud::Gcp, call, reason, &message);
        Answer::unheard_of(row.status.unwrap_or(status), reason, message)
    }

    /// A refusal that a test asks for, in the table or not.
    pub(crate) fn unheard_of(status: u16, reason: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let domain = match reason {
            "rateLimitExceeded" | "quotaExceeded" => "usageLimits",
            _ => "global",
        };
        let error = json!({ "domain": domain, "reason": reason, "message": message });
        let body = json!({ "code": status, "message": message, "errors": [error] });
        Answer { status, body: json!({ "error": body }) }
    }

    /// The same with details of the newer kind.
    pub(crate) fn with_details(mut self, details: &[Value]) -> Self {
        if !details.is_empty() {
            self.body["error"]["details"] = json!(details);
        }
        self
    }

    pub(crate) fn not_found(what: &str) -> Self {
        let words = format!("The resource '{what}' was not found");
        Answer::error(Call::Look, 404, "notFound", words)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Answer::error(Call::Launch, 400, "invalid", message)
    }

    pub(crate) fn throttled() -> Self {
        Answer::error(Call::Any, 403, "rateLimitExceeded", "Rate Limit Exceeded")
    }

    pub(crate) fn broken(words: &str) -> Self {
        Answer::error(Call::Any, 503, "backendError", words)
    }
}
