//! The table of fleets: a screen or two at a time, so that a thousand fleets are as quick to see as ten.

use crate::pages::parts::{ago, amount, bar, dollars, encoded, fleet_path, monthly, number};
use crate::pages::standing::{badge, is_unspecified};
use fleet_model::Timestamp;
use fleet_words::output::controller::{FleetOverview, Overview};
use fleet_words::text::{clean_line, thousands};
use maud::{Markup, html};
use std::ops::Range;

/// Rows on one page. A browser lays out a hundred in 60 ms more than these.
const ROWS: usize = 40;

/// What is saved, of what the same would cost on demand.
pub(super) fn share(saved: f64, hourly: f64) -> String {
    let whole = hourly + saved;
    if saved <= 0.0 { "0%".into() } else { format!("{:.0}%", saved / whole * 100.0) }
}

/// `44 of 48 vcpus`.
pub(super) fn capacity(fleet: &FleetOverview) -> Markup {
    let unit = fleet_words::output::words::name(&fleet.unit);
    html! {
        (amount(fleet.have))
        @if !is_unspecified(fleet) { " of " (amount(fleet.wanted)) }
        " " (unit)
    }
}

/// The bar beside it: what runs, what starts, what is missing.
pub(super) fn capacity_bar(fleet: &FleetOverview) -> Markup {
    let machines = f64::from(fleet.machines.max(1));
    let starting = fleet.have * f64::from(fleet.launching) / machines;
    let parts = [("have", (fleet.have - starting).max(0.0)), ("starting", starting)];
    bar(&parts, fleet.wanted)
}

const HEADS: [(&str, &str); 10] = [
    ("Fleet", ""),
    ("State", ""),
    ("Capacity", ""),
    ("Ready", "n"),
    ("Starting", "n"),
    ("Fallback", "n"),
    ("Held", "n"),
    ("$ per hour", "n"),
    ("$ per month", "n"),
    ("Looked at", ""),
];

/// The rows of a page, which page that is, and how many there are. Pages count from one; a number that no page has
/// is the nearest that one has.
fn part(fleets: usize, asked: &str) -> (Range<usize>, usize, usize) {
    let pages = fleets.div_ceil(ROWS).max(1);
    let page = asked.trim().parse().unwrap_or(1).clamp(1, pages);
    ((page - 1) * ROWS..fleets.min(page * ROWS), page, pages)
}

/// `shown` are all that were asked for, `asked` is the page of them.
pub(super) fn table(shown: &[&FleetOverview], overview: &Overview, q: &str, asked: &str) -> Markup {
    if shown.is_empty() {
        return html! {
            p.empty {
                @if overview.fleets.is_empty() {
                    "No specs are in force yet."
                } @else {
                    "No fleet has “" (clean_line(q)) "” in its name or state. " a href="/" { "Show all" }
                }
            }
        };
    }
    let now = overview.at.0;
    let alone = overview.replicas.len() < 2;
    let (part, page, pages) = part(shown.len(), asked);
    html! {
        table.fleets role="table" {
            caption.unseen { "Fleets, those that need attention first" }
            thead role="rowgroup" {
                tr role="row" {
                    @for (head, class) in HEADS {
                        th role="columnheader" scope="col" class=[(!class.is_empty()).then_some(class)] {
                            (head)
                        }
                    }
                }
            }
            tbody role="rowgroup" {
                @for fleet in &shown[part.clone()] { (row(fleet, now, alone)) }
            }
        }
        @if pages > 1 { (turn(&part, shown.len(), (page, pages), q)) }
    }
}

/// The way to the other pages.
fn turn(part: &Range<usize>, all: usize, (page, pages): (usize, usize), q: &str) -> Markup {
    let to = |page: usize| match q.trim() {
        "" => format!("/?page={page}#fleets-name"),
        q => format!("/?q={}&page={page}#fleets-name", encoded(q)),
    };
    html! {
        nav.turn aria-label="Pages of fleets" {
            @if page > 1 { a.button rel="prev" href=(to(page - 1)) { "Previous" } }
            span {
                (thousands(part.start as u64 + 1)) "–" (thousands(part.end as u64)) " of " (thousands(all as u64))
            }
            @if page < pages { a.button rel="next" href=(to(page + 1)) { "Next" } }
        }
    }
}

pub(super) fn row(fleet: &FleetOverview, now: Timestamp, alone: bool) -> Markup {
    html! {
        tr role="row" {
            th role="rowheader" scope="row" { a href=(fleet_path(&fleet.fleet)) { (clean_line(&fleet.fleet)) } }
            td role="cell" { (badge(fleet)) }
            td.cap role="cell" { span { (capacity(fleet)) } (capacity_bar(fleet)) }
            td.n role="cell" data-l="ready" { (number(fleet.ready)) }
            td.n role="cell" data-l="starting" { (number(fleet.launching)) }
            td.n role="cell" data-l="fallback" { (number(fleet.on_fallback)) }
            td.n role="cell" data-l="held" { (number(fleet.held)) }
            td.n role="cell" data-l="per hour" { (dollars(fleet.hourly_usd)) }
            td.n role="cell" data-l="per month" {
                (monthly(fleet.hourly_usd))
                @if fleet.saved_hourly_usd > 0.0 {
                    small { " −" (share(fleet.saved_hourly_usd, fleet.hourly_usd)) }
                }
            }
            td.when role="cell" {
                @if let Some(at) = fleet.looked_at { (ago(at.0, now)) } @else { "—" }
                @if !alone && let Some(replica) = &fleet.replica { small { " by " (clean_line(replica)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, part};

    #[test]
    fn every_fleet_is_on_one_page() {
        for fleets in [0, 1, ROWS - 1, ROWS, ROWS + 1, 100, 1000] {
            let (_, _, pages) = part(fleets, "1");
            let seen: Vec<usize> =
                (1..=pages).flat_map(|page| part(fleets, &page.to_string()).0).collect();
            assert_eq!(seen, (0..fleets).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_page_that_is_not_there_is_the_nearest() {
        for (asked, page) in [("", 1), ("x", 1), ("0", 1), ("-3", 1), ("2", 2), ("99", 3)] {
            assert_eq!(part(100, asked).1, page, "{asked}");
        }
    }
}
