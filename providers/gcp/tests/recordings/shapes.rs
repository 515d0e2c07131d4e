//! Whether the fake's answers have the shape of recorded ones.

use crate::library::Library;
use crate::stub::ask;
use fleet_fakes::gcp::{Fake, Faults};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const AT: &str = "/compute/v1/projects/test-project";

/// What kind of value a field holds. Whole numbers and others are one kind in JSON.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn fields(value: &Value) -> BTreeMap<&str, &'static str> {
    let all = value.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.as_str(), kind(value))).collect()
}

/// The fake's answer has every field of the recorded one that we may come to need, and none that
/// Google does not have; `newer` fields were not there yet when it was recorded.
#[track_caller]
fn alike(what: &str, fake: &Value, recorded: &Value, not_played: &[&str], newer: &[&str]) {
    let (ours, theirs) = (fields(fake), fields(recorded));
    for (name, kind) in &ours {
        match theirs.get(name) {
            Some(theirs) => assert_eq!(kind, theirs, "{what}: {name}"),
            None => assert!(newer.contains(name), "{what}: Google has no {name}"),
        }
    }
    for name in theirs.keys() {
        assert!(
            ours.contains_key(name) || not_played.contains(name),
            "{what}: the fake has no {name}"
        );
    }
}

fn machine() -> String {
    json!({
        "name": "one",
        "machineType": "zones/us-central1-a/machineTypes/n2-standard-4",
        "labels": { "team": "witness" },
        "networkInterfaces": [{ "network": "global/networks/default" }],
        "disks": [{ "boot": true, "autoDelete": true, "initializeParams": {
            "sourceImage": "projects/debian-cloud/global/images/debian-12-bookworm-v20260714",
        } }],
        "scheduling": { "provisioningModel": "SPOT", "automaticRestart": false },
    })
    .to_string()
}

fn body<'a>(library: &'a Library, name: &str, at: usize) -> Option<&'a Value> {
    library.get(name).map(|all| &all[at].body)
}

fn operation<'a>(library: &'a Library, name: &str, kind: &str) -> Option<&'a Value> {
    let scopes = body(library, name, 0)?["items"].as_object()?;
    let all = scopes.values().filter_map(|scope| scope["operations"].as_array()).flatten();
    all.into_iter().find(|one| one["operationType"] == kind)
}

