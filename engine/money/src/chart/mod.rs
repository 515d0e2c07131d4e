//! Charts as SVG text, and bars for terminals. Pure strings: the same data is the same file.
//!
//! A chart carries its own colours for light and dark readers. [`bars`] compares things, [`lines`] shows
//! something over time; whoever draws anything else takes [`svg`], [`Frame`] and [`Scale`] and stays
//! alike.

mod bars;
mod frame;
mod lines;
mod scale;
mod terminal;

pub use bars::{Bars, Group, bars};
pub use frame::Frame;
pub use lines::{Line, Lines, lines};
pub use scale::Scale;
pub use terminal::{Glyphs, bar, sparkline};

use std::fmt::Write;

/// Colours of series, told apart by most eyes on white and on black.
pub const COLOURS: [&str; 8] =
    ["#2f7ed8", "#d9822b", "#2e9e6b", "#c0392b", "#8e5bb5", "#2aa5b8", "#b8961e", "#7f8c8d"];

/// The colour of the nth series.
pub fn colour(nth: usize) -> &'static str {
    COLOURS[nth % COLOURS.len()]
}

/// Height of a line of text, and what a character takes of its width in the middle.
pub(crate) const LINE: f64 = 16.0;
const CHARACTER: f64 = 6.7;
/// Room around everything.
pub(crate) const PAD: f64 = 16.0;

/// About how wide a text is.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A whole document around `body`. The title is also what a screen reader says.
pub fn svg(width: f64, height: f64, title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" font-family=\"sans-serif\" \
         font-size=\"12\">\n\
         <title>{title}</title>\n\
         <style>text{{fill:#1f2328}}.dim{{fill:#59636e}}.paper{{fill:#fff}}.grid{{stroke:#d1d9e0}}\
         .halo{{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}}\
         @media(prefers-color-scheme:dark){{text{{fill:#f0f6fc}}.dim{{fill:#9198a1}}\
         .paper{{fill:#0d1117}}.grid{{stroke:#3d444d}}.halo{{stroke:#0d1117}}}}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n"
    )
}

/// Where a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// A text. `style` is put into its tag as it is: `class="dim"`, `font-size="15"`.
pub fn text(at: (f64, f64), anchor: Anchor, style: &str, text: &str) -> String {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let gap = if style.is_empty() { "" } else { " " };
    let (x, y) = at;
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor}{gap}{style}>{}</text>\n", escaped(text))
}

/// Squares with names, from left to right; a new line where one would leave the width. Says how high it is.
pub(crate) fn legend(names: &[String], (left, top): (f64, f64), room: f64) -> (String, f64) {
    let mut out = String::new();
    let (mut x, mut y) = (left, top);
    for (nth, name) in names.iter().enumerate() {
        let wide = width(name) + 34.0;
        if x + wide > left + room && x > left {
            (x, y) = (left, y + LINE);
        }
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{}\"/>",
            y - 9.0,
            colour(nth)
        );
        out.push_str(&text((x + 15.0, y), Anchor::Start, "", name));
        x += wide;
    }
    (out, if names.is_empty() { 0.0 } else { y - top + LINE })
}

/// Text of others, safe inside a tag and inside quotes. Characters that XML does not allow are left out.
pub fn escaped(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(allowed) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
