//! Which call a path means.

use crate::gcp::answer::Answer;
use crate::gcp::fault::Faults;
use crate::gcp::insert::{self, Site};
use crate::gcp::list::{self, Noun};
use crate::gcp::market;
use crate::gcp::operation;
use crate::gcp::world::{BASE, Key, Seen, World, kind_of};
use fleet_provider::evidence::Call;
use fleet_testkit::Request;
use serde_json::{Value, json};
use std::time::Instant;

/// A call: what it is named for those who count, whether it changes anything, and its answer.
pub(crate) struct Called {
    pub(crate) name: &'static str,
    pub(crate) changes: bool,
    pub(crate) answer: Answer,
}

fn read(name: &'static str, answer: Answer) -> Called {
    Called { name, changes: false, answer }
}

/// Carries a request out.
pub(crate) fn call(
    world: &mut World,
    faults: &mut Faults,
    request: &Request,
    now: Instant,
) -> Called {
    let path = request.path.trim_start_matches('/');
    if let Some(rest) = path.strip_prefix("compute/v1/projects/") {
        let parts: Vec<&str> = rest.split('/').collect();
        let Some((project, rest)) = parts.split_first() else {
            return read("unknown", Answer::not_found(path));
        };
        return compute(world, faults, request, project, rest, now);
    }
    match (request.method.as_str(), path) {
        ("GET", "v1/services/6F81-5844-456A/skus") => {
            read("skus", Answer::ok(json!({ "skus": market::skus() })))
        }
        ("POST", path)
            if path.starts_with("v3/projects/") && path.ends_with(":testIamPermissions") =>
        {
            let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            // Everything is allowed but to act as somebody else.
            let all = asked["permissions"].as_array().cloned().unwrap_or_default();
            let granted: Vec<Value> =
                all.into_iter().filter(|name| name != "iam.serviceAccounts.actAs").collect();
            read("testIamPermissions", Answer::ok(json!({ "permissions": granted })))
        }
        _ => read("unknown", Answer::not_found(path)),
    }
}

fn compute(
    world: &mut World,
    faults: &mut Faults,
    request: &Request,
    project: &str,
    path: &[&str],
    now: Instant,
) -> Called {
    let at = format!("{BASE}/projects/{project}");
    let used =
        |world: &World, region: &str| market::quotas(|metric| world.used(project, region, metric));
    match (request.method.as_str(), path) {
        ("GET", []) => read(
            "projects.get",
            Answer::ok(json!({
                "kind": "compute#project",
                "id": "123456789012",
                "name": project,
                "selfLink": at,
                "quotas": [
                    { "metric": "GPUS_ALL_REGIONS", "limit": 64.0, "usage": 0.0 },
                    { "metric": "CPUS_ALL_REGIONS", "limit": 100_000.0, "usage": 0.0 },
                ],
            })),
        ),
        ("GET", ["regions"]) => {
            let all: Vec<Value> =
                market::regions().map(|r| region(&at, r, used(world, r))).collect();
            let id = format!("projects/{project}/regions");
            let body = json!({ "kind": "compute#regionList", "id": id, "items": all });
            read("regions.list", Answer::ok(body))
        }
        ("GET", ["regions", name]) => read(
            "regions.get",
            match market::regions().find(|other| other == name) {
                Some(name) => Answer::ok(region(&at, name, used(world, name))),
                None => Answer::not_found(&format!("projects/{project}/regions/{name}")),
            },
        ),
        ("POST", ["regions", _, "advice", "capacity"]) => {
            read("advice.capacity", advice(world, &at, request, faults))
        }
        ("POST", ["regions", _, "advice", "capacityHistory"]) => {
            read("advice.capacityHistory", history(&at, request, faults))
        }
        ("GET", ["global", "images", "family", family]) => {
            read("images.getFromFamily", image(project, family, true))
        }
        ("GET", ["global", "images", name]) => read("images.get", image(project, name, false)),
        ("GET", ["aggregated", noun]) => {
            let answer = match Noun::read(noun) {
                Some(noun) => list::aggregated(world, noun, project, request, faults, now),
                None => Answer::not_found(noun),
            };
            read("aggregatedList", answer)
        }
        ("POST", ["zones", zone, "instances"]) => {
            change("insert", world, faults, request, project, now, |world, site, body| {
                insert::one(world, site, zone, body)
            })
        }
        ("POST", ["zones", zone, "instances", "bulkInsert"]) => {
            change("bulkInsert", world, faults, request, project, now, |world, site, body| {
                let zones = [(*zone).to_owned()];
                insert::many(world, site, &format!("zones/{zone}"), &zones, body)
            })
        }
        ("POST", ["regions", region, "instances", "bulkInsert"]) => {
            change("bulkInsert", world, faults, request, project, now, |world, site, body| {
                let zones = market::zones(region);
                insert::many(world, site, &format!("regions/{region}"), &zones, body)
            })
        }
        ("DELETE", ["zones", zone, "instances", name]) => {
            change("delete", world, faults, request, project, now, |world, site, _| {
                world.delete(site.project, zone, name, site.now, site.takes())
            })
        }
        ("POST", ["zones", zone, "instances", name, "setLabels"]) => {
            change("setLabels", world, faults, request, project, now, |world, site, body| {
                if std::mem::take(&mut site.faults.labels_race) {
                    world.label(name, "somebody-elses", Some("yes"));
                }
                world.set_labels(site.project, zone, name, body, site.now)
            })
        }
        ("GET", ["zones", zone, "instances", name]) => read(
            "instances.get",
            match world.find(project, zone, name) {
                Some((_, vm)) => Answer::ok(vm.shown(now)),
                None => {
                    let what = format!("projects/{project}/zones/{zone}/instances/{name}");
                    Answer::not_found(&what)
                }
            },
        ),
        ("GET", ["zones", zone, "machineTypes", name]) => {
            let all = market::machine_types(&at, zone);
            let found = all.into_iter().find(|kind| kind["name"] == *name);
            let missing = || Answer::not_found(&format!("{zone}/machineTypes/{name}"));
            read("machineTypes.get", found.map_or_else(missing, Answer::ok))
        }
        ("GET", [kind @ ("zones" | "regions"), scope, "operations"]) => {
            let scope = format!("{kind}/{scope}");
            let answer = operation::list(world, project, &scope, request, faults, now);
            read("operations.list", answer)
        }
        ("GET", [kind @ ("zones" | "regions"), scope, "operations", name])
        | ("POST", [kind @ ("zones" | "regions"), scope, "operations", name, "wait"]) => {
            let key = (project.to_owned(), format!("{kind}/{scope}"), (*name).to_owned());
            read("operations.wait", operation::get(world, &key, now))
        }
        ("GET", ["zones", zone, noun]) => {
            let answer = match Noun::read(noun) {
                Some(noun) => list::zonal(world, noun, project, zone, request, faults, now),
                None => Answer::not_found(noun),
            };
            read("list", answer)
        }
        _ => read("unknown", Answer::not_found(&path.join("/"))),
    }
}

