//! One fleet: what stands, where, since when, at what cost, and what comes next.

use crate::Controller;
use crate::board::FleetView;
use crate::pages::charts::{Chart, average, least, line, timeline};
use crate::pages::errors::{self, Chosen};
use crate::pages::frame::{Tab, fleet_page};
use crate::pages::parts::{ago, amount, bar, dollars, due, fleet_path, items, monthly};
use crate::pages::past::{Past, Range, past};
use crate::pages::standing::{badge, is_unspecified};
use crate::pages::table::{capacity, capacity_bar, share};
use crate::pages::{machines, map};
use axum::extract::{Path, State};
use axum::response::Response;
use fleet_model::{FleetName, Timestamp};
use fleet_run::Record;
use fleet_words::output::controller::{FleetOverview, Standing};
use fleet_words::output::words::name;
use fleet_words::render::attention::Item;
use fleet_words::runs::failed;
use fleet_words::text::{clean, clean_line, count};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// What a page of a fleet is made from: what is known now.
pub(super) struct Seen {
    pub(super) fleet: FleetName,
    pub(super) glance: FleetOverview,
    pub(super) view: Option<Arc<FleetView>>,
    pub(super) now: Timestamp,
}

/// How far back.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Window {
    #[serde(default)]
    range: String,
}

/// Finds a fleet.
pub(super) fn find(controller: &Controller, fleet: &str) -> Option<Seen> {
    let name = FleetName::new(fleet);
    let known = controller.board.fleet(&name);
    let glance = controller.overview().fleets.into_iter().find(|one| one.fleet == fleet);
    let (known, glance) = (known?, glance?);
    Some(Seen { fleet: name, glance, view: known.view, now: controller.time() })
}

/// `/fleets/{fleet}`.
pub(super) async fn page(
    State(controller): State<Arc<Controller>>,
    Path(fleet): Path<String>,
    Chosen(Window { range }): Chosen<Window>,
) -> Response {
    let Some(seen) = find(&controller, &fleet) else {
        return errors::no_fleet(&controller, &fleet);
    };
    let range = Range::named(&range);
    let records = match controller.history(&seen.fleet).await {
        Ok(records) => records,
        Err(error) => return errors::failed(&controller, &failed(error), &fleet_path(&fleet)),
    };
    let past = past(&records, seen.now, range, seen.glance.wanted);
    let body = html! {
        div.columns {
            div {
                section #state data-live aria-label="State" { (state(&seen)) }
                section #machines data-live aria-labelledby="machines-name" {
                    h2 #machines-name { "Machines by pool" }
                    @if let Some(view) = &seen.view {
                        (machines::by_pool(&fleet, &view.status.machines, &view.plan.pools, seen.now))
                    }
                }
            }
            div {
                section #map data-live aria-labelledby="map-name" {
                    h2 #map-name { "Where" }
                    @if let Some(view) = &seen.view { (map::map(&view.status.machines, &view.status.gaps)) }
                }
                section #facts data-live aria-labelledby="facts-name" {
                    h2 #facts-name { "Facts" }
                    (facts(&controller, &seen))
                }
            }
        }
        section aria-labelledby="past-name" {
            div.row {
                h2 #past-name { "The past" }
                nav.ranges aria-label="How far back" {
                    @for one in Range::ALL {
                        a href=(format!("{}?range={}", fleet_path(&fleet), one.name()))
                            aria-current=[(one == range).then_some("true")] { (one.words()) }
                    }
                }
            }
            div #past .charts data-live { (charts(&seen, &past, range)) (latest(&seen, &records)) }
        }
    };
    fleet_page(&controller, &fleet, Tab::Overview, head(&seen), body)
}

