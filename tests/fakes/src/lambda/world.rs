//! The account.

use super::kinds::{KEY, KINDS, Kind, REGIONS, SSH_KEY, region};
use super::vm::Vm;
use crate::http::{Answer, Request};
use crate::{Faults, World};
use fleet_model::Timestamp;
use serde_json::{Value, json};

/// The documented rates, in milliseconds between two calls. The tenth of a second is for the way
/// from a client to here.
const BETWEEN_CALLS: i64 = 900;
const BETWEEN_LAUNCHES: i64 = 11_900;

/// An account of Lambda's.
#[derive(Debug, Default)]
pub struct LambdaCloud {
    vms: Vec<Vm>,
    made: u64,
    last_call: i64,
    last_launch: i64,
}

impl World for LambdaCloud {
    fn answer(&mut self, request: &Request, faults: &Faults, now: Timestamp) -> Answer {
        if request.header("authorization") != Some(&format!("Bearer {KEY}")) {
            return error(
                401,
                "global/invalid-api-key",
                "API key was invalid, expired, or deleted.",
            );
        }
        let millis = now.as_millisecond();
        if !faults.unlimited && millis - self.last_call < BETWEEN_CALLS {
            return self.failure(true);
        }
        self.last_call = millis;
        let seconds = now.as_second();
        let path = request.path.strip_prefix("/api/v1/").unwrap_or_default();
        match (request.method.as_str(), path) {
            ("GET", "instances") => {
                let seen: Vec<Value> = self
                    .vms
                    .iter()
                    .filter(|vm| vm.is_listed(seconds))
                    .map(|vm| vm.json(seconds))
                    .collect();
                Answer { cut: faults.page_lost, ..data(json!(seen)) }
            }
            ("GET", "instance-types") => data(self.kinds(faults)),
            ("GET", "ssh-keys") => data(json!([{
                "id": "ddf9a910ceb744a0bb95242cbba6cb50",
                "name": SSH_KEY,
                "public_key": "ssh-ed25519 AAAA nobody",
            }])),
            ("GET", "images") => data(images()),
            ("POST", "instance-operations/launch") => {
                if !faults.unlimited && millis - self.last_launch < BETWEEN_LAUNCHES {
                    return self.failure(true);
                }
                self.last_launch = millis;
                self.launch(request, faults, seconds)
            }
            ("POST", "instance-operations/terminate") => self.terminate(request, seconds),
            ("GET", one) if one.starts_with("instances/") => {
                let id = one.strip_prefix("instances/").unwrap_or_default();
                let seen = |vm: &&Vm| vm.id == id && vm.is_listed(seconds);
                match self.vms.iter().find(seen) {
                    Some(vm) => data(vm.json(seconds)),
                    None => not_found(id),
                }
            }
            _ => error(404, "global/object-does-not-exist", "there is no such address"),
        }
    }

    fn is_change(&self, request: &Request) -> bool {
        request.method != "GET"
    }

    fn failure(&self, throttled: bool) -> Answer {
        if throttled {
            let words = "Too many requests.";
            return error(429, "global/too-many-requests", words).header("Retry-After", "2");
        }
        error(500, "global/internal-error", "An internal error occurred.")
    }

    fn name(&self, request: &Request) -> String {
        request.path.rsplit('/').next().unwrap_or_default().to_owned()
    }

    fn state(&mut self, now: Timestamp) -> Value {
        let live = |vm: &&Vm| vm.is_live();
        let all: Vec<Value> =
            self.vms.iter().filter(live).map(|vm| vm.json(now.as_second())).collect();
        json!({ "live": all, "made": self.made })
    }
}

impl LambdaCloud {
    /// Strips or replaces the tags of every machine, as somebody with a console might.
    pub fn retag(&mut self, change: impl Fn(&mut Value)) {
        self.vms.iter_mut().for_each(|vm| change(&mut vm.tags));
    }

    /// How many machines live.
    pub fn live(&self) -> usize {
        self.vms.iter().filter(|vm| vm.is_live()).count()
    }

    fn room(&self, faults: &Faults, region: &str, kind: &str) -> bool {
        faults.room.get(&format!("{region}/{kind}")) != Some(&0)
    }

    fn kinds(&self, faults: &Faults) -> Value {
        let mut all = json!({});
        for kind in KINDS {
            let here: Vec<Value> = REGIONS
                .iter()
                .filter(|(name, _)| self.room(faults, name, kind.name))
                .filter_map(|(name, _)| region(name))
                .collect();
            all[kind.name] =
                json!({ "instance_type": kind.json(), "regions_with_capacity_available": here });
        }
        all
    }

