//! The money of a plan: what it costs before and after, what for, and what nobody can price.

use super::columns::{Columns, left, right};
use super::plan_text::{differ, percent_below};
use crate::sentences;
use crate::style::{BOLD, DIM, WARN};
use crate::text::{Hourly, count, markdown, monthly, wrap};
use fleet_model::{
    Change, Cloud, Cost, CostKind, CostLine, CostRange, MicroUsd, Report, Tier, sum_lines,
};
use std::collections::BTreeSet;

/// Under the word "cost".
const INDENT: &str = "          ";

/// Before, after, what for, how far it may vary, against on-demand, against the budget.
pub fn text(report: &Report, details: bool) -> String {
    let Cost {
        hourly_before,
        hourly_after,
        hourly_at_present,
        hourly_on_demand,
        hourly_limit,
        unpriced: _,
        committed,
        when_done,
        range,
    } = &report.cost;
    let all = Change { before: *hourly_before, after: *hourly_after };
    let (before, after) = before_and_after([report]);
    let is_whole = before.is_whole && after.is_whole;
    let change = |words: fn(Hourly) -> String, show: fn(MicroUsd) -> String| {
        let (was, is) = (words(before), words(after));
        match was == is {
            true => is,
            false if is_whole => format!("{was} → {is}{}", added(all, show)),
            false => format!("{was} → {is}"),
        }
    };
    let mut out = format!(
        "\n  {DIM}cost{DIM:#}    {BOLD}{}{BOLD:#} per hour, {} per month\n",
        change(Hourly::per_hour, |amount| amount.to_string()),
        change(Hourly::per_month, monthly),
    );
    let mut say = |line: String| out.push_str(&format!("{}\n", wrap(INDENT, &line)));
    parts(&report.cost_lines).into_iter().for_each(&mut say);
    if let Some(range) = range.as_ref().filter(|_| *hourly_after > MicroUsd(0)) {
        say(format!("as spot goes: {}", spread(range)));
    }
    if let Some(done) = when_done {
        say(sentences::when_done(done));
    }
    if differ(*hourly_after, *hourly_at_present) {
        say(format!(
            "machines that stand at their launch prices; {hourly_at_present} at present ones"
        ));
    }
    // A share of what nobody knows is none.
    if hourly_on_demand > hourly_after && after.is_whole {
        say(format!(
            "{} below the {hourly_on_demand} of the same machines on demand",
            percent_below(*hourly_after, *hourly_on_demand)
        ));
    }
    if *committed > 0 {
        let text = format!("{} paid for already", count(*committed, "machine"));
        say(format!("{text}, by placement.commitments"));
    }
    if let Some(limit) = hourly_limit {
        let left = if hourly_after > limit {
            format!("{WARN}{} over{WARN:#}", hourly_after.saturating_sub(*limit))
        } else {
            format!("{} remaining", limit.saturating_sub(*hourly_after))
        };
        out.push_str(&format!("  {DIM}budget{DIM:#}  {limit} per hour, {left}\n"));
    }
    for line in sentences::uncounted(&report.uncounted) {
        out.push_str(&format!("{}\n", wrap(INDENT, &format!("not counted: {line}"))));
    }
    if details && !report.cost_lines.is_empty() {
        out.push_str(&format!("\n{}", table(&report.cost_lines).render("  ")));
    }
    out
}

/// What fleets cost together before and after a plan, and whether that is all.
pub fn before_and_after<'a>(reports: impl IntoIterator<Item = &'a Report>) -> (Hourly, Hourly) {
    let nothing = Hourly::of(MicroUsd(0), &[]);
    reports.into_iter().fold((nothing, nothing), |(before, after), report| {
        let cost = &report.cost;
        (
            before.and(Hourly::of(cost.hourly_before, &report.uncounted_before)),
            after.and(Hourly::of(cost.hourly_after, &report.uncounted)),
        )
    })
}

