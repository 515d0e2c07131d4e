//! Defaults under a fleet: mappings are merged key by key, everything else is replaced.

use crate::yaml::{Entry, Kind, Node};

/// Pairs of keys that say the same thing. Whoever writes one of them means it instead of the other,
/// and there would be no other way to take back what Defaults say.
const INSTEAD: [(&str, &str); 3] =
    [("userData", "userDataFile"), ("hourlyUsd", "monthlyUsd"), ("availability", "penalty")];

/// Lays a fleet over Defaults. `document` is what places in the Defaults are marked with.
pub(crate) fn lay(fleet: &mut Node, defaults: &Node, document: u16) {
    let Kind::Map(entries) = &mut fleet.kind else {
        return;
    };
    for key in ["variables", "spec"] {
        if let Some(entry) = defaults.get(key) {
            merge_entry(entries, entry, document);
        }
    }
    // The name of the Defaults is their own.
    let labels = defaults.get("metadata").and_then(|metadata| metadata.value.get("labels"));
    let metadata = entries.iter_mut().find(|entry| entry.key == "metadata");
    if let (Some(labels), Some(metadata)) = (labels, metadata)
        && let Kind::Map(entries) = &mut metadata.value.kind
    {
        merge_entry(entries, labels, document);
    }
}

fn merge_entry(entries: &mut Vec<Entry>, below: &Entry, document: u16) {
    if let Some(own) = entries.iter_mut().find(|own| own.key == below.key) {
        if let (Kind::Map(own), Kind::Map(below)) = (&mut own.value.kind, &below.value.kind) {
            // Before anything is added: what stands here is the fleet's.
            let replaced: Vec<&str> = own.iter().filter_map(|own| instead(&own.key)).collect();
            for entry in below.iter().filter(|entry| !replaced.contains(&entry.key.as_str())) {
                merge_entry(own, entry, document);
            }
        }
        return;
    }
    let mut added = below.clone();
    added.key_span.document = document;
    mark(&mut added.value, document);
    entries.push(added);
}

/// The key that another one stands in for.
fn instead(key: &str) -> Option<&'static str> {
    INSTEAD.iter().find_map(|(one, other)| match key {
        key if key == *one => Some(*other),
        key if key == *other => Some(*one),
        _ => None,
    })
}

/// Marks a value and all in it with the document it came from.
fn mark(node: &mut Node, document: u16) {
    node.span.document = document;
    match &mut node.kind {
        Kind::Scalar { .. } => {}
        Kind::List(items) => items.iter_mut().for_each(|item| mark(item, document)),
        Kind::Map(entries) => {
            for entry in entries {
                entry.key_span.document = document;
                mark(&mut entry.value, document);
            }
        }
    }
}