/// The name of a fleet, how it stands and what it costs: on top of each of its pages.
pub(super) fn head(seen: &Seen) -> Markup {
    let Seen { glance, .. } = seen;
    html! {
        div.title { h1 { (clean_line(&glance.fleet)) } (badge(glance)) }
        dl.glance {
            div { dt { "Capacity" } dd { (capacity(glance)) } (capacity_bar(glance)) }
            div {
                dt { "Machines ready" }
                dd {
                    (glance.ready) small { " of " (glance.machines) }
                    @if glance.launching > 0 { small { ", " (glance.launching) " starting" } }
                }
            }
            div { dt { "Cost per hour" } dd { (dollars(glance.hourly_usd)) } }
            div { dt { "Cost per month" } dd { (monthly(glance.hourly_usd)) } }
            div {
                dt { "Below on-demand" }
                dd {
                    (share(glance.saved_hourly_usd, glance.hourly_usd))
                    small { ", " (dollars(glance.saved_hourly_usd)) " per hour" }
                }
            }
        }
    }
}

/// What needs a person, what comes next, and how far each part is.
fn state(seen: &Seen) -> Markup {
    let Seen { fleet, glance, view, now } = seen;
    let attention = view.as_ref().map_or(&[][..], |view| &view.attention);
    let (notes, troubles): (Vec<&Item>, Vec<&Item>) =
        attention.iter().partition(|item| item.label == "note");
    if is_unspecified(glance) {
        return html! {
            h2 { "No spec" }
            p { "Only the journal knows this fleet: this is what stands, and nobody here says what is wanted." }
            p.next { span aria-hidden="true" { "→ " } "Name its spec: " code { "fleet ui SPEC" } }
        };
    }
    html! {
        @if glance.standing == Standing::Failed {
            div.panel.bad {
                h2 { "The last look failed" }
                @if let Some(said) = &glance.said { p.said { (clean(said)) } }
                @if let Some(hint) = &glance.hint { p.next { span aria-hidden="true" { "→ " } (clean(hint)) } }
                @if view.is_some() { p.dim { "Below is what was seen before." } }
            }
        }
        @if glance.standing == Standing::Elsewhere {
            div.panel { p { (clean(glance.said.as_deref().unwrap_or("Somebody else looks after it."))) } }
        }
        @if !troubles.is_empty() { h2 { "Held, missing, unknown" } (items(&troubles)) }
        h2 { "Next" }
        @match view {
            None => p.empty { "Not looked at yet." },
            Some(view) => {
                p {
                    @let summary = &view.plan.summary;
                    a href=(format!("{}/plan", fleet_path(fleet.as_str()))) {
                        "Plan: " (summary.create) " to launch, " (summary.destroy) " to destroy, "
                        (summary.keep) " to keep"
                    }
                    @if let Some(at) = glance.next_look_at { "; next look " (due(at.0, *now)) }
                    "."
                }
                @if view.launched + view.destroyed > 0 {
                    p.dim { "The last look launched " (view.launched) " and destroyed " (view.destroyed) "." }
                }
                (groups(view))
            }
        }
        @if !notes.is_empty() {
            details open[troubles.is_empty() && notes.len() < 4] data-key="notes" {
                summary { (count(notes.len() as u64, "note")) }
                (items(&notes))
            }
        }
    }
}

fn groups(view: &FleetView) -> Markup {
    let unit = name(&view.status.unit);
    html! {
        table.groups {
            caption.unseen { "Capacity by part of the fleet" }
            thead {
                tr {
                    th scope="col" { "Part" }
                    th scope="col" { span.unseen { "Share of what is wanted" } }
                    th.n scope="col" { "Have" }
                    th.n scope="col" { "Wanted, " (unit) }
                }
            }
            tbody {
                @for group in view.status.groups.iter().filter(|one| one.wanted > 0.0 || one.have > 0.0) {
                    tr {
                        th scope="row" { (name(&group.group)) }
                        td { (bar(&[("have", group.have)], group.wanted)) }
                        td.n { (amount(group.have)) }
                        td.n { (amount(group.wanted)) }
                    }
                }
            }
        }
    }
}

