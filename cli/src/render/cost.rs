//! What was spent, for people and for programs.

use super::columns::{Cell, Columns, left, right};
use super::cost_commitments;
use super::cost_json::{figures, moment, per_unit};
use crate::args::ReportArgs;
use crate::sentences;
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, count, markdown as md, thousands, when};
use fleet_model::{CostKind, MicroUsd, NoPrice};
use fleet_money::Spend;
use fleet_money::report::{Beside, By, Line, Part, Saved, Tally, Unit};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Everything that a report shows.
pub(crate) struct Page<'a> {
    /// What was asked.
    pub args: &'a ReportArgs,
    /// The answer.
    pub tally: &'a Tally,
    /// From here on, in milliseconds since 1970.
    pub from: i64,
    /// Until here.
    pub to: i64,
    /// Machines that a cloud made and nobody asked for.
    pub surplus: u64,
}

impl Page<'_> {
    fn heads(&self) -> Vec<String> {
        self.args.by.iter().map(|by| By::title(by).to_owned()).collect()
    }

    pub(super) fn period(&self) -> String {
        let zone = match self.args.period.time_zone.name.as_str() {
            "UTC" => String::new(),
            zone => format!(", days of {zone}"),
        };
        match (moment(self.from), moment(self.to)) {
            (Some(from), Some(to)) => format!("{} to {}{zone}", when(from), when(to)),
            (None, Some(to)) => format!("until {}{zone}", when(to)),
            (_, None) => format!("everything{zone}"),
        }
    }
}

/// Hours as people read them.
pub(super) fn hours(ms: u128) -> String {
    let tenths = (ms + 180_000) / 360_000;
    match u64::try_from(tenths / 10) {
        Ok(whole) if whole >= 1000 => thousands(whole),
        _ => format!("{}.{}", tenths / 10, tenths % 10),
    }
}

/// An amount of dollars and cents. One that rounds to nothing and is something says so.
pub(super) fn dollars(spend: Spend) -> String {
    let micros = spend.micros();
    if micros.0 == 0 || micros.0 >= 10_000 { cents(micros) } else { "<$0.01".into() }
}

fn cents(micros: MicroUsd) -> String {
    let cents = (micros.0 + 5_000) / 10_000;
    format!("${}.{:02}", thousands(cents / 100), cents % 100)
}

/// What a group cost, as far as prices are on record.
fn cost(line: &Line) -> String {
    match (line.unpriced_ms, line.spent == Spend::default()) {
        (0, _) => dollars(line.spent),
        (_, true) => "?".into(),
        (_, false) => format!("at least {}", dollars(line.spent)),
    }
}

fn saved(line: &Line) -> (String, String) {
    let Some(saved) = line.saved() else { return ("—".into(), String::new()) };
    let percent = |part: Spend| {
        let tenths = part.raw() * 1000 / line.on_demand.raw().max(1);
        format!("{} %", (tenths + 5) / 10)
    };
    match saved {
        Saved::Less(part) if part == Spend::default() => (String::new(), String::new()),
        Saved::Less(part) => (dollars(part), percent(part)),
        Saved::More(part) => (format!("-{}", dollars(part)), format!("-{}", percent(part))),
    }
}

/// Which of the figures are those of kinds.
const KINDS: std::ops::Range<usize> = 1..5;

fn cells(line: &Line) -> Vec<Cell> {
    let unit = per_unit(line);
    let unit_hours = unit.map_or_else(String::new, |(_, ms, _)| hours(ms));
    let per = unit.and_then(|(_, _, per)| per);
    let (saved, percent) = saved(line);
    let some = |number: u64| if number == 0 { String::new() } else { thousands(number) };
    let on_demand = match line.on_demand == Spend::default() {
        true => "—".into(),
        false => dollars(line.on_demand),
    };
    let lost = if line.lost_ms == 0 { String::new() } else { dollars(line.lost) };
    let part = |spend: Spend| match spend == Spend::default() {
        true => String::new(),
        false => dollars(spend),
    };
    // Of a fleet that has nothing beside its machines the column would repeat the cost.
    let machines = match line.beside.total() == Spend::default() {
        true => String::new(),
        false => part(line.on_machines()),
    };
    let machine_hours = if line.ms == 0 { String::new() } else { hours(line.ms) };
    vec![
        right(cost(line)),
        right(machines),
        right(part(line.beside.disk)),
        right(part(line.beside.address)),
        right(part(line.beside.egress)),
        right(machine_hours),
        right(unit_hours),
        right(per.map_or_else(String::new, |per| per.to_string())),
        right(on_demand),
        right(saved),
        right(percent),
        right(some(line.interruptions)),
        right(lost),
    ]
}

