//! Launches: one machine by `insert`, many by `bulkInsert`. Both answer with an operation, and
//! what went wrong is inside it.

use crate::gcp::answer::Answer;
use crate::gcp::fault::Faults;
use crate::gcp::market;
use crate::gcp::world::{
    BASE, Key, Vm, World, cpu_metric, disk_gb, has_address, last, timestamp, written,
};
use fleet_model::Cloud;
use fleet_provider::evidence::{self, Call};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Where and when.
pub(crate) struct Site<'a> {
    pub(crate) project: &'a str,
    pub(crate) now: Instant,
    pub(crate) faults: &'a mut Faults,
}

impl Site<'_> {
    /// When an operation that begins now is over.
    pub(crate) fn done_at(&self) -> Option<Instant> {
        (!self.faults.operations_hang).then(|| self.now + self.takes())
    }

    pub(crate) fn takes(&self) -> Duration {
        Duration::from_millis(self.faults.operation_ms)
    }
}

/// Why a machine was not made: a code and words.
type Cause = (String, String);

/// A cause that the table of evidence knows.
fn cause(code: &str, words: String) -> Cause {
    (evidence::row(Cloud::Gcp, Call::Launch, code, &words).code.to_owned(), words)
}

/// `POST zones/{zone}/instances`.
pub(crate) fn one(
    world: &mut World,
    site: &mut Site<'_>,
    zone: &str,
    body: &Value,
) -> Result<Key, Answer> {
    let name = body["name"].as_str().unwrap_or_default();
    check(zone, name, body)?;
    has_network(site.faults, body)?;
    let key = (site.project.to_owned(), zone.to_owned(), name.to_owned());
    let what = format!("projects/{}/zones/{zone}/instances/{name}", site.project);
    if world.machines.contains_key(&key) {
        let words = format!("The resource '{what}' already exists");
        return Err(Answer::error(Call::Launch, 409, "alreadyExists", words));
    }
    let mut operation =
        json!({ "operationType": "insert", "targetLink": format!("{BASE}/{what}") });
    match make(world, site, &key, body) {
        Ok(id) => operation["targetId"] = json!(id),
        Err(cause) => fail(&mut operation, &[cause]),
    }
    if let Some(vm) = world.machines.get(&key) {
        operation["targetId"] = vm.body["id"].clone();
    }
    Ok(world.operate(site.project, &format!("zones/{zone}"), operation, site.done_at()))
}

