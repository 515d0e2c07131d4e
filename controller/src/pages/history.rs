//! What was done to a fleet, from its journal.

use crate::Controller;
use crate::pages::errors::{self, Chosen};
use crate::pages::fleet::{find, head};
use crate::pages::frame::{Tab, fleet_page};
use crate::pages::parts::{ago, fleet_path};
use axum::extract::{Path, State};
use axum::response::Response;
use fleet_model::{Event, Timestamp};
use fleet_run::Record;
use fleet_words::render::history::words;
use fleet_words::runs::failed;
use fleet_words::text::{clean_line, count};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Records on one page.
const RECORDS: usize = 200;

/// Which part of the journal.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Part {
    /// Records before this one.
    before: Option<u64>,
    /// `trouble`: nothing else.
    #[serde(default)]
    show: String,
}

/// `/fleets/{fleet}/history`.
pub(super) async fn page(
    State(controller): State<Arc<Controller>>,
    Path(fleet): Path<String>,
    Chosen(Part { before, show }): Chosen<Part>,
) -> Response {
    let Some(seen) = find(&controller, &fleet) else {
        return errors::no_fleet(&controller, &fleet);
    };
    let path = format!("{}/history", fleet_path(&fleet));
    let records = match controller.history(&seen.fleet).await {
        Ok(records) => records,
        Err(error) => return errors::failed(&controller, &failed(error), &path),
    };
    let trouble = show == "trouble";
    let end =
        before.map_or(records.len(), |before| records.partition_point(|one| one.seq < before));
    let chosen: Vec<&Record> = records[..end]
        .iter()
        .rev()
        .filter(|record| !trouble || record.events.iter().any(|event| words(event).2))
        .take(RECORDS)
        .collect();
    let older = chosen.last().filter(|last| last.seq > 1).map(|last| last.seq);
    let query = if trouble { "show=trouble&" } else { "" };
    let body = html! {
        div.row {
            h2 { "History" }
            nav.ranges aria-label="What to show" {
                a href=(path) aria-current=[(!trouble).then_some("true")] { "Everything" }
                a href=(format!("{path}?show=trouble")) aria-current=[trouble.then_some("true")] { "Trouble" }
            }
        }
        // Older pages stay as they are: what is on them does not change.
        div #history data-live=[before.is_none().then_some("")] {
            p.dim { (count(records.len() as u64, "record")) " in the journal, the latest first; times in UTC." }
            (table(&chosen, trouble))
        }
        @if let Some(older) = older.filter(|_| chosen.len() == RECORDS) {
            p { a.button href=(format!("{path}?{query}before={older}")) { "Older" } }
        }
    };
    fleet_page(&controller, &fleet, Tab::History, head(&seen), body)
}

pub(super) fn table(records: &[&Record], trouble: bool) -> Markup {
    html! {
        @if records.is_empty() { p.empty { "Nothing of the kind is in the journal." } }
        @else {
            table.history {
                caption.unseen { "What was done, the latest first" }
                thead { tr { @for head in ["When", "What", "In words"] { th scope="col" { (head) } } } }
                tbody {
                    @for record in records {
                        @for (nth, event) in record.events.iter().enumerate() {
                            @let (name, what, bad) = words(event);
                            @if bad || !trouble {
                                tr class=[bad.then_some("bad")] {
                                    td {
                                        @if nth == 0 || trouble {
                                            time datetime=(record.at.to_string()) {
                                                (record.at.strftime("%Y-%m-%d %H:%M:%S").to_string())
                                            }
                                        }
                                    }
                                    th scope="row" { (shape(bad)) (name) }
                                    td { (clean_line(&what)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn shape(bad: bool) -> Markup {
    html! { @if bad { span.mark.warn { "▲" span.unseen { " trouble:" } } " " } }
}

/// The latest events that a person wants to know of: what came, what went, what was refused.
pub(super) fn list(records: &[Record], now: Timestamp, most: usize) -> Markup {
    let worth = |event: &&Event| {
        let (_, _, bad) = words(event);
        // What a round came to is told by its events.
        bad && !matches!(event, Event::RoundEnded { .. })
            || matches!(
                event,
                Event::Created { .. }
                    | Event::Vacated { .. }
                    | Event::Rollout { .. }
                    | Event::Frozen { .. }
                    | Event::Thawed
                    | Event::Moving { .. }
                    | Event::Fallback { .. }
                    | Event::Adopted { .. }
                    | Event::Released { .. }
            )
    };
    let all = records
        .iter()
        .rev()
        .flat_map(|record| record.events.iter().filter(worth).map(move |event| (record.at, event)));
    html! {
        ol.latest {
            @for (at, event) in all.take(most) {
                @let (name, what, bad) = words(event);
                li { (ago(at, now)) span { b { (shape(bad)) (name) } " " (clean_line(&what)) } }
            }
        }
    }
}