/// The report as a table.
pub(crate) fn text(page: &Page<'_>) -> String {
    let (lines, total) = page.tally.sorted();
    let mut out = format!("{BOLD}cost{BOLD:#} {}\n", page.period());
    if lines.is_empty() && page.tally.commitments.is_empty() {
        return out + "nothing was spent\n";
    }
    let mut table = Columns::without(&[
        "lost",
        "interrupted",
        "unit-hours",
        "machine-hours",
        "on demand",
        "traffic",
        "addresses",
        "disks",
        "machines",
    ]);
    let unit = match &total.unit {
        Unit::One(unit) => format!("$/{}-h", unit.trim_end_matches('s')),
        Unit::Unknown | Unit::Mixed => "$/unit-h".into(),
    };
    let heads = page.heads();
    let figures = [
        "cost",
        "machines",
        "disks",
        "addresses",
        "traffic",
        "machine-hours",
        "unit-hours",
        &unit,
        "on demand",
        "saved",
        "",
        "interrupted",
        "lost",
    ];
    // A kind that cost nothing anywhere has no column.
    let kinds = cells(&total);
    let shown = &|at: usize| !(KINDS.contains(&at) && kinds[at].is_empty());
    let some = |all: Vec<Cell>| {
        all.into_iter().enumerate().filter(move |(at, _)| shown(*at)).map(|(_, one)| one)
    };
    let figures = figures.iter().map(right).collect();
    table.styled(DIM, heads.iter().map(left).chain(some(figures)));
    for (key, line) in &lines {
        let names = key.iter().map(|part| left(clean_line(&part.to_string())));
        table.row(names.chain(some(cells(line))));
    }
    if lines.len() > 1 {
        let names =
            std::iter::once("total".to_owned()).chain(heads.iter().skip(1).map(|_| String::new()));
        table.styled(BOLD, names.map(left).chain(some(cells(&total))));
    }
    out.push_str(&table.render("  "));
    if let Some(small) = super::cost_chart::small(page) {
        let _ = writeln!(out, "  {DIM}{small}{DIM:#}");
    }
    out.push_str(&cost_commitments::text(page.tally));
    for note in notes(page, &total) {
        let _ = writeln!(out, "{WARN}note{WARN:#} {note}");
    }
    out
}

/// What a reader has to know beside the figures.
fn notes(page: &Page<'_>, total: &Line) -> Vec<String> {
    let mut notes = Vec::new();
    let Page { tally, surplus, .. } = page;
    if !tally.unpriced.is_empty() {
        let machines = count(tally.unpriced.len() as u64, "machine");
        let ms: u128 = tally.unpriced.values().sum();
        let names: Vec<String> = tally
            .unpriced
            .keys()
            .take(3)
            .map(|one| format!("{} of {}", one.machine, one.fleet))
            .collect();
        let more = if tally.unpriced.len() > names.len() { ", …" } else { "" };
        notes.push(clean_line(&format!(
            "no price is on record for {machines} ({} hours): {}{more}; they are in no cost",
            hours(ms),
            names.join(", ")
        )));
    }
    notes.extend(uncounted(tally));
    if total.about > Spend::default() {
        notes.push(format!(
            "{} of it is about so: the price of a disk or an address in another region of the cloud was taken",
            dollars(total.about)
        ));
    }
    if total.beside.egress > Spend::default() {
        notes.push(format!(
            "{} of it is traffic as the spec expects it (placement.egressGiBPerDay); what was sent is not known",
            dollars(total.beside.egress)
        ));
    }
    if tally.estimated > 0 || tally.estimated_disks > 0 {
        let named = [(tally.estimated, "machine"), (tally.estimated_disks, "disk")];
        let named: Vec<String> = named
            .into_iter()
            .filter(|(some, _)| *some > 0)
            .map(|(some, of)| count(some, of))
            .collect();
        notes.push(format!(
            "{} of it is an estimate: clouds did not tell when {} ended, so they count until that was noticed",
            dollars(total.estimated),
            named.join(" and ")
        ));
    }
    if total.waived > Spend::default() {
        notes.push(format!(
            "{} were free: machines that clouds took back early",
            dollars(total.waived)
        ));
    }
    notes.extend(cost_commitments::notes(tally, total));
    if *surplus > 0 {
        notes.push(format!(
            "{} that nobody asked for are on the bill and not here; `fleet sweep` lists them",
            count(*surplus, "machine")
        ));
    }
    if tally.lines().iter().any(|line| line.unit == Unit::Mixed) {
        notes.push("fleets count capacity in different units; --by fleet shows each".into());
    }
    notes
}

/// What no amount counts: one sentence for each reason.
fn uncounted(tally: &Tally) -> Vec<String> {
    let mut reasons: BTreeMap<(CostKind, NoPrice), (u128, Vec<&str>)> = BTreeMap::new();
    for ((kind, because, cloud), ms) in &tally.uncounted {
        let (all, clouds) = reasons.entry((*kind, *because)).or_default();
        *all += ms;
        clouds.push(cloud.as_str());
    }
    let one = |((kind, because), (ms, clouds)): ((CostKind, NoPrice), (u128, Vec<&str>))| {
        let (clouds, why) = (clouds.join(", "), sentences::why_uncounted(because));
        format!("not counted: {kind} on {clouds} in {} machine-hours: {why}", hours(ms))
    };
    reasons.into_iter().map(one).collect()
}

