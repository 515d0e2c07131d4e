//! What was bought ahead, beside what was spent.

use super::columns::{Columns, left, right};
use super::cost::{dollars, hours};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, markdown as md};
use fleet_money::Spend;
use fleet_money::report::{Bought, Line, Saved, Tally, Use};
use std::fmt::Write as _;

const HEADS: [&str; 7] =
    ["held hours", "used", "unused", "on demand", "paid", "of that unused", "saved"];

fn figures(used: &Use) -> [String; 7] {
    let unknown = || "?".to_owned();
    let known = used.unpriced_ms == 0;
    let paid = |spend: Spend| if known { dollars(spend) } else { unknown() };
    let saved = match used.saved() {
        None => unknown(),
        Some(Saved::Less(part)) => dollars(part),
        Some(Saved::More(part)) => format!("-{}", dollars(part)),
    };
    let unused = used.held_ms.saturating_sub(used.used_ms);
    [
        hours(used.held_ms),
        hours(used.used_ms),
        hours(unused),
        dollars(used.worth),
        paid(used.paid),
        paid(used.idle),
        saved,
    ]
}

fn names(bought: &Bought) -> [String; 2] {
    let Bought { fleet, cloud, region, instance_type } = bought;
    [clean_line(fleet), clean_line(&format!("{cloud} {region} {instance_type}"))]
}

fn total(tally: &Tally) -> Use {
    let mut total = Use::default();
    tally.commitments.values().for_each(|used| total.add(used));
    total
}

/// A table, or nothing where nothing was bought ahead.
pub(crate) fn text(tally: &Tally) -> String {
    if tally.commitments.is_empty() {
        return String::new();
    }
    let mut table = Columns::without(&["of that unused"]);
    table.styled(DIM, ["fleet", "bought ahead"].iter().map(left).chain(HEADS.iter().map(right)));
    for (bought, used) in &tally.commitments {
        let cells = figures(used).into_iter().map(right);
        table.row(names(bought).into_iter().map(left).chain(cells));
    }
    if tally.commitments.len() > 1 {
        let names = ["total".to_owned(), String::new()].into_iter().map(left);
        table.styled(BOLD, names.chain(figures(&total(tally)).into_iter().map(right)));
    }
    table.render("  ")
}

/// The same for comments on pull requests.
pub(super) fn markdown(tally: &Tally) -> String {
    if tally.commitments.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n| fleet | bought ahead |");
    HEADS.iter().for_each(|head| {
        let _ = write!(out, " {head} |");
    });
    out.push_str("\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (bought, used) in &tally.commitments {
        let cells = names(bought).into_iter().chain(figures(used));
        let cells: Vec<String> = cells.map(|cell| md(&cell).to_string()).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// What a reader has to know beside it.
pub(super) fn notes(tally: &Tally, total: &Line) -> Vec<String> {
    let mut notes = Vec::new();
    if tally.commitments.is_empty() {
        return notes;
    }
    if total.covered_ms > 0 {
        notes.push(format!(
            "commitments paid for {} machine-hours, which cost {} at the prices of their machines; the cost \
             above is what was paid beside them",
            hours(total.covered_ms),
            dollars(total.covered)
        ));
    }
    if self::total(tally).unpriced_ms > 0 {
        notes.push(
            "the spec does not say what every commitment costs (usdPerHour), so neither does the report"
                .into(),
        );
    }
    notes
}

/// What is wrong with a FOCUS file if nobody said what commitments cost.
pub(crate) fn no_price_in_focus(ms: u128) -> String {
    format!(
        "{WARN}note{WARN:#} {} machine-hours are bought ahead and the spec does not say at what price \
         (usdPerHour): their EffectiveCost is 0 and too low, and what lay unused has no row",
        hours(ms)
    )
}
