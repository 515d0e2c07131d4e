//! What others recorded of the real service, read by our parsers, and held against the fake's answers.
//!
//! The recordings lie outside the repository. Without them a few answers of the same form are replayed,
//! and the test says so.

use fleet_azure::replay;
use fleet_fakes::azure::{AzureCloud, GROUP, SUBSCRIPTIONS, TOKEN, subnet};
use fleet_fakes::{Faults, Server};
use fleet_model::{MachineState, Market};
use fleet_provider::{Class, Reach};
use fleet_testkit::SteppedClock;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// For whoever watches: not kept back as the output of a test that passes would be.
fn tell(words: &str) {
    let _ = writeln!(std::io::stdout(), "{words}");
}

struct Exchange {
    file: String,
    method: String,
    /// Without the query.
    path: String,
    status: u16,
    headers: Value,
    body: Value,
}

impl Exchange {
    fn read(file: &str, json: &Value) -> Option<Self> {
        let (request, response) = (&json["request"], &json["response"]);
        let url = request["url"].as_str()?;
        Some(Exchange {
            file: file.to_owned(),
            method: request["method"].as_str()?.to_owned(),
            path: url.split('?').next()?.to_owned(),
            // The recording does not have it: nothing is guessed.
            status: u16::try_from(response["status"].as_u64()?).ok()?,
            headers: response["headers"].clone(),
            body: response["body"].clone(),
        })
    }

    fn header(&self, name: &str) -> Option<&str> {
        let all = self.headers.as_object()?;
        all.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1.as_str()
    }

    fn parts(&self) -> Vec<&str> {
        self.path.trim_end_matches('/').split('/').collect()
    }

    /// A machine asked for or made by its name.
    fn is_machine(&self) -> bool {
        let parts = self.parts();
        parts.len() > 2 && parts[parts.len() - 2] == "virtualMachines"
    }

    fn is_list(&self) -> bool {
        self.path.ends_with("/virtualMachines")
    }

    /// An operation of Compute's, not a deployment's.
    fn is_operation(&self) -> bool {
        self.path.contains("Microsoft.Compute") && self.path.contains("/operations/")
    }
}

/// Everything that was recorded of Azure; `None` without the folder.
fn recorded() -> Option<Vec<Exchange>> {
    let folder = fleet_testkit::shared_data("recordings/azure")?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a recording");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let exchanges = json["exchanges"].as_array().expect("exchanges");
        all.extend(exchanges.iter().filter_map(|exchange| Exchange::read(&file, exchange)));
    }
    Some(all)
}

/// A few answers of our own making, of the same form.
fn own() -> Vec<Exchange> {
    let vms =
        "https://x/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines";
    let one = format!("{vms}/m");
    let operation =
        "https://x/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/o".to_owned();
    let vm = json!({ "name": "m", "id": "m", "type": "Microsoft.Compute/virtualMachines",
        "location": "eastus", "tags": null, "properties": {
            "vmId": "v", "provisioningState": "Succeeded", "timeCreated": "2025-03-31T07:17:34Z",
            "hardwareProfile": { "vmSize": "Standard_DS1_v2" },
            "networkProfile": { "networkInterfaces": [{ "id": "/x/networkInterfaces/m-nic-78b7aa25" }] },
            "instanceView": { "statuses": [{ "code": "PowerState/deallocated" }] } } });
    let mut page = vm.clone();
    page["properties"].as_object_mut().expect("properties").remove("instanceView");
    let old = "Operation results in exceeding quota limits of Core. Maximum allowed: 100.";
    let refused = |code: &str, words: &str| json!({ "error": { "code": code, "message": words } });
    let exchange = |method: &str, path: &str, status: u16, body: Value| Exchange {
        file: "own".to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        status,
        headers: Value::Null,
        body,
    };
    vec![
        exchange("GET", &one, 200, vm),
        exchange("GET", vms, 200, json!({ "value": [page] })),
        exchange("PUT", &one, 409, refused("OperationNotAllowed", old)),
        exchange("GET", &one, 404, refused("NotFound", "The entity was not found.")),
        exchange("GET", &operation, 200, json!({ "status": "InProgress" })),
        exchange("GET", &operation, 200, json!({ "status": "Succeeded" })),
        exchange("DELETE", &one, 429, json!({ "Code": "429", "Message": "a lock" })),
    ]
}

