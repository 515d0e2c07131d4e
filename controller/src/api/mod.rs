//! What programs ask, over HTTP. Answers are the documents that commands print with `-o json`.

mod acts;
mod ask;
mod busy;
mod cost;
mod desk;
mod events;
mod explain;
mod notice;
pub mod openapi;
mod reads;

pub(crate) use desk::Desk;

use crate::Controller;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

/// What changes something. Everything else under `/v1` knows no `POST`.
pub(crate) const ACTS: [&str; 6] = [
    "/v1/fleets/{fleet}/reconcile",
    "/v1/fleets/{fleet}/freeze",
    "/v1/fleets/{fleet}/thaw",
    "/v1/fleets/{fleet}/rollout",
    MACHINES_SAY[0],
    MACHINES_SAY[1],
];

/// What machines may say of themselves: that they are taken back, and how busy they are.
pub(crate) const MACHINES_SAY: [&str; 2] = ["/v1/fleets/{fleet}/notice", "/v1/fleets/{fleet}/use"];

/// The paths under `/v1`, and those of probes.
pub(crate) fn routes() -> Router<Arc<Controller>> {
    Router::new()
        .route("/healthz", get(reads::healthz))
        .route("/readyz", get(reads::readyz))
        .route("/v1/openapi.json", get(openapi::served))
        .route("/v1/events", get(events::all))
        .route("/v1/fleets", get(reads::fleets))
        .route("/v1/fleets/{fleet}", get(reads::fleet))
        .route("/v1/fleets/{fleet}/machines", get(reads::machines))
        .route("/v1/fleets/{fleet}/plan", get(reads::plan))
        .route("/v1/fleets/{fleet}/explain", get(explain::explain))
        .route("/v1/fleets/{fleet}/history", get(reads::history))
        .route("/v1/fleets/{fleet}/cost", get(cost::cost))
        .route("/v1/fleets/{fleet}/events", get(events::of_fleet))
        .route("/v1/fleets/{fleet}/reconcile", post(acts::reconcile))
        .route("/v1/fleets/{fleet}/freeze", post(acts::freeze))
        .route("/v1/fleets/{fleet}/thaw", post(acts::thaw))
        .route("/v1/fleets/{fleet}/notice", post(notice::notice))
        .route("/v1/fleets/{fleet}/use", post(busy::tell))
        .route("/v1/fleets/{fleet}/rollout", get(acts::rollout_status).post(acts::rollout))
}