/// `POST …/instances/bulkInsert`, in one zone or in any of several.
pub(crate) fn many(
    world: &mut World,
    site: &mut Site<'_>,
    scope: &str,
    zones: &[String],
    body: &Value,
) -> Result<Key, Answer> {
    let wrong = |words: &str| Err(Answer::invalid(words));
    let Some(count) = number(&body["count"]).filter(|count| (1..=1000).contains(count)) else {
        return wrong("Invalid value for field 'resource.count'");
    };
    let least = number(&body["minCount"]).unwrap_or(count);
    let Some(names) = body["perInstanceProperties"].as_object() else {
        return wrong("Invalid value for field 'resource.perInstanceProperties'");
    };
    if names.len() as u64 != count || least > count {
        return wrong("The count does not match the number of names");
    }
    let Some(zones) = allowed(body, zones) else {
        return wrong("Invalid value for field 'resource.locationPolicy.zones'");
    };
    let Some(first) = zones.first() else { return wrong("No zone is allowed") };
    let shapes = shapes(body);
    if shapes.is_empty() {
        return wrong("Invalid value for field 'resource.instanceFlexibilityPolicy'");
    }
    for shape in &shapes {
        for name in names.keys() {
            check(first, name, shape)?;
        }
        has_network(site.faults, shape)?;
    }
    if site.faults.full_is_refused {
        let full = |zone: &String, shape: &Value| {
            let kind = last(shape["machineType"].as_str().unwrap_or_default());
            site.faults.room.get(&format!("{zone}/{kind}")) == Some(&0)
        };
        if shapes.iter().all(|shape| zones.iter().all(|zone| full(zone, shape))) {
            let words = "Zone does not currently have sufficient capacity for the requested \
                         resources.";
            return Err(Answer::error(Call::Launch, 503, "insufficientCapacity", words));
        }
    }
    // Types in the order of their rank, and each in every zone, before the next type.
    let pairs: Vec<(&Value, &String)> =
        shapes.iter().flat_map(|shape| zones.iter().map(move |zone| (shape, zone))).collect();
    let group = format!("{}", world.new_id());
    let begun = Timestamp::now();
    let mut made: Vec<Key> = Vec::new();
    let mut causes: Vec<Cause> = Vec::new();
    for name in names.keys() {
        let mut causes_here = Vec::new();
        for &(shape, zone) in &pairs {
            let key = (site.project.to_owned(), zone.clone(), name.clone());
            let link = format!("{BASE}/projects/{}/zones/{zone}/instances/{name}", site.project);
            let mut operation = json!({
                "operationType": "insert",
                "operationGroupId": group,
                "targetLink": link,
                "insertTime": written(begun),
            });
            let outcome = if world.machines.contains_key(&key) {
                Err(cause("RESOURCE_ALREADY_EXISTS", format!("{name} already exists")))
            } else {
                make(world, site, &key, shape)
            };
            let is_made = outcome.is_ok();
            match outcome {
                Ok(id) => operation["targetId"] = json!(id),
                Err(cause) => {
                    if let Some(vm) = world.machines.get(&key).filter(|vm| vm.doomed) {
                        operation["targetId"] = vm.body["id"].clone();
                    }
                    fail(&mut operation, std::slice::from_ref(&cause));
                    causes_here.push(cause);
                }
            }
            world.operate(site.project, &format!("zones/{zone}"), operation, site.done_at());
            if is_made {
                made.push(key);
                causes_here.clear();
                break;
            }
        }
        causes.extend(causes_here);
    }
    let mut operation = json!({
        "operationType": "bulkInsert",
        "operationGroupId": group,
        "insertTime": written(begun + site.faults.launch_is_dated_late),
    });
    let kept = made.len() as u64 >= least;
    if !kept {
        for key in &made {
            world.disks.remove(key);
            world.machines.remove(key);
        }
        let words = format!("Requested minimum count of {least} VMs could not be created.");
        let mut all = vec![cause("VM_MIN_COUNT_NOT_REACHED", words)];
        causes.dedup();
        all.extend(causes);
        fail(&mut operation, &all);
        made.clear();
    }
    let mut status = serde_json::Map::new();
    for zone in &zones {
        let here = made.iter().filter(|key| key.1 == *zone).count() as u64;
        let failed = if zone == first { count - made.len() as u64 } else { 0 };
        status.insert(
            format!("zones/{zone}"),
            json!({
                "status": "DONE",
                "targetVmCount": here + failed,
                "createdVmCount": here,
                "failedToCreateVmCount": failed,
                "deletedVmCount": 0,
            }),
        );
    }
    operation["instancesBulkInsertOperationMetadata"] = json!({ "perLocationStatus": status });
    Ok(world.operate(site.project, scope, operation, site.done_at()))
}

/// The zones of a region that a request allows; `None`: one of them is none of the region's.
fn allowed(body: &Value, zones: &[String]) -> Option<Vec<String>> {
    let Some(named) = body["locationPolicy"]["zones"].as_array() else {
        return Some(zones.to_vec());
    };
    let one = |named: &Value| {
        let name = last(named["zone"].as_str()?).to_owned();
        zones.contains(&name).then_some(name)
    };
    named.iter().map(one).collect()
}

