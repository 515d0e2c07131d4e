//! Cost against what was missing, one dot for each policy, and predicted against observed losses, as
//! SVG.

use crate::calibration::Calibration;
use crate::compare::Row;
use crate::reliability;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
pub(crate) const HEIGHT: f64 = 420.0;
pub(crate) const MARGIN: f64 = 72.0;
/// Labels this close are in each other's way.
const LABEL: (f64, f64) = (100.0, 12.0);

/// Draws a chart: the policies and, where the engine is among them, how good its predictions are.
pub fn svg(title: &str, rows: &[Row], calibrations: &[Calibration]) -> String {
    let width = if calibrations.is_empty() { WIDTH } else { WIDTH + reliability::WIDTH };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    out.push_str(&policies(title, rows));
    if !calibrations.is_empty() {
        let panel = reliability::panel(calibrations);
        let _ = writeln!(out, "<g transform=\"translate({WIDTH} 0)\">\n{panel}</g>");
    }
    out.push_str("</svg>\n");
    out
}

/// Cost against what was missing. Down and to the left is better.
fn policies(title: &str, rows: &[Row]) -> String {
    let missing = |row: &Row| (1.0 - row.measures.delivered) * 100.0;
    let most = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).fold(0.01, f64::max) * 1.15;
    let (right, top) = (most(&|row| row.measures.cost), most(&missing));
    let x = |cost: f64| MARGIN + cost / right * (WIDTH - 2.0 * MARGIN);
    let y = |missing: f64| HEIGHT - MARGIN - missing / top * (HEIGHT - 2.0 * MARGIN);
    let mut out =
        format!("<text x=\"{MARGIN}\" y=\"28\" font-size=\"15\">{}</text>\n", escaped(title));
    for part in 0..=4 {
        let (cost, miss) = (right * f64::from(part) / 4.0, top * f64::from(part) / 4.0);
        let (at, low) = (x(cost), HEIGHT - MARGIN);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{cost:.2}</text>",
            low + 18.0
        );
        let level = y(miss);
        let _ = writeln!(
            out,
            "<line x1=\"{MARGIN}\" x2=\"{:.1}\" y1=\"{level:.1}\" y2=\"{level:.1}\" \
             stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{miss:.2} %</text>",
            WIDTH - MARGIN,
            MARGIN - 6.0,
            level + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">cost, all on demand = 1</text>\n\
         <text x=\"16\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1})\">\
         missing</text>",
        WIDTH / 2.0,
        HEIGHT - 18.0,
        HEIGHT / 2.0,
        HEIGHT / 2.0
    );
    let mut labels: Vec<(f64, f64)> = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        let colour = if nth == 0 { "#c0392b" } else { "#34495e" };
        let (at, level) = (x(row.measures.cost), y(missing(row)));
        let label = free(&labels, (at + 8.0, level - 6.0));
        labels.push(label);
        let _ = writeln!(
            out,
            "<circle cx=\"{at:.1}\" cy=\"{level:.1}\" r=\"5\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            label.0,
            label.1,
            row.policy.as_str()
        );
    }
    out
}

/// The next place further down that no other label has.
fn free(taken: &[(f64, f64)], mut at: (f64, f64)) -> (f64, f64) {
    let near =
        |a: &(f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < LABEL.0 && (a.1 - b.1).abs() < LABEL.1;
    while taken.iter().any(|other| near(other, at)) {
        at.1 += LABEL.1;
    }
    at
}

/// Names of recordings are other people's text.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            '"' => "&quot;".into(),
            other => other.to_string(),
        })
        .collect()
}