/// Reads one exchange as we would have read it. Whether it is of a kind that we read.
fn replay(exchange: &Exchange) -> Result<bool, String> {
    let Exchange { file, method, status, body, .. } = exchange;
    let wrong = |what: String| Err(format!("{file}: {method} {}: {what}", exchange.path));
    if *status >= 400 {
        let error = replay::error(method, *status, body);
        let fits = match (*status, error.code.as_str()) {
            (429, _) => error.throttled && matches!(error.class, Class::Retry { .. }),
            (503, _) => matches!(error.class, Class::Retry { .. }),
            (404, _) => replay::is_gone(&error),
            (_, "PropertyChangeNotAllowed") => error.class == Class::Freeze,
            (_, "QuotaExceeded") => {
                matches!(error.class, Class::Quota { .. }) && error.reach() == Reach::Market
            }
            (_, "OperationNotAllowed") if error.message.contains("quota") => {
                matches!(error.class, Class::Quota { .. }) && error.reach() == Reach::Market
            }
            (_, "OperationNotAllowed") if method != "POST" => {
                matches!(error.class, Class::Refused { .. })
            }
            // Asked with a POST, which we do not: only that it can be read.
            (_, "OperationNotAllowed") => method == "POST",
            _ => false,
        };
        return if fits { Ok(true) } else { wrong(format!("read as {error:?}")) };
    }
    if exchange.is_operation() {
        // What `Location` answers after the end has no body.
        if body.is_null() {
            return Ok(true);
        }
        let expect = match body["status"].as_str() {
            Some("Succeeded") => Some(true),
            Some("Failed" | "Canceled") => Some(false),
            _ => None,
        };
        let found = replay::operation(*status, body);
        return if found == expect { Ok(true) } else { wrong(format!("{found:?}")) };
    }
    if exchange.is_machine() && method != "DELETE" && !body.is_null() {
        let (machine, interfaces) = match replay::vm(body) {
            Ok(read) => read,
            Err(why) => return wrong(why),
        };
        if interfaces.iter().any(|id| !id.contains("/networkInterfaces/")) {
            return wrong(format!("{interfaces:?}"));
        }
        // Answers of old versions have no time of creation; we ask with a newer one.
        if body["properties"]["timeCreated"].is_null() {
            return Ok(true);
        }
        let Some(machine) = machine else { return wrong("no machine".into()) };
        let text = body["properties"]["instanceView"].to_string();
        let off = text.contains("PowerState/deallocated") || text.contains("PowerState/stopped");
        let state = match body["properties"]["provisioningState"].as_str() {
            _ if off => MachineState::Stopped,
            Some("Creating") => MachineState::Pending,
            _ => MachineState::Running,
        };
        let user = body["properties"]["osProfile"]["adminUsername"].as_str();
        let same = machine.state == state && machine.access.user.as_deref() == user;
        return if same { Ok(true) } else { wrong(format!("{machine:?}")) };
    }
    if exchange.is_machine() && method == "DELETE" {
        let both = ["azure-asyncoperation", "location"];
        let told = both.iter().all(|name| exchange.header(name).is_some());
        return if told { Ok(true) } else { wrong("an operation by two headers".into()) };
    }
    if exchange.is_list() {
        let count = body["value"].as_array().map(Vec::len).unwrap_or_default();
        let read = replay::page(body);
        return if read == Ok(count) { Ok(true) } else { wrong(format!("{read:?}")) };
    }
    if exchange.path.ends_with("Microsoft.Compute/skus") {
        let (closed, open) = replay::sizes(body, "eastus", "1")?;
        let some = !closed.is_empty() && !open.is_empty();
        return if some { Ok(true) } else { wrong(format!("{closed:?} {open:?}")) };
    }
    if exchange.path.ends_with("/usages") {
        let spot = replay::limits(body, "westus", "standardDSv3Family", Market::Spot)?;
        let plain = replay::limits(body, "westus", "standardDSv3Family", Market::OnDemand)?;
        let fits = (spot.len(), plain.len()) == (1, 2);
        return if fits { Ok(true) } else { wrong(format!("{spot:?} {plain:?}")) };
    }
    if exchange.path.ends_with("/spot/generate") {
        let count = replay::scores(body)?;
        return if count > 0 { Ok(true) } else { wrong("no scores".into()) };
    }
    if file == "allocation-failed-deployment" {
        let text = body.to_string();
        let inside = body["value"].as_array().into_iter().flatten();
        let errors = inside.filter_map(|one| one["properties"].get("error"));
        let full = errors.filter_map(replay::late_error).filter(|e| e.code == "AllocationFailed");
        let fits = full.clone().count() > 0
            && full.clone().all(|e| matches!(e.class, Class::Capacity { .. }));
        return if fits { Ok(true) } else { wrong(text) };
    }
    Ok(false)
}

