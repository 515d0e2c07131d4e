//! The plan, in the words of `fleet plan`.

use crate::Controller;
use crate::pages::ansi;
use crate::pages::errors;
use crate::pages::fleet::{find, head};
use crate::pages::frame::{Tab, fleet_page};
use crate::pages::parts::{ago, price};
use crate::pages::standing::is_unspecified;
use axum::extract::{Path, State};
use axum::response::Response;
use fleet_words::output::plan::{FleetPlan, Pool};
use fleet_words::output::words::name;
use fleet_words::text::{clean, clean_line};
use maud::{Markup, html};
use std::sync::Arc;

/// `/fleets/{fleet}/plan`.
pub(super) async fn page(
    State(controller): State<Arc<Controller>>,
    Path(fleet): Path<String>,
) -> Response {
    let Some(seen) = find(&controller, &fleet) else {
        return errors::no_fleet(&controller, &fleet);
    };
    let body = html! {
        div #plan data-live {
            @match &seen.view {
                None => p.empty { "Not looked at yet: there is no plan." },
                Some(_) if is_unspecified(&seen.glance) => {
                    p { "There is no spec here, and so no plan." }
                    p.next { span aria-hidden="true" { "→ " } "Name it: " code { "fleet ui SPEC" } }
                }
                Some(view) => {
                    p {
                        "Decided " (ago(view.looked_at, seen.now)) ". "
                        @if controller.acts {
                            "What can be done is done at the next look."
                        } @else {
                            "Nothing is done from here; " code { "fleet apply" } " does it."
                        }
                    }
                    (changes(&view.plan))
                    section aria-labelledby="told" {
                        h2 #told { "As " code { "fleet plan --details" } " tells it" }
                        pre.screen tabindex="0" role="region" aria-label="The plan as text" {
                            (ansi::html(view.plan_text.trim()))
                        }
                    }
                }
            }
        }
    };
    fleet_page(&controller, &fleet, Tab::Plan, head(&seen), body)
}

fn changes(plan: &FleetPlan) -> Markup {
    let moving: Vec<&Pool> =
        plan.pools.iter().filter(|pool| pool.create + pool.destroy > 0).collect();
    if moving.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="changes" {
            h2 #changes { "Changes" }
            div.scroll tabindex="0" role="region" aria-label="Changes by pool" {
                table {
                    caption.unseen { "Machines to launch and to destroy, by pool" }
                    thead {
                        tr {
                            th scope="col" { "Change" } th scope="col" { "Pool" }
                            th.n scope="col" { "Each, $ per hour" } th scope="col" { "Why" }
                        }
                    }
                    tbody { @for pool in moving { (change(plan, pool)) } }
                }
            }
        }
    }
}

fn change(plan: &FleetPlan, pool: &Pool) -> Markup {
    let why = plan.steps.iter().find(|step| step.pool == pool.pool).map(|step| &step.reason.why);
    html! {
        tr {
            th scope="row" {
                @if pool.create > 0 { span.badge.good { "+ launch " (pool.create) } " " }
                @if pool.destroy > 0 { span.badge.bad { "− destroy " (pool.destroy) } }
            }
            td {
                (clean_line(&pool.r#type)) small { " " (name(&pool.provider)) " " (clean_line(&pool.region))
                    " " (clean_line(&pool.zone)) " " (name(&pool.market)) }
            }
            td.n { (price(pool.hourly_usd)) }
            td {
                @if let Some(why) = why { (clean(why)) }
                @if let Some(reason) = &pool.reason { small { "; here: " (clean(&reason.why)) } }
            }
        }
    }
}
