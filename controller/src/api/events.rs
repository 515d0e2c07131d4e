//! News as they come, as server-sent events.

use super::ask::{Answered, Asked, Fleet, Nothing};
use crate::Controller;
use crate::board::News;
use crate::door::Caller;
use axum::Extension;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use fleet_model::FleetName;
use fleet_words::exit::Exit;
use fleet_words::output::controller::{News as Told, NewsKind};
use fleet_words::output::document;
use futures::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// So often something is said, so that nobody on the way takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// News of everything.
pub(super) async fn all(
    State(controller): State<Arc<Controller>>,
    Extension(caller): Extension<Caller>,
    _: Asked<Nothing>,
) -> Answered {
    listen(&controller, &caller, None)
}

/// News of one fleet, and of all.
pub(super) async fn of_fleet(
    State(controller): State<Arc<Controller>>,
    Extension(caller): Extension<Caller>,
    fleet: Fleet,
    _: Asked<Nothing>,
) -> Answered {
    listen(&controller, &caller, Some(fleet.name))
}

fn listen(controller: &Controller, caller: &Caller, only: Option<FleetName>) -> Answered {
    let seat = controller.desk.stream(&caller.name)?;
    let (news, ending) = (controller.board.listen(), controller.desk.ending());
    let start = (news, ending, seat, only);
    let events = stream::unfold(start, async |(mut news, mut ending, seat, only)| {
        loop {
            let heard = tokio::select! {
                heard = news.recv() => heard,
                _ = ending.changed() => return None,
            };
            let told = match heard {
                Ok(heard) => told(heard, only.as_ref()),
                Err(RecvError::Lagged(_)) => Some(Told { news: NewsKind::Reload, fleet: None }),
                Err(RecvError::Closed) => return None,
            };
            if let Some(told) = told {
                return Some((Ok::<_, Infallible>(event(told)), (news, ending, seat, only)));
            }
        }
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE).text("still here");
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

fn told(news: News, only: Option<&FleetName>) -> Option<Told> {
    Some(match news {
        News::Looked(fleet) => {
            if only.is_some_and(|only| *only != fleet) {
                return None;
            }
            Told { news: NewsKind::Looked, fleet: Some(fleet.to_string()) }
        }
        News::Specs => Told { news: NewsKind::Specs, fleet: None },
        News::Replicas => Told { news: NewsKind::Replicas, fleet: None },
    })
}

fn event(told: Told) -> Event {
    let name = told.news.as_str();
    let data = serde_json::to_string(&document(Exit::Done, told)).unwrap_or_default();
    Event::default().event(name).data(data)
}
