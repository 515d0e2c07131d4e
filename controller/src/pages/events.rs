//! News for pages that are open.

use crate::Controller;
use crate::board::News;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use fleet_words::text::clean_line;
use futures::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// What happened, as it happens: which page it is about, and nothing of what it is. Pages ask for themselves.
pub(super) async fn stream(
    State(controller): State<Arc<Controller>>,
) -> Sse<impl futures::Stream<Item = Result<Event, Infallible>>> {
    let news = controller.board.listen();
    let stream = stream::unfold((news, controller), async |(mut news, controller)| {
        loop {
            // A server that is to stop does not wait for whoever listens.
            let next = tokio::time::timeout(Duration::from_secs(1), news.recv()).await;
            if controller.is_stopping() {
                return None;
            }
            let event = match next {
                Err(_) => continue,
                Ok(Ok(News::Looked(fleet))) => {
                    Event::default().event("looked").data(clean_line(fleet.as_str()))
                }
                Ok(Ok(News::Specs)) => Event::default().event("specs").data(""),
                Ok(Ok(News::Replicas)) => Event::default().event("replicas").data(""),
                // Some were missed: everything may have changed.
                Ok(Err(RecvError::Lagged(_))) => Event::default().event("specs").data(""),
                Ok(Err(RecvError::Closed)) => return None,
            };
            return Some((Ok(event), (news, controller)));
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}
