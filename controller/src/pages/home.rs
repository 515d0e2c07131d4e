//! All fleets at a glance: what needs a person comes first.

use crate::Controller;
use crate::pages::errors::Chosen;
use crate::pages::frame::page as framed;
use crate::pages::parts::{ago, dollars, fleet_path, items, monthly};
use crate::pages::standing::{badge, needs_attention, of};
use crate::pages::table::{capacity, share, table};
use axum::extract::State;
use axum::response::Response;
use fleet_model::{FleetName, Timestamp};
use fleet_words::output::common::{Diagnostic, Unmanaged};
use fleet_words::output::controller::{FleetOverview, Overview, RefusedSpecs, Standing};
use fleet_words::render::attention::Item;
use fleet_words::text::{clean, clean_line, count, thousands};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// More that needs attention is named, and told on pages of its own.
const TOLD_AT_LENGTH: usize = 8;

/// Which fleets are shown.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Search {
    #[serde(default)]
    q: String,
    /// Which page of them.
    #[serde(default)]
    page: String,
}

/// `/`.
pub(super) async fn page(
    State(controller): State<Arc<Controller>>,
    Chosen(Search { q, page }): Chosen<Search>,
) -> Response {
    let mut overview = controller.overview();
    let Overview { fleets, .. } = &mut overview;
    fleets.sort_by_cached_key(|fleet| (of(fleet).0, fleet.fleet.clone()));
    let troubled: Vec<&FleetOverview> =
        overview.fleets.iter().filter(|fleet| needs_attention(fleet)).collect();
    let shown: Vec<&FleetOverview> = overview.fleets.iter().filter(|f| matches(f, &q)).collect();
    let now = overview.at.0;
    let body = html! {
        h1.unseen { "All fleets" }
        div #glance data-live { (glance(&overview, troubled.len())) }
        div #attention data-live {
            @if let Some(refused) = &overview.source.refused { (refusal(refused, now)) }
            (unmanaged(&overview.unmanaged))
            (attention(&controller, &troubled))
        }
        section aria-labelledby="fleets-name" {
            div.row {
                h2 #fleets-name { "Fleets" }
                form.search role="search" method="get" action="/" {
                    label.unseen for="q" { "Name of a fleet" }
                    input #q type="search" name="q" value=(q) placeholder="Name or state";
                    button { "Find" }
                }
            }
            div #fleets data-live { (table(&shown, &overview, &q, &page)) }
        }
        p.foot #source data-live { (source(&controller, &overview)) }
    };
    framed(&controller, "All fleets", body)
}

fn matches(fleet: &FleetOverview, q: &str) -> bool {
    let q = q.trim().to_lowercase();
    q.is_empty() || fleet.fleet.to_lowercase().contains(&q) || of(fleet).1.contains(q.as_str())
}

fn glance(overview: &Overview, troubled: usize) -> Markup {
    let fleets = &overview.fleets;
    let sum = |of: &dyn Fn(&FleetOverview) -> f64| fleets.iter().map(of).sum::<f64>();
    let machines: u64 = fleets.iter().map(|fleet| u64::from(fleet.machines)).sum();
    let ready: u64 = fleets.iter().map(|fleet| u64::from(fleet.ready)).sum();
    let (hourly, saved) = (sum(&|f| f.hourly_usd), sum(&|f| f.saved_hourly_usd));
    html! {
        dl.glance {
            div {
                dt { "Need attention" }
                dd class=(if troubled > 0 { "bad" } else { "good" }) {
                    (thousands(troubled as u64)) small { " of " (count(fleets.len() as u64, "fleet")) }
                }
            }
            div {
                dt { "Machines ready" }
                dd { (thousands(ready)) small { " of " (thousands(machines)) } }
            }
            div { dt { "Cost per hour" } dd { (dollars(hourly)) } }
            div { dt { "Cost per month" } dd { (monthly(hourly)) } }
            div {
                dt { "Below on-demand" }
                dd { (share(saved, hourly)) small { ", " (dollars(saved)) " per hour" } }
            }
        }
    }
}

/// Machines that cost money and that no spec asks for.
fn unmanaged(fleets: &[Unmanaged]) -> Markup {
    let machines: u64 = fleets.iter().map(|fleet| fleet.machines).sum();
    html! {
        @if !fleets.is_empty() {
            section.panel aria-labelledby="unmanaged" {
                h2 #unmanaged {
                    "No spec names " (count(fleets.len() as u64, "fleet")) " with "
                    (count(machines, "machine"))
                }
                p {
                    @for (nth, fleet) in fleets.iter().take(TOLD_AT_LENGTH).enumerate() {
                        @if nth > 0 { ", " }
                        code { (clean_line(&fleet.fleet)) } " (" (thousands(fleet.machines)) ")"
                    }
                    @if fleets.len() > TOLD_AT_LENGTH { ", and more" }
                }
                (next("bring the spec back, or end its machines with `fleet destroy FLEET`"))
            }
        }
    }
}

pub(super) fn refusal(refused: &RefusedSpecs, now: Timestamp) -> Markup {
    let RefusedSpecs { commit, since, error, place, hint, diagnostics } = refused;
    html! {
        section.panel.bad aria-labelledby="refused" {
            h2 #refused { "The latest specs are refused; what was in force stays" }
            p.dim {
                @if let Some(commit) = commit { "commit " code { (clean_line(commit)) } ", " }
                "since " (ago(since.0, now))
            }
            @if diagnostics.is_empty() {
                p.said { (clean(error)) }
                @if let Some(place) = place { p.dim { "at " code { (clean_line(place)) } } }
                @if let Some(hint) = hint { (next(hint)) }
            }
            @for problem in diagnostics.iter().take(5) { (diagnostic(problem)) }
            @if diagnostics.len() > 5 {
                p.dim { (count((diagnostics.len() - 5) as u64, "more problem")) "; "
                    code { "fleet validate" } " lists them all" }
            }
        }
    }
}

