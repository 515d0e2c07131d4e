//! Everything that exists: machines, disks, operations, and which requests were seen.

use crate::gcp::answer::Answer;
use crate::gcp::market;
use fleet_provider::evidence::Call;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Where self links begin.
pub(crate) const BASE: &str = "https://www.googleapis.com/compute/v1";

/// A thing in a zone: project, zone, name.
pub(crate) type Key = (String, String, String);

/// A machine.
#[derive(Debug, Clone)]
pub(crate) struct Vm {
    /// As `instances.get` answers it, status apart.
    pub(crate) body: Value,
    /// From when on lists show it.
    pub(crate) listed_from: Instant,
    /// From when on it runs.
    pub(crate) runs_from: Instant,
    /// When it is gone.
    pub(crate) gone_at: Option<Instant>,
    /// When Google deletes it without a word: its maximum run duration.
    pub(crate) expires_at: Option<Instant>,
    /// Google is trying to make it and will not succeed.
    pub(crate) doomed: bool,
    /// It was stopped, by itself or by a person: there until somebody deletes it.
    pub(crate) stopped: bool,
    /// `zone/type` with the accelerators that are attached.
    pub(crate) vcpus: u32,
    pub(crate) is_spot: bool,
    /// Names of disks that go with it.
    pub(crate) disks: Vec<String>,
}

impl Vm {
    pub(crate) fn status(&self, now: Instant) -> &'static str {
        match self.gone_at {
            Some(_) if self.doomed => "PROVISIONING",
            Some(_) => "STOPPING",
            None if self.stopped => "TERMINATED",
            None if now >= self.runs_from => "RUNNING",
            None => "STAGING",
        }
    }

    /// As `instances.get` answers it.
    pub(crate) fn shown(&self, now: Instant) -> Value {
        let mut body = self.body.clone();
        body["status"] = json!(self.status(now));
        body
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// As it is when it has ended.
    pub(crate) body: Value,
    /// When that is; `None`: never.
    pub(crate) done_at: Option<Instant>,
}

/// A request that was carried out under an id.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) what: String,
    pub(crate) operation: Key,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) machines: BTreeMap<Key, Vm>,
    pub(crate) disks: BTreeMap<Key, Value>,
    /// By project, scope (`zones/us-central1-a`) and name.
    pub(crate) operations: BTreeMap<Key, Operation>,
    /// By project and request id.
    pub(crate) requests: BTreeMap<(String, String), Seen>,
    /// What advice was asked for: vCPUs of a type, and how many machines.
    pub(crate) advised: BTreeSet<(u32, u64)>,
    last_id: u64,
}