    fn launch(&mut self, request: &Request, faults: &Faults, now: i64) -> Answer {
        let Some(body) = request.json() else { return invalid("the body is not JSON") };
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let (place, kind) = (text("region_name"), text("instance_type_name"));
        if let Some(refusal) = &faults.refuse {
            return error(refusal.status, &refusal.code, &refusal.message);
        }
        if let Some(why) = wrong(&body) {
            return invalid(&why);
        }
        if region(&place).is_none() || Kind::find(&kind).is_none() {
            return not_found(&format!("{kind} in {place}"));
        }
        if body["ssh_key_names"] != json!([SSH_KEY]) {
            return not_found("the SSH key");
        }
        let here = self.vms.iter().filter(|vm| vm.is_live() && vm.region == place).count();
        if faults.quota.get(&place).is_some_and(|most| here >= *most as usize) {
            return error(400, "global/quota-exceeded", "Quota exceeded.");
        }
        if !self.room(faults, &place, &kind) {
            let code = "instance-operations/launch/insufficient-capacity";
            return error(400, code, "Not enough capacity to fulfill launch request.");
        }
        self.made += 1;
        let id = format!("{:032x}", u128::from(self.made) * 0x9e37_79b9_7f4a_7c15_f39c);
        self.vms.push(Vm {
            id: id.clone(),
            name: body["name"].as_str().map(str::to_owned),
            region: place,
            kind,
            keys: vec![SSH_KEY.to_owned()],
            tags: body.get("tags").cloned().unwrap_or_else(|| json!([])),
            launched: now,
            visible: now.saturating_add_unsigned(faults.hidden_for),
            ended: None,
        });
        data(json!({ "instance_ids": [id] }))
    }

    fn terminate(&mut self, request: &Request, now: i64) -> Answer {
        let body = request.json().unwrap_or_default();
        let ids: Vec<&str> = body["instance_ids"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if let Some(id) =
            ids.iter().find(|id| !self.vms.iter().any(|vm| vm.id == **id && vm.is_listed(now)))
        {
            return not_found(id);
        }
        let mut ended = Vec::new();
        for vm in self.vms.iter_mut().filter(|vm| ids.contains(&vm.id.as_str())) {
            vm.ended.get_or_insert(now);
            ended.push(vm.json(now));
        }
        data(json!({ "terminated_instances": ended }))
    }
}

/// What the official description forbids in a launch.
fn wrong(body: &Value) -> Option<String> {
    if body["ssh_key_names"].as_array().is_none_or(|keys| keys.len() != 1) {
        return Some("exactly one SSH key must be specified".into());
    }
    if body["name"].as_str().is_some_and(|name| name.chars().count() > 64) {
        return Some("name is longer than 64 characters".into());
    }
    for tag in body["tags"].as_array().into_iter().flatten() {
        let (Some(key), Some(value)) = (tag["key"].as_str(), tag["value"].as_str()) else {
            return Some("a tag has a key and a value".into());
        };
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c);
        let begins = key.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || key.len() < 2 || key.len() > 55 || !key.chars().all(allowed) {
            return Some(format!("`{key}` is no key of a tag"));
        }
        if value.chars().count() > 128 {
            return Some(format!("the value of `{key}` is too long"));
        }
    }
    None
}

fn images() -> Value {
    json!([{
        "id": "43336648-096d-4cba-9aa2-f9bb7727639d",
        "created_time": "2026-01-01T00:00:00+00:00",
        "updated_time": "2026-01-01T00:00:00+00:00",
        "name": "lambda-stack-24-04",
        "description": "Lambda Stack",
        "family": "lambda-stack-24-04",
        "version": "1.0.0",
        "architecture": "x86_64",
        "region": region("us-east-1"),
    }])
}

fn data(body: Value) -> Answer {
    Answer::json(200, json!({ "data": body }))
}

fn error(status: u16, code: &str, message: &str) -> Answer {
    let error = json!({ "code": code, "message": message, "suggestion": "Try again later." });
    Answer::json(status, json!({ "error": error }))
}

fn invalid(why: &str) -> Answer {
    error(400, "global/invalid-parameters", why)
}

fn not_found(what: &str) -> Answer {
    error(404, "global/object-does-not-exist", &format!("{what} does not exist"))
}
