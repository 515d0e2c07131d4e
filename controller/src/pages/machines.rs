//! The machines of a fleet, pool by pool.

use crate::pages::parts::{ago, encoded, fleet_path, price};
use fleet_model::Timestamp;
use fleet_words::output::plan::Pool;
use fleet_words::output::status::Machine;
use fleet_words::output::words::{Market, State, name};
use fleet_words::text::{clean_line, count};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A pool with many machines shows so many: the rest is for programs.
const SHOWN: usize = 200;

fn pool_of(machine: &Machine) -> String {
    let Machine { provider, region, zone, r#type, market, .. } = machine;
    format!("{}/{region}/{zone}/{}/{}", name(provider), r#type, name(market))
}

/// Every pool that holds machines, with its machines behind it.
pub(super) fn by_pool(fleet: &str, machines: &[Machine], about: &[Pool], now: Timestamp) -> Markup {
    let mut pools: BTreeMap<String, Vec<&Machine>> = BTreeMap::new();
    for machine in machines {
        pools.entry(pool_of(machine)).or_default().push(machine);
    }
    let mut pools: Vec<_> = pools.into_iter().collect();
    pools.sort_by_key(|(pool, machines)| (std::cmp::Reverse(machines.len()), pool.clone()));
    let about: BTreeMap<&str, &Pool> =
        about.iter().map(|pool| (pool.pool.as_str(), pool)).collect();
    html! {
        @if pools.is_empty() { p.empty { "No machine stands yet." } }
        div.pools {
            @for (pool, machines) in &pools {
                (one(fleet, pool, machines, about.get(pool.as_str()).copied(), now))
            }
        }
    }
}

fn one(
    fleet: &str,
    pool: &str,
    machines: &[&Machine],
    about: Option<&Pool>,
    now: Timestamp,
) -> Markup {
    let Some(first) = machines.first() else { return html! {} };
    let of_state = |state: State| machines.iter().filter(|one| one.state == state).count();
    let taken = machines.iter().filter(|one| one.interruption_at.is_some()).count();
    let states = [
        (of_state(State::Pending), "starting", "busy"),
        (taken, "interrupted", "warn"),
        (of_state(State::Failed) + of_state(State::Stopped), "not working", "bad"),
        (of_state(State::Unknown), "not seen", "warn"),
    ];
    let saved = about.and_then(saved);
    let zone =
        if first.zone.starts_with(&first.region) || first.zone == "*" { "" } else { &first.zone };
    let place = if first.zone.starts_with(&first.region) { &first.zone } else { &first.region };
    let explain = format!("{}/explain?pool={}", fleet_path(fleet), encoded(pool));
    let pool = clean_line(pool);
    html! {
        details data-key=(pool) {
            summary {
                span.many { (machines.len()) span aria-hidden="true" { " ×" } }
                span.what {
                    span.type { (clean_line(&first.r#type)) }
                    " "
                    span.place { (name(&first.provider)) " " (clean_line(place)) " " (clean_line(zone)) " " span.market { "· " (name(&first.market)) } }
                }
                span.each {
                    (price(about.and_then(|pool| pool.hourly_usd).or(first.hourly_usd))) small { " each/h" }
                    @if let Some(saved) = saved { small { " saves " (saved) } }
                }
                @for (some, word, class) in states.into_iter().filter(|(some, ..)| *some > 0) {
                    span class={ "badge " (class) } { (some) " " (word) }
                }
            }
            div.scroll tabindex="0" role="region" aria-label={ "Machines of " (pool) } {
                table {
                    caption.unseen { "Machines of " (pool) }
                    thead {
                        tr {
                            @for head in ["Slot", "Machine", "State", "Launched"] { th scope="col" { (head) } }
                            th.n scope="col" { "$ per hour" }
                        }
                    }
                    tbody { @for machine in machines.iter().take(SHOWN) { (row(fleet, machine, now)) } }
                }
            }
            @if machines.len() > SHOWN {
                p.dim { (count((machines.len() - SHOWN) as u64, "more machine")) "; "
                    code { "fleet status --machines" } " lists all" }
            }
            p { a href=(explain) { "Why this pool" } }
        }
    }
}

fn saved(pool: &Pool) -> Option<String> {
    let (full, each) = (pool.on_demand_hourly_usd?, pool.hourly_usd?);
    (pool.market == Market::Spot && full > each)
        .then(|| format!("{:.0}%", (1.0 - each / full) * 100.0))
}

fn row(fleet: &str, machine: &Machine, now: Timestamp) -> Markup {
    let explain = format!("{}/explain?slot={}", fleet_path(fleet), encoded(&machine.slot));
    html! {
        tr {
            th scope="row" { a href=(explain) { (clean_line(&machine.slot)) } }
            td.id { (clean_line(&machine.id)) }
            td {
                (name(&machine.state))
                @if let Some(at) = machine.interruption_at { ", interrupted " (ago(at.0, now)) }
            }
            td { (ago(machine.launched_at.0, now)) }
            td.n { (price(machine.hourly_usd)) }
        }
    }
}
