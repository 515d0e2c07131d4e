//! Colours. Written always; the stream strips them unless a terminal listens.

use anstyle::{AnsiColor, Style};

/// What is added.
pub const ADD: Style = AnsiColor::Green.on_default();
/// What goes.
pub const REMOVE: Style = AnsiColor::Red.on_default();
/// What stays, and what matters less.
pub const DIM: Style = Style::new().dimmed();
/// What a reader should not miss.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Headings.
pub const BOLD: Style = Style::new().bold();
/// The word `error:`.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `hint:`.
pub const HINT: Style = AnsiColor::Cyan.on_default();
/// Nothing at all.
pub const PLAIN: Style = Style::new();

/// What bars are made of: a dumb terminal gets plain ASCII.
pub fn glyphs() -> fleet_money::chart::Glyphs {
    use fleet_money::chart::Glyphs;
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if dumb { Glyphs::Ascii } else { Glyphs::Blocks }
}
