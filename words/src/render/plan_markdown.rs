//! A plan as a comment on a pull request: the summary first, the details folded away.

use super::plan_cost;
use super::plan_text::{self, is_settled};
use super::{review_markdown, review_text};
use crate::output::common::Summary;
use crate::review::{Edit, FleetEdit, Review};
use crate::sentences;
use crate::text::{Hourly, count, markdown, price, thousands};
use fleet_model::{Cost, Plan, Report};

/// GitHub takes comments of 65,536 characters; room is left for what others put around ours.
const COMMENT: usize = 60_000;
/// What of it the summary may take.
const SUMMARY: usize = 30_000;

/// By this a program finds its own comment again, to update it.
const MARKER: &str = "<!-- fleet-plan -->";

/// All fleets in one comment: the summary whole, details as far as they fit.
pub fn render(fleets: &[(&Plan, &Report)], review: &Review) -> String {
    let broken = review.broken().count();
    let sign = if broken > 0 { "❌ " } else { "" };
    let headline = match &review.comparison {
        Some(all) => review_text::headline(all),
        None => headline(fleets),
    };
    let mut out = format!("{MARKER}\n### {sign}Fleet plan: {headline}\n\n");
    out.push_str(&review_markdown::rules(review));
    match &review.comparison {
        Some(all) => out.push_str(&review_markdown::table(all, fleets, SUMMARY)),
        None => out.push_str(&table(fleets)),
    }
    // What needs attention comes first, and what happens before what does not.
    let mut order: Vec<&(&Plan, &Report)> = fleets.iter().collect();
    if fleets.len() > 1 {
        order.sort_by_key(|(plan, report)| (is_settled(report), plan.is_empty()));
    }
    let edits = review.comparison.as_ref().map_or(&[][..], |all| &all.fleets);
    let mut without = 0_u64;
    for (plan, report) in order {
        let edit = edits.iter().find(|one| one.fleet == plan.fleet);
        // Beside a comparison, a fleet in which nothing happens is no news.
        if edit.is_some_and(|one| one.edit == Edit::Same) && is_quiet(plan, report) {
            continue;
        }
        let details = details(plan, report, edit);
        if out.len() + details.len() <= COMMENT {
            out.push_str(&details);
        } else {
            without += 1;
        }
    }
    if without > 0 {
        let fleets = count(without, "fleet");
        out.push_str(&format!(
            "\n_The details of {fleets} are left out: a comment has an end. \
             `fleet plan --fleet NAME` shows them._\n"
        ));
    }
    if let Some(all) = &review.comparison {
        out.push_str(&review_markdown::footer(all));
    }
    out
}

/// What a plan does, in one line.
fn headline(fleets: &[(&Plan, &Report)]) -> String {
    let seen: Vec<_> = fleets.iter().filter(|(_, report)| !report.is_blind()).collect();
    if seen.is_empty() && !fleets.is_empty() {
        return "no cloud answered".into();
    }
    let changing = seen.iter().filter(|(plan, _)| plan.acts()).count();
    let mut parts = match changing {
        0 => vec!["no changes".to_owned()],
        1 => vec!["1 fleet changes".to_owned()],
        n => vec![format!("{n} fleets change")],
    };
    let sum = seen.iter().fold(Summary::default(), |s, (_, report)| s.and(Summary::of(report)));
    let Summary { create, destroy, .. } = sum;
    let machines = [('+', create), ('−', destroy)].into_iter().filter(|(_, count)| *count > 0);
    let machines: Vec<String> =
        machines.map(|(sign, count)| format!("{sign}{}", thousands(count.into()))).collect();
    if !machines.is_empty() {
        let word = if create + destroy == 1 { "machine" } else { "machines" };
        parts.push(format!("{} {word}", machines.join(" ")));
    }
    let (before, after) = plan_cost::before_and_after(seen.iter().map(|(_, report)| *report));
    parts.push(review_text::cost(before, after));
    parts.join(", ")
}

/// Whether nothing happens in a fleet, and nothing needs attention.
fn is_quiet(plan: &Plan, report: &Report) -> bool {
    plan.is_empty() && is_settled(report)
}