/// The same for files, where notes stand beside them.
pub(crate) fn asides(page: &Page<'_>) -> Vec<String> {
    let (_, total) = page.tally.sorted();
    notes(page, &total).into_iter().map(|note| format!("{WARN}note{WARN:#} {note}")).collect()
}

/// The report for comments on pull requests.
pub(crate) fn markdown(page: &Page<'_>) -> String {
    let (lines, total) = page.tally.sorted();
    let heads = page.heads();
    let mut out = format!("**Cost** {}\n\n|", md(&page.period()));
    heads.iter().for_each(|head| {
        let _ = write!(out, " {} |", md(head));
    });
    let beside = total.beside.total() > Spend::default();
    let kinds = if beside { " machines | disks | addresses | traffic |" } else { "" };
    let _ = write!(out, " cost |{kinds} machine-hours | on demand | saved |\n|");
    heads.iter().for_each(|_| out.push_str("---|"));
    out.push_str(if beside { "---:|---:|---:|---:|" } else { "" });
    out.push_str("---:|---:|---:|---:|\n");
    let kinds = |line: &Line| {
        let Beside { disk, address, egress } = line.beside;
        let all = [line.on_machines(), disk, address, egress];
        let cell = |spend: Spend| format!(" {} |", dollars(spend));
        if beside { all.into_iter().map(cell).collect::<String>() } else { String::new() }
    };
    let mut row = |names: Vec<String>, line: &Line| {
        out.push('|');
        names.iter().for_each(|name| {
            let _ = write!(out, " {} |", md(name));
        });
        let (saved, percent) = saved(line);
        let _ = writeln!(
            out,
            " {} |{} {} | {} | {saved} {percent} |",
            cost(line),
            kinds(line),
            hours(line.ms),
            dollars(line.on_demand)
        );
    };
    for (key, line) in &lines {
        row(key.iter().map(ToString::to_string).collect(), line);
    }
    let names =
        std::iter::once("total".to_owned()).chain(heads.iter().skip(1).map(|_| String::new()));
    row(names.collect(), &total);
    out.push_str(&cost_commitments::markdown(page.tally));
    notes(page, &total).iter().for_each(|note| {
        let _ = writeln!(out, "\n{}", md(note));
    });
    out
}

/// The report as a table for spreadsheets: plain numbers, unknown is empty.
pub(crate) fn csv(page: &Page<'_>) -> String {
    let (lines, _) = page.tally.sorted();
    let mut out = String::new();
    let figures_heads = [
        "costUsd",
        "machineHours",
        "unpricedHours",
        "unit",
        "unitHours",
        "unitHourUsd",
        "onDemandUsd",
        "savedUsd",
        "interruptions",
        "lostHours",
        "lostUsd",
        "freeUsd",
        "committedHours",
        "committedUsd",
        "estimatedUsd",
        "machinesUsd",
        "disksUsd",
        "addressesUsd",
        "trafficUsd",
        "aboutUsd",
    ];
    let heads = page.heads();
    let head = heads.iter().map(String::as_str).chain(figures_heads);
    csv_line(&mut out, head.map(str::to_owned));
    let number = |number: f64| format!("{number:.6}");
    let maybe = |some: Option<f64>| some.map(number).unwrap_or_default();
    for (key, line) in &lines {
        let f = figures(line);
        let names = key.iter().map(|part| match part {
            Part::Without => String::new(),
            part => spreadsheet(part.to_string()),
        });
        let rest = [
            // Of a group without any price, nothing is known.
            maybe(Some(f.cost_usd).filter(|cost| *cost > 0.0 || line.unpriced_ms == 0)),
            number(f.machine_hours),
            number(f.unpriced_hours),
            f.unit.unwrap_or_default(),
            maybe(f.unit_hours),
            maybe(f.unit_hour_usd),
            maybe(f.on_demand_usd),
            maybe(f.saved_usd),
            f.interruptions.to_string(),
            number(f.lost_hours),
            number(f.lost_usd),
            number(f.free_usd),
            number(f.committed_hours),
            number(f.committed_usd),
            number(f.estimated_usd),
            number(f.machines_usd),
            number(f.disks_usd),
            number(f.addresses_usd),
            number(f.traffic_usd),
            number(f.about_usd),
        ];
        csv_line(&mut out, names.chain(rest));
    }
    out
}

fn csv_line(out: &mut String, cells: impl Iterator<Item = String>) {
    for (nth, cell) in cells.enumerate() {
        if nth > 0 {
            out.push(',');
        }
        fleet_money::csv_cell(out, &cell);
    }
    out.push('\n');
}

/// A label that a spreadsheet would take for a formula is text.
fn spreadsheet(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t']) { format!("'{text}") } else { text }
}
