//! The rectangle that data is drawn in, with its grid and the names along it.

use super::{Anchor, Scale, text};
use std::fmt::Write;

/// A rectangle. Shares run from its lower left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Distance of its left side from the left of the picture.
    pub left: f64,
    /// Distance of its top from the top of the picture.
    pub top: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Frame {
    /// Where a share of the width is.
    pub fn x(&self, share: f64) -> f64 {
        self.left + share * self.width
    }

    /// Where a share of the height is, from below.
    pub fn y(&self, share: f64) -> f64 {
        self.top + (1.0 - share) * self.height
    }

    /// The lower side.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Lines from side to side with their values on the left, each with `unit` around it.
    pub fn levels(&self, scale: &Scale, (before, after): (&str, &str)) -> String {
        let mut out = String::new();
        for value in scale.ticks() {
            let y = self.y(scale.share(value));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                self.left,
                self.x(1.0)
            );
            let label = format!("{before}{}{after}", scale.label(value));
            out.push_str(&text((self.left - 6.0, y + 4.0), Anchor::End, "class=\"dim\"", &label));
        }
        out
    }

    /// Lines from top to bottom with their values below, each with `unit` around it.
    pub fn columns(&self, scale: &Scale, (before, after): (&str, &str)) -> String {
        let mut out = String::new();
        for value in scale.ticks() {
            let x = self.x(scale.share(value));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                self.top,
                self.bottom()
            );
            let label = format!("{before}{}{after}", scale.label(value));
            let below = (x, self.bottom() + 16.0);
            out.push_str(&text(below, Anchor::Middle, "class=\"dim\"", &label));
        }
        out
    }

    /// What is drawn from left to right, below the values.
    pub fn name_below(&self, name: &str) -> String {
        text((self.x(0.5), self.bottom() + 36.0), Anchor::Middle, "class=\"dim\"", name)
    }

    /// What is drawn from below, upright on the left.
    pub fn name_left(&self, name: &str, at: f64) -> String {
        let y = self.y(0.5);
        let turned = format!("class=\"dim\" transform=\"rotate(-90 {at:.1} {y:.1})\"");
        text((at, y), Anchor::Middle, &turned, name)
    }
}
