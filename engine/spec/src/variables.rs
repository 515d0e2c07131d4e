//! `${NAME}` in a value, replaced where a fleet or its Defaults declare the name.
//!
//! A value is put into one scalar of the tree, after YAML was read: it can be a number or a word,
//! never a second field. There are no expressions and no escapes; see decision 0025.

mod names;

pub(crate) use names::is_name;

use crate::diagnostic::Diagnostic;
use crate::places::{Location, location};
use crate::reader::{Field, Reader, join, near};
use crate::source::{Part, Span, quote};
use crate::yaml::{Kind, Node, Style};
use names::{Piece, is_private, pieces};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// The longest value, in bytes. A page of script fits; a file belongs beside the spec.
const MAX_VALUE: usize = 16 * 1024;
/// How much all values may add to one document.
const MAX_GROWTH: usize = 1024 * 1024;

/// Values that are given from outside. A flag wins over the environment, the environment over the
/// default in the spec.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// From the command line.
    pub flags: BTreeMap<String, String>,
    /// From the environment: all of it; only declared names are looked up.
    pub environment: BTreeMap<String, OsString>,
}

/// Without values: an environment is full of secrets.
impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values")
            .field("flags", &self.flags.keys())
            .field("environment", &self.environment.len())
            .finish()
    }
}

/// Who gave a variable its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GivenBy {
    /// `--var`.
    Flag,
    /// The environment.
    Environment,
    /// The declaration.
    Default,
}

/// A variable that a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    /// Its name.
    pub name: String,
    /// Who gave it its value.
    pub given_by: GivenBy,
    /// Where it is declared.
    pub declared: Location,
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given_by {
            GivenBy::Flag => write!(f, "{} from --var", self.name),
            GivenBy::Environment => write!(f, "{} from the environment", self.name),
            GivenBy::Default => write!(f, "{} from its default at {}", self.name, self.declared),
        }
    }
}

/// The variables that one scalar came from.
pub(crate) struct Given {
    /// Whether one of them has no value: then nothing else is worth saying about the scalar.
    pub(crate) unresolved: bool,
    used: Vec<(String, GivenBy, Span)>,
}

impl Given {
    pub(crate) fn used(&self, parts: &[Part]) -> Vec<Used> {
        let used = |(name, given_by, at): &(String, GivenBy, Span)| Used {
            name: name.clone(),
            given_by: *given_by,
            declared: location(parts, *at),
        };
        self.used.iter().map(used).collect()
    }

    /// A hint that also says where the value came from: the line shown has only the name.
    pub(crate) fn hint(&self, hint: Option<String>, parts: &[Part]) -> String {
        let from: Vec<String> = self.used(parts).iter().map(Used::to_string).collect();
        let from = from.join(", ");
        match hint {
            Some(hint) => format!("{hint} (the value: {from})"),
            None => format!("the value: {from}"),
        }
    }
}

/// A declaration under `variables`.
struct Declared {
    default: Option<String>,
    at: Span,
    used: bool,
    /// Whether it was told to be wrong; then nothing more is said where it is used.
    is_wrong: bool,
}

/// What came of replacing variables.
pub(crate) struct Replaced {
    pub(crate) problems: Vec<Diagnostic>,
    /// Every name that is declared.
    pub(crate) declared: BTreeSet<String>,
}

/// Replaces the variables of a document, in its metadata and spec. With `is_defaults`, a value that
/// is missing is no error: it may be meant for fleets that are not here.
pub(crate) fn replace(
    document: &mut Node,
    parts: &[Part],
    values: &Values,
    is_defaults: bool,
) -> Replaced {
    let mut reader = Reader::new(parts, document);
    let declared = declarations(&mut reader, document);
    let mut work = Work { reader, declared, values, is_defaults, told: BTreeSet::new(), grown: 0 };
    if let Kind::Map(entries) = &mut document.kind {
        for entry in
            entries.iter_mut().filter(|entry| entry.key == "metadata" || entry.key == "spec")
        {
            work.walk(&mut entry.value, &entry.key, false);
        }
    }
    let Work { mut reader, declared, .. } = work;
    // A misspelt use is told as that; Defaults may declare more than one fleet needs.
    let settled = reader.problems.is_empty() && !is_defaults;
    let unused = declared.iter().filter(|(_, one)| !one.used && one.at.document == 0);
    for (name, declared) in unused.filter(|_| settled) {
        let hint = format!("write `${{{name}}}` where it is meant, or remove it");
        let what = format!("variable `{name}` is not used");
        reader.warn_at(declared.at, &join("variables", name), what, Some(hint));
    }
    let declared = declared.into_keys().collect();
    Replaced { problems: reader.problems, declared }
}