impl World {
    /// A number that nothing else has.
    pub(crate) fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        4_000_000_000_000_000_000 + self.last_id
    }

    /// Lets time pass: what is to be gone by now is gone, and its disks with it.
    pub(crate) fn settle(&mut self, now: Instant) {
        let past = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let gone = |vm: &Vm| past(vm.gone_at) || past(vm.expires_at);
        for (key, vm) in self.machines.iter().filter(|(_, vm)| gone(vm)) {
            for disk in &vm.disks {
                self.disks.remove(&(key.0.clone(), key.1.clone(), disk.clone()));
            }
        }
        self.machines.retain(|_, vm| !gone(vm));
    }

    /// Puts a machine there, as if it had been running for long.
    pub(crate) fn put(
        &mut self,
        project: &str,
        zone: &str,
        name: &str,
        labels: &serde_json::Map<String, Value>,
        now: Instant,
    ) {
        let at = format!("{BASE}/projects/{project}/zones/{zone}");
        let body = json!({
            "kind": "compute#instance",
            "id": self.new_id().to_string(),
            "name": name,
            "creationTimestamp": timestamp(),
            "zone": at,
            "selfLink": format!("{at}/instances/{name}"),
            "machineType": format!("{at}/machineTypes/e2-medium"),
            "labels": labels,
        });
        let vm = Vm {
            body,
            listed_from: now,
            runs_from: now,
            gone_at: None,
            expires_at: None,
            doomed: false,
            stopped: false,
            vcpus: 2,
            is_spot: false,
            disks: Vec::new(),
        };
        self.machines.insert((project.to_owned(), zone.to_owned(), name.to_owned()), vm);
    }

    /// A machine by its name or its number.
    pub(crate) fn find(&self, project: &str, zone: &str, name: &str) -> Option<(&Key, &Vm)> {
        let here = |key: &Key| key.0 == project && key.1 == zone;
        let same = |(key, vm): &(&Key, &Vm)| {
            here(key) && (key.2 == name || vm.body["id"].as_str() == Some(name))
        };
        self.machines.iter().find(same)
    }

    /// Ends a machine: accepted now, gone when the operation is over.
    pub(crate) fn delete(
        &mut self,
        project: &str,
        zone: &str,
        name: &str,
        now: Instant,
        takes: Duration,
    ) -> Result<Key, Answer> {
        let what = format!("projects/{project}/zones/{zone}/instances/{name}");
        let Some((key, vm)) = self.find(project, zone, name) else {
            return Err(Answer::not_found(&what));
        };
        let key = key.clone();
        if vm.gone_at.is_some() {
            let words = format!("The resource '{what}' is not ready");
            return Err(Answer::error(Call::End, 400, "resourceNotReady", words));
        }
        let id = vm.body["id"].clone();
        if let Some(vm) = self.machines.get_mut(&key) {
            vm.gone_at = Some(now + takes);
        }
        let link = format!("{BASE}/projects/{project}/zones/{zone}/instances/{}", key.2);
        let scope = format!("zones/{zone}");
        let body = json!({ "operationType": "delete", "targetLink": link, "targetId": id });
        Ok(self.operate(project, &scope, body, Some(now + takes)))
    }

    /// Sets a label of a machine, known by its name or number, or takes it away. Its fingerprint changes.
    pub(crate) fn label(&mut self, machine: &str, key: &str, value: Option<&str>) {
        let next = self.new_fingerprint();
        let named = self.machines.iter_mut().filter(|((_, _, name), vm)| {
            name == machine || vm.body["id"].as_str() == Some(machine)
        });
        for (_, vm) in named {
            vm.body["labelFingerprint"] = json!(next);
            if let Some(labels) = vm.body["labels"].as_object_mut() {
                match value {
                    Some(value) => labels.insert(key.to_owned(), json!(value)),
                    None => labels.remove(key),
                };
            }
        }
    }

    /// Twelve digits are nine bytes in base 64, read and written alike.
    fn new_fingerprint(&mut self) -> String {
        format!("{:0>12}", self.new_id() % 1_000_000_000_000)
    }

    /// Sets all labels of a machine, if they are still those whose fingerprint the caller has.
    pub(crate) fn set_labels(
        &mut self,
        project: &str,
        zone: &str,
        name: &str,
        asked: &Value,
        now: Instant,
    ) -> Result<Key, Answer> {
        let what = format!("projects/{project}/zones/{zone}/instances/{name}");
        let Some((key, vm)) = self.find(project, zone, name) else {
            return Err(Answer::not_found(&what));
        };
        let (key, id) = (key.clone(), vm.body["id"].clone());
        if vm.body["labelFingerprint"] != asked["labelFingerprint"] {
            let words = "Labels fingerprint either invalid or resource labels have changed";
            return Err(Answer::error(Call::Look, 412, "conditionNotMet", words));
        }
        let next = self.new_fingerprint();
        if let Some(vm) = self.machines.get_mut(&key) {
            vm.body["labels"] = asked["labels"].clone();
            vm.body["labelFingerprint"] = json!(next);
        }
        let link = format!("{BASE}/projects/{project}/zones/{zone}/instances/{}", key.2);
        let scope = format!("zones/{zone}");
        let body = json!({ "operationType": "setLabels", "targetLink": link, "targetId": id });
        Ok(self.operate(project, &scope, body, Some(now)))
    }

    /// How much of a limit is used in a region.
    pub(crate) fn used(&self, project: &str, region: &str, metric: &str) -> f64 {
        let here = self
            .machines
            .iter()
            .filter(|(key, _)| key.0 == project && market::region_of(&key.1) == Some(region));
        let counts = here.map(|(_, vm)| match metric {
            "INSTANCES" => 1,
            "IN_USE_ADDRESSES" => u32::from(has_address(&vm.body)),
            "SSD_TOTAL_GB" => disk_gb(&vm.body),
            _ if cpu_metric(kind_of(&vm.body), vm.is_spot) == metric => vm.vcpus,
            _ => 0,
        });
        counts.map(f64::from).sum()
    }

    /// Writes down what the system or somebody else did to a machine: over when it is begun.
    pub(crate) fn happened(&mut self, key: &Key, kind: &str, user: &str, words: Option<&str>) {
        let (project, zone, name) = key;
        let link = format!("{BASE}/projects/{project}/zones/{zone}/instances/{name}");
        let id = self.machines.get(key).map(|vm| vm.body["id"].clone()).unwrap_or_default();
        let mut body = json!({ "operationType": kind, "targetLink": link, "targetId": id });
        if let Some(words) = words {
            body["statusMessage"] = json!(words);
        }
        let written = self.operate(project, &format!("zones/{zone}"), body, Some(Instant::now()));
        let Some(mut operation) = self.operations.remove(&written) else { return };
        operation.body["user"] = json!(user);
        let (project, scope, mut name) = written;
        if user == "system" {
            name = name.replace("operation-", "systemevent-");
            operation.body["name"] = json!(name);
            let at = format!("{BASE}/projects/{project}/{scope}");
            operation.body["selfLink"] = json!(format!("{at}/operations/{name}"));
        }
        self.operations.insert((project, scope, name), operation);
    }

    /// Writes an operation down, dated now unless it says when. Its name is its key.
    pub(crate) fn operate(
        &mut self,
        project: &str,
        scope: &str,
        mut body: Value,
        done_at: Option<Instant>,
    ) -> Key {
        let id = self.new_id();
        let name = format!("operation-{id}");
        let now = body["insertTime"].as_str().map_or_else(timestamp, str::to_owned);
        let at = format!("{BASE}/projects/{project}/{scope}");
        let (kind, _) = scope.split_once('/').unwrap_or((scope, ""));
        body["kind"] = json!("compute#operation");
        body["id"] = json!(id.to_string());
        body["name"] = json!(name);
        body[kind.trim_end_matches('s')] = json!(at);
        body["selfLink"] = json!(format!("{at}/operations/{name}"));
        body["user"] = json!("fleet@example.iam.gserviceaccount.com");
        body["insertTime"] = json!(now);
        body["startTime"] = json!(now);
        body["endTime"] = json!(now);
        body["progress"] = json!(100);
        body["status"] = json!("DONE");
        let key = (project.to_owned(), scope.to_owned(), name);
        self.operations.insert(key.clone(), Operation { body, done_at });
        key
    }
}