/// What a machine may be, the first choice first.
fn shapes(body: &Value) -> Vec<Value> {
    let properties = &body["instanceProperties"];
    let Some(selections) = body["instanceFlexibilityPolicy"]["instanceSelections"].as_object()
    else {
        return vec![properties.clone()];
    };
    let mut ranked: Vec<(u64, &Value)> = selections
        .values()
        .map(|selection| (number(&selection["rank"]).unwrap_or_default(), selection))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let types = ranked.into_iter().filter_map(|(_, one)| one["machineTypes"].as_array()).flatten();
    types
        .map(|kind| {
            let mut shape = properties.clone();
            shape["machineType"] = kind.clone();
            shape
        })
        .collect()
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn fail(operation: &mut Value, causes: &[Cause]) {
    let error = |(code, message): &Cause| {
        let mut error = json!({ "code": code, "message": message });
        if code.starts_with("ZONE_RESOURCE_POOL_EXHAUSTED") {
            error["errorDetails"] = json!([{ "errorInfo": {
                "reason": "resource_availability",
                "domain": "compute.googleapis.com",
                "metadatas": { "attachment": "", "zonesAvailable": "" },
            } }]);
        }
        error
    };
    let errors: Vec<Value> = causes.iter().map(error).collect();
    let status = if causes.iter().any(|(code, _)| code == "QUOTA_EXCEEDED") { 403 } else { 503 };
    operation["error"] = json!({ "errors": errors });
    operation["httpErrorStatusCode"] = json!(status);
    operation["httpErrorMessage"] = json!("SERVICE UNAVAILABLE");
}

/// Organisations may forbid the network that Google gives to every new project.
fn has_network(faults: &Faults, body: &Value) -> Result<(), Answer> {
    let named = body["networkInterfaces"][0]["network"].as_str().unwrap_or_default();
    if !faults.no_network || last(named) != "default" {
        return Ok(());
    }
    Err(Answer::invalid(format!(
        "Invalid value for field 'resource.networkInterfaces[0].network': '{named}'. The \
         referenced network resource cannot be found."
    )))
}

/// What Google refuses outright.
fn check(zone: &str, name: &str, body: &Value) -> Result<(), Answer> {
    let field = |field: &str, value: &str| {
        Err(Answer::invalid(format!("Invalid value for field 'resource.{field}': '{value}'.")))
    };
    let letters = |text: &str, more: &str| {
        text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c))
    };
    let starts = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts(name) || name.len() > 63 || name.ends_with('-') || !letters(name, "-") {
        return field("name", name);
    }
    let kind = last(body["machineType"].as_str().unwrap_or_default());
    if market::region_of(zone).is_none() || !market::is_type(kind) {
        let words = format!(
            "Invalid value for field 'resource.machineType': '{kind}'. The referenced resource \
             does not exist."
        );
        return Err(Answer::invalid(words));
    }
    let labels = body["labels"].as_object().cloned().unwrap_or_default();
    let label = |(key, value): (&String, &Value)| {
        let value = value.as_str().unwrap_or("?");
        starts(key)
            && key.len() <= 63
            && value.len() <= 63
            && letters(key, "-_")
            && letters(value, "-_")
    };
    if labels.len() > 64 || !labels.iter().all(label) {
        return field("labels", "");
    }
    if body["networkInterfaces"].as_array().is_none_or(Vec::is_empty) {
        return field("networkInterfaces", "");
    }
    let boot = body["disks"].as_array().and_then(|disks| disks.first()).cloned();
    let image = boot.as_ref().and_then(|boot| boot["initializeParams"]["sourceImage"].as_str());
    let Some(image) = image else { return field("disks[0].initializeParams.sourceImage", "") };
    let parts: Vec<&str> = image.split('/').rev().collect();
    let [name, "images", "global", project, ..] = parts[..] else {
        return field("disks[0].initializeParams.sourceImage", image);
    };
    if market::image(BASE, project, name, false).is_none() {
        return Err(Answer::not_found(&format!("projects/{project}/global/images/{name}")));
    }
    let scheduling = &body["scheduling"];
    let attached = body["guestAccelerators"].as_array().cloned().unwrap_or_default();
    let unknown = |one: &Value| {
        let name = last(one["acceleratorType"].as_str().unwrap_or_default());
        !market::is_attachable(name) || !kind.starts_with("n1-")
    };
    if attached.iter().any(unknown) {
        return field("guestAccelerators[0].acceleratorType", "");
    }
    let accelerated = !attached.is_empty() || market::built_in(kind).is_some();
    if accelerated && scheduling["onHostMaintenance"] != "TERMINATE" {
        let words = "Instances with guest accelerators do not support live migration.";
        return Err(Answer::invalid(words));
    }
    let model = scheduling["provisioningModel"].as_str().unwrap_or("STANDARD");
    let bound = model == "RESERVATION_BOUND";
    if model != "STANDARD" && !bound && scheduling["automaticRestart"] != false {
        let words = "Automatic restart is not allowed for this provisioning model.";
        return Err(Answer::invalid(words));
    }
    let reserved = body["reservationAffinity"]["consumeReservationType"] == "SPECIFIC_RESERVATION";
    if model == "STANDARD" && market::never_on_demand(kind) && !reserved {
        let words = format!("Machine type '{kind}' cannot be created on demand.");
        return Err(Answer::invalid(words));
    }
    if reserved && market::is_bound(kind) && model != "RESERVATION_BOUND" {
        let words = format!("Machine type '{kind}' needs provisioning model RESERVATION_BOUND.");
        return Err(Answer::invalid(words));
    }
    let disk = boot.as_ref().and_then(|boot| boot["initializeParams"]["diskType"].as_str());
    if market::is_bound(kind) && disk.map(last) != Some("hyperdisk-balanced") {
        let words = format!("[{kind}] features and [disk type] are not compatible for creating.");
        return Err(Answer::invalid(words));
    }
    if model == "FLEX_START" && scheduling["maxRunDuration"].is_null() {
        return Err(Answer::invalid("Flex-start machines need a maximum run duration."));
    }
    Ok(())
}