/// The declarations: a mapping from name to default, or to nothing.
fn declarations(reader: &mut Reader<'_>, document: &Node) -> BTreeMap<String, Declared> {
    let mut declared = BTreeMap::new();
    let top = Field::document(document);
    let Some((_, field)) = top.entries().find(|(key, _)| *key == "variables") else {
        return declared;
    };
    if !field.is_map() {
        let message = format!("`variables` must be a mapping, found {}", field.node.describe());
        let hint =
            "write `REGION: us-east-1` for a default, `IMAGE: null` for one that must be given";
        reader.error(&field, message, Some(hint.into()));
    }
    for (name, inner) in field.entries() {
        let before = reader.problems.len();
        if !is_name(name) {
            let message = format!("`{}` is not a usable name for a variable", quote(name));
            let hint = "use letters, digits and `_`, not a digit first, 64 at most: `IMAGE_ID`";
            reader.error_at(inner.key, &inner.path, message, Some(hint.into()));
        }
        let default = match &inner.node.kind {
            _ if inner.node.is_null() => None,
            Kind::Scalar { text, .. } => {
                check_default(reader, &inner, text);
                Some(text.clone())
            }
            Kind::List(_) | Kind::Map(_) => {
                let found = inner.node.describe();
                let message = format!("the default of `{}` is {found}", quote(name));
                let hint = "a variable is one value; for one that must be given, write null";
                reader.error(&inner, message, Some(hint.into()));
                None
            }
        };
        let is_wrong = reader.problems.len() > before;
        let one = Declared { default, at: inner.place(), used: false, is_wrong };
        declared.insert(name.to_owned(), one);
    }
    declared
}

fn check_default(reader: &mut Reader<'_>, field: &Field<'_>, text: &str) {
    if pieces(text).iter().any(|piece| matches!(piece, Piece::Variable(_))) {
        let message = "a default cannot use another variable".into();
        let hint = "write its value, or use both variables where they are meant";
        reader.error(field, message, Some(hint.into()));
    } else if text.len() > MAX_VALUE {
        let message = format!("a default of {} bytes", text.len());
        reader.error(field, message, Some(format!("{MAX_VALUE} bytes are the most")));
    }
}

struct Work<'a> {
    reader: Reader<'a>,
    declared: BTreeMap<String, Declared>,
    values: &'a Values,
    is_defaults: bool,
    /// Variables without a value that were told of; once is enough.
    told: BTreeSet<String>,
    grown: usize,
}

