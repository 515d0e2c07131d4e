//! Accelerators side by side, for people.

use super::columns::{Columns, left, right};
use crate::style::{BOLD, DIM, glyphs};
use crate::text::{clean_line, count, markdown as md, screen_width, span, when, wrap};
use fleet_model::{Catalog, Cloud, Market, MicroUsd};
use fleet_money::benchmark::{BenchmarkResult, Metric};
use fleet_money::chart::{Bars, Group, bar};
use fleet_money::compare::{Absent, Basis, Found, Measure, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What was compared.
pub(crate) struct Compared<'a> {
    pub catalog: &'a Catalog,
    pub found: &'a Found,
    pub ways: &'a [Way],
    pub measure: &'a Measure,
    /// What `--perf` says, in words.
    pub perf: &'a str,
    /// What is compared, in a line.
    pub title: &'a str,
    /// What the figures take for granted.
    pub assumptions: &'a [String],
}

/// Bars in the terminal: more are no picture.
const BARS: usize = 12;
/// Bars in a chart.
const GROUPS: usize = 24;
/// When a job ends that is interrupted before it gets anywhere.
const NEVER: &str = "never";
/// Characters of the longest bar.
const WIDEST: usize = 32;

/// For people.
pub(crate) fn text(compared: &Compared<'_>) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}\n\n", clean_line(compared.title));
    // As wide a screen as most: names are shortened before figures are dropped.
    let mut table = match screen_width() {
        Some(narrow) if narrow < 96 => {
            Columns::without(&["save", "$/h", "ends in", "where", "$/GPU-h"])
        }
        Some(_) | None => Columns::without(&["save"]),
    };
    let heads = heads(compared);
    let aligned = |(at, cell): (usize, &String)| if at < 4 { left(cell) } else { right(cell) };
    table.styled(DIM, heads.iter().enumerate().map(aligned));
    for way in compared.ways {
        table.row(cells(way).iter().enumerate().map(aligned));
    }
    out.push_str(&table.render("  "));
    out.push_str(&small_chart(compared));
    out.push('\n');
    for note in notes(compared) {
        out.push_str(&format!("{}\n", wrap("  - ", &note)));
    }
    out.trim_end().to_owned()
}

/// For comments on pull requests.
pub(crate) fn markdown(compared: &Compared<'_>) -> String {
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| md(cell)).collect::<Vec<_>>().join(" | "))
    };
    let heads = heads(compared);
    let rule = format!("|---|---|---|---|{}\n", "--:|".repeat(heads.len() - 4));
    let mut out = format!("### {}\n\n{}{rule}", md(compared.title), line(&heads));
    compared.ways.iter().for_each(|way| out.push_str(&line(&cells(way))));
    out.push('\n');
    notes(compared).iter().for_each(|note| out.push_str(&format!("- {}\n", md(note))));
    out.trim_end().to_owned()
}

fn heads(compared: &Compared<'_>) -> Vec<String> {
    let per = format!("$/{}", compared.measure.scale().name);
    ["gpu", "type", "where", "market", "$/h", "$/GPU-h", &per, "job", "ends in", "save"]
        .map(str::to_owned)
        .into()
}

/// Money of a comparison: cents are enough, and below a dollar four digits.
fn dollars(amount: MicroUsd) -> String {
    let MicroUsd(micros) = amount;
    if micros >= 1_000_000 {
        // Rounded to cents, so that the amount is shown with two decimals.
        return MicroUsd((micros + 5_000) / 10_000 * 10_000).to_string();
    }
    amount.to_string()
}

/// What the work costs here; a star where the figure is not of the kind that was asked for.
fn per_useful(way: &Way) -> String {
    let Some(cost) = way.job.and_then(|job| job.per_useful) else {
        return if way.useful.is_none() { "no figure".into() } else { NEVER.into() };
    };
    let star = matches!(way.useful.map(|useful| useful.basis), Some(Basis::NotMeasured(_)));
    format!("{}{}", dollars(cost), if star { "*" } else { "" })
}

pub(crate) fn hours(hours: f64) -> String {
    if !hours.is_finite() {
        return NEVER.into();
    }
    span(Duration::from_secs_f64((hours * 60.0).round().max(0.0) * 60.0))
}

