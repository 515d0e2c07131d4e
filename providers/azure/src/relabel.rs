//! Labels of machines that run, by the tags that Resource Manager keeps beside every resource: a change
//! merges with what others put there, and does not touch the machine itself.

use crate::api::{Api, COMPUTE};
use crate::error::Asked;
use crate::names::{Group, MACHINES};
use crate::tags;
use crate::wire::Vm;
use fleet_model::MachineId;
use fleet_provider::{Error, RelabelRequest};
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeMap;

/// The version of the API of tags that answers when it is done.
const TAGS: &str = "2021-04-01";

/// Changes the tags of those machines that are there and of this fleet.
pub(crate) async fn relabel(
    api: &Api,
    request: &RelabelRequest<'_>,
) -> Result<Vec<MachineId>, Error> {
    let group = api.group()?;
    let mut done = Vec::new();
    for one in request.machines {
        if relabel_one(api, &group, request, &one.machine).await? {
            done.push(one.machine.clone());
        }
    }
    Ok(done)
}

async fn relabel_one(
    api: &Api,
    group: &Group,
    request: &RelabelRequest<'_>,
    id: &MachineId,
) -> Result<bool, Error> {
    let path = group.at(MACHINES, id.as_str());
    let Some(vm) = api.find::<Vm>(&path, COMPUTE).await? else { return Ok(false) };
    if tags::get(&vm, tags::UID) != Some(request.fleet.as_str()) {
        return Ok(false);
    }
    // First, so that there is room for what comes.
    patch(api, &path, "Delete", tags::to_remove(&vm, request)).await?;
    patch(api, &path, "Merge", tags::to_set(&vm, request)).await?;
    Ok(true)
}

/// Removes some tags (`Delete`), or adds and changes some (`Merge`).
pub(crate) async fn patch(
    api: &Api,
    machine: &str,
    operation: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Error> {
    if tags.is_empty() {
        return Ok(());
    }
    let path = format!("{machine}/providers/Microsoft.Resources/tags/default");
    let body = json!({ "operation": operation, "properties": { "tags": tags } });
    let query = [("api-version", TAGS)];
    let answer = api.send(Asked::Read, Method::PATCH, &path, &query, Some(&body)).await?;
    match answer.status {
        200 => Ok(()),
        _ => Err(answer.error(Asked::Read)),
    }
}