impl Work<'_> {
    fn walk(&mut self, node: &mut Node, path: &str, is_script: bool) {
        match &mut node.kind {
            Kind::Map(entries) => {
                for entry in entries {
                    let is_script = is_script || entry.key == "userData";
                    self.walk(&mut entry.value, &join(path, &entry.key), is_script);
                }
            }
            Kind::List(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.walk(item, &format!("{path}[{at}]"), is_script);
                }
            }
            Kind::Scalar { text, style } if text.contains("${") => {
                let mut given = Given { unresolved: false, used: Vec::new() };
                let whole = matches!(pieces(text)[..], [Piece::Variable(_)]);
                let new = self.scalar(text, node.span, path, is_script, &mut given);
                if !given.used.is_empty() || given.unresolved {
                    *text = new;
                    let quoted = *style == Style::Quoted && !whole;
                    *style = if quoted { Style::Quoted } else { Style::Variable };
                    node.given = Some(Arc::new(given));
                }
            }
            Kind::Scalar { .. } => {}
        }
    }

    /// The text with its variables replaced.
    fn scalar(
        &mut self,
        text: &str,
        at: Span,
        path: &str,
        is_script: bool,
        given: &mut Given,
    ) -> String {
        let mut new = String::with_capacity(text.len());
        for piece in pieces(text) {
            let name = match piece {
                Piece::Text(text) => {
                    new.push_str(text);
                    continue;
                }
                Piece::Variable(name) => name,
            };
            if !self.declared.contains_key(name) {
                new.push_str(&format!("${{{name}}}"));
                // A script has `${…}` of its own.
                if !is_script {
                    self.undeclared(name, at, path);
                    given.unresolved = true;
                }
                continue;
            }
            if self.declared.get(name).is_some_and(|declared| declared.is_wrong) {
                given.unresolved = true;
                continue;
            }
            match self.value(name) {
                Ok((value, given_by, declared)) => {
                    self.grown = self.grown.saturating_add(value.len());
                    if self.grown > MAX_GROWTH {
                        let hint = "put long text into a file: userDataFile".to_owned();
                        let what = format!("variables add more than {MAX_GROWTH} bytes");
                        self.problem("", at, path, what, hint);
                        given.unresolved = true;
                        continue;
                    }
                    new.push_str(&value);
                    if given.used.iter().all(|(used, ..)| used != name) {
                        given.used.push((name.to_owned(), given_by, declared));
                    }
                }
                Err((what, hint)) => {
                    self.problem(name, at, path, what, hint);
                    given.unresolved = true;
                }
            }
        }
        new
    }

    /// The value of a declared variable, or why there is none and what to do.
    fn value(&mut self, name: &str) -> Result<(String, GivenBy, Span), (String, String)> {
        let how = format!("set {name} in the environment, or give --var {name}=VALUE");
        let Some(declared) = self.declared.get_mut(name) else {
            return Err((format!("variable `{name}` is not declared"), how));
        };
        declared.used = true;
        let at = declared.at;
        let (value, given_by) = if let Some(value) = self.values.flags.get(name) {
            (value.clone(), GivenBy::Flag)
        } else if let Some(value) = self.values.environment.get(name).filter(|_| !is_private(name))
        {
            let Some(value) = value.to_str() else {
                let what = format!("the value of `{name}` in the environment is not UTF-8 text");
                return Err((what, how));
            };
            (value.to_owned(), GivenBy::Environment)
        } else if let Some(default) = &declared.default {
            (default.clone(), GivenBy::Default)
        } else {
            let place = location(self.reader.parts, at);
            let how = match is_private(name) {
                true => format!(
                    "give it on purpose, with --var {name}=VALUE: a name like this is not read from the environment, where a spec could carry off a secret"
                ),
                false => how,
            };
            return Err((
                format!("variable `{name}` has no value"),
                format!("{how}; it is declared at {place}"),
            ));
        };
        if value.len() > MAX_VALUE {
            let what = format!("the value of `{name}` has {} bytes", value.len());
            return Err((what, format!("{MAX_VALUE} bytes are the most")));
        }
        Ok((value, given_by, at))
    }

    fn undeclared(&mut self, name: &str, at: Span, path: &str) {
        // Fleets over these Defaults, and Defaults around them, may declare it.
        if self.is_defaults {
            return;
        }
        let names: Vec<&str> = self.declared.keys().map(String::as_str).collect();
        let hint = match near(name, &names) {
            Some(near) => format!("did you mean `${{{near}}}`?"),
            None if names.is_empty() => {
                format!("declare it at the top of the document: `variables: {{ {name}: VALUE }}`")
            }
            None => format!("declared here: {}", names.join(", ")),
        };
        let what = format!("`${{{name}}}` is not declared under `variables`");
        self.reader.error_at(at, path, what, Some(hint));
    }

    /// Tells once of a variable. In Defaults alone nothing is wrong: a fleet may come with values.
    fn problem(&mut self, name: &str, at: Span, path: &str, what: String, hint: String) {
        if !self.is_defaults && self.told.insert(name.to_owned()) {
            self.reader.error_at(at, path, what, Some(hint));
        }
    }
}
