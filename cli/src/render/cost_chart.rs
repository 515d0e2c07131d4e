//! What was spent, as pictures: lines over days, or bars.

use super::cost::Page;
use crate::output::words::usd;
use crate::style::glyphs;
use crate::text::clean_line;
use fleet_money::chart::{Bars, Group, Line as Drawn, Lines, bars, lines, sparkline};
use fleet_money::report::{By, Line, Part};
use std::collections::BTreeMap;

/// Bars that a page has room for; the dearest come first.
const MOST_BARS: usize = 24;

/// The report as SVG: over time if it is grouped by days, side by side otherwise.
pub(crate) fn svg(page: &Page<'_>) -> String {
    match page.args.by.iter().position(|by| *by == By::Day) {
        Some(day) => lines(&over_days(page, day)),
        None => bars(&side_by_side(page)),
    }
}

/// A small one for the terminal, if the report is grouped by days.
pub(crate) fn small(page: &Page<'_>) -> Option<String> {
    let day = page.args.by.iter().position(|by| *by == By::Day)?;
    let chart = over_days(page, day);
    if chart.moments.len() < 2 {
        return None;
    }
    let whole: Vec<Option<f64>> = (0..chart.moments.len())
        .map(|at| Some(chart.lines.iter().filter_map(|line| line.values[at]).sum()))
        .collect();
    Some(format!("by day {}", sparkline(&whole, glyphs())))
}

fn over_days(page: &Page<'_>, day: usize) -> Lines {
    let (rows, _) = page.tally.sorted();
    let mut days: Vec<String> = rows.iter().map(|(key, _)| key[day].to_string()).collect();
    days.sort();
    days.dedup();
    let mut drawn: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for (key, line) in &rows {
        let others: Vec<String> = key
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != day)
            .map(|(_, part)| named(part))
            .collect();
        let name = if others.is_empty() { "cost".into() } else { others.join(" ") };
        let at = days.binary_search(&key[day].to_string()).unwrap_or_default();
        // A day without a row cost nothing.
        let values = drawn.entry(name).or_insert_with(|| vec![Some(0.0); days.len()]);
        values[at] = Some(usd(line.spent.micros()));
    }
    let one = |(name, values)| Drawn { name, values, steps: false };
    Lines {
        title: title(page),
        notes: notes(),
        axis: "dollars a day".into(),
        unit: ("$", ""),
        moments: days,
        lines: drawn.into_iter().map(one).collect(),
        limit: None,
    }
}

fn side_by_side(page: &Page<'_>) -> Bars {
    let (mut rows, _) = page.tally.sorted();
    rows.sort_by_key(|(_, line)| std::cmp::Reverse(line.spent));
    let mut notes = notes();
    if rows.len() > MOST_BARS {
        notes.push(format!("The dearest {MOST_BARS} of {}.", rows.len()));
    }
    let group = |key: &[Part], line: &Line| {
        let names: Vec<String> = key.iter().map(named).collect();
        // Disks, addresses and traffic cost the same either way.
        let on_demand = line.on_demand + line.beside.total();
        let on_demand = (line.on_demand.raw() > 0).then(|| usd(on_demand.micros()));
        Group {
            label: names.join(" "),
            values: vec![Some(usd(line.spent.micros())), on_demand],
            said: None,
        }
    };
    Bars {
        title: title(page),
        notes,
        axis: "dollars".into(),
        unit: ("$", ""),
        series: vec!["spent".into(), "the same on demand".into()],
        groups: rows.iter().take(MOST_BARS).map(|(key, line)| group(key, line)).collect(),
        stacked: false,
    }
}

fn title(page: &Page<'_>) -> String {
    format!("cost {}", page.period())
}

fn notes() -> Vec<String> {
    vec!["From the journals: machines with disks, addresses and expected traffic.".into()]
}

fn named(part: &Part) -> String {
    clean_line(&part.to_string())
}
