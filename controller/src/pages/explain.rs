//! Why each pool is used or not, in the words of `fleet explain`. Looks at the clouds when it is asked.

use crate::Controller;
use crate::pages::errors::{self, Chosen};
use crate::pages::fleet::{find, head};
use crate::pages::frame::{Tab, fleet_page};
use crate::pages::parts::{amount, encoded, fleet_path, price};
use axum::extract::{Path, State};
use axum::response::Response;
use fleet_core::{explain_pools, explain_slots, plan, proven_gaps, relaxations};
use fleet_model::{Desired, Inputs, Limits, Pattern, PoolId};
use fleet_words::fail::{Answer, Failure};
use fleet_words::output::explain::{ExplainedPool, ExplainedSlot, FleetExplained};
use fleet_words::output::words::name;
use fleet_words::render::explain::{gaps, sort};
use fleet_words::render::explain_json;
use fleet_words::runs::failed;
use fleet_words::text::{clean, clean_line, thousands, when};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Pools on one page.
const SHOWN: usize = 40;
/// So few are told at length, as the command does.
const AT_LENGTH: usize = 3;

/// What is asked.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Question {
    #[serde(default)]
    pool: String,
    #[serde(default)]
    slot: String,
}

/// `/fleets/{fleet}/explain`.
pub(super) async fn page(
    State(controller): State<Arc<Controller>>,
    Path(fleet): Path<String>,
    Chosen(question): Chosen<Question>,
) -> Response {
    let Some(seen) = find(&controller, &fleet) else {
        return errors::no_fleet(&controller, &fleet);
    };
    let specs = controller.board.specs();
    let Some((desired, _)) = specs.fleets.get(&seen.fleet).cloned() else {
        return errors::no_fleet(&controller, &fleet);
    };
    let path = format!("{}/explain", fleet_path(&fleet));
    let asked = question.clone();
    let told = controller.apart(async move |this| explained(&this, &desired, &asked).await).await;
    let told = told.unwrap_or_else(|| Err(Failure::new("the look broke off")));
    let told = match told {
        Ok(told) => told,
        Err(failure) => return errors::failed(&controller, &failure, &path),
    };
    let body = html! {
        form.search.wide role="search" method="get" action=(path) {
            label for="pool" { "Pools" }
            input #pool type="search" name="pool" value=(question.pool)
                placeholder="aws/us-east-1/*/p5.*/spot, or a part of it";
            button { "Explain" }
            @if !question.pool.is_empty() || !question.slot.is_empty() { a href=(path) { "All" } }
        }
        @if question.slot.is_empty() { (pools(&told, &question)) } @else { (slots(&told, &question, &path)) }
    };
    fleet_page(&controller, &fleet, Tab::Explain, head(&seen), body)
}

async fn explained(
    controller: &Controller,
    desired: &Desired,
    question: &Question,
) -> Answer<(FleetExplained, String)> {
    let gathered = controller.engine.gather_all(&[desired], Limits::default()).await;
    let inputs: Inputs = match gathered.into_iter().next() {
        Some(inputs) => inputs.map_err(failed)?,
        None => return Err(Failure::new("the look gave no answer for this fleet")),
    };
    let report = plan(&inputs).report;
    let catalog = controller.engine.catalog();
    let slots: Vec<_> = explain_slots(&inputs)
        .into_iter()
        .filter(|slot| slot_is(&slot.slot.to_string(), &question.slot))
        .collect();
    let mut pools = match (question.slot.is_empty(), question.pool.trim()) {
        (false, _) => Vec::new(),
        (true, "") => explain_pools(&inputs, catalog, |pool| {
            inputs.held_pools.contains_key(pool)
                || inputs.offerings.binary_search_by(|offer| offer.pool.cmp(pool)).is_ok()
        }),
        (true, asked) => explain_pools(&inputs, catalog, matching(asked)),
    };
    sort(&mut pools);
    // What constraints cost is a question about all pools, and takes a while.
    let whole = question.slot.is_empty() && question.pool.trim().is_empty();
    let relaxed = if whole { relaxations(&inputs, catalog) } else { Vec::new() };
    let proven = if whole { proven_gaps(&inputs) } else { [None, None] };
    let told = explain_json::fleet(&inputs, &report, (&pools, &slots), &relaxed, proven);
    Ok((told, gaps(proven)))
}

