//! A comparison with another commit, and the rules that were held against it, as parts of a comment.

use super::plan_text::is_settled;
use super::review_text::{
    FIELDS, capacity, difference, elsewhere, field, money, news, numbers, per_hour, remarks,
};
use crate::output::common::Summary;
use crate::review::{Comparison, Edit, FleetEdit, Review, Side, Standing, Sum};
use crate::text::{Hourly, count, markdown};
use fleet_model::{Plan, Report};

/// Free text as code. A code span of Markdown takes text as it is, entities and all; this one does not.
fn code(text: &str) -> String {
    format!("<code>{}</code>", markdown(text))
}

/// Rules that do not hold come first; those that do are one line.
pub(super) fn rules(review: &Review) -> String {
    let (kept, broken): (Vec<_>, Vec<_>) =
        review.verdicts.iter().partition(|verdict| verdict.is == Standing::Kept);
    let mut out = String::new();
    if !broken.is_empty() {
        let rules = count(broken.len() as u64, "rule");
        let are = if broken.len() == 1 { "is" } else { "are" };
        out.push_str(&format!("> [!CAUTION]\n> **{rules} {are} broken**\n>\n"));
        for verdict in broken {
            let unknown = if verdict.is == Standing::Unknown { "cannot be judged: " } else { "" };
            let (rule, why) = (code(&verdict.rule), markdown(&verdict.why));
            out.push_str(&format!("> - {rule}: {unknown}{why}"));
            if let Some(next) = &verdict.next {
                out.push_str(&format!(".<br>_To get past it: {}._", markdown(next)));
            }
            out.push('\n');
        }
        out.push('\n');
    }
    if !kept.is_empty() {
        let names: Vec<String> = kept.iter().map(|verdict| code(&verdict.rule)).collect();
        out.push_str(&format!("✅ kept: {}\n\n", names.join(", ")));
    }
    out
}

/// One row per fleet that changes, from what the base asks for to what is asked for now.
pub(super) fn table(all: &Comparison, plans: &[(&Plan, &Report)], most: usize) -> String {
    let mut out =
        String::from("| | fleet | capacity | machines | per month | difference | on apply |\n");
    out.push_str("|---|---|--:|--:|--:|--:|---|\n");
    let mut left_out = 0_u64;
    for one in &all.fleets {
        let planned = plans.iter().find(|(plan, _)| plan.fleet == one.fleet);
        let apply = planned.map_or_else(String::new, |(plan, report)| on_apply(plan, report));
        if one.edit == Edit::Same && apply.is_empty() {
            continue;
        }
        let row = row(one, &apply);
        if out.len() + row.len() <= most {
            out.push_str(&row);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let fleets = count(left_out, "more fleet");
        out.push_str(&format!("| | _{fleets}_ | | | | | left out for length |\n"));
    }
    let (before, after) = (all.before(), all.after());
    if all.fleets.len() > 1 {
        out.push_str(&format!(
            "| | **all {} fleets** | | {} | {} | **{}** | |\n",
            all.fleets.len(),
            numbers(before.as_ref().map(|sum| sum.machines), after.machines),
            both(before.as_ref().map(Sum::cost), after.cost()),
            difference(before.as_ref().map(Sum::cost), after.cost()),
        ));
    }
    let news = news(all);
    if !news.is_empty() {
        let news: Vec<String> = news.iter().map(|phrase| markdown(phrase)).collect();
        out.push_str(&format!("\n🆕 New here: {}\n", news.join("; ")));
    }
    let remarks = remarks(all);
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        out.push_str(&format!("- ⚠️ {}\n", markdown(&remark)));
    }
    out
}

/// Money per month, and small below it per hour.
fn both(before: Option<Hourly>, after: Hourly) -> String {
    let (month, hour) = (money(before, after), per_hour(before, after));
    format!("{month}<br><sub>{hour} per hour</sub>")
}

fn row(one: &FleetEdit, apply: &str) -> String {
    let mark = match one.edit {
        Edit::Added => "new",
        Edit::Changed => "changed",
        Edit::Removed => "removed",
        Edit::Unknown => "unknown before",
        Edit::Same => "as before",
    };
    let before = one.before.as_ref();
    let cost = before.map(Side::cost);
    format!(
        "| {mark} | `{}` | {} | {} | {} | {} | {apply} |\n",
        markdown(one.fleet.as_str()),
        capacity(one),
        numbers(before.map(|side| side.machines), one.after.machines),
        both(cost, one.after.cost()),
        difference(cost, one.after.cost()),
    )
}

/// What an apply would do to a fleet at once; empty: nothing.
fn on_apply(plan: &Plan, report: &Report) -> String {
    if report.is_blind() {
        return "⛔ no cloud answered".into();
    }
    let Summary { create, destroy, .. } = Summary::of(report);
    let mut parts = Vec::new();
    if create > 0 {
        parts.push(format!("launch {create}"));
    }
    if destroy > 0 {
        parts.push(format!("destroy {destroy}"));
    }
    if parts.is_empty() && plan.acts() {
        parts.push("other changes".into());
    }
    if !is_settled(report) {
        parts.push("⚠️ see below".into());
    }
    parts.join(", ")
}

/// What was edited in a spec.
pub(super) fn fields(one: &FleetEdit) -> String {
    let mut out = String::new();
    for (name, from, to) in one.fields.iter().take(FIELDS).map(field) {
        out.push_str(&format!("- {}: {} → {}\n", code(&name), code(&from), code(&to)));
    }
    if let Some(more) = one.fields.len().checked_sub(FIELDS).filter(|more| *more > 0) {
        out.push_str(&format!("- {more} more\n"));
    }
    out.extend(elsewhere(one).map(|said| format!("- {said}\n")));
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// What the numbers are.
pub(super) fn footer(all: &Comparison) -> String {
    format!(
        "\n<sub>Both sides are bought anew at the prices of now: the specs at {} ({}), and those of this \
         change. <i>On apply</i> is what the next apply does to what stands.</sub>\n",
        code(&all.reference),
        code(&all.commit),
    )
}
