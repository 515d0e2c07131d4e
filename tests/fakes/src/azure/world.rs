//! The resource groups.

use super::account::{self, SUBSCRIPTIONS, TOKEN};
use super::answers::{late, not_found, seen, taken_back, too_many};
use super::habits::Habits;
use super::rights;
use super::vm::{POWER_ON, Vm};
use crate::{Faults, World};
use fleet_model::Timestamp;
use fleet_provider::evidence::Call;
use fleet_testkit::{Answer, Request};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The reads that a recorded answer had left.
const READS: i64 = 1099;

/// What an operation does when it ends.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    Create,
    Delete,
    /// The platform takes a spot machine back.
    TakeBack,
}

#[derive(Debug, Clone)]
struct Operation {
    deed: Deed,
    target: String,
    ends: i64,
    failure: Option<String>,
    /// Whether children stay behind.
    keeps: bool,
    applied: bool,
    /// How often it was asked after: the first answer asks for the longest pause.
    asked: u32,
}

/// A disk or an interface.
#[derive(Debug, Clone)]
pub(super) struct Child {
    pub(super) location: Value,
    /// A disk inherits those of its machine.
    pub(super) tags: Option<Value>,
    /// The address of the machine that it was made for.
    pub(super) machine: String,
}

/// An account of Azure's, with two subscriptions.
#[derive(Debug)]
pub struct AzureCloud {
    /// By address in small letters.
    pub(super) vms: BTreeMap<String, Vm>,
    /// Interfaces and disks, by address in small letters.
    pub(super) children: BTreeMap<String, Child>,
    /// What the platform took back: Compute says so, and not the gateway.
    pub(super) taken_back: BTreeSet<String>,
    /// Machines that were there once.
    pub(super) gone: Vec<Vm>,
    pub(super) habits: Habits,
    /// What is left of the bucket of reads.
    reads: Cell<i64>,
    operations: BTreeMap<String, Operation>,
    pub(super) made: u64,
    /// How long creations and deletions take, in milliseconds.
    pub(super) takes: (i64, i64),
}

impl Default for AzureCloud {
    fn default() -> Self {
        AzureCloud {
            vms: BTreeMap::new(),
            children: BTreeMap::new(),
            taken_back: BTreeSet::new(),
            gone: Vec::new(),
            habits: Habits::default(),
            reads: Cell::new(READS),
            operations: BTreeMap::new(),
            made: 0,
            takes: (20_000, 10_000),
        }
    }
}

impl World for AzureCloud {
    fn answer(&mut self, request: &Request, faults: &Faults, now: Timestamp) -> Answer {
        self.advance(now.as_millisecond());
        let path = request.path.to_ascii_lowercase();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let public = parts.first() == Some(&"api");
        if !public {
            if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
                return seen(
                    Call::Any,
                    401,
                    "InvalidAuthenticationToken",
                    "The access token is invalid.",
                );
            }
            if request.query("api-version").is_none() {
                let words = "The api-version is required.";
                return seen(Call::Any, 400, "MissingApiVersionParameter", words);
            }
            let body = request.json().unwrap_or_default();
            // A query names its subscriptions in the body.
            let named = match parts.first() {
                Some(&"providers") => body["subscriptions"][0].as_str(),
                _ => parts.get(1).copied(),
            };
            if !named.is_some_and(|id| SUBSCRIPTIONS.contains(&id)) {
                let words = "The subscription was not found.";
                return seen(Call::Any, 404, "SubscriptionNotFound", words);
            }
            // Microsoft's own client, which looks the fake over, is not the engine: it may do more.
            let agent = request.header("user-agent").unwrap_or_default();
            if !agent.contains("azsdk-python")
                && let Some(action) = rights::denied(&request.method, &parts, &body)
            {
                let words = format!("The client is not authorized to perform '{action}'.");
                return seen(Call::Any, 403, "AuthorizationFailed", &words);
            }
        }
        let live: Vec<(String, String)> = self.vms.values().map(Vm::place).collect();
        let answer = account::answer(request, &parts, &live)
            .unwrap_or_else(|| self.machines(request, &parts, faults, now));
        // It grows again faster than anybody here asks.
        self.reads.set(if self.reads.get() <= READS / 2 { READS } else { self.reads.get() - 1 });
        let left = faults.reads_left.unwrap_or(self.reads.get());
        let compute = self.habits.compute_left.unwrap_or(899);
        let compute = format!(
            "Microsoft.Compute/HighCostGetSubscriptionMaximum;{compute},\
             Microsoft.Compute/LowCostGetResource;11"
        );
        answer
            .header("x-ms-ratelimit-remaining-subscription-reads", left.to_string())
            .header("x-ms-ratelimit-remaining-resource", compute)
    }

    fn is_change(&self, request: &Request) -> bool {
        matches!(request.method.as_str(), "PUT" | "PATCH" | "DELETE")
    }

    fn failure(&self, throttled: bool) -> Answer {
        if throttled {
            return too_many(if self.is_quick() { 2 } else { 600 });
        }
        // With the words of a refusal: they must not be believed.
        seen(Call::Any, 503, "AllocationFailed", "The service is unavailable.")
    }

    fn name(&self, request: &Request) -> String {
        let kind = request.path.split('/').nth(7).or(request.path.rsplit('/').next());
        format!("{} {}", request.method, kind.unwrap_or_default())
    }

    fn state(&mut self, now: Timestamp) -> Value {
        self.advance(now.as_millisecond());
        let live: Vec<Value> = self.vms.values().map(Vm::json).collect();
        json!({ "live": live, "children": self.children.keys().collect::<Vec<_>>(), "made": self.made })
    }
}

