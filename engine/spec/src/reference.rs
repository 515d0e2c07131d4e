//! The reference page, from the JSON Schema.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The reference of `fleet/v1` as Markdown: every field, its type, whether it must be there.
pub fn reference_markdown() -> String {
    let schema = crate::schema();
    let empty = Map::new();
    let definitions = schema["$defs"].as_object().unwrap_or(&empty);
    let mut out = String::from(
        "# Spec reference: fleet/v1\n\n\
         Generated from the JSON Schema that `fleet schema` prints; do not edit.\n\n\
         A file holds one or more documents, each a Fleet, Defaults or a Policy. A *share* is written \
         `25%`; a *pattern* may hold `*` and `?`, and upper and lower case are alike; dollars \
         are per hour unless the field says per month, and a month has 730 hours.\n",
    );
    let mut told = BTreeSet::new();
    for name in ["Fleet", "Defaults", "Policy"] {
        section(name, definitions, &mut told, &mut out);
    }
    out
}

/// One type, then the types of its fields, each once.
fn section(
    name: &str,
    definitions: &Map<String, Value>,
    told: &mut BTreeSet<String>,
    out: &mut String,
) {
    let Some(definition) = definitions.get(name) else {
        return;
    };
    if !told.insert(name.to_owned()) {
        return;
    }
    let about = prose(definition);
    // Writing to a String cannot fail.
    let _ = write!(out, "\n## {name}\n\n{about}\n\n");
    out.push_str("| field | type | | meaning |\n|---|---|---|---|\n");
    let required = definition["required"].as_array().cloned().unwrap_or_default();
    let mut inner = Vec::new();
    let like = crate::wire::like(name);
    let fields = crate::wire::TYPES.iter().find(|(known, _)| *known == like);
    for field in fields.into_iter().flat_map(|(_, fields)| *fields) {
        let schema = &definition["properties"][field];
        let must = if required.iter().any(|name| name == field) { "required" } else { "" };
        let (shown, about) = (shape(schema), prose(schema).replace('|', "\\|"));
        let _ = writeln!(out, "| `{field}` | {shown} | {must} | {about} |");
        references(schema, &mut inner);
    }
    for name in inner {
        section(&name, definitions, told, out);
    }
}

fn prose(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A type in words.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let words = [&schema["enum"], &schema["anyOf"][0]["enum"]];
    if let Some(words) = words.into_iter().find_map(Value::as_array) {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    if schema["type"] == "array" {
        return format!("list of {}", shape(&schema["items"]));
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let options: Vec<String> = options.iter().map(shape).collect();
        return options.join(", or ");
    }
    if let Some(each) = schema["properties"].as_object().and_then(|fields| fields.values().next()) {
        return format!("mapping from cloud to {}", shape(each));
    }
    "value".into()
}

/// The types that a schema refers to, in order.
fn references(schema: &Value, out: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().and_then(|path| path.rsplit('/').next()) {
                    Some(name) if key == "$ref" => out.push(name.to_owned()),
                    _ => references(value, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