/// What is added or saved, where there was something before and is something after.
fn added(change: Change, show: fn(MicroUsd) -> String) -> String {
    let Change { before, after } = change;
    if before == MicroUsd(0) || after == MicroUsd(0) {
        return String::new();
    }
    let difference = MicroUsd(before.0.abs_diff(after.0));
    let sign = if after > before { '+' } else { '−' };
    format!(" ({sign}{})", show(difference))
}

/// What of the cost is for what, where it is not all for machines; and by cloud and tier, where there are
/// several. Lines that people read at once.
fn parts(lines: &[CostLine]) -> Vec<String> {
    let about: BTreeSet<CostKind> =
        lines.iter().filter(|line| line.about).map(|line| line.kind).collect();
    let paid = |change: &Change| change.after > MicroUsd(0);
    let kinds = sum_lines(lines, |line| line.kind);
    let kinds: Vec<(CostKind, Change)> = kinds.into_iter().filter(|(_, sum)| paid(sum)).collect();
    let clouds = sum_lines(lines, CostLine::cloud);
    let clouds: Vec<(Cloud, Change)> = clouds.into_iter().filter(|(_, sum)| paid(sum)).collect();
    let tiers = sum_lines(lines, |line| line.tier);
    let tiers: Vec<(Tier, Change)> = tiers.into_iter().filter(|(_, sum)| paid(sum)).collect();
    let (mut out, mut parts) = (Vec::new(), Vec::new());
    if kinds.iter().any(|(kind, _)| *kind != CostKind::Machine) {
        let kind = |(kind, sum): &(CostKind, Change)| {
            let about = if about.contains(kind) { "about " } else { "" };
            format!("{kind} {about}{}", sum.after)
        };
        out.push(kinds.iter().map(kind).collect::<Vec<_>>().join(", "));
    }
    if clouds.len() > 1 {
        let one = |(cloud, sum): &(Cloud, Change)| format!("{cloud} {}", sum.after);
        parts.push(clouds.iter().map(one).collect::<Vec<_>>().join(", "));
    }
    if tiers.len() > 1 {
        let one = |(tier, sum): &(Tier, Change)| format!("{tier} {}", sum.after);
        parts.push(tiers.iter().map(one).collect::<Vec<_>>().join(", "));
    }
    out.extend((!parts.is_empty()).then(|| parts.join("; ")));
    out
}

/// How far the cost may vary.
fn spread(range: &CostRange) -> String {
    let CostRange { low, expected, high, recorded: _, unrecorded: _ } = range;
    let low = match low == expected {
        true => String::new(),
        false => format!("{low} low, "),
    };
    match high {
        Some(high) => format!("{low}{expected} expected, {high} high"),
        None => format!(
            "{low}{expected} expected; no high, because some spot machines have no \
             on-demand price"
        ),
    }
}

/// Every line, with what it is for.
fn table(lines: &[CostLine]) -> Columns {
    let mut columns = Columns::without(&["month", "difference"]);
    let heads = ["before/h", "after/h", "difference", "month"].map(right);
    columns.styled(DIM, [left("tier"), left("pool"), left("for")].into_iter().chain(heads));
    for line in lines.iter().filter(|line| !line.change.is_nothing()) {
        let CostLine { tier, pool, kind, change, about } = line;
        let place = super::place(&pool.place);
        columns.row([
            left(tier.as_str()),
            left(format!("{} {place} {}", pool.instance_type, pool.market)),
            left(format!("{kind}{}", if *about { ", about" } else { "" })),
            right(change.before.to_string()),
            right(change.after.to_string()),
            right(difference(*change)),
            right(monthly(change.after)),
        ]);
    }
    columns
}

/// The difference with its sign; nothing if there is none.
fn difference(change: Change) -> String {
    match change.difference() {
        0 => String::new(),
        more => {
            let sign = if more > 0 { '+' } else { '−' };
            format!("{sign}{}", MicroUsd(change.before.0.abs_diff(change.after.0)))
        }
    }
}

