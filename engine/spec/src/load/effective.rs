//! A fleet as it is after Defaults and variables, line by line, each with its origin.

use super::LoadedFleet;
use crate::places::{Location, location};
use crate::source::Part;
use crate::variables::Used;
use crate::yaml::{Kind, Node, Style};

/// One line of the effective spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveLine {
    /// The line as YAML.
    pub text: String,
    /// The field and its value, for lines that hold a value. User data is never given out.
    pub value: Option<(String, Option<String>)>,
    /// Where it is written.
    pub place: Location,
    /// Whether Defaults say so, and not the fleet itself.
    pub is_default: bool,
    /// The variables that the value came from.
    pub variables: Vec<Used>,
}

impl LoadedFleet {
    /// The spec as if everything had been written out, with the origin of every value. Without user
    /// data: its line says how long it is.
    pub fn effective(&self) -> Vec<EffectiveLine> {
        let mut writer = Writer { parts: self.places.parts(), lines: Vec::new() };
        if let Kind::Map(entries) = &self.document.kind {
            for entry in entries.iter().filter(|entry| entry.key != "variables") {
                writer.entry(&entry.key, &entry.value, "", "", &entry.key, false);
            }
        }
        writer.lines
    }
}

struct Writer<'a> {
    parts: &'a [Part],
    lines: Vec<EffectiveLine>,
}

impl Writer<'_> {
    /// `key: value`. `lead` stands before the key, `indent` before what follows.
    fn entry(
        &mut self,
        key: &str,
        node: &Node,
        lead: &str,
        indent: &str,
        path: &str,
        is_script: bool,
    ) {
        let is_script = is_script || key == "userData";
        let key = scalar(key, Style::Plain);
        match &node.kind {
            Kind::Scalar { text, .. } if is_script => {
                let about = format!("{lead}# {key}: {} bytes, never shown", text.len());
                self.line(about, node, Some((path.to_owned(), None)));
            }
            Kind::Scalar { text, style } => {
                let value = Some((path.to_owned(), Some(text.clone())));
                self.line(format!("{lead}{key}: {}", scalar(text, *style)), node, value);
            }
            Kind::Map(entries) if entries.is_empty() => {
                self.line(format!("{lead}{key}: {{}}"), node, None);
            }
            Kind::List(items) if items.is_empty() => {
                self.line(format!("{lead}{key}: []"), node, None);
            }
            Kind::Map(_) | Kind::List(_) => {
                self.line(format!("{lead}{key}:"), node, None);
                self.inside(node, &format!("{indent}  "), path, is_script);
            }
        }
    }

    /// What a mapping or a list holds.
    fn inside(&mut self, node: &Node, indent: &str, path: &str, is_script: bool) {
        match &node.kind {
            Kind::Map(entries) => {
                for entry in entries {
                    let path = format!("{path}.{}", entry.key);
                    self.entry(&entry.key, &entry.value, indent, indent, &path, is_script);
                }
            }
            Kind::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.item(item, indent, &format!("{path}[{at}]"), is_script);
                }
            }
            Kind::Scalar { .. } => {}
        }
    }

    fn item(&mut self, item: &Node, indent: &str, path: &str, is_script: bool) {
        match &item.kind {
            Kind::Scalar { text, style } => {
                let value = Some((path.to_owned(), Some(text.clone())));
                self.line(format!("{indent}- {}", scalar(text, *style)), item, value);
            }
            Kind::List(_) => {
                self.line(format!("{indent}-"), item, None);
                self.inside(item, &format!("{indent}  "), path, is_script);
            }
            Kind::Map(entries) => {
                let inner = format!("{indent}  ");
                for (at, entry) in entries.iter().enumerate() {
                    let lead = if at == 0 { format!("{indent}- ") } else { inner.clone() };
                    let path = format!("{path}.{}", entry.key);
                    self.entry(&entry.key, &entry.value, &lead, &inner, &path, is_script);
                }
            }
        }
    }

    fn line(&mut self, text: String, node: &Node, value: Option<(String, Option<String>)>) {
        let variables = node.given.as_ref().map(|given| given.used(self.parts));
        self.lines.push(EffectiveLine {
            text,
            value,
            place: location(self.parts, node.span),
            is_default: node.span.document != 0,
            variables: variables.unwrap_or_default(),
        });
    }
}

/// A scalar as YAML: plain where that is the same, otherwise in quotes.
fn scalar(text: &str, style: Style) -> String {
    let safe = |char: char| char.is_ascii_alphanumeric() || "-_./+%".contains(char);
    let edge = |char: char| char.is_ascii_alphanumeric() || char == '/' || char == '_';
    let nothing = matches!(text, "" | "null" | "Null" | "NULL" | "~");
    let plain = text.starts_with(edge) && text.chars().all(safe) && !nothing;
    match style {
        Style::Plain | Style::Variable if plain => text.to_owned(),
        // JSON's quotes are YAML's.
        Style::Plain | Style::Variable | Style::Quoted => serde_json::Value::from(text).to_string(),
    }
}
