//! Pages that say what did not work, and what to do about it.

use crate::Controller;
use crate::pages::frame::trouble;
use crate::pages::parts::fleet_path;
use crate::refusal::asked;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use fleet_words::fail::Failure;
use fleet_words::text::{clean, clean_line};
use maud::html;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Nothing is here.
pub(super) async fn missing(
    State(controller): State<Arc<Controller>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if !accepts.is_some_and(|accept| accept.contains("text/html")) {
        // The door says it in a document.
        return StatusCode::NOT_FOUND.into_response();
    }
    let body = html! {
        h1 { "Nothing is here" }
        p { "There is no page at " code { (clean_line(uri.path())) } "." }
        p.next { span aria-hidden="true" { "→ " } a href="/" { "All fleets" } " lists what there is." }
    };
    trouble(&controller, StatusCode::NOT_FOUND, "Nothing is here", body)
}

/// What an address says after its `?`. What makes no sense is told on a page, as everything else is.
pub(super) struct Chosen<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Controller>> for Chosen<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, on: &Arc<Controller>) -> Result<Self, Response> {
        asked(&parts.uri).map(Chosen).map_err(|cause| nonsense(on, &cause, parts.uri.path()))
    }
}

fn nonsense(controller: &Controller, cause: &str, path: &str) -> Response {
    let body = html! {
        h1 { "This address makes no sense" }
        p.said { "After the " code { "?" } ": " (clean_line(cause)) }
        p.next { span aria-hidden="true" { "→ " } a href=(path) { "The page without it" } }
    };
    trouble(controller, StatusCode::BAD_REQUEST, "This address makes no sense", body)
}

/// No spec names such a fleet.
pub(super) fn no_fleet(controller: &Controller, fleet: &str) -> Response {
    let known = controller.board.fleets();
    let near: Vec<&str> = known
        .keys()
        .map(|name| name.as_str())
        .filter(|name| name.contains(fleet) || fleet.contains(name))
        .take(8)
        .collect();
    let body = html! {
        h1 { "No fleet of this name" }
        p { "No spec in force names a fleet " code { (clean_line(fleet)) } "." }
        @if !near.is_empty() {
            p { "Names like it:" }
            ul.plain { @for name in near { li { a href=(fleet_path(name)) { (clean_line(name)) } } } }
        }
        p.next { span aria-hidden="true" { "→ " } a href="/" { "All fleets" } " lists what there is." }
        p.dim {
            "A fleet that is gone is still in its journal: "
            code { "fleet history " (clean_line(fleet)) } "."
        }
    };
    trouble(controller, StatusCode::NOT_FOUND, "No fleet of this name", body)
}

/// The engine could not answer.
pub(super) fn failed(controller: &Controller, failure: &Failure, again: &str) -> Response {
    let (what, place, hint) = failure.told();
    let body = html! {
        h1 { "That did not work" }
        p.said { (clean(&what)) }
        @if let Some(place) = place { p.dim { "at " code { (clean_line(&place)) } } }
        @if let Some(hint) = hint { p.next { span aria-hidden="true" { "→ " } (clean(&hint)) } }
        p { a.button href=(again) { "Try again" } " " a href="/" { "All fleets" } }
    };
    trouble(controller, StatusCode::BAD_GATEWAY, "That did not work", body)
}