fn diagnostic(problem: &Diagnostic) -> Markup {
    let file = problem.file.as_deref().unwrap_or_default();
    let place = match (problem.line, problem.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        _ => file.to_owned(),
    };
    let before = problem.column.unwrap_or(1).saturating_sub(1).saturating_sub(problem.text_skipped);
    let (before, meant) = (before as usize, problem.length.max(1) as usize);
    let part = |from: usize, some: usize| -> String {
        let part: String = problem.text.chars().skip(from).take(some).collect();
        clean(&part).into_owned()
    };
    html! {
        p.said { (clean(&problem.message)) }
        @if !place.is_empty() { p.dim { "at " code { (clean_line(&place)) } } }
        @if !problem.text.is_empty() && problem.line.is_some() {
            pre.line tabindex="0" role="region" aria-label="The line of the file" {
                span.dim { (problem.line.unwrap_or_default()) " │ " }
                (part(0, before)) mark { (part(before, meant)) } (part(before + meant, usize::MAX))
            }
        }
        @if let Some(hint) = &problem.hint { (next(hint)) }
    }
}

fn next(hint: &str) -> Markup {
    html! { p.next { span aria-hidden="true" { "→ " } (clean(hint)) } }
}

/// One thing that is wrong with one fleet, or with several alike.
struct Cause {
    item: Item,
    fleets: Vec<String>,
}

/// What several fleets tell alike: one silent region is one thing to see to, however many fleets are in it.
fn shared(controller: &Controller, troubled: &[&FleetOverview]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for fleet in troubled {
        for item in told(controller, fleet) {
            match causes.iter_mut().find(|cause| cause.item == item) {
                Some(cause) => cause.fleets.push(fleet.fleet.clone()),
                None => causes.push(Cause { item, fleets: vec![fleet.fleet.clone()] }),
            }
        }
    }
    causes.retain(|cause| cause.fleets.len() > 1);
    causes
}

fn told(controller: &Controller, fleet: &FleetOverview) -> Vec<Item> {
    let known = controller.board.fleet(&FleetName::new(fleet.fleet.as_str()));
    let view = known.and_then(|known| known.view);
    let items = view.iter().flat_map(|view| &view.attention);
    items.filter(|item| item.label != "note").cloned().collect()
}

fn attention(controller: &Controller, troubled: &[&FleetOverview]) -> Markup {
    if troubled.is_empty() {
        return html! {};
    }
    let causes = shared(controller, troubled);
    let own = |fleet: &FleetOverview| -> Vec<Item> {
        let all = told(controller, fleet).into_iter();
        all.filter(|item| causes.iter().all(|cause| cause.item != *item)).collect()
    };
    let alone: Vec<(&FleetOverview, Vec<Item>)> = troubled
        .iter()
        .map(|fleet| (*fleet, own(fleet)))
        // All that is wrong with it is told above.
        .filter(|(fleet, own)| {
            let elsewhere = causes.iter().any(|cause| cause.fleets.contains(&fleet.fleet));
            !own.is_empty() || !elsewhere || fleet.standing == Standing::Failed
        })
        .collect();
    html! {
        section aria-labelledby="attention-name" {
            h2 #attention-name { "Needs attention" }
            div.cards {
                @for cause in causes.iter().take(TOLD_AT_LENGTH) { (shared_card(cause)) }
                @for (fleet, own) in alone.iter().take(TOLD_AT_LENGTH) { (card(fleet, own)) }
            }
            @if alone.len() > TOLD_AT_LENGTH {
                p.foot { (count((alone.len() - TOLD_AT_LENGTH) as u64, "more fleet"))
                    ", first in the list below" }
            }
        }
    }
}

fn shared_card(cause: &Cause) -> Markup {
    const NAMED: usize = 6;
    let Cause { item, fleets } = cause;
    html! {
        article.card.warn {
            h3 { (count(fleets.len() as u64, "fleet")) span.badge.warn { span aria-hidden="true" { "▲" } " " (item.label) } }
            p {
                @for (nth, fleet) in fleets.iter().take(NAMED).enumerate() {
                    @if nth > 0 { ", " }
                    a href=(fleet_path(fleet)) { (clean_line(fleet)) }
                }
                @if fleets.len() > NAMED { " and " (fleets.len() - NAMED) " more" }
            }
            (items(&[item]))
        }
    }
}

pub(super) fn card(fleet: &FleetOverview, own: &[Item]) -> Markup {
    html! {
        article.card class=(of(fleet).0.class()) {
            h3 { a href=(fleet_path(&fleet.fleet)) { (clean_line(&fleet.fleet)) } " " (badge(fleet)) }
            p { (capacity(fleet)) }
            @if fleet.standing == Standing::Failed {
                @if let Some(said) = &fleet.said { p.said { (clean(said)) } }
                @if let Some(hint) = &fleet.hint { (next(hint)) }
            }
            (items(&own.iter().take(2).collect::<Vec<_>>()))
        }
    }
}

fn source(controller: &Controller, overview: &Overview) -> Markup {
    let specs = controller.board.specs();
    html! {
        (count(specs.fleets.len() as u64, "fleet")) " in force"
        @if let Some(commit) = &overview.source.commit { " from commit " code { (clean_line(commit)) } }
        @if let Some(since) = overview.source.since { ", since " (ago(since.0, overview.at.0)) }
        ". “Fallback”: on-demand machines that stand in for spot. “−40%”: below the price of the same \
         machines on demand. A month has 730 hours."
    }
}