fn cells(way: &Way) -> Vec<String> {
    let picked = &way.picked;
    let name = clean_line(picked.kind.name.as_str());
    let job = way.job;
    let unknown = || "?".to_owned();
    let save = match job {
        Some(job) if !job.ends() => "–".into(),
        Some(job) => job.expected.interval.map_or("–".into(), hours),
        None => unknown(),
    };
    vec![
        picked.accelerator.clone(),
        if picked.machines == 1 { name } else { format!("{} × {name}", picked.machines) },
        format!("{} {}", picked.place.cloud, clean_line(picked.place.region.name())),
        picked.market.to_string(),
        dollars(way.hourly),
        way.per_accelerator.map_or_else(unknown, dollars),
        per_useful(way),
        job.map_or_else(unknown, |job| job.cost.map_or(NEVER.into(), dollars)),
        job.map_or_else(unknown, |job| match job.ends() {
            true => hours(job.expected.hours),
            false => NEVER.into(),
        }),
        save,
    ]
}

/// What one way is called where there is little room.
fn label(way: &Way) -> String {
    format!("{} {} {}", way.picked.accelerator, way.picked.place.cloud, way.picked.market)
}

/// The cost of the work as bars.
fn small_chart(compared: &Compared<'_>) -> String {
    let priced: Vec<(String, MicroUsd)> = compared
        .ways
        .iter()
        .filter_map(|way| Some((label(way), way.job?.per_useful?)))
        .take(BARS)
        .collect();
    let most = priced.iter().map(|(_, cost)| cost.0).max().unwrap_or(0);
    if priced.len() < 2 || most == 0 {
        return String::new();
    }
    let mut table = Columns::default();
    for (label, cost) in &priced {
        let share = cost.0 as f64 / most as f64;
        let said = format!("{} {}", bar(share, WIDEST, glyphs()), dollars(*cost));
        table.row([left(label), left(said)]);
    }
    let scale = compared.measure.scale().name;
    format!(
        "\n{DIM}  expected dollars for each {scale} of useful work{DIM:#}\n{}",
        table.render("  ")
    )
}

/// The same as a picture.
pub(crate) fn chart(compared: &Compared<'_>) -> Bars {
    let mut markets =
        vec![(Market::Spot, "spot, with interruptions"), (Market::OnDemand, "on-demand")];
    if compared.ways.iter().any(|way| way.picked.market == Market::Reserved) {
        markets.push((Market::Reserved, "reserved"));
    }
    let one = |way: &Way| {
        let job = way.job?;
        let cost = job.per_useful?.as_f64();
        let values = markets.iter().map(|(market, _)| match *market == way.picked.market {
            true => Some(cost),
            false => Some(0.0),
        });
        let place = &way.picked.place;
        Some(Group {
            label: format!("{}  {} {}", way.picked.accelerator, place.cloud, way.picked.kind.name),
            values: values.collect(),
            said: Some(format!(
                "{}  ({} in {})",
                dollars(job.per_useful?),
                job.cost.map_or("?".into(), dollars),
                hours(job.expected.hours)
            )),
        })
    };
    let Catalog { as_of, source, .. } = compared.catalog;
    Bars {
        title: compared.title.to_owned(),
        notes: vec![
            format!(
                "{}; in brackets: the whole job, with interruptions and checkpoints.",
                compared.perf
            ),
            format!("Prices as of {}, {source}.", when(*as_of)),
        ],
        axis: format!("expected dollars for each {} of useful work", compared.measure.scale().name),
        unit: ("$", ""),
        series: markets.iter().map(|(_, name)| (*name).to_owned()).collect(),
        groups: compared.ways.iter().filter_map(one).take(GROUPS).collect(),
        stacked: true,
    }
}

/// What a reader must know.
pub(crate) fn notes(compared: &Compared<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.push(format!(
        "Prices as of {}, {}. The clouds were not asked.",
        when(compared.catalog.as_of),
        compared.catalog.source
    ));
    notes.extend(compared.assumptions.iter().cloned());
    notes.extend(figures(compared));
    notes.extend(absent(compared.found));
    notes
}

