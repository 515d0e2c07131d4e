//! Lines over time.

use super::{Anchor, Frame, LINE, PAD, Scale, colour, legend, svg, text, width};
use std::fmt::Write;

/// Some values over the same moments.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// What is shown.
    pub title: String,
    /// Where the figures come from, below the chart. One line each.
    pub notes: Vec<String>,
    /// What is drawn: `dollars an hour`.
    pub axis: String,
    /// Before and after each value on the axis: `$` and nothing, nothing and ` %`.
    pub unit: (&'static str, &'static str),
    /// The moments, in order, as they are to be read. Some of them are written below.
    pub moments: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// A level that matters, with its name: a budget.
    pub limit: Option<(String, f64)>,
}

/// One line.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// A value for each moment. `None` is unknown: the line has a gap there.
    pub values: Vec<Option<f64>>,
    /// Whether each value holds until the next one: prices and targets do not slope.
    pub steps: bool,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 240.0;
/// Between the legend and the topmost value on the axis.
const LEGEND_GAP: f64 = 12.0;

/// Draws lines.
pub fn lines(chart: &Lines) -> String {
    let names: Vec<String> = chart.lines.iter().map(|line| line.name.clone()).collect();
    let names = if names.len() > 1 { &names[..] } else { &[] };
    let (legend, used) = legend(names, (PAD, 52.0), WIDTH - 2.0 * PAD);
    let values = chart.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let values = values.chain(chart.limit.iter().map(|(_, level)| *level));
    let scale = Scale::up_to(values.filter(|value| value.is_finite()).fold(0.0, f64::max));
    let (before, after) = chart.unit;
    let label = width(&format!("{before}{}{after}", scale.label(scale.end())));
    // The names of the first and the last moment reach over both ends of the axis.
    let half = widest(&chart.moments) / 2.0;
    let left = (PAD + 20.0 + label).max(PAD + half);
    let top = if used > 0.0 { 44.0 + used + LEGEND_GAP } else { 44.0 };
    let right = WIDTH - PAD - half.max(10.0);
    let frame = Frame { left, top, width: right - left, height: HEIGHT };
    let mut body = text((PAD, 26.0), Anchor::Start, "font-size=\"15\"", &chart.title);
    body.push_str(&legend);
    body.push_str(&frame.levels(&scale, chart.unit));
    body.push_str(&frame.name_left(&chart.axis, PAD));
    let at = |nth: usize| match chart.moments.len() {
        0 | 1 => frame.x(0.5),
        count => frame.x(nth as f64 / (count - 1) as f64),
    };
    for (nth, moment) in named(&chart.moments, frame.width) {
        let below = (at(nth), frame.bottom() + 16.0);
        body.push_str(&text(below, Anchor::Middle, "class=\"dim\"", moment));
    }
    for (nth, line) in chart.lines.iter().enumerate() {
        for path in paths(line, &|nth| at(nth), &|value| frame.y(scale.share(value))) {
            let _ = writeln!(
                body,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" \
                 stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                colour(nth)
            );
        }
    }
    if let Some((name, level)) = &chart.limit {
        let y = frame.y(scale.share(*level));
        let _ = writeln!(
            body,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#c0392b\" \
             stroke-dasharray=\"5 4\"/>",
            frame.left,
            frame.x(1.0)
        );
        body.push_str(&text((frame.x(1.0), y - 5.0), Anchor::End, "", name));
    }
    let mut below = frame.bottom() + 40.0;
    for note in &chart.notes {
        body.push_str(&text((PAD, below), Anchor::Start, "class=\"dim\" font-size=\"11\"", note));
        below += LINE;
    }
    svg(WIDTH, below, &chart.title, &body)
}

/// About how wide the longest name of a moment is.
fn widest(moments: &[String]) -> f64 {
    moments.iter().map(|moment| width(moment)).fold(20.0, f64::max).min(WIDTH / 4.0)
}

/// As many moments as fit, evenly.
fn named(moments: &[String], room: f64) -> impl Iterator<Item = (usize, &String)> {
    let most = (room / (widest(moments) + 16.0)).floor().max(1.0) as usize;
    let every = moments.len().div_ceil(most).max(1);
    moments.iter().enumerate().step_by(every)
}

/// The unbroken parts of a line.
fn paths(line: &Line, x: &dyn Fn(usize) -> f64, y: &dyn Fn(f64) -> f64) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut last: Option<(usize, f64)> = None;
    for (nth, value) in line.values.iter().enumerate() {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            last = None;
            continue;
        };
        let (at, level) = (x(nth), y(value));
        match (last, paths.last_mut()) {
            (Some((_, before)), Some(path)) if line.steps => {
                let _ = write!(path, "H{at:.1}");
                if (level - before).abs() > 0.05 {
                    let _ = write!(path, "V{level:.1}");
                }
            }
            (Some(_), Some(path)) => {
                let _ = write!(path, "L{at:.1} {level:.1}");
            }
            // A single value is a dot: a path of no length with round ends.
            _ => paths.push(format!("M{at:.1} {level:.1}h0")),
        }
        last = Some((nth, level));
    }
    paths
}
