//! Where each field of a loaded document stands.

use crate::diagnostic::Diagnostic;
use crate::reader::Field;
use crate::source::{Part, Span};
use crate::variables::Given;
use crate::yaml::Node;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

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

/// The places of every field of one document, and of the Defaults under it.
#[derive(Clone)]
pub(crate) struct Places {
    parts: Arc<[Part]>,
    written: BTreeMap<String, Written>,
}

/// Where a field stands, and which variables its text came from.
#[derive(Clone, Default)]
struct Written {
    span: Span,
    given: Option<Arc<Given>>,
}

impl Places {
    pub(crate) fn of(parts: &[Part], document: &Node) -> Self {
        let mut places = Places { parts: parts.into(), written: BTreeMap::new() };
        places.walk(&Field::document(document));
        places
    }

    fn walk(&mut self, field: &Field<'_>) {
        let written = Written { span: field.place(), given: field.node.given.clone() };
        self.written.insert(field.path.clone(), written);
        field.entries().for_each(|(_, inner)| self.walk(&inner));
        field.items().for_each(|inner| self.walk(&inner));
    }

    /// The place of a field, or of the nearest field around it that is written down.
    fn nearest(&self, path: &str) -> Written {
        let mut path = path;
        loop {
            if let Some(written) = self.written.get(path) {
                return written.clone();
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => return self.written.get("").cloned().unwrap_or_default(),
            }
        }
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.written.contains_key(path)
    }

    pub(crate) fn location(&self, path: &str) -> Location {
        location(&self.parts, self.nearest(path).span)
    }

    pub(crate) fn diagnostic(
        &self,
        path: &str,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        let Written { span, given } = self.nearest(path);
        let hint = match given {
            Some(given) => Some(given.hint(hint, &self.parts)),
            None => hint,
        };
        let diagnostic = match self.parts.get(usize::from(span.document)) {
            Some(part) => Diagnostic::at(&part.source, span, message, hint),
            None => Diagnostic::general(message, hint),
        };
        Diagnostic { path: path.to_owned(), ..diagnostic }
    }

    /// The documents that the fleet is made up of, its own first.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// A span as people write it.
pub(crate) fn location(parts: &[Part], span: Span) -> Location {
    let part = parts.get(usize::from(span.document));
    let file = part.map(|part| part.source.file.clone()).unwrap_or_default();
    Location { file, line: span.line, column: span.column }
}
