//! The JSON Schema and the reader agree, field by field, in both directions.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A step from a value to one in it.
#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

/// A mapping somewhere in the language: where, and which fields the schema gives it.
struct Place {
    path: Vec<Step>,
    fields: BTreeSet<String>,
    /// From cloud to value; the reader tells of it in other words.
    per_cloud: bool,
    /// Fields that must be there.
    required: BTreeSet<String>,
}

/// Every mapping with known fields, from the top.
fn places(schema: &Value) -> Vec<(&'static str, Place)> {
    let mut found = Vec::new();
    for kind in ["Fleet", "Defaults", "Policy"] {
        let mut places = Vec::new();
        walk(schema, &schema["$defs"][kind], Vec::new(), &mut places);
        found.extend(places.into_iter().map(|place| (kind, place)));
    }
    found
}

fn walk(root: &Value, schema: &Value, path: Vec<Step>, out: &mut Vec<Place>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return walk(root, &root["$defs"][name], path, out);
    }
    for option in schema["anyOf"].as_array().into_iter().flatten() {
        walk(root, option, path.clone(), out);
    }
    if schema["items"].is_object() {
        let path = path.iter().cloned().chain([Step::Item]).collect();
        walk(root, &schema["items"], path, out);
    }
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let fields: BTreeSet<String> = properties.keys().cloned().collect();
    let per_cloud = fields.contains("aws");
    let names = |list: &Value| -> BTreeSet<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let required = names(&schema["required"]);
    out.push(Place { path: path.clone(), fields, per_cloud, required });
    for (name, inner) in properties {
        let path = path.iter().cloned().chain([Step::Field(name.clone())]).collect();
        walk(root, inner, path, out);
    }
}

/// A document with a value at a path, and the path in words.
fn document(kind: &str, path: &[Step], value: Value) -> (String, String) {
    let mut words = String::new();
    let mut inner = value;
    for step in path.iter().rev() {
        inner = match step {
            Step::Field(name) => Value::Object(Map::from_iter([(name.clone(), inner)])),
            Step::Item => json!([inner]),
        };
    }
    for step in path {
        match step {
            Step::Field(name) if words.is_empty() => words = name.clone(),
            Step::Field(name) => words = format!("{words}.{name}"),
            Step::Item => words += "[0]",
        }
    }
    let mut document = json!({ "apiVersion": "fleet/v1", "kind": kind });
    for (name, value) in inner.as_object().expect("a mapping") {
        document[name] = value.clone();
    }
    (document.to_string(), words)
}

#[test]
fn the_reader_knows_exactly_the_fields_of_the_schema() {
    let schema = fleet_spec::schema();
    let places = places(&schema);
    assert!(places.len() > 30, "{}", places.len());
    for (kind, place) in places {
        // Fields of disks and the like are told apart from clouds by their names.
        let value = match place.per_cloud {
            true => json!({ "aws": {}, "qqqqqqqq": {} }),
            false => json!({ "qqqqqqqq": 1 }),
        };
        let (text, words) = document(kind, &place.path, value);
        let errors = fleet_spec::load_str("a.yaml", &text).expect_err(&text);
        let unknown = match words.as_str() {
            "" => "qqqqqqqq".into(),
            words => format!("{words}.qqqqqqqq"),
        };
        let hint = errors.errors().find(|one| one.path == unknown).and_then(|one| one.hint.clone());
        let hint = hint.unwrap_or_else(|| panic!("{unknown} is not refused: {errors}"));
        let (_, list) = hint.split_once(": ").expect("a list of fields");
        let known: BTreeSet<String> = list.split(", ").map(str::to_owned).collect();
        assert_eq!(known, place.fields, "{unknown}");
    }
}

#[test]
fn the_reader_looks_at_every_field_of_the_schema() {
    let schema = fleet_spec::schema();
    for (kind, place) in places(&schema) {
        for field in &place.fields {
            let path: Vec<Step> =
                place.path.iter().cloned().chain([Step::Field(field.clone())]).collect();
            if matches!(&path[..], [Step::Field(name)] if name == "kind") {
                continue;
            }
            // No field accepts this, so a field without an error is one that nobody reads.
            let (text, words) = document(kind, &path, json!({ "qqqqqqqq": { "qqqqqqqq": {} } }));
            let errors = fleet_spec::load_str("a.yaml", &text).expect_err(&text);
            let told = |one: &&fleet_spec::Diagnostic| one.path.starts_with(&words);
            let one = errors.errors().find(told);
            let one = one.unwrap_or_else(|| panic!("{words} is not read: {errors}"));
            assert!(!(one.path == words && one.message.contains("unknown field")), "{words}");
        }
    }
}

#[test]
fn required_fields_are_required() {
    let schema = fleet_spec::schema();
    for (kind, place) in places(&schema) {
        let (text, words) = document(kind, &place.path, json!({}));
        let errors = fleet_spec::load_str("a.yaml", &text);
        let messages = errors.err().map(|errors| errors.to_string()).unwrap_or_default();
        for field in place.fields.iter().filter(|_| !words.is_empty() && !place.per_cloud) {
            let must = place.required.contains(field);
            let told = messages.contains(&format!("`{field}` is missing in `{words}`"));
            assert_eq!(told, must, "{words}.{field}: {messages}");
        }
    }
}

#[test]
fn everything_is_described() {
    fn described(path: &str, schema: &Value) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let about = field["description"].as_str().unwrap_or_default();
            assert!(about.len() > 5, "{path}.{name} is not described: {field}");
        }
    }
    let schema = fleet_spec::schema();
    let definitions = schema["$defs"].as_object().expect("definitions");
    for (name, definition) in definitions {
        assert!(definition["description"].is_string(), "{name}");
        assert_eq!(definition["additionalProperties"], false, "{name}");
        described(name, definition);
    }
    let text = schema.to_string();
    assert!(!text.contains("\"null\"") && !text.contains(":null"), "{schema:#}");
    let page = fleet_spec::reference_markdown();
    for (name, definition) in definitions {
        assert!(page.contains(&format!("\n## {name}\n")), "{name}");
        for field in definition["properties"].as_object().expect("fields").keys() {
            assert!(page.contains(&format!("| `{field}` |")), "{name}.{field}");
        }
    }
}