impl AzureCloud {
    /// One whose operations take about a second, for tests in real time.
    pub fn quick() -> Self {
        AzureCloud { takes: (1_500, 800), ..AzureCloud::default() }
    }

    /// Whether this is one for tests in real time.
    fn is_quick(&self) -> bool {
        self.takes.0 < 5_000
    }

    /// Ends the operations that are due.
    fn advance(&mut self, now: i64) {
        let due: Vec<String> = self
            .operations
            .iter()
            .filter(|(_, operation)| !operation.applied && operation.ends <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in due {
            let Some(operation) = self.operations.get_mut(&id) else { continue };
            operation.applied = true;
            let Operation { deed, target, failure, keeps, .. } = operation.clone();
            match (deed, failure) {
                (Deed::Create, None) => {
                    if let Some(vm) = self.vms.get_mut(&target) {
                        (vm.state, vm.power) = ("Succeeded", Some(POWER_ON));
                    }
                }
                (Deed::Create, Some(code)) => {
                    // What was made so far stays: a shell, with its disk and interface. A guest that
                    // does not report ready runs.
                    let runs = code.starts_with("OSProvisioning") || code.starts_with("VMStart");
                    if let Some(vm) = self.vms.get_mut(&target) {
                        vm.fails(&code, runs.then_some(POWER_ON));
                    }
                }
                (Deed::Delete, Some(code)) => {
                    if let Some(vm) = self.vms.get_mut(&target) {
                        let power = vm.power;
                        vm.fails(&code, power);
                    }
                }
                (Deed::TakeBack, _) => self.take_back(&target, false),
                (Deed::Delete, None) => {
                    let Some(vm) = self.vms.remove(&target) else { continue };
                    for (address, goes) in children_of(&vm) {
                        if goes && !keeps {
                            self.children.remove(&address);
                        }
                    }
                    self.gone.push(vm);
                }
            }
        }
    }

    /// The machine that uses a child.
    fn user(&self, child: &str) -> Option<&Vm> {
        self.vms.get(&self.children.get(child)?.machine)
    }

    pub(super) fn child(&self, address: &str) -> Value {
        let name = address.rsplit('/').next();
        let Some(child) = self.children.get(address) else { return json!({}) };
        let mut json = json!({ "name": name, "location": child.location, "properties": {} });
        if let Some(tags) = &child.tags {
            json["tags"] = tags.clone();
        }
        if let Some(vm) = self.user(address) {
            if address.contains("/disks/") {
                json["managedBy"] = json!(vm.id);
            } else {
                json["properties"]["virtualMachine"] = json!({ "id": vm.id });
            }
        }
        json
    }

    fn machines(
        &mut self,
        request: &Request,
        parts: &[&str],
        faults: &Faults,
        now: Timestamp,
    ) -> Answer {
        let address = format!("/{}", parts.join("/"));
        match (request.method.as_str(), parts) {
            (_, ["subscriptions", _, "resourcegroups", group, ..]) if !is_group(group) => seen(
                Call::Any,
                404,
                "ResourceGroupNotFound",
                &format!("Resource group '{group}' could not be found."),
            ),
            (
                method,
                [
                    "subscriptions",
                    _,
                    "resourcegroups",
                    _,
                    "providers",
                    "microsoft.compute",
                    "virtualmachines",
                    _,
                ],
            ) => match method {
                "PUT" => self.put(request, address, faults, now),
                "GET" => self.get(request, &address),
                "DELETE" => self.delete(request, &address, faults, now),
                _ => seen(Call::Any, 405, "MethodNotAllowed", "not here"),
            },
            ("PATCH", [machine @ .., "providers", "microsoft.resources", "tags", "default"]) => {
                self.tag(request, &format!("/{}", machine.join("/")))
            }
            ("GET", ["subscriptions", .., "microsoft.compute", "virtualmachines"])
            | (
                "GET",
                [
                    "subscriptions",
                    _,
                    "providers",
                    "microsoft.compute",
                    "locations",
                    _,
                    "virtualmachines",
                ],
            ) => self.list(request, parts, faults, now.as_millisecond()),
            (
                "GET",
                [
                    "subscriptions",
                    _,
                    "providers",
                    "microsoft.compute",
                    "locations",
                    _,
                    "operations",
                    id,
                ],
            ) => self.operation(request, id),
            (
                method,
                [
                    "subscriptions",
                    _,
                    "resourcegroups",
                    _,
                    "providers",
                    _,
                    "networkinterfaces" | "disks",
                    _,
                ],
            ) => match method {
                "GET" if self.children.contains_key(&address) => {
                    Answer::json(200, self.child(&address))
                }
                "DELETE" if faults.children_stay && self.children.contains_key(&address) => {
                    let failure = Some("InternalExecutionError".to_owned());
                    let ends = now.as_millisecond() + self.takes.1;
                    let id = self.begin(Deed::Delete, address, ends, failure, true);
                    self.with_operation(Answer::empty(202), request, &id)
                }
                "DELETE" if self.user(&address).is_some() => seen(
                    Call::End,
                    409,
                    "OperationNotAllowed",
                    "It is attached to a virtual machine.",
                ),
                "DELETE" if self.children.remove(&address).is_some() => Answer::empty(200),
                "DELETE" => Answer::empty(204),
                _ => not_found(&request.path),
            },
            (
                "GET",
                [
                    "subscriptions",
                    _,
                    "resourcegroups",
                    _,
                    "providers",
                    _,
                    "networkinterfaces" | "disks",
                ],
            ) => self.list_children(request, &address, faults),
            _ => not_found(&request.path),
        }
    }

    /// Merges tags into those of a machine, or takes some away. (Tags - Update At Scope, 2021-04-01.)
    fn tag(&mut self, request: &Request, machine: &str) -> Answer {
        let Some(vm) = self.vms.get_mut(machine) else { return not_found(&request.path) };
        let asked = request.json().unwrap_or_default();
        let mut tags = vm.body["tags"].as_object().cloned().unwrap_or_default();
        for (key, value) in asked["properties"]["tags"].as_object().into_iter().flatten() {
            // Names of tags are the same whatever their case.
            tags.retain(|other, _| !other.eq_ignore_ascii_case(key));
            if asked["operation"] == "Merge" {
                tags.insert(key.clone(), value.clone());
            }
        }
        vm.body["tags"] = json!(tags);
        Answer::json(200, json!({ "properties": { "tags": tags } }))
    }

    fn delete(
        &mut self,
        request: &Request,
        address: &str,
        faults: &Faults,
        now: Timestamp,
    ) -> Answer {
        let Some(vm) = self.vms.get_mut(address) else { return Answer::empty(204) };
        let under_way = vm.state == "Deleting";
        vm.state = "Deleting";
        let id = match self.under_way(address).filter(|_| under_way) {
            Some(id) => id,
            None => {
                // A creation that is under way is over.
                self.operations
                    .values_mut()
                    .filter(|o| o.target == *address)
                    .for_each(|o| o.applied = true);
                let failure = faults.ends_fail.then(|| "InternalExecutionError".to_owned());
                let ends = now.as_millisecond() + self.takes.1;
                let keeps = faults.children_stay || self.habits.forgets_children;
                self.begin(Deed::Delete, address.to_owned(), ends, failure, keeps)
            }
        };
        self.with_operation(Answer::empty(202), request, &id)
    }

    pub(super) fn begin(
        &mut self,
        deed: Deed,
        target: String,
        ends: i64,
        failure: Option<String>,
        keeps: bool,
    ) -> String {
        let id = format!("{:08x}-0000-4000-8000-000000000000", self.operations.len() + 1);
        let operation = Operation { deed, target, ends, failure, keeps, applied: false, asked: 0 };
        self.operations.insert(id.clone(), operation);
        id
    }

    pub(super) fn under_way(&self, address: &str) -> Option<String> {
        let mine = |(_, o): &(&String, &Operation)| o.target == address && !o.applied;
        self.operations.iter().find(mine).map(|(id, _)| id.clone())
    }

    pub(super) fn with_operation(&self, answer: Answer, request: &Request, id: &str) -> Answer {
        let host = request.header("host").unwrap_or("localhost");
        let subscription = request.path.split('/').nth(2).unwrap_or_default();
        // Signed: with a certificate in it, a real one is about as long.
        let signed = format!("p=0&t=1&c={}&s={}&h=0", "M".repeat(2615), "A".repeat(342));
        let link = format!(
            "http://{host}/subscriptions/{subscription}/providers/Microsoft.Compute/locations/eastus\
             /operations/{id}?{signed}&api-version=2023-07-01"
        );
        let pause = if self.is_quick() { "1" } else { "10" };
        // What has no body of its own is also told of by the older header.
        let answer = match answer.status {
            202 => answer.header("Location", link.clone()),
            _ => answer,
        };
        answer.header("Azure-AsyncOperation", link).header("Retry-After", pause)
    }

    fn operation(&mut self, request: &Request, id: &str) -> Answer {
        let quick = self.is_quick();
        let Some(operation) = self.operations.get_mut(id) else { return not_found(id) };
        // Cut off, the address is not the one that was given.
        if request.query("c").is_none_or(|certificate| certificate.len() < 2000) {
            return seen(Call::Any, 403, "AuthorizationFailed", "The signature does not match.");
        }
        operation.asked += 1;
        let mut body = json!({ "name": id, "startTime": "2026-01-01T00:00:00+00:00" });
        body["status"] = match (&operation.failure, operation.applied, &operation.deed) {
            (_, false, _) | (_, true, Deed::TakeBack) => json!("InProgress"),
            (None, true, _) => json!("Succeeded"),
            (Some(code), true, _) => {
                body["error"] = late(code);
                json!("Failed")
            }
        };
        if operation.applied && body["status"] != "InProgress" {
            body["endTime"] = json!("2026-01-01T00:01:00+00:00");
        }
        let first = operation.asked == 1 && body["status"] == "InProgress" && !quick;
        let answer = Answer::json(200, body);
        if first { answer.header("Retry-After", "50") } else { answer }
    }

    /// One machine, with what it does now if that is asked for.
    fn get(&self, request: &Request, address: &str) -> Answer {
        let view = request.query("$expand") == Some("instanceView");
        match self.vms.get(address) {
            Some(_) if view && self.habits.views_lost => taken_back(),
            Some(vm) if view => Answer::json(200, vm.with_view()),
            Some(vm) => Answer::json(200, vm.json()),
            None if self.taken_back.contains(address) => taken_back(),
            None => not_found(&request.path),
        }
    }
}

fn is_group(name: &str) -> bool {
    name == account::GROUP || name == "net"
}

/// Addresses of a machine's interface and disk, and whether they go with it.
pub(super) fn children_of(vm: &Vm) -> Vec<(String, bool)> {
    let base = format!("/subscriptions/{}/resourcegroups/{}/providers", vm.subscription, vm.group);
    let nic = vm
        .nic()
        .map(|(name, goes)| (format!("{base}/microsoft.network/networkinterfaces/{name}"), goes));
    let disk =
        vm.disk().map(|(name, goes)| (format!("{base}/microsoft.compute/disks/{name}"), goes));
    let both = nic.into_iter().chain(disk);
    both.map(|(address, goes)| (address.to_ascii_lowercase(), goes)).collect()
}
