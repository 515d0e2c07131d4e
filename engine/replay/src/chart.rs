//! Cost against what was missing, one dot for each policy, and predicted against observed losses, as
//! SVG.

use crate::calibration::Calibration;
use crate::compare::Row;
use crate::reliability;
use fleet_money::chart::{self, Anchor, Frame, Scale, text};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
pub(crate) const HEIGHT: f64 = 420.0;
pub(crate) const MARGIN: f64 = 72.0;
/// Labels this close are in each other's way.
const LABEL: (f64, f64) = (100.0, 12.0);
/// The fleet itself, and the others.
const COLOURS: [&str; 2] = ["#c0392b", "#7f8c8d"];

/// Draws a chart: the policies and, where the engine is among them, how good its predictions are.
pub fn svg(title: &str, rows: &[Row], calibrations: &[Calibration]) -> String {
    let mut body = policies(title, rows);
    if calibrations.is_empty() {
        return chart::svg(WIDTH, HEIGHT, title, &body);
    }
    let panel = reliability::panel(calibrations);
    let _ = writeln!(body, "<g transform=\"translate({WIDTH} 0)\">\n{panel}</g>");
    chart::svg(WIDTH + reliability::WIDTH, HEIGHT, title, &body)
}

/// Cost against what was missing. Down and to the left is better.
fn policies(title: &str, rows: &[Row]) -> String {
    let missing = |row: &Row| (1.0 - row.measures.delivered) * 100.0;
    let most =
        |of: &dyn Fn(&Row) -> f64| Scale::up_to(rows.iter().map(of).fold(0.01, f64::max) * 1.05);
    let (costs, misses) = (most(&|row| row.measures.cost), most(&missing));
    let frame = Frame {
        left: MARGIN,
        top: MARGIN,
        width: WIDTH - 2.0 * MARGIN,
        height: HEIGHT - 2.0 * MARGIN,
    };
    let mut out = text((MARGIN, 28.0), Anchor::Start, "font-size=\"15\"", title);
    out.push_str(&frame.columns(&costs, ("", "")));
    out.push_str(&frame.levels(&misses, ("", " %")));
    out.push_str(&frame.name_below("cost, all on demand = 1"));
    out.push_str(&frame.name_left("missing", 16.0));
    let mut labels: Vec<(f64, f64)> = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        let colour = COLOURS[nth.min(1)];
        let (at, level) =
            (frame.x(costs.share(row.measures.cost)), frame.y(misses.share(missing(row))));
        let label = free(&labels, (at + 8.0, level - 6.0));
        labels.push(label);
        let _ =
            writeln!(out, "<circle cx=\"{at:.1}\" cy=\"{level:.1}\" r=\"5\" fill=\"{colour}\"/>");
        let style = format!("style=\"fill:{colour}\"");
        out.push_str(&text(label, Anchor::Start, &style, row.policy.as_str()));
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