/// Makes a machine and its disk, if there is room for it. Its number, or why not.
fn make(world: &mut World, site: &mut Site<'_>, key: &Key, asked: &Value) -> Result<String, Cause> {
    let (project, zone, name) = key;
    let kind = last(asked["machineType"].as_str().unwrap_or_default()).to_owned();
    if let Some(code) = &site.faults.launch_error {
        return Err((code.clone(), format!("{code} in {zone}")));
    }
    let is_spot = asked["scheduling"]["provisioningModel"] == "SPOT";
    let region = market::region_of(zone).unwrap_or_default();
    let (metric, vcpus) = (cpu_metric(&kind, is_spot), market::vcpus(&kind));
    let limit = market::limit(metric);
    if world.used(project, region, metric) + f64::from(vcpus) > limit {
        let words = format!("Quota '{metric}' exceeded. Limit: {limit:.1} in region {region}.");
        return Err(cause("QUOTA_EXCEEDED", words));
    }
    lower_limits(world, site, project, region, asked)?;
    let (mut doomed, mut no_room) = (false, None);
    if let Some(room) = site.faults.room.get_mut(&format!("{zone}/{kind}")) {
        if *room == 0 {
            let words = format!(
                "The zone 'projects/{project}/zones/{zone}' does not have enough resources \
                 available to fulfill the request. Try a different zone, or try again later."
            );
            doomed = true;
            no_room = Some(cause("ZONE_RESOURCE_POOL_EXHAUSTED", words));
        } else {
            *room -= 1;
        }
    }
    if let Some(cause) = no_room.take_if(|_| !site.faults.listed_while_made) {
        return Err(cause);
    }
    let (id, disk_id) = (world.new_id().to_string(), world.new_id().to_string());
    let at = format!("{BASE}/projects/{project}/zones/{zone}");
    let source = format!("{at}/disks/{name}");
    let given = &asked["disks"][0];
    let mut body = asked.clone();
    body["kind"] = json!("compute#instance");
    body["id"] = json!(id);
    body["name"] = json!(name);
    body["creationTimestamp"] = json!(timestamp());
    body["zone"] = json!(at);
    body["selfLink"] = json!(format!("{at}/instances/{name}"));
    body["machineType"] = json!(format!("{at}/machineTypes/{kind}"));
    body["cpuPlatform"] = json!("Intel Cascade Lake");
    body["fingerprint"] = json!("Zm9vYmFyYmF6cXV4");
    body["labelFingerprint"] = json!("Zm9vYmFyYmF6cXV4");
    body["disks"] = json!([{
        "kind": "compute#attachedDisk",
        "type": "PERSISTENT",
        "mode": "READ_WRITE",
        "source": source,
        "deviceName": "persistent-disk-0",
        "index": 0,
        "boot": true,
        "autoDelete": given["autoDelete"] == true,
        "interface": "SCSI",
        "diskSizeGb": size(given),
    }]);
    if let Some((accelerator, count)) = market::built_in(&kind) {
        let link = format!("{at}/acceleratorTypes/{accelerator}");
        body["guestAccelerators"] = json!([{ "acceleratorType": link, "acceleratorCount": count }]);
    } else if let Some(attached) = body.get_mut("guestAccelerators").and_then(Value::as_array_mut) {
        for one in attached {
            let short = last(one["acceleratorType"].as_str().unwrap_or_default()).to_owned();
            one["acceleratorType"] = json!(format!("{at}/acceleratorTypes/{short}"));
        }
    }
    if let Some(nic) = body.get_mut("networkInterfaces").and_then(|nics| nics.get_mut(0)) {
        nic["kind"] = json!("compute#networkInterface");
        nic["name"] = json!("nic0");
        nic["networkIP"] = json!("10.128.0.2");
    }
    let disk = json!({
        "kind": "compute#disk",
        "id": disk_id,
        "name": name,
        "zone": at,
        "status": "READY",
        "selfLink": source,
        "sizeGb": size(given),
        "labels": given["initializeParams"]["labels"].as_object().cloned().unwrap_or_default(),
        "users": [format!("{at}/instances/{name}")],
    });
    world.disks.insert(key.clone(), disk);
    let runs_from = site.done_at().unwrap_or(site.now + Duration::from_secs(86_400));
    let auto = given["autoDelete"] == true;
    let vm = Vm {
        body,
        listed_from: site.now + Duration::from_millis(site.faults.hidden_ms),
        runs_from,
        gone_at: doomed.then(|| site.now + site.takes()),
        expires_at: lifetime(asked).map(|seconds| site.now + Duration::from_secs(seconds)),
        doomed,
        stopped: false,
        vcpus,
        is_spot,
        disks: if auto { vec![name.clone()] } else { Vec::new() },
    };
    world.machines.insert(key.clone(), vm);
    match no_room {
        Some((code, words)) => Err((code, words)),
        None => Ok(id),
    }
}

