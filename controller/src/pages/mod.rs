//! What people look at, in a browser.
//!
//! Every page is whole when it leaves the server: HTML with its figures, charts and map. The script only
//! replaces parts of a page when something happened, and a browser without it shows the same. Nothing comes
//! from anywhere else: one style sheet and one script, both in the binary.

mod ansi;
mod charts;
mod errors;
mod explain;
mod fleet;
mod frame;
mod history;
mod home;
mod machines;
mod map;
mod parts;
mod past;
mod plan;
mod regions;
mod standing;
mod table;
#[cfg(test)]
mod tests;

use crate::Controller;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// What a page may load and do: what this server sends, and nothing inline.
const POLICY: &str = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// The pages, and what they are made of.
pub(crate) fn routes() -> Router<Arc<Controller>> {
    Router::new()
        .route("/", get(home::page))
        .route("/fleets/{fleet}", get(fleet::page))
        .route("/fleets/{fleet}/plan", get(plan::page))
        .route("/fleets/{fleet}/explain", get(explain::page))
        .route("/fleets/{fleet}/history", get(history::page))
        .route("/ui/style.css", get(async || asset("text/css", include_str!("style.css"))))
        .route("/ui/script.js", get(async || asset("text/javascript", include_str!("script.js"))))
        .route("/ui/icon.svg", get(async || asset("image/svg+xml", include_str!("icon.svg"))))
        .fallback(errors::missing)
        .layer(map_response(guarded))
}

/// Part of the binary: it changes with it, and pages name it with its version.
fn asset(kind: &'static str, text: &'static str) -> Response {
    let kind = format!("{kind}; charset=utf-8");
    let kept = "public, max-age=31536000, immutable";
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, kept.to_owned())], text).into_response()
}

async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    response
}