#[test]
fn what_was_recorded_is_read_as_it_was_meant() {
    let (exchanges, whose) = match recorded() {
        Some(all) => (all, "azure"),
        None => (own(), "azure own"),
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for exchange in &exchanges {
        match replay(exchange) {
            Ok(read) => count += u32::from(read),
            Err(why) => wrong.push(why),
        }
    }
    tell(&format!("recordings: {whose} {count} replayed"));
    assert!(wrong.is_empty(), "{} of them: {wrong:#?}", wrong.len());
    assert!(count > 6, "only {count}");
}

/// Our own few are read as well, whether or not there are others.
#[test]
fn our_own_answers_are_read_as_they_are_meant() {
    for exchange in own() {
        assert_eq!(replay(&exchange), Ok(true));
    }
}

/// Every path of a JSON value with its type, places in lists left out.
fn shape(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                shape(inner, &format!("{at}/{key}"), all);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| shape(inner, &format!("{at}[]"), all)),
        Value::Null => {}
        Value::Bool(_) => drop(all.insert(format!("{at}: a truth value"))),
        Value::Number(_) => drop(all.insert(format!("{at}: a number"))),
        Value::String(_) => drop(all.insert(format!("{at}: text"))),
    }
}

fn shapes<'a>(values: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    values.for_each(|value| shape(value, "", &mut all));
    all
}

/// What the fake says that no recording does, but for what a request says and an answer repeats.
fn made_up(fake: &Value, real: &BTreeSet<String>) -> Vec<String> {
    let repeated = ["/tags/", "/zones", "/identity", "/properties/capacityReservation"];
    let said = shapes(std::iter::once(fake)).into_iter();
    said.filter(|path| !real.contains(path) && !repeated.iter().any(|r| path.starts_with(r)))
        .collect()
}

struct Raw {
    server: Server<AzureCloud>,
    client: reqwest::Client,
    group: String,
}

impl Raw {
    async fn new() -> Self {
        let server = Server::start(AzureCloud::default(), Arc::new(SteppedClock::default()), 0)
            .await
            .expect("a fake");
        let group = format!("/subscriptions/{}/resourceGroups/{GROUP}", SUBSCRIPTIONS[0]);
        Raw { server, client: reqwest::Client::new(), group }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> reqwest::Response {
        let base = if path.starts_with("http") { "" } else { &self.server.url() };
        let method = method.parse().expect("a method");
        let sign = if path.contains('?') { "&" } else { "?" };
        let url = format!("{base}{path}{sign}api-version=2023-07-01");
        let request = self.client.request(method, url).bearer_auth(TOKEN);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        request.send().await.expect("an answer")
    }

    async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, None).await.json().await.expect("JSON")
    }
}