/// Amounts with as many decimals as one of them needs: `$0.0100` beside `$0.0150`.
fn alike<const N: usize>(amounts: [MicroUsd; N]) -> [String; N] {
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let shown = amounts.map(|amount| amount.to_string());
    let most = shown.iter().map(decimals).max().unwrap_or(0);
    let small = MicroUsd::dollars(10);
    let mut nth = 0;
    shown.map(|text| {
        let amount = amounts[nth];
        nth += 1;
        let missing = most - decimals(&text);
        let extends = amount > MicroUsd(0) && amount < small;
        if extends { text + &"0".repeat(missing) } else { text }
    })
}

/// The cost of a fleet as a table for a comment: by tier, by cloud and by what it is for.
pub fn in_markdown(report: &Report) -> String {
    let mut out = lines_in_markdown(&report.cost_lines);
    let priced = !out.is_empty();
    if let Some(range) = report.cost.range.filter(|_| priced) {
        out.push_str(&format!("\nAs spot goes, per hour: {}.\n", markdown(&spread(&range))));
    }
    for line in sentences::uncounted(&report.uncounted) {
        out.push_str(&format!("\nNot counted: {}.\n", markdown(&line)));
    }
    out
}

fn lines_in_markdown(lines: &[CostLine]) -> String {
    if lines.iter().all(|line| line.change.is_nothing()) {
        return String::new();
    }
    let mut out = String::from(
        "\n| cost | before/h | after/h | difference/h | after, month |\n|---|--:|--:|--:|--:|\n",
    );
    let mut row = |name: String, change: Change| {
        if !change.is_nothing() {
            let [before, after] = alike([change.before, change.after]);
            out.push_str(&format!(
                "| {name} | {before} | {after} | {} | {} |\n",
                difference(change),
                monthly(change.after),
            ));
        }
    };
    let tiers = sum_lines(lines, |line| (line.tier, line.cloud()));
    for ((tier, cloud), change) in tiers {
        row(format!("{tier}, {cloud}"), change);
    }
    let kinds = sum_lines(lines, |line| line.kind);
    if kinds.iter().any(|(kind, _)| *kind != CostKind::Machine) {
        for (kind, change) in kinds {
            row(format!("_of that, {kind}_"), change);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;
    use fleet_model::{NoPrice, Uncounted};

    #[test]
    fn amounts_of_a_row_have_the_same_precision() {
        let check = |before: u64, after: u64, expect: [&str; 2]| {
            assert_eq!(alike([MicroUsd(before), MicroUsd(after)]), expect);
        };
        check(10_000, 15_000, ["$0.0100", "$0.0150"]);
        check(10_000, 20_000, ["$0.01", "$0.02"]);
        check(0, 15_000, ["$0.00", "$0.0150"]);
        check(12_000_000, 15_000, ["$12.00", "$0.0150"]);
    }

    /// Two machines stand, and nobody knows what they cost.
    fn unpriced() -> Report {
        let (_, mut report) = samples::quiet();
        (report.cost.hourly_before, report.cost.hourly_after) = (MicroUsd(0), MicroUsd(0));
        report.cost.hourly_at_present = MicroUsd(0);
        (report.cost.unpriced, report.cost.hourly_limit) = (2, None);
        let (kind, because, cloud) = (CostKind::Machine, NoPrice::Machine, Cloud::Azure);
        report.uncounted = vec![Uncounted { kind, because, cloud, machines: 2 }];
        report.uncounted_before = report.uncounted.clone();
        report
    }

    #[test]
    fn what_has_no_price_is_no_bargain() {
        let said = text(&unpriced(), false);
        assert!(said.contains(&format!("{BOLD}?{BOLD:#} per hour, ? per month")), "{said}");
        assert!(!said.contains("below"), "{said}");
        let markdown = in_markdown(&unpriced());
        assert!(markdown.contains("Not counted: 2 machines on azure"), "{markdown}");
        let mut partly = unpriced();
        partly.cost.hourly_after = MicroUsd(380_000);
        let said = text(&partly, false);
        assert!(said.contains(&format!("? → at least $0.38{BOLD:#} per hour")), "{said}");
    }
}
