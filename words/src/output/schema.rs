//! The JSON Schema of every document, made from its type.

use super::{
    Body, FORMAT_VERSION, Head, adopt, apply, catalog, compare, controller, cost, doctor, error,
    explain, history, other, plan, reach, rollout, simulate, status, sweep, validate,
};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A kind of document and what makes its schema.
type Entry = (&'static str, fn() -> Value);

/// Every document.
pub const ALL: [Entry; 42] = [
    entry::<plan::Plan>(),
    entry::<apply::Apply>(),
    entry::<apply::Destroy>(),
    entry::<apply::Reconcile>(),
    entry::<apply::Replace>(),
    entry::<apply::ReplaceCancel>(),
    entry::<status::Status>(),
    entry::<controller::Overview>(),
    entry::<controller::FleetDetail>(),
    entry::<controller::Machines>(),
    entry::<controller::Asked>(),
    entry::<controller::Health>(),
    entry::<controller::News>(),
    entry::<reach::Inventory>(),
    entry::<reach::Exec>(),
    entry::<explain::Explain>(),
    entry::<history::History>(),
    entry::<validate::Validate>(),
    entry::<sweep::Sweep>(),
    entry::<other::Unlock>(),
    entry::<other::Freeze>(),
    entry::<other::NewToken>(),
    entry::<rollout::Rollout>(),
    entry::<adopt::Rename>(),
    entry::<adopt::Release>(),
    entry::<adopt::Import>(),
    entry::<cost::CostReport>(),
    entry::<cost::CostReconcile>(),
    entry::<doctor::Doctor>(),
    entry::<catalog::CatalogImport>(),
    entry::<catalog::CatalogRefresh>(),
    entry::<catalog::CatalogList>(),
    entry::<catalog::CatalogShow>(),
    entry::<compare::Compare>(),
    entry::<compare::Benchmark>(),
    entry::<simulate::Simulate>(),
    entry::<other::SimDone>(),
    entry::<other::SimShow>(),
    entry::<cost::SimBill>(),
    entry::<cost::Anomalies>(),
    entry::<other::Init>(),
    entry::<error::ErrorReport>(),
];

const fn entry<B: Body>() -> Entry {
    (B::KIND, schema::<B>)
}

/// The names of all documents.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(kind, _)| *kind)
}

/// The JSON Schema (draft 2020-12) of one document.
fn schema<B: Body>() -> Value {
    // As it is written, not as it might be read: every key is there.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut body = settings.clone().into_generator().into_root_schema_for::<B>().to_value();
    let head = settings.into_generator().into_root_schema_for::<Head>().to_value();
    let mut keys = field(&head, "properties");
    keys.insert(
        "formatVersion".into(),
        described(&keys, "formatVersion", json!({ "const": FORMAT_VERSION })),
    );
    keys.insert("kind".into(), described(&keys, "kind", json!({ "const": B::KIND })));
    keys.insert("exitCode".into(), described(&keys, "exitCode", json!({ "enum": EXIT_CODES })));
    keys.extend(field(&body, "properties"));
    let mut required: Vec<Value> = list(&head, "required");
    required.extend(list(&body, "required"));
    if let Value::Object(body) = &mut body {
        let title = match B::COMMAND {
            "" => "fleet: a command that failed".to_owned(),
            command => format!("fleet {command} -o json"),
        };
        body.insert("title".into(), title.into());
        body.insert("properties".into(), Value::Object(keys));
        body.insert("required".into(), required.into());
    }
    seal(&mut body, false);
    body
}

/// Every exit code, as `fleet --help` lists them.
const EXIT_CODES: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 64];

fn field(schema: &Value, name: &str) -> Map<String, Value> {
    schema[name].as_object().cloned().unwrap_or_default()
}

fn list(schema: &Value, name: &str) -> Vec<Value> {
    schema[name].as_array().cloned().unwrap_or_default()
}

/// A narrower schema with the words of the type.
fn described(keys: &Map<String, Value>, name: &str, mut narrow: Value) -> Value {
    narrow["description"] = keys[name]["description"].clone();
    narrow
}

/// Allows no key that is not described. `open`: a part of an object whose other part stands beside it.
fn seal(schema: &mut Value, open: bool) {
    let Value::Object(fields) = schema else { return };
    let parts = ["oneOf", "anyOf", "allOf"];
    let composed =
        fields.contains_key("properties") && parts.iter().any(|part| fields.contains_key(*part));
    for part in parts {
        let branches = fields.get_mut(part).and_then(Value::as_array_mut);
        branches.into_iter().flatten().for_each(|branch| seal(branch, open || composed));
    }
    for group in ["properties", "$defs"] {
        let members = fields.get_mut(group).and_then(Value::as_object_mut);
        members.into_iter().flatten().for_each(|(_, member)| seal(member, false));
    }
    for single in ["items", "additionalProperties"] {
        fields.get_mut(single).into_iter().for_each(|member| seal(member, false));
    }
    if composed {
        fields.insert("unevaluatedProperties".into(), false.into());
    } else if fields.contains_key("properties") && !open {
        fields.insert("additionalProperties".into(), false.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls with every object that has keys: its path, and its keys.
    fn objects(path: &str, schema: &Value, see: &mut dyn FnMut(&str, &Map<String, Value>)) {
        match schema {
            Value::Object(fields) => {
                if let Some(Value::Object(keys)) = fields.get("properties") {
                    see(path, keys);
                }
                fields
                    .iter()
                    .for_each(|(name, inner)| objects(&format!("{path}/{name}"), inner, see));
            }
            Value::Array(items) => items.iter().for_each(|inner| objects(path, inner, see)),
            _ => {}
        }
    }

    #[test]
    fn every_key_of_every_document_is_described() {
        for (kind, schema) in ALL {
            let document = schema();
            objects(kind, &document, &mut |path, keys| {
                for (name, key) in keys.iter().filter(|(name, _)| *name != "is" && *name != "rule")
                {
                    assert!(key["description"].is_string(), "{path}: `{name}` says nothing");
                }
            });
        }
    }

    /// What is money says so, and in which currency.
    #[test]
    fn amounts_end_in_usd() {
        for (kind, schema) in ALL {
            objects(kind, &schema(), &mut |path, keys| {
                for name in keys.keys() {
                    let lower = name.to_lowercase().replace("unpriced", "");
                    let money =
                        ["hourly", "monthly", "price"].iter().any(|word| lower.contains(word));
                    assert!(!money || name.ends_with("Usd"), "{path}: `{name}`");
                }
            });
        }
    }

    #[test]
    fn names_are_used_once() {
        let mut names: Vec<_> = kinds().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
