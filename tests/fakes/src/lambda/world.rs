//! The account.

use super::answers::{data, error, invalid, not_found, refusal};
use super::habits::Habits;
use super::kinds::{KEY, KINDS, Kind, REGIONS, SSH_KEY, foreign, images, region, rulesets};
use super::vm::Vm;
use crate::{Faults, World};
use fleet_model::Timestamp;
use fleet_provider::evidence::Call;
use fleet_testkit::{Answer, Request};
use serde_json::{Value, json};

/// The documented rates, in milliseconds between two calls. The tenth of a second is for the way
/// from a client to here.
const BETWEEN_CALLS: i64 = 900;
const BETWEEN_LAUNCHES: i64 = 11_900;

/// An account of Lambda's.
#[derive(Debug, Default)]
pub struct LambdaCloud {
    /// How it behaves.
    pub habits: Habits,
    vms: Vec<Vm>,
    made: u64,
    last_call: i64,
    last_launch: i64,
}

impl World for LambdaCloud {
    fn answer(&mut self, request: &Request, faults: &Faults, now: Timestamp) -> Answer {
        if let Some(status) = self.habits.page {
            return Answer::html(status, "<html><body><h1>Something is wrong</h1></body></html>");
        }
        if let Some(address) = &self.habits.moved {
            let target = format!("{address}{}", request.path);
            return Answer::html(301, "<html>Moved</html>").header("Location", target);
        }
        if request.header("authorization") != Some(&format!("Bearer {KEY}")) {
            let words = "API key was invalid, expired, or deleted.";
            return refusal(Call::Any, "global/invalid-api-key", words);
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
                    .filter(|vm| vm.is_listed(seconds, &self.habits))
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
            ("GET", "firewall-rulesets") => data(rulesets()),
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
                let seen = |vm: &&Vm| vm.id == id && vm.is_known(seconds, &self.habits);
                match self.vms.iter().find(seen) {
                    Some(vm) => data(vm.json(seconds)),
                    None => not_found(Call::Look, id),
                }
            }
            _ => not_found(Call::Look, "the address"),
        }
    }

    fn is_change(&self, request: &Request) -> bool {
        request.method != "GET"
    }

    fn failure(&self, throttled: bool) -> Answer {
        if throttled {
            let words = "Too many requests.";
            let answer = refusal(Call::Any, "global/too-many-requests", words);
            return answer.header("Retry-After", "2");
        }
        refusal(Call::Any, "global/internal-error", "An internal error occurred.")
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

    /// Somebody else uses the account: a call, or a launch, counts against the rate of all.
    pub fn somebody_else_calls(&mut self, now: Timestamp, is_launch: bool) {
        self.last_call = now.as_millisecond();
        if is_launch {
            self.last_launch = self.last_call;
        }
    }

    /// Somebody ends every machine, as one does with a console.
    pub fn end_all(&mut self, now: Timestamp) {
        for vm in &mut self.vms {
            vm.ended.get_or_insert(now.as_second());
        }
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
                .filter(|_| !self.habits.launchable_is_not_listed)
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
            return not_found(Call::Launch, &format!("{kind} in {place}"));
        }
        if body["ssh_key_names"] != json!([SSH_KEY]) {
            return not_found(Call::Launch, "the SSH key");
        }
        if let Some(what) = foreign(&place, &kind, &body) {
            return not_found(Call::Launch, &what);
        }
        let here = self.vms.iter().filter(|vm| vm.is_live() && vm.region == place).count();
        if faults.quota.get(&place).is_some_and(|most| here >= *most as usize) {
            return refusal(Call::Launch, "global/quota-exceeded", "Quota exceeded.");
        }
        if self.habits.listed_is_not_launchable || !self.room(faults, &place, &kind) {
            let code = "instance-operations/launch/insufficient-capacity";
            return refusal(Call::Launch, code, "Not enough capacity to fulfill launch request.");
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
            sick: self.habits.sick,
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
        let known =
            |id: &str| self.vms.iter().any(|vm| vm.id == id && vm.is_listed(now, &self.habits));
        if let Some(id) = ids.iter().find(|id| !known(id)) {
            return not_found(Call::End, id);
        }
        // Whoever ends what is ending already gets this for an answer.
        let over = |vm: &&Vm| ids.contains(&vm.id.as_str()) && !vm.is_live();
        if self.vms.iter().any(|vm| over(&vm)) {
            return refusal(Call::End, "global/unknown", "An unknown error occurred.");
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
