//! What every page has around it: head, way about, foot.

use crate::Controller;
use crate::pages::parts::{fleet_path, moment};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use fleet_model::digest;
use fleet_words::text::{clean_line, count};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::LazyLock;

/// What sheet and script are called after: a new binary has new ones.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let parts = [include_bytes!("style.css").as_slice(), include_bytes!("script.js").as_slice()];
    digest("fleet/assets/1", parts).to_string().chars().take(12).collect()
});

/// One page of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Plan,
    Explain,
    History,
}

/// A page of the whole controller.
pub(super) fn page(controller: &Controller, title: &str, body: Markup) -> Response {
    framed(controller, title, None, body)
}

/// A page of one fleet.
pub(super) fn fleet_page(
    controller: &Controller,
    fleet: &str,
    tab: Tab,
    head: Markup,
    body: Markup,
) -> Response {
    let path = fleet_path(fleet);
    let tabs = [
        (Tab::Overview, "Overview", path.clone()),
        (Tab::Plan, "Plan", format!("{path}/plan")),
        (Tab::Explain, "Explain", format!("{path}/explain")),
        (Tab::History, "History", format!("{path}/history")),
    ];
    let title = match tab {
        Tab::Overview => clean_line(fleet),
        Tab::Plan => format!("Plan of {}", clean_line(fleet)),
        Tab::Explain => format!("Pools of {}", clean_line(fleet)),
        Tab::History => format!("History of {}", clean_line(fleet)),
    };
    let body = html! {
        p.way { a href="/" { "All fleets" } }
        div #head data-live { (head) }
        nav.tabs aria-label="This fleet" {
            @for (which, name, path) in &tabs {
                a href=(path) aria-current=[(*which == tab).then_some("page")] { (name) }
            }
        }
        (body)
    };
    framed(controller, &title, Some(fleet), body)
}

/// A page that says that something did not work.
pub(super) fn trouble(
    controller: &Controller,
    status: StatusCode,
    title: &str,
    body: Markup,
) -> Response {
    (status, framed(controller, title, None, body)).into_response()
}

fn framed(controller: &Controller, title: &str, fleet: Option<&str>, body: Markup) -> Response {
    let version = VERSION.as_str();
    let replicas = controller.board.replicas();
    let now = controller.time();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · fleet" }
                link rel="icon" type="image/svg+xml" href=(format!("/ui/icon.svg?{version}"));
                link rel="stylesheet" href=(format!("/ui/style.css?{version}"));
                script src=(format!("/ui/script.js?{version}")) defer {}
            }
            body data-fleet=[fleet] {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.mark href="/" {
                        svg viewBox="0 0 16 16" aria-hidden="true" { (PreEscaped(MARK)) }
                        "fleet"
                    }
                    @if !controller.acts {
                        span.mode { "looks only" span.more { ", changes nothing" } }
                    }
                    span.clock { span.more { "as of " } (moment(now)) }
                }
                main #main tabindex="-1" { (body) }
                p #news .unseen role="status" aria-live="polite" {}
                footer {
                    span { "replica " (clean_line(&controller.replica)) }
                    @if replicas.len() > 1 {
                        span { "one of " (count(replicas.len() as u64, "replica")) }
                    }
                    span { "fleet " (env!("CARGO_PKG_VERSION")) }
                    span #live { "reload to update" }
                }
            }
        }
    };
    Html(page.into_string()).into_response()
}

const MARK: &str =
    "<rect width=\"16\" height=\"16\" rx=\"4\"/><path d=\"M4 4.5h8M4 8h5.5M4 11.5h3\"/>";
