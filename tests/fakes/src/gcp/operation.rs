//! Operations: begun at once, over later, and only then is known what came of them.

use crate::gcp::answer::Answer;
use crate::gcp::fault::Faults;
use crate::gcp::filter;
use crate::gcp::list::page;
use crate::gcp::world::{BASE, Key, Operation, World};
use fleet_testkit::Request;
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

/// The operations of a zone or a region, page by page.
pub(crate) fn list(
    world: &World,
    project: &str,
    scope: &str,
    request: &Request,
    faults: &Faults,
    now: Instant,
) -> Answer {
    let asked = request.query("filter").unwrap_or_default();
    let Some(asked) = filter::read(asked) else {
        return Answer::invalid(format!("Invalid value for field 'filter': '{asked}'"));
    };
    let here = world.operations.iter().filter(|(key, _)| key.0 == project && key.1 == scope);
    let mut items: Vec<Value> = here
        .map(|(_, operation)| shown(operation, now))
        .filter(|body| filter::holds(&asked, body))
        .collect();
    match request.query("orderBy").unwrap_or_default() {
        "" | "name" => {}
        "creationTimestamp desc" => items.sort_by_key(|body| {
            std::cmp::Reverse(body["insertTime"].as_str().unwrap_or_default().to_owned())
        }),
        other => return Answer::invalid(format!("Invalid value for field 'orderBy': '{other}'")),
    }
    let (items, next) = match page(&items, request, faults) {
        Ok(page) => page,
        Err(answer) => return answer,
    };
    let mut body = json!({
        "kind": "compute#operationList",
        "id": format!("projects/{project}/{scope}/operations"),
        "selfLink": format!("{BASE}/projects/{project}/{scope}/operations"),
    });
    if !items.is_empty() {
        body["items"] = json!(items);
    }
    if let Some(next) = next {
        body["nextPageToken"] = json!(next);
    }
    Answer::ok(body)
}
