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
/// Height of a label's line, and about how wide one of its characters is.
const LINE: f64 = 14.0;
const CHARACTER: f64 = 6.7;
/// A dot's radius.
const DOT: f64 = 5.0;
/// A title that is longer would run over the next panel.
const TITLE: usize = 76;
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
    let mut out = text((MARGIN, 28.0), Anchor::Start, "font-size=\"15\"", &shortened(title));
    out.push_str(&frame.columns(&costs, ("", "")));
    out.push_str(&frame.levels(&misses, ("", " %")));
    out.push_str(&frame.name_below("cost, all on demand = 1"));
    out.push_str(&frame.name_left("missing", 16.0));
    let at =
        |row: &Row| (frame.x(costs.share(row.measures.cost)), frame.y(misses.share(missing(row))));
    let dots: Vec<(f64, f64)> = rows.iter().map(at).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.policy.as_str()).collect();
    let labels = labels(&frame, &dots, &names);
    for (nth, ((x, y), label)) in dots.iter().zip(&labels).enumerate() {
        let colour = COLOURS[nth.min(1)];
        if label.far {
            let (to, level) = (label.near, label.base - 4.0);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{level:.1}\" \
                 stroke=\"{colour}\" stroke-opacity=\"0.5\"/>"
            );
        }
        let _ =
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT}\" fill=\"{colour}\"/>");
    }
    for (nth, (label, name)) in labels.iter().zip(names).enumerate() {
        let style = format!("class=\"halo\" style=\"fill:{}\"", COLOURS[nth.min(1)]);
        out.push_str(&text((label.near, label.base), label.anchor, &style, name));
    }
    out
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

/// Where the name of a dot stands.
struct Label {
    anchor: Anchor,
    /// Its end at the dot, and its baseline.
    near: f64,
    base: f64,
    /// Too far from its dot to be taken for its name without a line to it.
    far: bool,
    area: Area,
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy)]
struct Area(f64, f64, f64, f64);

impl Area {
    fn meets(&self, other: &Area) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }

    fn is_within(&self, other: &Area) -> bool {
        self.0 >= other.0 && self.1 >= other.1 && self.2 <= other.2 && self.3 <= other.3
    }
}

/// Places for the names of dots: within the picture above the axis, apart from each other and, where
/// there is room, from the dots. Each as close to its dot as that goes.
fn labels(frame: &Frame, dots: &[(f64, f64)], names: &[&str]) -> Vec<Label> {
    let page = Area(frame.left, frame.top - LINE, WIDTH - 8.0, frame.bottom());
    let spots: Vec<Area> =
        dots.iter().map(|(x, y)| Area(x - DOT, y - DOT, x + DOT, y + DOT)).collect();
    let mut placed: Vec<Label> = Vec::new();
    for (dot, name) in dots.iter().zip(names) {
        let width = name.chars().count() as f64 * CHARACTER;
        let free = |label: &Label| {
            label.area.is_within(&page) && !placed.iter().any(|other| label.area.meets(&other.area))
        };
        let clear = |label: &Label| free(label) && !spots.iter().any(|dot| label.area.meets(dot));
        let found = candidates(*dot, width).find(clear);
        let found = found.or_else(|| candidates(*dot, width).find(free));
        // Not with nine policies: there is room for forty names.
        placed.extend(found.or_else(|| candidates(*dot, width).next()));
    }
    placed
}

/// Places for a name, the closest to its dot first: above and below, to the right and to the left.
fn candidates((x, y): (f64, f64), width: f64) -> impl Iterator<Item = Label> {
    const STEPS: i32 = 80;
    (0..STEPS).flat_map(move |step| {
        // Just above the dot, just below, and on by half a line.
        let away = f64::from(step / 2) * LINE / 2.0;
        let base = if step % 2 == 0 { y - 6.0 - away } else { y + LINE + away };
        [Anchor::Start, Anchor::End].into_iter().map(move |anchor| {
            let (near, left) = match anchor {
                Anchor::Start | Anchor::Middle => (x + 8.0, x + 8.0),
                Anchor::End => (x - 8.0, x - 8.0 - width),
            };
            let area = Area(left, base - LINE + 3.0, left + width, base + 3.0);
            Label { anchor, near, base, far: step > 3, area }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Named;

    /// Every name is inside the picture and legible, wherever the dots lie.
    #[test]
    fn names_stay_inside_and_apart() {
        let frame = Frame { left: MARGIN, top: MARGIN, width: 576.0, height: 276.0 };
        let names: Vec<&str> = Named::ALL.iter().map(|policy| policy.as_str()).collect();
        let check = |dots: &[(f64, f64)]| {
            let labels = labels(&frame, dots, &names);
            assert_eq!(labels.len(), names.len());
            for (nth, label) in labels.iter().enumerate() {
                let Area(left, top, right, bottom) = label.area;
                let inside = left >= MARGIN && right <= WIDTH - 8.0 && top > 40.0;
                assert!(inside && bottom <= frame.bottom(), "{} of {dots:?}", names[nth]);
                let others = labels.iter().take(nth);
                assert!(!others.into_iter().any(|other| label.area.meets(&other.area)), "{dots:?}");
            }
        };
        // All in one place: in the corners, and in the middle.
        for at in [(72.0, 72.0), (648.0, 72.0), (72.0, 348.0), (648.0, 348.0), (360.0, 210.0)] {
            check(&[at; 9]);
        }
        // Along the axis, as on recordings where little is missing.
        for gap in [1.0, 5.0, 20.0, 64.0] {
            let at = |nth| (72.0 + gap * f64::from(nth), 345.0 - f64::from(nth % 3));
            check(&(0..9).map(at).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_long_title_stays_in_its_panel() {
        let row = Row { policy: Named::Engine, measures: crate::Measures::default() };
        let drawn = svg(&"traces/".repeat(40), &[row], &[]);
        let shown = drawn.lines().find(|line| line.contains("font-size=\"15\"")).expect("a title");
        assert!(shown.contains('…') && shown.chars().count() < 150, "{shown}");
    }
}