/// One row per fleet, from what stands to what will.
fn table(fleets: &[(&Plan, &Report)]) -> String {
    let mut out = String::new();
    out.push_str("| fleet | launch | destroy | keep | per hour | per month | |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|---|\n");
    // Where not all fit, those in which nothing happens are left out first.
    let rows: Vec<(bool, String)> = fleets
        .iter()
        .map(|(plan, report)| (is_quiet(plan, report), fleet_row(plan, report)))
        .collect();
    let whole = rows.iter().map(|(_, row)| row.len()).sum::<usize>() <= SUMMARY;
    let mut left_out = 0_u64;
    for (quiet, row) in &rows {
        if whole || (!quiet && out.len() + row.len() <= SUMMARY) {
            out.push_str(row);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let fleets = count(left_out, "more fleet");
        out.push_str(&format!("| _{fleets}_ | | | | | | left out for length |\n"));
    }
    if fleets.len() > 1 {
        let sum = fleets.iter().fold(Summary::default(), |s, (_, r)| s.and(Summary::of(r)));
        let cost = plan_cost::before_and_after(fleets.iter().map(|(_, report)| *report));
        let blind = fleets.iter().filter(|(_, report)| report.is_blind()).count();
        let mark = match blind {
            0 => String::new(),
            few => format!("without {}", count(few as u64, "fleet")),
        };
        if blind < fleets.len() {
            out.push_str(&row("**all**", sum, cost, &mark));
        }
    }
    out
}

fn fleet_row(plan: &Plan, report: &Report) -> String {
    let mark = match (plan.is_empty(), is_settled(report)) {
        (true, true) => "no changes",
        (false, true) => "",
        (_, false) => "⚠️ see below",
    };
    let name = format!("`{}`", markdown(plan.fleet.as_str()));
    if report.is_blind() {
        // Numbers of what nobody saw would be taken for true ones.
        return format!("| {name} | ? | ? | ? | ? | ? | ⛔ no cloud answered |\n");
    }
    row(&name, Summary::of(report), plan_cost::before_and_after([report]), mark)
}

fn row(name: &str, summary: Summary, (before, after): (Hourly, Hourly), mark: &str) -> String {
    let Summary { create, destroy, keep } = summary;
    format!(
        "| {name} | {create} | {destroy} | {keep} | {} | {} | {mark} |\n",
        review_text::per_hour(Some(before), after),
        review_text::money(Some(before), after),
    )
}

fn details(plan: &Plan, report: &Report, edit: Option<&FleetEdit>) -> String {
    let name = markdown(plan.fleet.as_str());
    let mut out = String::new();
    let attention = attention(report);
    if !attention.is_empty() {
        out.push_str(&format!("\n**`{name}` needs attention**\n\n{attention}"));
    }
    if report.is_blind() {
        return out;
    }
    out.push_str(&format!("\n<details><summary><code>{name}</code>: "));
    let pools = count(report.pools.len() as u64, "pool");
    out.push_str(&format!("{pools}, {}</summary>\n\n", count(plan.steps.len() as u64, "request")));
    if let Some(edit) = edit {
        out.push_str(&review_markdown::fields(edit));
    }
    for line in sentences::choices(plan) {
        out.push_str(&format!("{}\n\n", markdown(&line)));
    }
    if !report.pools.is_empty() {
        out.push_str(&format!(
            "| | type | where | market | each/h | {} |\n|--:|---|---|---|--:|--:|\n",
            report.unit
        ));
    }
    for line in &report.pools {
        for (sign, count) in [('−', line.destroy), ('+', line.create), ('=', line.keep)] {
            if count == 0 {
                continue;
            }
            let units = fleet_model::Units(line.weight.0.saturating_mul(count.into()));
            out.push_str(&format!(
                "| {sign}{count} | `{}` | {} | {} | {} | {units} |\n",
                markdown(line.pool.instance_type.as_str()).replace("\\_", "_"),
                markdown(&super::place(&line.pool.place)),
                line.pool.market,
                price(plan_text::each(line, if sign == '−' { '-' } else { sign })),
            ));
        }
    }
    out.push_str("\n| group | wanted | before | after |\n|---|--:|--:|--:|\n");
    for line in &report.groups {
        let unit = report.unit;
        out.push_str(&format!(
            "| {} ({}) | {} {unit} | {} | {} |\n",
            line.group,
            line.group.market(),
            line.wanted,
            line.before,
            line.after
        ));
    }
    out.push_str(&plan_cost::in_markdown(report));
    let Cost { hourly_after, hourly_at_present, hourly_on_demand, hourly_limit, when_done, .. } =
        report.cost;
    if plan_text::differ(hourly_after, hourly_at_present) {
        out.push_str(&format!(
            "\nMachines that stand at their launch prices; {hourly_at_present} at present ones.\n"
        ));
    }
    if let Some(done) = when_done {
        out.push_str(&format!(
            "\nThis plan is a part of the way: {}.\n",
            sentences::when_done(&done)
        ));
    }
    out.push_str(&format!("\nThe same machines on demand: {hourly_on_demand} per hour."));
    if let Some(limit) = hourly_limit {
        let left = limit.saturating_sub(hourly_after);
        out.push_str(&format!(" Budget: {limit} per hour, {left} remaining."));
    }
    out.push_str("\n\n</details>\n");
    out
}

fn attention(report: &Report) -> String {
    let mut out = String::new();
    let mut item = |what: &str, next: Option<&str>| {
        out.push_str(&format!("- {}", markdown(what)));
        if let Some(next) = next {
            out.push_str(&format!(". _{}_", markdown(next)));
        }
        out.push('\n');
    };
    for short in &report.unplaced {
        let said = sentences::shortfall(short);
        let mut because = sentences::because(&short.because);
        because.truncate(3);
        item(&format!("{} ({})", said.what, because.join("; ")), said.next.as_deref());
    }
    for held in &report.held {
        let said = sentences::hold(held);
        item(&said.what, said.next.as_deref());
    }
    for doubt in &report.in_doubt {
        let machines = count(doubt.slots.len() as u64, "machine");
        item(&format!("a request for {machines} from {} is in doubt", doubt.pool), None);
    }
    for said in sentences::gaps(&report.gaps) {
        item(&said.what, said.next.as_deref());
    }
    for notice in report.notices.iter().take(5) {
        let said = sentences::notice(notice);
        item(&said.what, said.next.as_deref());
    }
    out
}