#[tokio::test]
async fn the_fake_answers_in_recorded_shapes() {
    let library = Library::open();
    let fake = Fake::start().await.expect("a port");
    let port = fake.port();
    let get = async |path: &str| ask(port, "GET", &format!("{AT}/{path}"), "").await;

    // Nothing there: every zone with a warning, and a list without items.
    let (_, empty) = get("aggregated/instances").await;
    if let Some(recorded) = body(&library, "instances-aggregated-empty-scopes", 0) {
        alike("aggregated list", &empty, recorded, &[], &[]);
        let scope = "zones/us-central1-a";
        let theirs = &recorded["items"][scope];
        alike("empty scope", &empty["items"][scope], theirs, &[], &[]);
        alike("warning", &empty["items"][scope]["warning"], &theirs["warning"], &[], &[]);
        assert_eq!(empty["items"][scope]["warning"]["code"], theirs["warning"]["code"]);
    }
    let (_, list) = get("zones/us-central1-a/instances").await;
    if let Some(recorded) = body(&library, "instances-list-pages-and-empty-zone", 2) {
        alike("empty zone", &list, recorded, &[], &[]);
    }

    // A launch: an operation first, and an instance then.
    let path = format!("{AT}/zones/us-central1-a/instances");
    let (status, begun) = ask(port, "POST", &path, &machine()).await;
    assert_eq!(status, 200, "{begun}");
    if let Some(recorded) = body(&library, "insert-name-conflict-is-an-operation-error", 2) {
        alike("operation", &begun, recorded, &[], &[]);
    }
    let (_, instance) = get("zones/us-central1-a/instances/one").await;
    if let Some(recorded) = body(&library, "instance-suspend-resume", 2) {
        let not_played = [
            "tags",
            "canIpForward",
            "metadata",
            "startRestricted",
            "deletionProtection",
            "shieldedInstanceConfig",
            "shieldedInstanceIntegrityPolicy",
            "lastStartTimestamp",
            "lastSuspendedTimestamp",
        ];
        alike("instance", &instance, recorded, &not_played, &["labels"]);
        let not_played =
            ["architecture", "guestOsFeatures", "licenses", "shieldedInstanceInitialState"];
        alike("disk", &instance["disks"][0], &recorded["disks"][0], &not_played, &[]);
    }
    fake.set(Faults { page: Some(1), ..Faults::default() });
    ask(port, "POST", &path, &machine().replace("\"one\"", "\"two\"")).await;
    let (_, page) = get("zones/us-central1-a/instances").await;
    if let Some(recorded) = body(&library, "instances-list-pages-and-empty-zone", 0) {
        alike("page", &page, recorded, &[], &[]);
    }
    fake.set(Faults::default());

    // What happens to it, and what is said of it when it is gone.
    fake.preempt("one");
    let (_, all) = get("zones/us-central1-a/operations").await;
    let events = all["items"].as_array().expect("operations");
    let event = events.iter().find(|one| one["operationType"] == "compute.instances.preempted");
    let event = event.expect("a preemption");
    let kind = "compute.instances.preempted";
    if let Some(recorded) = operation(&library, "operations-aggregated-preempted", kind) {
        alike("preemption", event, recorded, &[], &[]);
        assert_eq!(event["user"], recorded["user"]);
        assert_eq!(event["statusMessage"], recorded["statusMessage"]);
        assert!(event["name"].as_str().is_some_and(|name| name.starts_with("systemevent-")));
    }
    let (_, stopping) = get("zones/us-central1-a/instances/one").await;
    assert_eq!(stopping["status"], "STOPPING");
    fake.advance(Duration::from_secs(31));
    let (status, gone) = get("zones/us-central1-a/instances/one").await;
    assert_eq!(status, 404);
    let recorded = library.get("instance-template-delete-then-404").and_then(|all| all.last());
    if let Some(recorded) = recorded.map(|exchange| &exchange.body) {
        alike("refusal", &gone["error"], &recorded["error"], &[], &[]);
        let (ours, theirs) = (&gone["error"]["errors"][0], &recorded["error"]["errors"][0]);
        alike("its list", ours, theirs, &[], &[]);
        assert_eq!((&ours["reason"], &ours["domain"]), (&theirs["reason"], &theirs["domain"]));
    }

    // A delete, and an operation that failed.
    let (_, deleted) = ask(port, "DELETE", &format!("{path}/two"), "").await;
    if let Some(recorded) = body(&library, "instance-delete", 1) {
        alike("delete", &deleted, recorded, &[], &["startTime"]);
    }
    let room = [("us-central1-a/n2-standard-4".to_owned(), 0)].into();
    fake.set(Faults { room, ..Faults::default() });
    let full = machine().replace("\"one\"", "\"three\"");
    let (_, begun) = ask(port, "POST", &path, &full).await;
    let name = begun["name"].as_str().expect("a name");
    let (_, failed) = get(&format!("zones/us-central1-a/operations/{name}")).await;
    if let Some(recorded) = body(&library, "insert-name-conflict-is-an-operation-error", 3) {
        // Google names the machine that is in the way; there is none here.
        alike("failed operation", &failed, recorded, &["targetId"], &["endTime"]);
        let (ours, theirs) = (&failed["error"], &recorded["error"]);
        alike("its error", ours, theirs, &[], &[]);
        alike("one of them", &ours["errors"][0], &theirs["errors"][0], &[], &["errorDetails"]);
    }

    // Limits.
    let (_, region) = get("regions/us-central1").await;
    if let Some(recorded) = body(&library, "regions-quotas", 0) {
        let theirs = &recorded["items"][0];
        let not_played = ["creationTimestamp", "description", "supportsPzs"];
        alike("region", &region, theirs, &not_played, &[]);
        alike("limit", &region["quotas"][0], &theirs["quotas"][0], &[], &[]);
    }
}