fn facts(controller: &Controller, seen: &Seen) -> Markup {
    let Seen { glance, view, now, .. } = seen;
    let specs = controller.board.specs();
    html! {
        dl.facts {
            dt { "Spec" } dd {
                @if is_unspecified(glance) { "none" } @else { code { (clean_line(&glance.file)) } }
                @if let Some(commit) = &specs.commit {
                    " at " code { (clean_line(commit.get(..12).unwrap_or(commit))) }
                }
            }
            dt { "Looked after by" }
            dd {
                @match &glance.replica {
                    _ if !controller.acts => "nobody here: this page only looks",
                    Some(replica) => { "replica " (clean_line(replica)) }
                    None => "nobody yet",
                }
            }
            @if let Some(at) = glance.looked_at {
                dt { "Looked at" }
                dd { (ago(at.0, *now)) @if let Some(view) = view { ", in " (view.took.as_millis()) " ms" } }
            }
            @if let Some(at) = glance.next_look_at { dt { "Next look" } dd { (due(at.0, *now)) } }
            @if let Some(limit) = view.as_ref().and_then(|view| view.status.cost.hourly_limit_usd) {
                dt { "Budget" } dd { (dollars(limit)) " per hour, "
                    (dollars((limit - glance.hourly_usd).max(0.0))) " remaining" }
            }
            dt { "On fallback" } dd { (count(glance.on_fallback, "machine")) }
            @if let Some(outlook) = view.as_ref().and_then(|view| view.plan.outlook.as_ref()) {
                dt { "Interruptions expected" } dd { (format!("{:.1}", outlook.interruptions_per_day)) " per day" }
            }
            @if let Some(uid) = view.as_ref().and_then(|view| view.status.uid.as_ref()) {
                dt { "Identity" } dd { code { (clean_line(uid)) } }
            }
        }
    }
}

fn charts(seen: &Seen, past: &Past, range: Range) -> Markup {
    let Some(at_target) = past.at_target else {
        return html! { p.empty { "The journal of this fleet is empty: nothing was applied yet." } };
    };
    let unit = name(&seen.glance.unit);
    let (step, words) = (range.step().1, range.words());
    let availability = Chart {
        id: "availability",
        title: "Capacity",
        said: match is_unspecified(&seen.glance) {
            true => format!("The least of each {step}."),
            false => format!(
                "{} of the last {words} with at least the {} {unit} that are wanted now. The least of \
                 each {step}.",
                percent(at_target),
                amount(seen.glance.wanted),
            ),
        },
        of: &format!("least capacity, {unit}"),
        value: &|step| step.least,
        text: &amount,
        level: (seen.glance.wanted > 0.0).then_some((seen.glance.wanted, "wanted now")),
        together: least,
    };
    let cost = Chart {
        id: "cost",
        title: "Cost",
        said: format!(
            "{} in the last {words}, by the journal: machines with disks, addresses and expected traffic, as far \
             as prices are known. The average of each {step}.",
            dollars(past.spent)
        ),
        of: "$ per hour",
        value: &|step| step.hourly,
        text: &dollars,
        level: None,
        together: average,
    };
    html! { (line(&availability, past, range)) (line(&cost, past, range)) (timeline(past, range)) }
}

/// Never `100%` of what was not whole.
fn percent(share: f64) -> String {
    match share * 100.0 {
        all if all >= 100.0 => "100%".into(),
        most if most > 99.0 => format!("{:.2}%", (most * 100.0).floor() / 100.0),
        some => format!("{some:.1}%"),
    }
}

/// The last of what happened, in words.
fn latest(seen: &Seen, records: &[Record]) -> Markup {
    html! {
        div {
            h3 { "Latest" }
            (super::history::list(records, seen.now, 12))
            p { a href=(format!("{}/history", fleet_path(seen.fleet.as_str()))) { "The whole history" } }
        }
    }
}