/// Where the figures come from.
fn figures(compared: &Compared<'_>) -> Vec<String> {
    let mut published: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut measured: BTreeSet<String> = BTreeSet::new();
    let mut instead: BTreeSet<&str> = BTreeSet::new();
    let mut without: BTreeSet<&str> = BTreeSet::new();
    for way in compared.ways {
        let name = way.picked.accelerator.as_str();
        match way.useful.map(|useful| useful.basis) {
            Some(Basis::Published(chip)) => {
                let source = match compared.measure {
                    Measure::Published(figure) => chip.source_of(*figure),
                    Measure::Own(_) | Measure::Measured(..) => chip.source,
                };
                published.insert(chip.name, (chip.grade.as_str(), source));
            }
            Some(Basis::NotMeasured(chip)) => {
                instead.insert(chip.name);
            }
            Some(Basis::Measured(at)) => {
                measured.insert(format!("{name} on {}", at.strftime("%Y-%m-%d")));
            }
            Some(Basis::Own) => {}
            None => {
                without.insert(name);
            }
        }
    }
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let mut notes = Vec::new();
    for (name, (grade, source)) in published {
        notes.push(format!("{name}: {source} (grade {grade})."));
    }
    if !measured.is_empty() {
        let all: Vec<String> = measured.into_iter().collect();
        notes.push(format!("Measured: {} (`fleet benchmark list`).", all.join(", ")));
    }
    if !instead.is_empty() {
        notes.push(format!(
            "* Not measured, so published peaks stand in: {}. Machines reach a half to nine tenths of \
             their peaks, so these look better than they are.",
            list(&instead)
        ));
    }
    if !without.is_empty() {
        notes.push(format!("No figure for {}: listed last, by price.", list(&without)));
    }
    notes
}

/// What is not listed, in as few sentences as it takes.
fn absent(found: &Found) -> Vec<String> {
    let mut groups: BTreeMap<(Absent, Market, Cloud), Vec<&str>> = BTreeMap::new();
    for (name, cloud, market, why) in &found.absent {
        groups.entry((*why, *market, *cloud)).or_default().push(name);
    }
    let one = |((why, market, cloud), names): ((Absent, Market, Cloud), Vec<&str>)| {
        let names = names.join(", ");
        match why {
            Absent::Unpriced => format!("{names} on {cloud}: no {market} price in the catalog."),
            Absent::NotSold => format!("{names} on {cloud}: not sold as {market}."),
        }
    };
    groups.into_iter().map(one).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.0}"))
}

fn benchmark_rows(results: &[BenchmarkResult]) -> (Vec<String>, Vec<Vec<String>>) {
    let heads = ["n", "type", "gpu", "bf16", "fp8", "GB/s", "tokens/s", "measured", "with"];
    let row = |(at, result): (usize, &BenchmarkResult)| {
        let driver = result.machine.accelerator.as_ref().map(|one| clean_line(&one.name));
        let chip = result.chip().map(|chip| chip.name.to_owned());
        let metric = |name: &str| result.matrix_product.get(name).map(|one| one.tflops);
        let software = ["torch", "cuda", "driver"].iter().filter_map(|name| {
            let version = result.software.get(*name)?.as_ref()?;
            Some(format!("{name} {}", clean_line(version)))
        });
        vec![
            (at + 1).to_string(),
            result.instance_type.as_deref().map_or("–".into(), clean_line),
            chip.or(driver).unwrap_or_default(),
            number(metric("bf16")),
            number(metric("fp8")),
            number(result.memory.as_ref().map(|memory| memory.copy_gbps)),
            number(result.metric(Metric::Training)),
            result.at.strftime("%Y-%m-%d").to_string(),
            software.collect::<Vec<_>>().join(", "),
        ]
    };
    (heads.map(str::to_owned).into(), results.iter().enumerate().map(row).collect())
}

/// The performance table, for people.
pub(crate) fn benchmarks(results: &[BenchmarkResult]) -> String {
    let (heads, rows) = benchmark_rows(results);
    let mut table = Columns::without(&["fp8", "GB/s", "measured"]);
    let aligned = |(at, cell): (usize, &String)| match at {
        3..=6 => right(cell),
        _ => left(cell),
    };
    table.styled(DIM, heads.iter().enumerate().map(aligned));
    rows.iter().for_each(|row| table.row(row.iter().enumerate().map(aligned)));
    let all = count(results.len() as u64, "result");
    format!("{}\n{DIM}{all}. bf16 and fp8: TFLOPS of one accelerator.{DIM:#}", table.render(""))
}

/// The performance table, for comments.
pub(crate) fn benchmarks_markdown(results: &[BenchmarkResult]) -> String {
    let (heads, rows) = benchmark_rows(results);
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| md(cell)).collect::<Vec<_>>().join(" | "))
    };
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|--:|---|---|--:|--:|--:|--:|---|---|\n{rows}", line(&heads))
}
