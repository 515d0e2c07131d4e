//! What can be looked at.

use super::ask::{Answered, Asked, Fleet, Nothing, shown};
use crate::Controller;
use crate::board::{FleetView, Standing};
use crate::refusal::Refusal;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fleet_words::exit::Exit;
use fleet_words::output::controller::{FleetDetail, Health, Machines};
use fleet_words::output::document;
use fleet_words::output::history::History;
use fleet_words::output::plan::Plan;
use fleet_words::output::status::FleetStatus;
use fleet_words::render::history_json;
use fleet_words::runs::failed;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

type Here = State<Arc<Controller>>;

/// Whether the process answers.
pub(super) async fn healthz(State(controller): Here) -> Response {
    shown(health(&controller))
}

/// Whether it can answer for its fleets.
pub(super) async fn readyz(State(controller): Here) -> Response {
    let health = health(&controller);
    let status = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, axum::Json(document(Exit::Done, health))).into_response()
}

fn health(controller: &Controller) -> Health {
    let why = match (controller.is_stopping(), controller.board.specs().since) {
        (true, _) => Some("it was asked to stop"),
        (false, None) => Some("no specs are in force yet"),
        (false, Some(_)) => None,
    };
    Health {
        replica: controller.replica.clone(),
        ready: why.is_none(),
        why: why.map(str::to_owned),
    }
}

/// All fleets at a glance.
pub(super) async fn fleets(State(controller): Here, _: Asked<Nothing>) -> Response {
    controller.see_others(None).await;
    shown(controller.overview())
}

/// One fleet.
pub(super) async fn fleet(State(controller): Here, fleet: Fleet, _: Asked<Nothing>) -> Answered {
    let view = view(&controller, &fleet).await.ok();
    let Some(overview) = controller.overview_of(&fleet.name) else {
        return Err(Refusal::busy("no spec names it any more", Duration::from_secs(1)));
    };
    let status = view.map(|view| FleetStatus::clone(&view.status));
    Ok(shown(FleetDetail { overview, status }))
}

/// Its machines.
pub(super) async fn machines(State(controller): Here, fleet: Fleet, _: Asked<Nothing>) -> Answered {
    let view = view(&controller, &fleet).await?;
    let FleetStatus { fleet, taken_at, machines, .. } = view.status.clone();
    Ok(shown(Machines { fleet, taken_at, machines }))
}

/// What would be done next.
pub(super) async fn plan(State(controller): Here, fleet: Fleet, _: Asked<Nothing>) -> Answered {
    let view = view(&controller, &fleet).await?;
    let plan = view.plan.clone();
    Ok(shown(Plan {
        summary: plan.summary,
        cost: plan.cost.clone(),
        fleets: vec![plan],
        left_out: Vec::new(),
        unmanaged: Vec::new(),
        comparison: None,
        rules: Vec::new(),
    }))
}

/// A fleet as it was seen last; those of other replicas are looked at.
async fn view(controller: &Arc<Controller>, fleet: &Fleet) -> Result<Arc<FleetView>, Refusal> {
    controller.see_others(Some(&fleet.name)).await;
    let known = controller.board.fleet(&fleet.name);
    if let Some(view) = known.as_ref().and_then(|known| known.view.clone()) {
        return Ok(view);
    }
    match known.and_then(|known| known.standing) {
        Some(Standing::Failed { why }) => Err(why.into()),
        Some(Standing::Elsewhere { holder }) => Err(Refusal::busy(holder, Duration::from_secs(5))),
        _ => Err(Refusal::busy("nobody looked at it yet", Duration::from_secs(2))),
    }
}

/// Records of one page, unless somebody wants fewer.
const PAGE: u16 = 100;
/// Every program can say whole numbers up to here.
const MOST_RECORD: u64 = 9_007_199_254_740_991;

/// Which part of a journal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// At most so many records of the journal; events of one record come together.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u16>,
    /// Records after this one, oldest first; without it, the latest. The last event of a page says what to ask for
    /// next, and so does its `Link`; a page without events is the end.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    after: Option<u64>,
}

/// What was done to it.
pub(super) async fn history(
    State(controller): Here,
    fleet: Fleet,
    Asked(part): Asked<Part>,
) -> Answered {
    let limit = part.limit.unwrap_or(PAGE);
    if !(1..=1000).contains(&limit) {
        return Err(Refusal::bad("a page has 1 to 1000 records", "limit"));
    }
    if part.after.is_some_and(|after| after > MOST_RECORD) {
        return Err(Refusal::bad("no journal has so many records", "after"));
    }
    let limit = usize::from(limit);
    let name = fleet.name.clone();
    let records = controller.by_hand(async move |this| this.history(&name).await).await?;
    let records = records.map_err(failed)?;
    let from = match part.after {
        Some(after) => records.partition_point(|record| record.seq <= after),
        None => records.len().saturating_sub(limit),
    };
    let records = &records[..records.len().min(from.saturating_add(limit))];
    let last = records.last().map_or(0, |record| record.seq);
    let events = history_json::fleet(&fleet.name, records, from);
    let mut answer = shown(History { fleets: vec![events] });
    if records.len() > from {
        let next =
            format!("</v1/fleets/{}/history?after={last}&limit={limit}>; rel=\"next\"", fleet.name);
        if let Ok(next) = HeaderValue::from_str(&next) {
            answer.headers_mut().insert(header::LINK, next);
        }
    }
    Ok(answer)
}
