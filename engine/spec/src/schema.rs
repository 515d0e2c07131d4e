//! The JSON Schema of the language, for editors and other programs.

use crate::wire;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The JSON Schema (draft 2020-12) of `fleet/v1`: one document, a Fleet or a Policy.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.transforms.push(Box::new(Strict)))
        .into_generator();
    let fleet = wire::Fleet::schema_name();
    let policy = wire::Policy::schema_name();
    generator.subschema_for::<wire::Fleet>();
    generator.subschema_for::<wire::Policy>();
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fleet/v1",
        "description": "A fleet or a policy. A file may hold several documents.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": { "kind": { "enum": [fleet, policy] } },
        // By kind and not by `oneOf`: editors then tell what is wrong inside a fleet.
        "if": { "properties": { "kind": { "const": policy } } },
        "then": { "$ref": format!("#/$defs/{policy}") },
        "else": { "$ref": format!("#/$defs/{fleet}") },
        "$defs": definitions,
    })
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
