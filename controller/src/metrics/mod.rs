//! What Prometheus scrapes, and what `fleet reconcile` leaves for node_exporter: the same families.

mod earlier;
mod families;
mod figures;
mod meter;
mod plain;
mod register;
#[cfg(test)]
mod tests;

pub use families::{FAMILIES, Kind, Row, page};
pub use figures::Figures;
pub use plain::plain;
pub use register::{Around, Build, ELSEWHERE, FAILED, GOES_ON, Metrics, SETTLED};

use crate::Controller;
use crate::board::Standing;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What Prometheus asks for if it can read it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `/metrics`.
pub(crate) fn routes() -> Router<Arc<Controller>> {
    Router::new().route("/metrics", get(answer))
}

async fn answer(State(controller): State<Arc<Controller>>, headers: HeaderMap) -> Response {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let reads_open = accept.into_iter().any(|value| value.contains("application/openmetrics-text"));
    let open = controller.open_metrics();
    let (kind, body) = if reads_open { (OPEN_METRICS, open) } else { (PLAIN, plain(&open)) };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

impl Controller {
    /// Everything that is measured, in the OpenMetrics format.
    ///
    /// A fleet is shown by the replica that looks after it and by no other, so that sums over replicas are
    /// right. What was counted here stays, until no spec names the fleet any more.
    pub fn open_metrics(&self) -> String {
        let fleets = self.board.fleets();
        let known: BTreeSet<_> = fleets.keys().cloned().collect();
        let elsewhere =
            |standing: &Option<Standing>| matches!(standing, Some(Standing::Elsewhere { .. }));
        let seen: Vec<_> = fleets
            .iter()
            .filter(|(fleet, known)| self.is_mine(fleet) && !elsewhere(&known.standing))
            .filter_map(|(fleet, known)| Some((fleet, &known.view.as_ref()?.figures)))
            .collect();
        let around = Around {
            specs_refused: self.board.refused().is_some(),
            fleets: known.len(),
            mine: known.iter().filter(|fleet| self.is_mine(fleet)).count(),
            replicas: self.board.replicas().len(),
        };
        self.metrics.open_metrics(&known, seen, around)
    }
}
