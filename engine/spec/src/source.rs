//! A file's text, and how one line of it is shown.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where something stands in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Characters, on the first line only.
    pub(crate) length: u32,
    /// In which of the documents that make up a fleet: 0 is its own, the rest are Defaults.
    pub(crate) document: u16,
}

/// A line longer than this is shown in part: a flow document may be one line of a megabyte.
const SHOWN_COLUMNS: usize = 120;

/// A file that was read. No `Debug`: the text may hold user data, which is never printed.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    text: Arc<str>,
    /// Where each line starts, in bytes.
    lines: Arc<[usize]>,
    /// Parts that are never shown (user data), in bytes, in order.
    secret: Arc<[Range<usize>]>,
}

impl Source {
    pub(crate) fn new(file: &Path, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        Source {
            file: file.to_path_buf(),
            text: text.into(),
            lines: std::iter::once(0).chain(starts).collect(),
            secret: Arc::new([]),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The same source with parts that are never shown.
    pub(crate) fn with_secrets(mut self, mut secret: Vec<Range<usize>>) -> Self {
        secret.sort_by_key(|range| (range.start, range.end));
        self.secret = secret.into();
        self
    }

    /// The part of a line worth showing, and how many characters were left out before it.
    ///
    /// Control and bidirectional characters become a dot: a spec must not be able to write to the
    /// reader's terminal. Every shown character stands for one character of the line, so that the
    /// caret below it points at the right one.
    pub(crate) fn excerpt(&self, span: Span) -> (String, u32) {
        let index = span.line.saturating_sub(1) as usize;
        let Some(&start) = self.lines.get(index) else {
            return (String::new(), 0);
        };
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let column = span.column.saturating_sub(1) as usize;
        let skip = if column > SHOWN_COLUMNS * 2 / 3 { column - SHOWN_COLUMNS / 3 } else { 0 };
        // Only the ranges that reach into this line matter, and they are in order.
        let from = self.secret.partition_point(|range| range.end <= start);
        let secrets = &self.secret[from..];
        let shown = line
            .char_indices()
            .skip(skip)
            .take(SHOWN_COLUMNS)
            .map(|(at, char)| {
                let at = start + at;
                let hidden = secrets.iter().take_while(|r| r.start <= at).any(|r| r.contains(&at));
                if hidden && char != ' ' { '*' } else { visible(char) }
            })
            .collect();
        (shown, u32::try_from(skip).unwrap_or(u32::MAX))
    }
}

/// One of the documents that make up a fleet.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) source: Source,
    /// Who is spoken of, e.g. "fleet `train`".
    pub(crate) subject: String,
    /// Where files named by it are looked for.
    pub(crate) folder: Option<PathBuf>,
}

impl Part {
    /// A document that names no files.
    pub(crate) fn alone(source: &Source, subject: String) -> Self {
        Part { source: source.clone(), subject, folder: None }
    }
}

/// A character that is safe on a terminal and one column of text.
pub(crate) fn visible(char: char) -> char {
    match char {
        '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '·',
        '\u{feff}' => '·',
        char if char.is_control() => '·',
        char => char,
    }
}

/// Text from a file, as a message may quote it: visible, on one line, not too long.
pub(crate) fn quote(text: &str) -> String {
    quote_up_to(text, 60)
}

/// The same for a sentence of the author's own.
pub(crate) fn quote_up_to(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).map(visible).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("a: {}HERE{}", "x".repeat(5000), "y".repeat(5000));
        let source = Source::new(Path::new("f"), &text);
        let (shown, skipped) =
            source.excerpt(Span { line: 1, column: 5004, length: 4, document: 0 });
        assert_eq!(shown.chars().count(), SHOWN_COLUMNS);
        let at = 5003 - skipped as usize;
        assert_eq!(shown.chars().skip(at).take(4).collect::<String>(), "HERE");
    }

    #[test]
    fn nothing_in_a_line_reaches_the_terminal_as_a_command() {
        let source = Source::new(Path::new("f"), "a: \u{1b}[31m\u{202e}x\t\r\n");
        let (shown, _) = source.excerpt(Span { line: 1, column: 1, length: 1, document: 0 });
        assert_eq!(shown, "a: ·[31m·x ");
    }
}
