//! A request that is not answered with what it asked for: an `error` document with a fitting status.

use axum::extract::Query;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use fleet_words::exit::Exit;
use fleet_words::fail::Failure;
use fleet_words::output::error::ErrorReport;
use fleet_words::output::titled;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// What a query says, or why it makes no sense.
pub(crate) fn asked<T: DeserializeOwned>(uri: &Uri) -> Result<T, String> {
    let Query(asked) = Query::try_from_uri(uri).map_err(|cause| {
        // Its own words say that there is a query, those of its cause what is wrong with it.
        std::error::Error::source(&cause).map_or_else(|| cause.to_string(), ToString::to_string)
    })?;
    Ok(asked)
}

/// Why a request is refused.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    failure: Box<Failure>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// With this status.
    pub fn new(status: StatusCode, failure: Failure) -> Self {
        Refusal { status, failure: Box::new(failure), headers: Vec::new() }
    }

    /// The request makes no sense.
    pub fn bad(what: impl Into<String>, place: &str) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, Failure::new(what).at(place).exit(Exit::Usage))
    }

    /// There is no such thing.
    pub fn missing(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, Failure::new(what).hint(hint).exit(Exit::Usage))
    }

    /// It cannot be done as things stand.
    pub fn conflict(failure: Failure) -> Self {
        Refusal::new(StatusCode::CONFLICT, failure)
    }

    /// The caller may not do this.
    pub fn forbidden(what: impl Into<String>, hint: &str) -> Self {
        Refusal::new(StatusCode::FORBIDDEN, Failure::new(what).hint(hint).exit(Exit::Usage))
    }

    /// Try again later.
    pub fn busy(what: impl Into<String>, wait: Duration) -> Self {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Failure::new(what)).after(wait)
    }

    /// Too much was asked for.
    pub fn too_many(what: impl Into<String>, wait: Duration) -> Self {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, Failure::new(what)).after(wait)
    }

    /// Says what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure.hint = Some(hint.into());
        self
    }

    /// Says when to try again.
    fn after(self, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.with(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    /// With a header.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

/// What the engine says, as a status.
impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let status = match failure.exit {
            Exit::Usage => StatusCode::BAD_REQUEST,
            Exit::LeaseHeld | Exit::Unsettled | Exit::PlanStale => StatusCode::CONFLICT,
            Exit::SpecInvalid => StatusCode::NOT_FOUND,
            // Stores and clouds that do not answer now may answer later.
            Exit::Failed | Exit::Done | Exit::Changes | Exit::RuleBroken => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        let wait = matches!(failure.exit, Exit::LeaseHeld | Exit::Failed);
        let refusal = Refusal::new(status, failure);
        if wait { refusal.after(Duration::from_secs(5)) } else { refusal }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, failure, headers } = self;
        let document = titled("controller", failure.exit, ErrorReport::from(&*failure));
        let mut response = (status, axum::Json(document)).into_response();
        for (name, value) in headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
