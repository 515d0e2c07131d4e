//! The resource groups.

use super::account::{self, SUBSCRIPTIONS, TOKEN, error, not_found};
use super::rights;
use super::sizes::{REGIONS, SIZES};
use super::vm::Vm;
use crate::http::{Answer, Request};
use crate::{Faults, World};
use fleet_model::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What an operation does when it ends.
#[derive(Debug, Clone)]
enum Deed {
    Create,
    Delete,
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
}

/// A disk or an interface.
#[derive(Debug, Clone)]
struct Child {
    location: Value,
    /// A disk inherits those of its machine.
    tags: Option<Value>,
}

/// An account of Azure's, with two subscriptions.
#[derive(Debug)]
pub struct AzureCloud {
    /// By address in small letters.
    vms: BTreeMap<String, Vm>,
    /// Interfaces and disks, by address in small letters.
    children: BTreeMap<String, Child>,
    operations: BTreeMap<String, Operation>,
    made: u64,
    /// How long creations and deletions take, in milliseconds.
    takes: (i64, i64),
}

impl Default for AzureCloud {
    fn default() -> Self {
        AzureCloud {
            vms: BTreeMap::new(),
            children: BTreeMap::new(),
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
                return error(401, "InvalidAuthenticationToken", "The access token is invalid.");
            }
            if request.query("api-version").is_none() {
                return error(400, "MissingApiVersionParameter", "The api-version is required.");
            }
            if !parts.get(1).is_some_and(|id| SUBSCRIPTIONS.contains(id)) {
                return error(404, "SubscriptionNotFound", "The subscription was not found.");
            }
            // Microsoft's own client, which looks the fake over, is not the engine: it may do more.
            let agent = request.header("user-agent").unwrap_or_default();
            let body = request.json().unwrap_or_default();
            if !agent.contains("azsdk-python")
                && let Some(action) = rights::denied(&request.method, &parts, &body)
            {
                let words = format!("The client is not authorized to perform '{action}'.");
                return error(403, "AuthorizationFailed", &words);
            }
        }
        let live: Vec<(String, String)> = self.vms.values().map(Vm::place).collect();
        let answer = account::answer(request, &parts, &live)
            .unwrap_or_else(|| self.machines(request, &parts, faults, now));
        let left = faults.reads_left.unwrap_or(11_999);
        answer.header("x-ms-ratelimit-remaining-subscription-reads", left.to_string())
    }

    fn is_change(&self, request: &Request) -> bool {
        matches!(request.method.as_str(), "PUT" | "DELETE")
    }

    fn failure(&self, throttled: bool) -> Answer {
        if throttled {
            return error(429, "TooManyRequests", "Too many requests.").header("Retry-After", "7");
        }
        // With the words of a refusal: they must not be believed.
        error(503, "AllocationFailed", "The service is unavailable.")
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

    /// How many machines there are, in whatever state.
    pub fn live(&self) -> usize {
        self.vms.len()
    }

    /// How many disks and interfaces there are.
    pub fn children(&self) -> usize {
        self.children.len()
    }

    /// Edits machines, as somebody with a console might.
    pub fn edit(&mut self, change: impl Fn(&mut Value)) {
        self.vms.values_mut().for_each(|vm| change(&mut vm.body));
    }

    /// Fails every launch, after the fact.
    pub fn fail(&mut self) {
        self.vms.values_mut().for_each(|vm| vm.state = "Failed");
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
                (Deed::Create, None) => self.set_state(&target, "Succeeded"),
                // What was made so far stays: a shell, with its disk and interface.
                (Deed::Create, Some(_)) => self.set_state(&target, "Failed"),
                (Deed::Delete, Some(_)) => self.set_state(&target, "Succeeded"),
                (Deed::Delete, None) => {
                    let Some(vm) = self.vms.remove(&target) else { continue };
                    for (address, goes) in children_of(&vm) {
                        if goes && !keeps {
                            self.children.remove(&address);
                        }
                    }
                }
            }
        }
    }

    /// The machine that uses a child.
    fn user(&self, child: &str) -> Option<&Vm> {
        self.vms.values().find(|vm| children_of(vm).iter().any(|(address, _)| address == child))
    }

    fn child(&self, address: &str) -> Value {
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

    fn set_state(&mut self, address: &str, state: &'static str) {
        if let Some(vm) = self.vms.get_mut(address) {
            vm.state = state;
        }
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
            (_, ["subscriptions", _, "resourcegroups", group, ..]) if !is_group(group) => error(
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
                "GET" => self
                    .vms
                    .get(&address)
                    .map_or_else(|| not_found(&request.path), |vm| Answer::json(200, vm.json())),
                "DELETE" => self.delete(request, &address, faults, now),
                _ => error(405, "MethodNotAllowed", "not here"),
            },
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
            ) => self.operation(id),
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
                "DELETE" if self.user(&address).is_some() => {
                    error(409, "OperationNotAllowed", "It is attached to a virtual machine.")
                }
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
            ) => {
                let below = format!("{address}/");
                let below = self.children.keys().filter(|child| child.starts_with(&below));
                let all: Vec<Value> = below.map(|address| self.child(address)).collect();
                Answer::json(200, json!({ "value": all }))
            }
            _ => not_found(&request.path),
        }
    }

    fn put(
        &mut self,
        request: &Request,
        address: String,
        faults: &Faults,
        now: Timestamp,
    ) -> Answer {
        let Some(body) = request.json() else {
            return error(400, "InvalidRequestContent", "The request content was invalid.");
        };
        if let Some(refusal) = &faults.refuse {
            return error(refusal.status, &refusal.code, &refusal.message);
        }
        if let Some(vm) = self.vms.get(&address) {
            if vm.state == "Deleting" {
                return error(409, "OperationNotAllowed", "The VM is marked for deletion.");
            }
            if let Some(what) = vm.changed(&body) {
                let words = format!("Changing property '{what}' is not allowed.");
                return error(409, "PropertyChangeNotAllowed", &words);
            }
            if vm.state != "Failed" {
                let answer = Answer::json(200, vm.json());
                return match self.under_way(&address) {
                    Some(id) => self.with_operation(answer, request, &id),
                    None => answer,
                };
            }
        }
        if let Some(refusal) = self.wrong(&body, faults) {
            return refusal;
        }
        self.made += 1;
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let part = |n: usize| parts.get(n).copied().unwrap_or_default().to_owned();
        let millis = now.as_millisecond();
        let kept = self.vms.get(&address).map(|vm| vm.created.clone());
        let vm = Vm {
            id: request.path.clone(),
            name: part(7),
            subscription: part(1),
            group: part(3),
            state: "Creating",
            visible: millis.saturating_add_unsigned(faults.hidden_for * 1000),
            created: kept.unwrap_or_else(|| now.to_string()),
            number: self.made,
            body,
        };
        let (region, size) = vm.place();
        let full = faults.room.get(&format!("{region}/{size}")) == Some(&0);
        let zonal = vm.body.get("zones").is_some();
        let failure = match (&faults.fails_later, full) {
            (Some(code), _) => Some(code.clone()),
            (None, true) if zonal => Some("ZonalAllocationFailed".into()),
            (None, true) => Some("AllocationFailed".into()),
            (None, false) => None,
        };
        for (address, _) in children_of(&vm) {
            let disk = address.contains("/disks/");
            let tags = vm.body.get("tags").filter(|_| disk).cloned();
            let location = vm.body["location"].clone();
            self.children.insert(address, Child { location, tags });
        }
        let answer = Answer::json(201, vm.json());
        self.vms.insert(address.clone(), vm);
        let id = self.begin(Deed::Create, address, millis + self.takes.0, failure, false);
        self.with_operation(answer, request, &id)
    }

    /// What Azure refuses at once.
    fn wrong(&self, body: &Value, faults: &Faults) -> Option<Answer> {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (region, size) = (text("/location"), text("/properties/hardwareProfile/vmSize"));
        if !REGIONS.contains(&region) {
            return Some(error(400, "LocationNotAvailableForResourceType", "no such location"));
        }
        if !SIZES.iter().any(|known| known.name == size) {
            let words = format!("The value {size} provided for the VM size is not valid.");
            return Some(error(400, "InvalidParameter", &words));
        }
        let nic = "/properties/networkProfile/networkInterfaceConfigurations/0/properties";
        let subnet = text(&format!("{nic}/ipConfigurations/0/properties/subnet/id"));
        let network = format!("/virtualNetworks/net-{region}/subnets/");
        if !subnet.contains(&network)
            && !body
                .pointer("/properties/networkProfile/networkInterfaces")
                .is_some_and(Value::is_array)
        {
            return Some(error(
                400,
                "InvalidResourceReference",
                "The subnet was not found in the region.",
            ));
        }
        let here = self.vms.values().filter(|vm| vm.place().0 == region).count();
        if faults.quota.get(region).is_some_and(|most| here >= *most as usize) {
            let words = format!(
                "Operation could not be completed as it results in exceeding approved Total Regional \
                 Cores quota. Additional details - Location: {region}, Current Limit: 4, Current Usage: 4."
            );
            return Some(error(409, "OperationNotAllowed", &words));
        }
        None
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
                let keeps = faults.children_stay;
                self.begin(Deed::Delete, address.to_owned(), ends, failure, keeps)
            }
        };
        self.with_operation(Answer::empty(202), request, &id)
    }

    fn begin(
        &mut self,
        deed: Deed,
        target: String,
        ends: i64,
        failure: Option<String>,
        keeps: bool,
    ) -> String {
        let id = format!("{:08x}-0000-4000-8000-000000000000", self.operations.len() + 1);
        let operation = Operation { deed, target, ends, failure, keeps, applied: false };
        self.operations.insert(id.clone(), operation);
        id
    }

    fn under_way(&self, address: &str) -> Option<String> {
        let mine = |(_, o): &(&String, &Operation)| o.target == address && !o.applied;
        self.operations.iter().find(mine).map(|(id, _)| id.clone())
    }

    fn with_operation(&self, answer: Answer, request: &Request, id: &str) -> Answer {
        let host = request.header("host").unwrap_or("localhost");
        let subscription = request.path.split('/').nth(2).unwrap_or_default();
        let link = format!(
            "http://{host}/subscriptions/{subscription}/providers/Microsoft.Compute/locations/eastus\
             /operations/{id}?api-version=2023-07-01"
        );
        let pause = if self.takes.0 < 5_000 { "1" } else { "5" };
        answer.header("Azure-AsyncOperation", link).header("Retry-After", pause)
    }

    fn operation(&self, id: &str) -> Answer {
        let Some(operation) = self.operations.get(id) else { return not_found(id) };
        let mut body = json!({ "name": id, "startTime": "2026-01-01T00:00:00+00:00" });
        body["status"] = match (&operation.failure, operation.applied) {
            (_, false) => json!("InProgress"),
            (None, true) => json!("Succeeded"),
            (Some(code), true) => {
                body["error"] = json!({ "code": code, "message": format!("It failed: {code}.") });
                json!("Failed")
            }
        };
        Answer::json(200, body)
    }

    fn list(&self, request: &Request, parts: &[&str], faults: &Faults, now: i64) -> Answer {
        let host = request.header("host").unwrap_or("localhost");
        let version = request.query("api-version").unwrap_or_default();
        let link = |skip: usize| {
            format!("http://{host}{}?api-version={version}&%24skiptoken={skip}", request.path)
        };
        let skip: usize = request.query("$skiptoken").and_then(|n| n.parse().ok()).unwrap_or(0);
        if faults.page_lost {
            return match request.query("$skiptoken") {
                None => Answer::json(200, json!({ "value": [], "nextLink": link(1) })),
                Some(_) => error(500, "InternalServerError", "Encountered internal server error."),
            };
        }
        let location =
            parts.iter().position(|part| *part == "locations").and_then(|at| parts.get(at + 1));
        let seen = self.vms.iter().filter(|(address, vm)| {
            let prefix = format!("/{}/", parts[..2].join("/"));
            let grouped = match parts.get(2) {
                Some(&"resourcegroups") => address.starts_with(&format!("/{}/", parts.join("/"))),
                _ => address.starts_with(&prefix),
            };
            grouped && vm.visible <= now && location.is_none_or(|l| vm.place().0 == **l)
        });
        let page = faults.page.unwrap_or(50);
        let all: Vec<Value> = seen.map(|(_, vm)| vm.json()).skip(skip).take(page + 1).collect();
        let mut body = json!({ "value": all.iter().take(page).collect::<Vec<_>>() });
        if all.len() > page {
            body["nextLink"] = json!(link(skip + page));
        }
        Answer::json(200, body)
    }
}

fn is_group(name: &str) -> bool {
    name == account::GROUP || name == "net"
}

/// Addresses of a machine's interface and disk, and whether they go with it.
fn children_of(vm: &Vm) -> Vec<(String, bool)> {
    let base = format!("/subscriptions/{}/resourcegroups/{}/providers", vm.subscription, vm.group);
    let nic = vm
        .nic()
        .map(|(name, goes)| (format!("{base}/microsoft.network/networkinterfaces/{name}"), goes));
    let disk =
        vm.disk().map(|(name, goes)| (format!("{base}/microsoft.compute/disks/{name}"), goes));
    let both = nic.into_iter().chain(disk);
    both.map(|(address, goes)| (address.to_ascii_lowercase(), goes)).collect()
}
