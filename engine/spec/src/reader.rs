//! Walking a document: every reader reports what it does not like and goes on.

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Part, Span, quote};
use crate::yaml::{Kind, MAX_PROBLEMS, Node};

/// A value, the key it stands under and its path from the top of the document.
#[derive(Clone)]
pub(crate) struct Field<'n> {
    pub(crate) node: &'n Node,
    /// Where the key stands; for an item of a list, the item.
    pub(crate) key: Span,
    /// `spec.instances.families[3]`.
    pub(crate) path: String,
}

impl<'n> Field<'n> {
    pub(crate) fn document(node: &'n Node) -> Self {
        Field { node, key: node.span, path: String::new() }
    }

    /// Where to point: at a scalar itself, at the key of a collection.
    pub(crate) fn place(&self) -> Span {
        match &self.node.kind {
            Kind::Scalar { .. } if !self.node.is_null() => self.node.span,
            Kind::Scalar { .. } | Kind::List(_) | Kind::Map(_) => self.key,
        }
    }

    /// The last part of the path, for messages.
    pub(crate) fn name(&self) -> &str {
        let name = self.path.rsplit('.').next().unwrap_or_default();
        let around = &self.path[..self.path.len() - name.len()];
        match name {
            "" => "the document",
            // These say little without the field that they belong to.
            "min" | "max" | "aws" | "gcp" | "azure" | "lambda" => {
                let start = around.trim_end_matches('.').rfind('.').map_or(0, |at| at + 1);
                &self.path[start..]
            }
            name => name,
        }
    }

    /// The fields of a mapping, whatever their names; empty if it is none.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'n str, Field<'n>)> + use<'n> {
        let node: &'n Node = self.node;
        let path = self.path.clone();
        let entries = match &node.kind {
            Kind::Map(entries) => entries.as_slice(),
            Kind::List(_) | Kind::Scalar { .. } => &[],
        };
        entries.iter().map(move |entry| {
            let path = join(&path, &entry.key);
            (entry.key.as_str(), Field { node: &entry.value, key: entry.key_span, path })
        })
    }

    /// The items of a list; empty if it is none.
    pub(crate) fn items(&self) -> impl Iterator<Item = Field<'n>> + use<'n> {
        let node: &'n Node = self.node;
        let path = self.path.clone();
        let items = match &node.kind {
            Kind::List(items) => items.as_slice(),
            Kind::Map(_) | Kind::Scalar { .. } => &[],
        };
        items.iter().enumerate().map(move |(at, node)| Field {
            node,
            key: node.span,
            path: format!("{path}[{at}]"),
        })
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.kind, Kind::Map(_))
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A mapping whose fields are known.
pub(crate) struct Object<'n> {
    field: Field<'n>,
    known: &'static [&'static str],
}

impl<'n> Object<'n> {
    /// A field that may be absent. A field with nothing in it is an error, not an absence: `budget:`
    /// with its limit forgotten must not mean "no limit".
    pub(crate) fn get(&self, reader: &mut Reader<'_>, name: &str) -> Option<Field<'n>> {
        debug_assert!(self.known.contains(&name), "{name} is read and not in the wire format");
        let entry = self.field.node.get(name)?;
        let path = join(&self.field.path, name);
        let field = Field { node: &entry.value, key: entry.key_span, path };
        if field.node.is_null() {
            let hint = "give it a value, or remove it";
            reader.error(&field, format!("`{name}` has no value"), Some(hint.into()));
            return None;
        }
        Some(field)
    }

    /// A field that must be there.
    pub(crate) fn require(&self, reader: &mut Reader<'_>, name: &str) -> Option<Field<'n>> {
        if self.field.node.get(name).is_none() {
            let path = &self.field.path;
            let inside = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
            let near = self
                .field
                .entries()
                .map(|(key, _)| key)
                .take(MAX_PROBLEMS)
                .find(|key| !self.known.contains(key) && near(key, &[name]).is_some());
            // A misspelt field is told once, as misspelt.
            if near.is_none() && !reader.may_lack(path, name) {
                let hint = format!("add `{name}:`; `fleet schema` describes every field");
                let what = format!("`{name}` is missing{inside}");
                // Defaults may leave it out; the fleet over them may not.
                let place = self.field.place();
                let at = if place.document == 0 { place } else { reader.top };
                reader.error_at(at, path, what, Some(hint));
            }
        }
        self.get(reader, name)
    }

    pub(crate) fn field(&self) -> &Field<'n> {
        &self.field
    }
}

/// Collects what is wrong with one document.
pub(crate) struct Reader<'s> {
    /// The documents it is made up of, its own first.
    pub(crate) parts: &'s [Part],
    /// Where the document begins.
    pub(crate) top: Span,
    /// Whether a fleet will add what is missing.
    pub(crate) is_defaults: bool,
    pub(crate) problems: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(parts: &'s [Part], document: &Node) -> Self {
        Reader { parts, top: document.span, is_defaults: false, problems: Vec::new() }
    }

