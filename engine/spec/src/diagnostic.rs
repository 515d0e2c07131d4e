//! What is wrong with a spec, where, and what to do about it.

use crate::source::{Source, Span};
use serde::Serialize;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The spec cannot be used.
    Error,
    /// The spec can be used; its author should know.
    Warning,
}

impl Severity {
    fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong: what, where, and a hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file; empty if it is about no file, e.g. an unknown fleet name.
    pub file: PathBuf,
    /// Line, from 1; 0 if it is about the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 if it is about the file as a whole.
    pub column: u32,
    /// How many characters are meant.
    pub length: u32,
    /// What is wrong.
    pub message: String,
    /// The source line, made safe to print; long lines in part, user data masked.
    pub text: String,
    /// Characters of the line left out before `text`.
    pub text_skipped: u32,
    /// What to do about it.
    pub hint: Option<String>,
    /// The field, e.g. `spec.capacity.target`; empty if it is about none.
    pub path: String,
}

impl Diagnostic {
    /// Whether the spec cannot be used because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// An error about no file in particular.
    pub fn general(message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Diagnostic::about_file(PathBuf::new(), message, hint)
    }

    /// An error about a file as a whole.
    pub fn about_file(
        file: impl Into<PathBuf>,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) -> Self {
        Diagnostic {
            severity: Severity::Error,
            file: file.into(),
            line: 0,
            column: 0,
            length: 0,
            message: message.into(),
            text: String::new(),
            text_skipped: 0,
            hint: hint.into(),
            path: String::new(),
        }
    }

    pub(crate) fn at(source: &Source, span: Span, message: String, hint: Option<String>) -> Self {
        let (text, text_skipped) = source.excerpt(span);
        Diagnostic {
            line: span.line,
            column: span.column,
            length: span.length,
            text,
            text_skipped,
            ..Diagnostic::about_file(source.file.clone(), message, hint)
        }
    }

    /// The same as a warning.
    pub fn into_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// As people read it, ending with a line break.
    pub fn render(&self, color: bool) -> String {
        let paint = |code: &'static str| if color { code } else { "" };
        let (reset, bold, blue, green) =
            (paint("\x1b[0m"), paint("\x1b[1m"), paint("\x1b[1;34m"), paint("\x1b[1;32m"));
        let red = paint(match self.severity {
            Severity::Error => "\x1b[1;31m",
            Severity::Warning => "\x1b[1;33m",
        });
        let kind = self.severity.as_str();
        let mut out = format!("{red}{kind}{reset}{bold}: {}{reset}\n", self.message);
        // Writing to a String cannot fail.
        if !self.file.as_os_str().is_empty() {
            let file: String =
                self.file.to_string_lossy().chars().map(crate::source::visible).collect();
            let place = match (self.line, self.column) {
                (0, _) => file,
                (line, column) => format!("{file}:{line}:{column}"),
            };
            let _ = writeln!(out, "  {blue}-->{reset} {place}");
        }
        if !self.text.trim().is_empty() {
            let number = self.line.to_string();
            let gutter = " ".repeat(number.len());
            let room = (self.text.chars().count() as u32).saturating_sub(self.before()).max(1);
            let carets = "^".repeat(self.length.clamp(1, room) as usize);
            let indent = " ".repeat(self.before() as usize);
            let _ = writeln!(out, "{gutter} {blue}|{reset}");
            let _ = writeln!(out, "{blue}{number} |{reset} {}", self.text);
            let _ = writeln!(out, "{gutter} {blue}|{reset} {indent}{red}{carets}{reset}");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "{green}hint{reset}: {hint}");
        }
        out
    }

    /// Shown characters before the first one meant.
    fn before(&self) -> u32 {
        self.column.saturating_sub(1).saturating_sub(self.text_skipped)
    }
}

/// Everything that is wrong, in the order of files and places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|one| one.is_error())
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|one| one.severity == Severity::Warning)
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the spec cannot be used.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// As people read it: one block each, an empty line between.
    pub fn render(&self, color: bool) -> String {
        let blocks: Vec<String> = self.0.iter().map(|one| one.render(color)).collect();
        blocks.join("\n")
    }

    /// Orders by file and place and drops what was said twice: an aliased part is read twice.
    pub(crate) fn tidy(&mut self) {
        self.0.sort_by(|a, b| {
            let key = |d: &Diagnostic| (d.file.clone(), d.line, d.column);
            key(a).cmp(&key(b))
        });
        self.0.dedup();
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn colours_are_only_added() {
        let source = Source::new(Path::new("a.yaml"), "base: 96\n");
        let span = Span { line: 1, column: 7, length: 2, document: 0 };
        let one = Diagnostic::at(&source, span, "too much".into(), Some("less".into()));
        let plain =
            "error: too much\n  --> a.yaml:1:7\n  |\n1 | base: 96\n  |       ^^\nhint: less\n";
        assert_eq!(one.render(false), plain);
        let mut bare = one.render(true);
        assert!(bare.starts_with("\x1b[1;31merror\x1b[0m"));
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;34m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, plain);
    }
}
