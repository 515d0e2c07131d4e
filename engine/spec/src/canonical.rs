//! The fingerprint of a resolved spec.

use fleet_model::{Desired, Digest, digest};
use serde_json::Value;
use std::collections::BTreeMap;

/// The digest of what a spec means: the order of keys, comments and style do not count, and
/// neither do policies that change nothing.
pub(crate) fn digest_of(desired: &Desired) -> Digest {
    let mut value = serde_json::to_value(desired).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.remove("digest");
    }
    let mut text = String::new();
    write(&value, &mut text);
    digest("spec/1", [text.as_bytes()])
}

/// JSON with sorted keys. What is absent or empty is left out, so that a field added to the
/// language later leaves the digest of specs without it as it was.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, &Value> =
                fields.iter().filter(|(_, value)| !is_empty(value)).collect();
            out.push('{');
            for (name, value) in fields {
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
