//! Predicted against observed losses: a panel of the chart.

use crate::calibration::Calibration;
use crate::chart::{HEIGHT, MARGIN};
use std::fmt::Write;

/// A square to draw in, with a margin around it.
pub(crate) const WIDTH: f64 = HEIGHT;
const COLOURS: [&str; 2] = ["#c0392b", "#2471a3"];
/// The area of all dots of a horizon together, in the same units as the panel.
const INK: f64 = 1600.0;

/// Draws dots, the larger the more predictions. On the diagonal a prediction is what came true.
pub(crate) fn panel(calibrations: &[Calibration]) -> String {
    let bins = calibrations.iter().flat_map(|one| &one.bins);
    let most = bins.map(|bin| bin.predicted.max(bin.observed)).fold(0.01, f64::max);
    let top = (most * 1.1).min(1.0);
    let side = HEIGHT - 2.0 * MARGIN;
    let x = |share: f64| MARGIN + share / top * side;
    let y = |share: f64| HEIGHT - MARGIN - share / top * side;
    let mut out = format!(
        "<text x=\"{MARGIN}\" y=\"28\" font-size=\"15\">machines lost, predicted and observed</text>\n"
    );
    for part in 0..=4 {
        let share = top * f64::from(part) / 4.0;
        let (at, level, label) = (x(share), y(share), share * 100.0);
        let _ = writeln!(
            out,
            "<line x1=\"{MARGIN}\" x2=\"{:.1}\" y1=\"{level:.1}\" y2=\"{level:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label:.0} %</text>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label:.0} %</text>",
            MARGIN + side,
            MARGIN - 6.0,
            level + 4.0,
            HEIGHT - MARGIN + 18.0
        );
    }
    let (low, high) = (y(0.0), y(top));
    let _ = writeln!(
        out,
        "<line x1=\"{MARGIN}\" y1=\"{low:.1}\" x2=\"{:.1}\" y2=\"{high:.1}\" stroke=\"#888\" \
         stroke-dasharray=\"4 4\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">predicted</text>\n\
         <text x=\"12\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 12 {:.1})\">observed</text>",
        x(top),
        WIDTH / 2.0,
        HEIGHT - 18.0,
        HEIGHT / 2.0,
        HEIGHT / 2.0
    );
    for (nth, one) in calibrations.iter().enumerate() {
        let colour = COLOURS[nth % COLOURS.len()];
        for bin in &one.bins {
            let share = bin.count as f64 / one.count.max(1) as f64;
            let radius = (INK * share / std::f64::consts::PI).sqrt().max(1.5);
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" \
                 fill-opacity=\"0.75\"/>",
                x(bin.predicted),
                y(bin.observed)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">within {} h, Brier {:.4} (mean: {:.4})</text>",
            MARGIN,
            46.0 + 15.0 * nth as f64,
            one.hours,
            one.brier,
            one.brier_of_mean
        );
    }
    out
}