/// `burst-3` means `burst-3.7`: its generation is not asked for.
fn slot_is(slot: &str, asked: &str) -> bool {
    let plain = |slot: &str| slot.split_once('.').map_or(slot, |(name, _)| name).to_owned();
    asked.is_empty() || plain(slot) == plain(asked.trim())
}

/// A pool as the command takes it, with `*`, or any part of one.
fn matching(asked: &str) -> impl Fn(&PoolId) -> bool + use<> {
    let asked = asked.to_lowercase();
    let pattern =
        Pattern::new(if asked.contains(['*', '?']) { asked } else { format!("*{asked}*") });
    move |pool| pattern.matches(&pool.to_string())
}

fn pools((told, proven): &(FleetExplained, String), question: &Question) -> Markup {
    let FleetExplained { candidates, rejected, pools, notices, moves, relaxations, .. } = told;
    let out: u64 = rejected.iter().map(|one| u64::from(one.pools)).sum();
    let whole = question.pool.trim().is_empty();
    html! {
        @if pools.is_empty() {
            p.empty { "No pool of the catalog matches “" (clean_line(&question.pool)) "”." }
            p.next { span aria-hidden="true" { "→ " }
                "A pool is cloud/region/zone/type/market, " code { "*" } " allowed." }
        }
        @if whole {
            p { "The spec allows " (thousands(u64::from(*candidates))) " of "
                (thousands(u64::from(*candidates) + out)) " pools in the catalog." }
        }
        @for notice in notices.iter().filter(|_| whole) {
            p.said { (clean(&notice.why)) }
            @if let Some(next) = &notice.next { p.next { span aria-hidden="true" { "→ " } (clean(next)) } }
        }
        @if !pools.is_empty() { (table(told, pools)) }
        @if whole && !rejected.is_empty() {
            section aria-labelledby="out" {
                h2 #out { "Ruled out by the spec" }
                table.plainly {
                    caption.unseen { "Pools that the spec rules out, by reason" }
                    thead { tr { th.n scope="col" { "Pools" } th scope="col" { "Because" } } }
                    tbody {
                        @for one in rejected.iter().take(12) {
                            tr { td.n { (thousands(u64::from(one.pools))) } th scope="row" { (clean(&one.why)) } }
                        }
                    }
                }
            }
        }
        @if !moves.is_empty() {
            section aria-labelledby="moves" {
                h2 #moves { "Cheaper pools for machines that run" }
                ul.plain { @for one in moves {
                    li { code { (clean_line(&one.from)) } " → " code { (clean_line(&one.to)) } ": " (clean(&one.why)) }
                } }
            }
        }
        @if !relaxations.is_empty() {
            section aria-labelledby="relax" {
                h2 #relax { "What constraints cost, if bought anew" }
                ul.plain { @for one in relaxations.iter().take(3) {
                    li { (clean(&one.relax)) ": "
                        @if one.saved_percent > 0.0 { (format!("{:.0}% cheaper", one.saved_percent)) }
                        @if one.gained > 0.0 { " " (amount(one.gained)) " more placed" } }
                } }
            }
        }
        @if !proven.is_empty() {
            section aria-labelledby="proven" {
                h2 #proven { "Proven" }
                p { (super::ansi::html(proven.trim().split_once('\n').map_or(proven.as_str(), |(_, rest)| rest).trim())) "." }
            }
        }
    }
}

fn table(told: &FleetExplained, pools: &[ExplainedPool]) -> Markup {
    let path = format!("{}/explain", fleet_path(&told.fleet));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Pools" {
            table.explained {
                caption.unseen { "Pools, best first" }
                thead {
                    tr {
                        th scope="col" { "Pool" }
                        th.n scope="col" { "Each, $ per hour" }
                        th.n scope="col" { "Per " (name(&told.unit)) }
                        th.n scope="col" { "Launch likely" }
                        th scope="col" { "Verdict" }
                    }
                }
                tbody { @for pool in pools.iter().take(SHOWN) { (row(pool, &path, pools.len() <= AT_LENGTH)) } }
            }
        }
        @if pools.len() > SHOWN {
            p.dim { (thousands((pools.len() - SHOWN) as u64)) " more; search to narrow them down." }
        }
    }
}

