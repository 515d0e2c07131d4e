//! Launching: one request, its operation waited for, and then a look at what there is.
//!
//! One machine is an `insert`; several are one `bulkInsert` with a minimum of one. A hundred
//! inserts would be a hundred requests of a rate that is counted per request, and half of them
//! might be lost; one request is either known or not.

use crate::error::{Asked, is_taken, of_operation, read, refused};
use crate::machines::{self, machine};
use crate::operations::{self, At, ended};
use crate::request::{Resolved, many, names, one};
use crate::session::Clients;
use crate::{labels, name};
use fleet_model::{Machine, Place, Zone};
use fleet_provider::{Class, Clock, CreateRequest, Created, Error};
use futures::future::join_all;
use google_cloud_compute_v1::model::{Instance, Operation};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Looks at single machines at once.
const LOOKS_AT_ONCE: usize = 10;

/// A pool that made fewer than it was asked for, and did not say why, is left alone for so long.
const UNEXPLAINED: Duration = Duration::from_secs(60);

/// Launches machines and reads what came of it.
pub(crate) async fn launch(
    clients: &Clients,
    asked: &CreateRequest<'_>,
    resolved: &Resolved<'_>,
    clock: &dyn Clock,
) -> Result<Created, Error> {
    let place = &asked.create.pool.place;
    let names = names(asked);
    let at = match place.zone.as_str() {
        _ if resolved.choice.is_some() => At::Region(place.region.as_str()),
        Zone::REGIONAL => At::Region(place.region.as_str()),
        zone => At::Zone(zone),
    };
    let (operation, error) = match send(clients, asked, resolved, at, &names).await {
        Ok(operation) => {
            let operation = ended(clients, at, operation, clock).await?;
            let error = of_operation(Asked::Launch, &operation);
            (Some(operation), error)
        }
        // Google has forgotten the request, and the machine is there: perhaps it is ours.
        Err(error) if is_taken(&error) => (None, Some(error)),
        Err(error) => return Err(error),
    };
    let parts = parts(clients, at, operation.as_ref()).await;
    let found = look(clients, asked, at, &names, operation.as_ref(), &parts);
    let (machines, strangers) = sort(asked, &names, found.await.map_err(unseen)?);
    if machines.len() == names.len() {
        return Ok(Created { machines, shortfall: None, refusals: Vec::new() });
    }
    let told = parts.iter().filter_map(|part| of_operation(Asked::Launch, part));
    let shortfall = match strangers.first() {
        Some(name) => {
            let words = format!("{name} exists and is not ours");
            refused(Class::Freeze, "RESOURCE_ALREADY_EXISTS", words)
        }
        // A name that was taken and is free again came and went: that is no reason.
        None => error.into_iter().chain(told).find(|error| !is_taken(error)).unwrap_or_else(|| {
            let words = "fewer machines are there than asked for, and Google does not say why";
            refused(Class::Retry { after: Some(UNEXPLAINED) }, "MadeFewer", words)
        }),
    };
    if machines.is_empty() {
        return Err(shortfall);
    }
    // Google looked for room in all of them before it made fewer.
    let asked_of = resolved.choice.as_ref().map(|choice| choice.pools(asked.create));
    let refusals = asked_of.into_iter().flatten().map(|pool| (pool, shortfall.clone())).collect();
    Ok(Created { machines, shortfall: Some(shortfall), refusals })
}

/// The launch was carried out and cannot be looked at: what came of it is not known.
fn unseen(error: Error) -> Error {
    Error { class: Class::Unknown, ..error }
}

async fn send(
    clients: &Clients,
    asked: &CreateRequest<'_>,
    resolved: &Resolved<'_>,
    at: At<'_>,
    names: &[String],
) -> Result<Operation, Error> {
    let id = name::request_id(asked.fleet, &asked.create.token);
    let project = &clients.project;
    let sent = match (at, names) {
        (At::Zone(zone), [name]) => {
            let body = one(asked, resolved, &Zone::from(zone), name);
            let call = clients.instances.insert().set_project(project).set_zone(zone);
            call.set_request_id(id).set_body(body).send().await
        }
        (At::Zone(zone), _) => {
            let call = clients.instances.bulk_insert().set_project(project).set_zone(zone);
            call.set_request_id(id).set_body(many(asked, resolved, names)).send().await
        }
        (At::Region(region), _) => {
            let call = clients.region_instances.bulk_insert();
            let call = call.set_project(project).set_region(region);
            call.set_request_id(id).set_body(many(asked, resolved, names)).send().await
        }
    };
    sent.map_err(|error| read(Asked::Launch, &error))
}

