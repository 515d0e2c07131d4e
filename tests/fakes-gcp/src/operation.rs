//! Operations: begun at once, over later, and only then is known what came of them.

use crate::answer::Answer;
use crate::filter;
use crate::world::{Key, Operation, World};
use serde_json::{Value, json};
use std::time::Instant;

/// An operation as it looks now. Errors and results are known when it has ended, not before.
pub(crate) fn shown(operation: &Operation, now: Instant) -> Value {
    let mut body = operation.body.clone();
    if operation.done_at.is_none_or(|at| at > now)
        && let Some(fields) = body.as_object_mut()
    {
        let later = ["endTime", "error", "httpErrorStatusCode", "httpErrorMessage"];
        for field in later {
            fields.remove(field);
        }
        fields.insert("status".into(), json!("RUNNING"));
        fields.insert("progress".into(), json!(0));
    }
    body
}

/// One operation.
pub(crate) fn get(world: &World, key: &Key, now: Instant) -> Answer {
    match world.operations.get(key) {
        Some(operation) => Answer::ok(shown(operation, now)),
        None => Answer::not_found(&format!("projects/{}/{}/operations/{}", key.0, key.1, key.2)),
    }
}

/// The operations of a zone or a region.
pub(crate) fn list(world: &World, project: &str, scope: &str, asked: &str, now: Instant) -> Answer {
    let Some(asked) = filter::read(asked) else {
        return Answer::invalid(format!("Invalid value for field 'filter': '{asked}'"));
    };
    let here = world.operations.iter().filter(|(key, _)| key.0 == project && key.1 == scope);
    let items: Vec<Value> = here
        .map(|(_, operation)| shown(operation, now))
        .filter(|body| filter::holds(&asked, body))
        .collect();
    Answer::ok(json!({
        "kind": "compute#operationList",
        "id": format!("projects/{project}/{scope}/operations"),
        "items": items,
    }))
}