/// Whether a machine is reachable from outside.
pub(crate) fn has_address(body: &Value) -> bool {
    let configs = body["networkInterfaces"][0]["accessConfigs"].as_array();
    configs.is_some_and(|configs| !configs.is_empty())
}

/// The size of a machine's boot disk.
pub(crate) fn disk_gb(body: &Value) -> u32 {
    body["disks"][0]["diskSizeGb"].as_str().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// The last word of a link.
pub(crate) fn last(link: &str) -> &str {
    link.rsplit('/').next().unwrap_or(link)
}

/// The type of a machine.
pub(crate) fn kind_of(body: &Value) -> &str {
    last(body["machineType"].as_str().unwrap_or_default())
}

/// The limit that a machine's processors count toward.
pub(crate) fn cpu_metric(kind: &str, is_spot: bool) -> &'static str {
    if is_spot {
        return "PREEMPTIBLE_CPUS";
    }
    match kind.split('-').next() {
        Some("n2") => "N2_CPUS",
        Some("n2d") => "N2D_CPUS",
        Some("c2") => "C2_CPUS",
        Some("c3") => "C3_CPUS",
        Some("a2") => "A2_CPUS",
        _ => "CPUS",
    }
}

/// The moment, as Google writes it.
pub(crate) fn timestamp() -> String {
    written(Timestamp::now())
}

/// A moment, as Google writes it.
pub(crate) fn written(at: Timestamp) -> String {
    let zone = jiff::tz::Offset::constant(-7);
    let text = zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%S%.3f");
    format!("{text}-07:00")
}
