//! The JSON Schema of the language, for editors and other programs.

use crate::wire;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The JSON Schema (draft 2020-12) of `fleet/v1`: one document, a Fleet, Defaults or a Policy.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.transforms.push(Box::new(Strict)))
        .into_generator();
    let fleet = wire::Fleet::schema_name();
    let policy = wire::Policy::schema_name();
    generator.subschema_for::<wire::Fleet>();
    let defaults = wire::Defaults::schema_name();
    generator.subschema_for::<wire::Defaults>();
    generator.subschema_for::<wire::Policy>();
    let mut definitions = generator.take_definitions(true);
    relax(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fleet/v1",
        "description": "A fleet, Defaults or a policy. A file may hold several documents.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": { "kind": { "enum": [fleet, defaults, policy] } },
        // By kind and not by `oneOf`: editors then tell what is wrong inside a fleet.
        "if": { "properties": { "kind": { "const": policy } } },
        "then": { "$ref": format!("#/$defs/{policy}") },
        "else": {
            "if": { "properties": { "kind": { "const": defaults } } },
            "then": { "$ref": format!("#/$defs/{defaults}") },
            "else": { "$ref": format!("#/$defs/{fleet}") },
        },
        "$defs": definitions,
    })
}

/// Gives Defaults a spec of their own, in which nothing is required that a fleet can add: it is the
/// spec of a fleet otherwise. Items of lists are replaced whole, so theirs stay required.
fn relax(definitions: &mut serde_json::Map<String, Value>) {
    for (name, relaxed) in
        [("FleetSpec", wire::DEFAULTS_SPEC), ("Capacity", wire::DEFAULTS_CAPACITY)]
    {
        let mut definition = definitions.get(name).cloned().unwrap_or_default();
        if let Some(fields) = definition.as_object_mut() {
            fields.remove("required");
            let about = fields["description"].as_str().unwrap_or_default();
            let about = format!("{about} In Defaults, every field is optional.");
            fields.insert("description".into(), about.into());
        }
        definitions.insert(relaxed.into(), definition);
    }
    let reference = |name: &str| Value::from(format!("#/$defs/{name}"));
    definitions["Defaults"]["properties"]["spec"]["$ref"] = reference(wire::DEFAULTS_SPEC);
    definitions[wire::DEFAULTS_SPEC]["properties"]["capacity"]["$ref"] =
        reference(wire::DEFAULTS_CAPACITY);
}

/// A field may be absent; it may not be null. See `Object::get` in the reader for the reason. A list
/// is never empty: no reader could tell "nothing" from "anything".
#[derive(Clone)]
struct Strict;

impl Transform for Strict {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(fields) = schema.as_object_mut() else {
            return;
        };
        if let Some(Value::Array(types)) = fields.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                fields.insert("type".into(), only);
            }
        }
        if fields.get("type").is_some_and(|kind| kind == "array") {
            fields.insert("minItems".into(), 1.into());
            fields.insert("maxItems".into(), crate::scalar::MAX_ITEMS.into());
        }
        if let Some(Value::Array(values)) = fields.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        let Some(Value::Array(options)) = fields.get_mut("anyOf") else {
            return;
        };
        options.retain(|option| *option != json!({ "type": "null" }));
        if let [Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            for (name, value) in only {
                fields.entry(name).or_insert(value);
            }
        }
    }
}
