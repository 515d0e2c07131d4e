//! Where each field of a loaded document stands.

use crate::diagnostic::Diagnostic;
use crate::reader::Field;
use crate::source::{Source, Span};
use crate::yaml::Node;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// The places of every field of one document.
#[derive(Clone)]
pub(crate) struct Places {
    source: Source,
    spans: BTreeMap<String, Span>,
}

impl Places {
    pub(crate) fn of(source: &Source, document: &Node) -> Self {
        let mut places = Places { source: source.clone(), spans: BTreeMap::new() };
        places.walk(&Field::document(document));
        places
    }

    fn walk(&mut self, field: &Field<'_>) {
        self.spans.insert(field.path.clone(), field.place());
        field.entries().for_each(|(_, inner)| self.walk(&inner));
        field.items().for_each(|inner| self.walk(&inner));
    }

    /// The place of a field, or of the nearest field around it that is written down.
    fn span(&self, path: &str) -> Span {
        let mut path = path;
        loop {
            if let Some(span) = self.spans.get(path) {
                return *span;
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => return self.spans.get("").copied().unwrap_or_default(),
            }
        }
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }

    pub(crate) fn location(&self, path: &str) -> Location {
        let Span { line, column, .. } = self.span(path);
        Location { file: self.source.file.clone(), line, column }
    }

    pub(crate) fn diagnostic(
        &self,
        path: &str,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        let diagnostic = Diagnostic::at(&self.source, self.span(path), message, hint);
        Diagnostic { path: path.to_owned(), ..diagnostic }
    }
}