/// A change: once per request id, and an operation for an answer.
fn change(
    name: &'static str,
    world: &mut World,
    faults: &mut Faults,
    request: &Request,
    project: &str,
    now: Instant,
    deed: impl FnOnce(&mut World, &mut Site<'_>, &Value) -> Result<Key, Answer>,
) -> Called {
    let answer = |answer| Called { name, changes: true, answer };
    if let Some(refusal) = &faults.refuse {
        let words = if refusal.message.is_empty() { "Refused" } else { &refusal.message };
        let refused = Answer::unheard_of(refusal.status, &refusal.reason, words);
        return answer(refused.with_details(&refusal.details));
    }
    let body = if request.body.is_empty() {
        Value::Null
    } else {
        match serde_json::from_slice(&request.body) {
            Ok(body) => body,
            Err(_) => {
                return answer(Answer::error(Call::Launch, 400, "parseError", "Parse Error"));
            }
        }
    };
    let id = request.query("requestId").unwrap_or_default();
    let what = format!("{} {} {body}", request.method, request.path);
    let seen = (project.to_owned(), id.to_owned());
    if !id.is_empty() {
        if !is_uuid(id) {
            return answer(Answer::invalid("Invalid value for field 'requestId'"));
        }
        if faults.request_ids_forgotten {
            world.requests.clear();
        }
        if let Some(before) = world.requests.get(&seen) {
            if before.what != what {
                let words = "The request id was used for another request";
                return answer(Answer::invalid(words));
            }
            return answer(operation::get(world, &before.operation.clone(), now));
        }
    }
    let mut site = Site { project, now, faults };
    match deed(world, &mut site, &body) {
        Ok(operation) => {
            if !id.is_empty() {
                world.requests.insert(seen, Seen { what, operation: operation.clone() });
            }
            // Nothing is over at once.
            let mut first = operation::get(world, &operation, now);
            if let Some(fields) = first.body.as_object_mut() {
                for field in ["error", "endTime", "httpErrorStatusCode", "httpErrorMessage"] {
                    fields.remove(field);
                }
                fields.insert("status".into(), json!("RUNNING"));
                fields.insert("progress".into(), json!(0));
            }
            answer(first)
        }
        Err(refusal) => answer(refusal),
    }
}

fn is_uuid(text: &str) -> bool {
    let shape = |(at, c): (usize, char)| match at {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    };
    text.len() == 36
        && text.chars().enumerate().all(shape)
        && text.chars().any(|c| c != '0' && c != '-')
}

fn region(at: &str, name: &str, quotas: Vec<Value>) -> Value {
    let zones: Vec<String> =
        market::zones(name).iter().map(|zone| format!("{at}/zones/{zone}")).collect();
    json!({
        "kind": "compute#region",
        "id": "1000",
        "name": name,
        "status": "UP",
        "zones": zones,
        "quotas": quotas,
        "selfLink": format!("{at}/regions/{name}"),
    })
}

fn image(project: &str, name: &str, by_family: bool) -> Answer {
    let missing = || Answer::not_found(&format!("projects/{project}/global/images/{name}"));
    market::image(BASE, project, name, by_family).map_or_else(missing, Answer::ok)
}

/// How likely spot machines are: all of one type in one zone, and less so where there is no room.
fn advice(world: &mut World, at: &str, request: &Request, faults: &Faults) -> Answer {
    if faults.no_advice {
        let words = "Required 'compute.advice.capacity' permission";
        return Answer::error(Call::Any, 403, "forbidden", words);
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return Answer::error(Call::Launch, 400, "parseError", "Parse Error");
    };
    let selections = &body["instanceFlexibilityPolicy"]["instanceSelections"];
    let types = selections.as_object().into_iter().flat_map(|all| all.values());
    let types = types.flat_map(|one| one["machineTypes"].as_array().cloned().unwrap_or_default());
    let Some(kind) = types.filter_map(|kind| kind.as_str().map(str::to_owned)).next() else {
        return Answer::invalid("No machine type is named");
    };
    if !market::is_type(&kind) {
        return Answer::invalid(format!("There is no machine type {kind}"));
    }
    let wanted = body["size"].as_u64().unwrap_or(1);
    world.advised.insert((market::vcpus(&kind), wanted));
    let zones = body["distributionPolicy"]["zones"].as_array().cloned().unwrap_or_default();
    let zone = zones.first().and_then(|zone| zone["zone"].as_str()).unwrap_or_default();
    let zone = zone.rsplit('/').next().unwrap_or_default();
    let full = faults.room.get(&format!("{zone}/{kind}")) == Some(&0);
    Answer::ok(json!({ "recommendations": [{
        "scores": {
            "obtainability": if full { 0.1 } else { 0.9 },
            "estimatedUptime": if full { "60s" } else { "3600s" },
        },
        "shards": [{
            "zone": format!("{at}/zones/{zone}"),
            "machineType": kind,
            "instanceCount": wanted,
            "provisioningModel": "SPOT",
        }],
    }] }))
}

/// How often spot machines of one type were preempted in one zone, day by day.
fn history(at: &str, request: &Request, faults: &Faults) -> Answer {
    if faults.no_advice {
        let words = "Required 'compute.advice.capacityHistory' permission";
        return Answer::error(Call::Any, 403, "forbidden", words);
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return Answer::error(Call::Launch, 400, "parseError", "Parse Error");
    };
    let properties = &body["instanceProperties"];
    let kind = properties["machineType"].as_str().unwrap_or_default();
    if !market::is_type(kind) || properties["scheduling"]["provisioningModel"] != "SPOT" {
        return Answer::invalid(format!("There is no history of {kind}"));
    }
    if body["types"] != json!(["PREEMPTION"]) {
        return Answer::invalid("types must be named");
    }
    let zone = body["locationPolicy"]["location"].as_str().unwrap_or_default();
    let zone = zone.rsplit('/').next().unwrap_or_default();
    let full = faults.room.get(&format!("{zone}/{kind}")) == Some(&0);
    let day = |rate: f64| json!({ "preemptionRate": rate, "interval": {} });
    let days = if full { [day(0.7), day(0.9)] } else { [day(0.05), day(0.15)] };
    Answer::ok(json!({
        "machineType": kind,
        "location": format!("{at}/zones/{zone}"),
        "preemptionHistory": days,
    }))
}

/// What `GET /fake/state` shows.
pub(crate) fn state(world: &World, now: Instant) -> Value {
    let machines: Vec<Value> = world
        .machines
        .iter()
        .map(|((project, zone, name), vm)| {
            json!({
                "project": project,
                "zone": zone,
                "name": name,
                "type": kind_of(&vm.body),
                "status": vm.status(now),
                "labels": vm.body["labels"],
            })
        })
        .collect();
    json!({ "machines": machines, "disks": world.disks.len() })
}