fn row(pool: &ExplainedPool, path: &str, at_length: bool) -> Markup {
    let each = pool.hourly_usd.map(|each| each + pool.beside_hourly_usd);
    let per = each.zip(pool.weight).filter(|(_, weight)| *weight > 0.0);
    html! {
        tr class=[pool.used.then_some("used")] {
            th scope="row" { a href=(format!("{path}?pool={}", encoded(&pool.pool))) { (clean_line(&pool.pool)) } }
            td.n { (price(pool.hourly_usd)) }
            td.n { (per.map_or_else(|| "?".into(), |(each, weight)| format!("${:.4}", each / weight))) }
            td.n { @if let Some(odds) = &pool.odds { (format!("{:.0}%", odds.launch_percent)) }
                @else if let Some(word) = &pool.obtainability { (word.percent) "%" } @else { "—" } }
            td {
                @if pool.used { span.badge.good { span aria-hidden="true" { "●" } " used" } " " }
                (clean(pool.why.strip_prefix("used: ").unwrap_or(&pool.why)))
                @if let Some(seen) = pool.odds.as_ref().and_then(|odds| odds.seen.as_ref()) {
                    small { (format!(" {:.0} machine hours seen, {} interruptions", seen.machine_hours, seen.interruptions)) }
                }
                @if at_length { (at_length_of(pool)) }
            }
        }
    }
}

/// What else is known of a pool.
fn at_length_of(pool: &ExplainedPool) -> Markup {
    html! {
        @if let Some(next) = pool.reason.as_ref().and_then(|reason| reason.next.as_ref()) {
            p.next { span aria-hidden="true" { "→ " } (clean(next)) }
        }
        dl.facts {
            @if let Some(full) = pool.on_demand_hourly_usd {
                dt { "On demand" } dd { (price(Some(full))) " per hour" }
            }
            dt { "Beside the machine" } dd { (price(Some(pool.beside_hourly_usd))) " per hour" }
            dt { "Counts for" } dd { (pool.weight.map_or_else(|| "nothing".into(), amount)) }
            @for lasts in pool.odds.iter().flat_map(|odds| &odds.lasts) {
                dt { "Lasts " (lasts.hours) " h" } dd { (format!("{:.0}%", lasts.percent)) " likely" }
            }
            @for signal in &pool.signals {
                dt { (clean_line(&signal.name)) }
                dd {
                    (format!("{:.0}%, believed to {:.0}%", signal.percent, signal.weight_percent))
                    @if let Some(since) = &signal.steady_since {
                        ", taken to have stood since " (when(since.0))
                    }
                }
            }
        }
    }
}

fn slots((told, _): &(FleetExplained, String), question: &Question, path: &str) -> Markup {
    html! {
        @if told.slots.is_empty() {
            p.empty { "Nothing fills slot " (clean_line(&question.slot)) "." }
            p { a href=(path) { "All pools" } }
        }
        @for slot in &told.slots { (one_slot(slot, path)) }
    }
}

fn one_slot(slot: &ExplainedSlot, path: &str) -> Markup {
    html! {
        section.panel {
            h2 { (clean_line(&slot.slot)) ": " (clean(&slot.standing)) }
            dl.facts {
                dt { "Machine" } dd { (slot.machine.as_deref().map_or("not known yet".into(), clean_line)) }
                dt { "Pool" }
                dd { a href=(format!("{path}?pool={}", encoded(&slot.pool))) { (clean_line(&slot.pool)) } }
                dt { "Price" } dd { (price(slot.hourly_usd)) " per hour" }
                dt { "Counts for" } dd { (amount(slot.weight)) }
            }
            @if let Some(reason) = &slot.reason { p.said { "It will be destroyed because " (clean(&reason.why)) "." } }
        }
    }
}