/// The operations of single machines in a bulk launch that went wrong in part: the launch itself
/// ends well, and each of them says what became of one. Without them, machines are looked at one
/// by one.
async fn parts(clients: &Clients, at: At<'_>, operation: Option<&Operation>) -> Vec<Operation> {
    let Some(operation) = operation else { return Vec::new() };
    let metadata = operation.instances_bulk_insert_operation_metadata.as_ref();
    let (Some(metadata), Some(group)) = (metadata, operation.operation_group_id.as_deref()) else {
        return Vec::new();
    };
    // Without a time nothing can be asked for; machines are then looked at one by one.
    let Some(since) = operations::inserted(operation) else { return Vec::new() };
    let failed = |count: Option<i32>| count.is_some_and(|count| count > 0);
    let mut parts = Vec::new();
    for (scope, here) in &metadata.per_location_status {
        // Failures count only machines that began; Google's own tools compare the totals.
        let fewer = here.target_vm_count != here.created_vm_count;
        if fewer || failed(here.failed_to_create_vm_count) || matches!(at, At::Region(_)) {
            let zone = machines::last(scope);
            match operations::of_group(clients, zone, group, since).await {
                Ok(some) => parts.extend(some),
                Err(error) => tracing::debug!(%error, "parts of a launch were not seen"),
            }
        }
    }
    parts
}

/// The machines of a launch that are there, in every zone that it may have chosen.
pub(crate) async fn made(
    clients: &Clients,
    asked: &CreateRequest<'_>,
) -> Result<Vec<Machine>, Error> {
    let names = names(asked);
    let places: BTreeSet<&Place> = asked.create.pools().map(|pool| &pool.place).collect();
    let mut found = Vec::new();
    for place in places {
        let at = match place.zone.as_str() {
            Zone::REGIONAL => At::Region(place.region.as_str()),
            zone => At::Zone(zone),
        };
        found.extend(look(clients, asked, at, &names, None, &[]).await?);
    }
    Ok(sort(asked, &names, found).0)
}

/// The machines of a launch that are there now. A list may not show a new machine yet; a look at
/// one by its name does.
async fn look(
    clients: &Clients,
    asked: &CreateRequest<'_>,
    at: At<'_>,
    names: &[String],
    operation: Option<&Operation>,
    parts: &[Operation],
) -> Result<Vec<Instance>, Error> {
    let mut found = Vec::new();
    let zone = match at {
        At::Zone(zone) => Some(zone),
        At::Region(_) => None,
    };
    if names.len() > 1 || zone.is_none() {
        let filter = labels::filter(&asked.create.token);
        found = machines::of_launch(clients, zone, &filter).await?;
    }
    let seen: BTreeSet<&str> = found.iter().filter_map(|one| one.name.as_deref()).collect();
    let (made, failed) = fates(parts);
    let known = |name: &str| seen.contains(name) || (failed.contains(name) && !made.contains(name));
    let missing = names.iter().filter(|name| !known(name));
    let zones = zones(zone, operation);
    let each: Vec<(&String, &String)> =
        missing.flat_map(|name| zones.iter().map(move |zone| (zone, name))).collect();
    for some in each.chunks(LOOKS_AT_ONCE) {
        let looks = some.iter().map(|(zone, name)| machines::get(clients, zone, name));
        for look in join_all(looks).await {
            found.extend(look?);
        }
    }
    Ok(found)
}

/// Names whose own operation says that they were made, and that they were not. A name that was
/// taken is neither: somebody has it.
fn fates(parts: &[Operation]) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut made, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for part in parts {
        let Some(name) = part.target_link.as_deref().map(machines::last) else { continue };
        match of_operation(Asked::Launch, part) {
            Some(error) if is_taken(&error) => {
                made.insert(name);
            }
            Some(_) => {
                failed.insert(name);
            }
            None => {
                made.insert(name);
            }
        }
    }
    (made, failed)
}

/// Where a launch may have made machines.
fn zones(zone: Option<&str>, operation: Option<&Operation>) -> Vec<String> {
    if let Some(zone) = zone {
        return vec![zone.to_owned()];
    }
    let metadata =
        operation.and_then(|operation| operation.instances_bulk_insert_operation_metadata.as_ref());
    let scopes = metadata.into_iter().flat_map(|metadata| metadata.per_location_status.keys());
    scopes.map(|scope| machines::last(scope).to_owned()).collect()
}

/// Which of the machines are ours, in the order of the slots, and the names of those that are not.
fn sort(
    asked: &CreateRequest<'_>,
    names: &[String],
    found: Vec<Instance>,
) -> (Vec<Machine>, Vec<String>) {
    let mut ours: BTreeMap<usize, Machine> = BTreeMap::new();
    let mut strangers = Vec::new();
    for instance in found {
        let name = instance.name.clone().unwrap_or_default();
        let Some(index) = names.iter().position(|other| *other == name) else { continue };
        let is_ours = |machine: &Machine| {
            let owner = machine.owner.as_ref();
            owner.is_some_and(|o| o.fleet == *asked.fleet && o.token == asked.create.token)
        };
        match machine(&instance).filter(is_ours) {
            Some(machine) => {
                ours.insert(index, machine);
            }
            None => strangers.push(name),
        }
    }
    (ours.into_values().collect(), strangers)
}
