//! Predicted against observed losses: a panel of the chart.

use crate::calibration::Calibration;
use crate::chart::{HEIGHT, MARGIN};
use fleet_money::chart::{Anchor, Frame, Scale, text};
use std::fmt::Write;

/// A square to draw in, with a margin around it.
pub(crate) const WIDTH: f64 = HEIGHT;
const COLOURS: [&str; 2] = ["#c0392b", "#2f7ed8"];
/// The area of all dots of a horizon together, in the same units as the panel.
const INK: f64 = 1600.0;

/// Draws dots, the larger the more predictions. On the diagonal a prediction is what came true.
pub(crate) fn panel(calibrations: &[Calibration]) -> String {
    let bins = calibrations.iter().flat_map(|one| &one.bins);
    let most = bins.map(|bin| bin.predicted.max(bin.observed)).fold(0.01, f64::max);
    let scale = Scale::up_to((most * 100.0).min(100.0));
    let side = HEIGHT - 2.0 * MARGIN;
    let frame = Frame { left: MARGIN, top: MARGIN, width: side, height: side };
    let title = "machines lost, predicted and observed";
    let mut out = text((MARGIN, 28.0), Anchor::Start, "font-size=\"15\"", title);
    out.push_str(&frame.columns(&scale, ("", " %")));
    out.push_str(&frame.levels(&scale, ("", " %")));
    out.push_str(&frame.name_below("predicted"));
    out.push_str(&frame.name_left("observed", 12.0));
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#888\" \
         stroke-dasharray=\"4 4\"/>",
        frame.x(0.0),
        frame.y(0.0),
        frame.x(1.0),
        frame.y(1.0)
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
                frame.x(scale.share(bin.predicted * 100.0)),
                frame.y(scale.share(bin.observed * 100.0))
            );
        }
        let said = format!(
            "within {} h, Brier {:.4} (mean: {:.4})",
            one.hours, one.brier, one.brier_of_mean
        );
        let (at, style) = ((MARGIN, 46.0 + 15.0 * nth as f64), format!("style=\"fill:{colour}\""));
        out.push_str(&text(at, Anchor::Start, &style, &said));
    }
    out
}