/// How long a machine may run, in seconds.
fn lifetime(asked: &Value) -> Option<u64> {
    number(&asked["scheduling"]["maxRunDuration"]["seconds"])
}

/// Limits of young projects, where a test sets them.
fn lower_limits(
    world: &World,
    site: &Site<'_>,
    project: &str,
    region: &str,
    asked: &Value,
) -> Result<(), Cause> {
    for (name, limit) in &site.faults.limits {
        let (used, more) = match name.as_str() {
            "CPUS_ALL_REGIONS" => {
                let ours = world.machines.iter().filter(|(key, _)| key.0 == *project);
                let used = ours.map(|(_, vm)| f64::from(vm.vcpus)).sum();
                (used, market::vcpus(last(asked["machineType"].as_str().unwrap_or_default())))
            }
            "IN_USE_ADDRESSES" => {
                (world.used(project, region, name), u32::from(has_address(asked)))
            }
            "SSD_TOTAL_GB" => (world.used(project, region, name), disk_gb(asked)),
            _ => continue,
        };
        if used + f64::from(more) > f64::from(*limit) {
            let place = match name.as_str() {
                "CPUS_ALL_REGIONS" => "globally".to_owned(),
                _ => format!("in region {region}"),
            };
            let words = format!("Quota '{name}' exceeded.  Limit: {limit}.0 {place}.");
            return Err(cause("QUOTA_EXCEEDED", words));
        }
    }
    Ok(())
}

fn size(disk: &Value) -> String {
    number(&disk["initializeParams"]["diskSizeGb"]).unwrap_or(10).to_string()
}
