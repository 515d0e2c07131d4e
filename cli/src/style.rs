//! Colours. Written always; the stream strips them unless a terminal listens.

use anstyle::{AnsiColor, Style};

/// What is added.
pub(crate) const ADD: Style = AnsiColor::Green.on_default();
/// What goes.
pub(crate) const REMOVE: Style = AnsiColor::Red.on_default();
/// What stays, and what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What a reader should not miss.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// The word `error:`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `hint:`.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
/// Nothing at all.
pub(crate) const PLAIN: Style = Style::new();

/// What bars are made of: a dumb terminal gets plain ASCII.
pub(crate) fn glyphs() -> fleet_money::chart::Glyphs {
    use fleet_money::chart::Glyphs;
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if dumb { Glyphs::Ascii } else { Glyphs::Blocks }
}