    /// Whether a field that a fleet must have may be absent here.
    fn may_lack(&self, path: &str, name: &str) -> bool {
        self.is_defaults
            && matches!((path, name), ("spec", "capacity") | ("spec.capacity", "target"))
    }

    pub(crate) fn error(&mut self, field: &Field<'_>, message: String, hint: Option<String>) {
        match &field.node.given {
            None => self.error_at(field.place(), &field.path, message, hint),
            // A variable without a value is told once, as that.
            Some(given) if given.unresolved => {}
            Some(given) => {
                let hint = given.hint(hint, self.parts);
                self.error_at(field.place(), &field.path, message, Some(hint));
            }
        }
    }

    pub(crate) fn error_at(&mut self, at: Span, path: &str, what: String, hint: Option<String>) {
        // One too many is kept, so that the loader knows that there are more.
        if self.problems.len() > MAX_PROBLEMS {
            return;
        }
        let Some(part) = self.parts.get(usize::from(at.document)) else {
            return;
        };
        let message = match part.subject.as_str() {
            "" => what,
            subject => format!("{subject}: {what}"),
        };
        let diagnostic = Diagnostic::at(&part.source, at, message, hint);
        self.problems.push(Diagnostic { path: path.to_owned(), ..diagnostic });
    }

    pub(crate) fn warn_at(&mut self, at: Span, path: &str, what: String, hint: Option<String>) {
        let before = self.problems.len();
        self.error_at(at, path, what, hint);
        self.soften(before);
    }

    pub(crate) fn warn(&mut self, field: &Field<'_>, message: String, hint: Option<String>) {
        let before = self.problems.len();
        self.error(field, message, hint);
        self.soften(before);
    }

    /// Makes warnings of what was told last.
    fn soften(&mut self, before: usize) {
        for diagnostic in self.problems.drain(before..).collect::<Vec<_>>() {
            self.problems.push(diagnostic.into_warning());
        }
    }

    /// Paths of everything that could not be read so far.
    pub(crate) fn broken(&self) -> Vec<String> {
        let errors = self.problems.iter().filter(|one| one.severity == Severity::Error);
        errors.map(|one| one.path.clone()).collect()
    }

    /// A mapping with known fields; every unknown one is reported.
    pub(crate) fn object<'n>(
        &mut self,
        field: &Field<'n>,
        known: &'static [&'static str],
    ) -> Option<Object<'n>> {
        if !field.is_map() {
            let found = field.node.describe();
            let hint = match (known, &field.node.kind) {
                ([only], Kind::Scalar { text, .. }) => {
                    format!("write {}: {{ {only}: {} }}", field.name(), quote(text))
                }
                _ => format!("its fields are: {}", known.join(", ")),
            };
            let message = format!("`{}` must be a mapping, found {found}", field.name());
            self.error(field, message, Some(hint));
            return None;
        }
        for (key, inner) in field.entries() {
            if known.contains(&key) {
                continue;
            }
            // Looking for what was meant costs more than reading.
            if self.problems.len() > MAX_PROBLEMS {
                break;
            }
            let hint = match near(key, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known fields here: {}", known.join(", ")),
            };
            let message = format!("unknown field `{}`", quote(key));
            self.error_at(inner.key, &inner.path, message, Some(hint));
        }
        Some(Object { field: field.clone(), known })
    }
}

/// The candidate that was probably meant.
pub(crate) fn near<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    const LONGEST: usize = 64;
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let word = plain(word);
    let allowed = match word.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    let spelling = candidates
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &plain(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate);
    // `hourly` for `hourlyUsd`, `minimum` for `min`.
    let begins = |candidate: &&&str| {
        let candidate = plain(candidate);
        let short = word.len().min(candidate.len());
        short >= 3 && (candidate.starts_with(&word) || word.starts_with(&candidate))
    };
    spelling.or_else(|| candidates.iter().find(begins).copied())
}
