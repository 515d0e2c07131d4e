//! What a request says: the fleet in its path, its query, its body. What makes no sense is told with its place.

use crate::Controller;
use crate::refusal::{Refusal, asked};
use crate::serve::MOST_BODY;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use fleet_model::{Desired, FleetName};
use fleet_words::exit::Exit;
use fleet_words::fail::Failure;
use fleet_words::output::{Body as Document, document};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// A body must be there by then.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// What every handler gives.
pub(super) type Answered = Result<Response, Refusal>;

/// The fleet that a path names. A spec in force names it, too.
pub(super) struct Fleet {
    pub(super) name: FleetName,
    pub(super) desired: Arc<Desired>,
}

impl FromRequestParts<Arc<Controller>> for Fleet {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, on: &Arc<Controller>) -> Result<Self, Refusal> {
        let path = RawPathParams::from_request_parts(parts, on).await;
        let path = path.map_err(|_| Refusal::bad("the path is no UTF-8", "path"))?;
        let name = path.iter().find(|(key, _)| *key == "fleet").map(|(_, name)| name);
        let name = FleetName::new(name.unwrap_or_default());
        let specs = on.board.specs();
        if let Some((desired, _)) = specs.fleets.get(&name) {
            return Ok(Fleet { desired: desired.clone(), name });
        }
        if specs.since.is_none() {
            return Err(Refusal::busy("no specs are in force yet", Duration::from_secs(2)));
        }
        Err(Refusal::missing(
            format!("no spec in force names a fleet `{name}`"),
            "`GET /v1/fleets` lists the fleets",
        ))
    }
}

/// A query. What nobody asked about is refused: a misspelt word must not be ignored.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Controller>> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Controller>) -> Result<Self, Refusal> {
        asked(&parts.uri).map(Asked).map_err(|cause| {
            Refusal::bad(cause, "query").hint("`/v1/openapi.json` says what can be asked")
        })
    }
}

/// No query at all.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Reads a body of JSON.
pub(super) async fn body<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let too_large = || {
        let what = format!("a body has at most {MOST_BODY} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Failure::new(what).at("body").exit(Exit::Usage))
    };
    let read = tokio::time::timeout(BODY_WITHIN, to_bytes(body, MOST_BODY)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(cause)) => {
            let limit = std::error::Error::source(&cause)
                .is_some_and(|inner| inner.is::<http_body_util::LengthLimitError>());
            return Err(if limit {
                too_large()
            } else {
                Refusal::bad("the body broke off", "body")
            });
        }
        Err(_) => {
            let failure = Failure::new("the body took too long").at("body").exit(Exit::Usage);
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, failure));
        }
    };
    serde_json::from_slice(&bytes).map_err(|cause| {
        Refusal::bad(format!("the body is not as it should be: {cause}"), "body")
            .hint("`/v1/openapi.json` describes it")
    })
}

/// A document, as an answer.
pub(super) fn shown<B: Document>(body: B) -> Response {
    axum::Json(document(Exit::Done, body)).into_response()
}