#[tokio::test]
async fn the_fake_answers_in_the_shapes_that_were_recorded() {
    let Some(all) = recorded() else {
        tell("NO RECORDINGS: the fake is held against nothing");
        return;
    };
    let bodies = |is: &dyn Fn(&Exchange) -> bool| -> BTreeSet<String> {
        shapes(all.iter().filter(|exchange| is(exchange)).map(|exchange| &exchange.body))
    };
    let raw = Raw::new().await;
    let vm = format!("{}/providers/Microsoft.Compute/virtualMachines/fleet-0a", raw.group);
    let body = json!({ "location": "eastus", "properties": {
        "hardwareProfile": { "vmSize": "Standard_D2s_v5" },
        "storageProfile": { "osDisk": { "name": "fleet-0a-disk", "createOption": "FromImage",
            "deleteOption": "Delete", "managedDisk": { "storageAccountType": "Premium_LRS" } } },
        "networkProfile": { "networkInterfaceConfigurations": [{ "name": "fleet-0a-nic",
            "properties": { "ipConfigurations": [{ "properties": {
                "subnet": { "id": subnet(0, "eastus") } } }] } }] } } });
    let put = raw.ask("PUT", &vm, Some(body)).await;
    assert_eq!(put.status().as_u16(), 201);
    let real = all.iter().find(|e| e.file == "vm-put-create-and-delete" && e.method == "PUT");
    let real = real.expect("a launch");
    for name in ["azure-asyncoperation", "location", "retry-after"] {
        let said = put.headers().get(name).is_some();
        assert_eq!(said, real.header(name).is_some(), "{name} of an accepted launch");
    }
    let link = put.headers()["azure-asyncoperation"].to_str().expect("text").to_owned();
    let operation = raw.get(&link).await;
    let vms = bodies(&|e| e.is_machine() && e.status < 300);
    let made: Value = put.json().await.expect("JSON");
    assert_eq!(made_up(&made, &vms), [""; 0], "a launch");
    let operations = bodies(&|e| e.is_operation());
    assert_eq!(made_up(&operation, &operations), [""; 0], "an operation");
    let found = raw.get(&format!("{vm}?$expand=instanceView")).await;
    assert_eq!(made_up(&found, &vms), [""; 0], "a machine with its view");
    let deleted = raw.ask("DELETE", &vm, None).await;
    assert_eq!(deleted.status().as_u16(), 202);
    for name in ["azure-asyncoperation", "location"] {
        assert!(deleted.headers().get(name).is_some(), "{name} of a delete");
    }
    let compute = format!("/subscriptions/{}/providers/Microsoft.Compute", SUBSCRIPTIONS[0]);
    let usages = raw.get(&format!("{compute}/locations/eastus/usages")).await;
    assert_eq!(made_up(&usages, &bodies(&|e| e.path.ends_with("/usages"))), [""; 0], "limits");
    let skus = raw.get(&format!("{compute}/skus")).await;
    assert_eq!(made_up(&skus, &bodies(&|e| e.path.ends_with("/skus"))), [""; 0], "sizes");
    let scores = format!("{compute}/locations/eastus/placementScores/spot/generate");
    let asked = json!({ "desiredSizes": [{ "sku": "Standard_D2s_v5" }] });
    let scores: Value = raw.ask("POST", &scores, Some(asked)).await.json().await.expect("JSON");
    let real = bodies(&|e| e.path.ends_with("/spot/generate"));
    assert_eq!(made_up(&scores, &real), [""; 0], "scores");
    let refusals = bodies(&|e| e.status >= 400);
    let nothing = raw.get(&format!("{vm}x")).await;
    assert_eq!(made_up(&nothing, &refusals), [""; 0], "something that is not there");
    raw.server.set(Faults { throttled: true, ..Faults::default() });
    let full = raw.get(&vm).await;
    assert_eq!(made_up(&full, &refusals), [""; 0], "throttling");
}
