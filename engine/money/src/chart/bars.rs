//! Bars from left to right, one line or a few for each thing.

use super::{Anchor, Frame, LINE, PAD, Scale, colour, legend, svg, text, width};
use std::fmt::Write;

/// Things side by side.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// What is compared.
    pub title: String,
    /// Where the figures come from, below the chart. One line each.
    pub notes: Vec<String>,
    /// What is drawn: `dollars for a job`.
    pub axis: String,
    /// Before and after each value: `$` and ``, or `` and ` %`.
    pub unit: (&'static str, &'static str),
    /// The names of the bars of a group. A single one needs no legend.
    pub series: Vec<String>,
    /// The things, from top to bottom.
    pub groups: Vec<Group>,
    /// Whether the bars of a group are put end to end: parts of a whole. Otherwise they stand one below
    /// the other.
    pub stacked: bool,
}

/// One thing.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// What it is called.
    pub label: String,
    /// A value for each series. `None` is unknown: it is said so, and not drawn as nothing.
    pub values: Vec<Option<f64>>,
    /// What to write behind the bars, in place of their values.
    pub said: Option<String>,
}

const BAR: f64 = 14.0;
const GAP: f64 = 8.0;
const LONGEST_LABEL: usize = 48;

/// Draws bars.
pub fn bars(chart: &Bars) -> String {
    let labels: Vec<String> = chart.groups.iter().map(|group| shortened(&group.label)).collect();
    let left = PAD + labels.iter().map(|label| width(label)).fold(60.0, f64::max) + 8.0;
    let right = chart.groups.iter().map(|group| width(&said(chart, group))).fold(40.0, f64::max);
    let plot = 420.0;
    let total = left + plot + right + 2.0 * PAD;
    let names = if chart.series.len() > 1 { &chart.series[..] } else { &[] };
    let (legend, used) = legend(names, (PAD, 52.0), total - 2.0 * PAD);
    let rows = if chart.stacked { 1 } else { chart.series.len().max(1) };
    let each = rows as f64 * BAR + GAP;
    let frame = Frame {
        left,
        top: 40.0 + used + if used > 0.0 { 6.0 } else { 0.0 },
        width: plot,
        height: each * chart.groups.len().max(1) as f64 + GAP,
    };
    let scale =
        Scale::up_to(chart.groups.iter().map(|group| longest(chart, group)).fold(0.0, f64::max));
    let mut body = text((PAD, 26.0), Anchor::Start, "font-size=\"15\"", &chart.title);
    body.push_str(&legend);
    body.push_str(&frame.columns(&scale, chart.unit));
    for (nth, (group, label)) in chart.groups.iter().zip(&labels).enumerate() {
        let top = frame.top + GAP + each * nth as f64;
        let middle = top + (each - GAP) / 2.0 + 4.0;
        body.push_str(&text((left - 8.0, middle), Anchor::End, "", label));
        let end = drawn(&mut body, chart, group, &frame, &scale, top);
        body.push_str(&text(
            (end + 6.0, middle),
            Anchor::Start,
            "class=\"dim halo\"",
            &said(chart, group),
        ));
    }
    body.push_str(&frame.name_below(&chart.axis));
    let mut below = frame.bottom() + 60.0;
    for note in &chart.notes {
        body.push_str(&text((PAD, below), Anchor::Start, "class=\"dim\" font-size=\"11\"", note));
        below += LINE;
    }
    let widest =
        chart.notes.iter().map(|note| width(note) * 0.92 + 2.0 * PAD).fold(total, f64::max);
    svg(widest, below, &chart.title, &body)
}

/// Draws the bars of a group, and says where the longest ends.
fn drawn(
    body: &mut String,
    chart: &Bars,
    group: &Group,
    frame: &Frame,
    scale: &Scale,
    top: f64,
) -> f64 {
    let (mut from, mut end, mut y) = (0.0, frame.left, top);
    for (nth, value) in group.values.iter().enumerate() {
        let value = value.filter(|value| value.is_finite()).unwrap_or(0.0).max(0.0);
        let (start, stop) = (frame.x(scale.share(from)), frame.x(scale.share(from + value)));
        if stop > start {
            let _ = writeln!(
                body,
                "<rect x=\"{start:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                stop - start,
                BAR - 2.0,
                colour(nth)
            );
        }
        end = end.max(stop);
        if chart.stacked {
            from += value;
        } else {
            y += BAR;
        }
    }
    end
}

/// How far a group reaches.
fn longest(chart: &Bars, group: &Group) -> f64 {
    let known = group.values.iter().flatten().copied().filter(|value| value.is_finite());
    if chart.stacked { known.sum() } else { known.fold(0.0, f64::max) }
}

/// What stands behind the bars of a group.
fn said(chart: &Bars, group: &Group) -> String {
    if let Some(said) = &group.said {
        return said.clone();
    }
    let (before, after) = chart.unit;
    let one = |value: &Option<f64>| match value.filter(|value| value.is_finite()) {
        Some(value) => format!("{before}{value:.2}{after}"),
        None => "unknown".to_owned(),
    };
    if chart.stacked {
        let whole: Option<f64> = group.values.iter().copied().sum();
        return one(&whole);
    }
    group.values.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LONGEST_LABEL {
        return label.to_owned();
    }
    label.chars().take(LONGEST_LABEL - 1).chain(['…']).collect()
}
