//! Charts, drawn on the server: a picture that stretches, with its numbers as text around it and as a table
//! behind it.

use crate::pages::past::{Past, Range, Step};
use fleet_model::Timestamp;
use fleet_money::chart::Scale;
use maud::{Markup, html};
use std::fmt::Write;

/// A picture is so wide and so high, whatever a screen makes of it.
const WIDE: f64 = 1000.0;
const HIGH: f64 = 100.0;

/// One line over time.
pub(super) struct Chart<'a> {
    /// Names it on the page.
    pub(super) id: &'static str,
    pub(super) title: &'a str,
    /// What it comes to, in a sentence.
    pub(super) said: String,
    /// What the line is of, with its unit.
    pub(super) of: &'a str,
    pub(super) value: &'a dyn Fn(&Step) -> f64,
    /// A value as text.
    pub(super) text: &'a dyn Fn(f64) -> String,
    /// A level that matters, with its name.
    pub(super) level: Option<(f64, &'static str)>,
    /// How steps are put together for the table.
    pub(super) together: fn(&[f64]) -> f64,
}

/// The least of some.
pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Their average.
pub(super) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Draws a line over time.
pub(super) fn line(chart: &Chart<'_>, past: &Past, range: Range) -> Markup {
    let Chart { id, title, said, of, value, text, level, together } = chart;
    let known = || past.steps.iter().filter(|step| step.known);
    let most = known().map(value).chain(level.map(|(level, _)| level)).fold(0.0, f64::max);
    let scale = Scale::up_to(most * 1.02);
    let y = |value: f64| HIGH * (1.0 - scale.share(value));
    let mut ticks: Vec<f64> = scale.ticks().collect();
    ticks.reverse();
    html! {
        figure.chart aria-labelledby=(format!("{id}-name")) {
            figcaption { h3 #(format!("{id}-name")) { (title) } p { (said) } }
            div.plot {
                ul.ys aria-hidden="true" { @for tick in &ticks { li { (text(*tick)) } } }
                svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-labelledby=(format!("{id}-t {id}-d")) {
                    title #(format!("{id}-t")) { (title) }
                    desc #(format!("{id}-d")) { (said) }
                    @for tick in &ticks { line.grid x2="1000" y1=(at(y(*tick))) y2=(at(y(*tick))) {} }
                    @for (outline, area) in paths(&past.steps, value, &y) {
                        path.area d=(area) {}
                        path.line d=(outline) {}
                    }
                    @if let Some((level, _)) = level {
                        line.level x2="1000" y1=(at(y(*level))) y2=(at(y(*level))) {}
                    }
                }
                ul.xs aria-hidden="true" { @for moment in moments(past, range) { li { (moment) } } }
            }
            @if let Some((level, name)) = level {
                p.key { span.dash aria-hidden="true" {} " " (text(*level)) " " (name) }
            }
            details {
                summary { "The numbers" span.unseen { " of the chart “" (title) "”" } }
                table {
                    caption.unseen { (title) }
                    thead { tr { th scope="col" { "From (UTC)" } th.n scope="col" { (of) } } }
                    tbody {
                        @for some in past.steps.chunks(range.steps_per_line()) {
                            @let values: Vec<f64> = some.iter().filter(|step| step.known).map(value).collect();
                            @if !values.is_empty() {
                                tr { td { (named(some[0].at, range)) } td.n { (text(together(&values))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn at(place: f64) -> String {
    format!("{place:.1}")
}

/// The unbroken parts of a line, as outline and as area below it. A value holds for its whole step.
fn paths(
    steps: &[Step],
    value: &dyn Fn(&Step) -> f64,
    y: &dyn Fn(f64) -> f64,
) -> Vec<(String, String)> {
    let wide = WIDE / steps.len().max(1) as f64;
    let mut paths = Vec::new();
    for part in steps.iter().enumerate().collect::<Vec<_>>().chunk_by(|a, b| a.1.known == b.1.known)
    {
        let [(first, step), ..] = part else { continue };
        if !step.known {
            continue;
        }
        let from = *first as f64 * wide;
        let mut outline = String::new();
        let mut before = None;
        for (nth, step) in part {
            let (level, to) = (y(value(step)), (nth + 1) as f64 * wide);
            let _ = match before {
                None => write!(outline, "M{from:.1} {level:.1}H{to:.1}"),
                Some(before) if before == at(level) => write!(outline, "H{to:.1}"),
                Some(_) => write!(outline, "V{level:.1}H{to:.1}"),
            };
            before = Some(at(level));
        }
        let area = format!("{outline}V{HIGH}H{from:.1}Z");
        paths.push((outline, area));
    }
    paths
}

/// Some moments along the time, evenly.
fn moments(past: &Past, range: Range) -> Vec<String> {
    const NAMED: usize = 5;
    let (Some(first), Some(last)) = (past.steps.first(), past.steps.last()) else {
        return Vec::new();
    };
    let to = last.at + range.step().0;
    let every = (to - first.at) / (NAMED as i64 - 1);
    (0..NAMED).map(|nth| named(first.at + every * nth as i64, range)).collect()
}

/// A moment as far as it matters: hours within a day, days within a month.
fn named(ms: i64, range: Range) -> String {
    let format = match range {
        Range::Day => "%H:%M",
        Range::Week => "%a %H:%M",
        Range::Month => "%b %-d",
    };
    Timestamp::from_millisecond(ms).map(|at| at.strftime(format).to_string()).unwrap_or_default()
}

/// What happened when: launches, losses and refusals, each on a lane of its own.
pub(super) fn timeline(past: &Past, range: Range) -> Markup {
    let Past { steps, launched, lost, refused, .. } = past;
    let said = format!("{launched} launched, {lost} lost, {refused} launches refused.");
    type Count = fn(&Step) -> u32;
    let lanes: [(&str, &str, &str, Count); 3] = [
        ("launched", "+", "good", |step| step.launched),
        ("lost", "−", "bad", |step| step.lost),
        ("refused", "✕", "warn", |step| step.refused),
    ];
    let most = |count: Count| steps.iter().map(count).max().unwrap_or(0).max(1);
    let wide = WIDE / steps.len().max(1) as f64;
    html! {
        figure.chart.lanes aria-labelledby="timeline-name" {
            figcaption {
                h3 #timeline-name { "Launches, losses and refusals" }
                p { "In the last " (range.words()) ": " (said) }
            }
            div.plot {
                ul.ys aria-hidden="true" { @for (name, sign, ..) in lanes { li { (sign) " " (name) } } }
                svg viewBox="0 0 1000 96" preserveAspectRatio="none" role="img" aria-labelledby="timeline-t timeline-d" {
                    title #timeline-t { "Launches, losses and refusals" }
                    desc #timeline-d { (said) }
                    @for (nth, (_, _, class, count)) in lanes.into_iter().enumerate() {
                        @let base = (nth + 1) as f64 * 32.0 - 2.0;
                        line.grid x2="1000" y1=(at(base)) y2=(at(base)) {}
                        @for (at_step, step) in steps.iter().enumerate().filter(|(_, step)| count(step) > 0) {
                            @let high = 6.0 + 20.0 * f64::from(count(step)) / f64::from(most(count));
                            rect class=(class) x=(at(at_step as f64 * wide + wide * 0.15)) y=(at(base - high))
                                width=(at(wide * 0.7)) height=(at(high)) {}
                        }
                    }
                }
                ul.xs aria-hidden="true" { @for moment in moments(past, range) { li { (moment) } } }
            }
            details {
                summary { "The numbers" span.unseen { " of launches, losses and refusals" } }
                table {
                    caption.unseen { "Launches, losses and refusals" }
                    thead {
                        tr {
                            th scope="col" { "From (UTC)" }
                            @for (name, ..) in lanes { th.n scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for some in steps.chunks(range.steps_per_line()) {
                            @if some.iter().any(|step| step.known) {
                                tr {
                                    td { (named(some[0].at, range)) }
                                    @for (.., count) in lanes { td.n { (some.iter().map(count).sum::<u32>()) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
