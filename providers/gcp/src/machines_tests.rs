//! Instances and pages as Google writes them, read.

use super::*;
use serde_json::{Value, json};

fn instance(change: impl FnOnce(&mut Value)) -> Instance {
    let mut body = json!({
        "id": "4711",
        "name": "a-machine",
        "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a",
        "machineType": "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a/machineTypes/n1-standard-8",
        "creationTimestamp": "2026-11-14T21:00:00.123-08:00",
        "status": "RUNNING",
    });
    change(&mut body);
    serde_json::from_value(body).expect("an instance")
}

#[test]
fn instances_become_machines() {
    let plain = machine(&instance(|_| {})).expect("a machine");
    assert_eq!(plain.pool().to_string(), "gcp/us-central1/us-central1-a/n1-standard-8/on-demand");
    assert_eq!(plain.id.as_str(), "us-central1-a/4711");
    assert_eq!(plain.launched_at.to_string(), "2026-11-15T05:00:00.123Z");
    assert_eq!(plain.owner, None);
    let gpu = machine(&instance(|body| {
        body["scheduling"] = json!({ "provisioningModel": "SPOT" });
        let kind = "projects/p/zones/us-central1-a/acceleratorTypes/nvidia-tesla-t4";
        body["guestAccelerators"] = json!([{ "acceleratorType": kind, "acceleratorCount": 2 }]);
    }));
    let gpu = gpu.expect("a machine").pool().to_string();
    assert_eq!(gpu, "gcp/us-central1/us-central1-a/n1-standard-8+2xt4/spot");
    for field in ["id", "name", "zone", "machineType", "creationTimestamp"] {
        let less = instance(|body| {
            body.as_object_mut().expect("fields").remove(field);
        });
        assert_eq!(machine(&less), None, "without {field}");
    }
}

#[test]
fn markets() {
    let check = |field: &str, value: Value, expect| {
        let machine = machine(&instance(|body| body[field] = value.clone())).expect("a machine");
        assert_eq!(machine.market, expect, "{value}");
    };
    check("scheduling", json!({ "provisioningModel": "STANDARD" }), Market::OnDemand);
    check("scheduling", json!({ "provisioningModel": "FLEX_START" }), Market::OnDemand);
    check("scheduling", json!({ "preemptible": true }), Market::Spot);
    let held = json!({ "consumeReservationType": "SPECIFIC_RESERVATION" });
    check("reservationAffinity", held, Market::Reserved);
}

#[test]
fn states() {
    for (status, expect) in [
        ("PROVISIONING", MachineState::Pending),
        ("STAGING", MachineState::Pending),
        ("RUNNING", MachineState::Running),
        ("REPAIRING", MachineState::Running),
        ("STOPPING", MachineState::Stopping),
        ("PENDING_STOP", MachineState::Stopping),
        ("SUSPENDING", MachineState::Stopping),
        ("TERMINATED", MachineState::Stopped),
        ("STOPPED", MachineState::Stopped),
        ("SUSPENDED", MachineState::Stopped),
        ("DREAMING", MachineState::Running),
    ] {
        assert_eq!(state(&instance(|body| body["status"] = json!(status))), expect, "{status}");
    }
}

#[test]
fn what_a_page_leaves_out_is_told() {
    let check = |page: Value, expect: &[&str]| {
        let page: InstanceAggregatedList = serde_json::from_value(page).expect("a page");
        let (mut machines, mut troubles) = (Vec::new(), Vec::new());
        read_page(&page, &"us-central1".into(), &mut machines, &mut troubles);
        troubles.sort();
        assert_eq!(troubles, expect);
    };
    let warned =
        |scope: &str, code: &str| json!({ "items": { scope: { "warning": { "code": code } } } });
    check(warned("zones/us-central1-a", "NO_RESULTS_ON_PAGE"), &[]);
    check(warned("zones/us-central1-a", "UNREACHABLE"), &["zones/us-central1-a: UNREACHABLE"]);
    check(warned("zones/us-east1-b", "UNREACHABLE"), &[]);
    check(warned("zones/us-central1-a", "SOMETHING_NEW"), &["zones/us-central1-a: SOMETHING_NEW"]);
    check(json!({ "unreachables": ["zones/us-east1-b"] }), &[]);
    check(
        json!({ "unreachables": ["https://x/projects/p/zones/us-central1-a"] }),
        &["https://x/projects/p/zones/us-central1-a does not answer"],
    );
    check(json!({ "unreachables": ["somewhere"] }), &["somewhere does not answer"]);
    check(json!({ "warning": { "code": "UNREACHABLE" } }), &["the list: UNREACHABLE"]);
    let broken = json!({ "items": { "zones/us-central1-a": { "instances": [{ "name": "x" }] } } });
    check(broken, &["a machine in zones/us-central1-a cannot be read"]);
}

#[test]
fn ids_are_read_back() {
    assert_eq!(read_id(&id("us-central1-a", 7)), Some(("us-central1-a", "7")));
    for bad in ["", "7", "us-central1-a/", "us-central1-a/x", "us-central1-a/7/8", "zone/7"] {
        assert_eq!(read_id(&MachineId::new(bad)), None, "{bad}");
    }
}

#[test]
fn zones_are_listed_one_by_one_only_if_that_can_help() {
    let check = |class, code: &str, throttled, expect| {
        let error = refused(class, code, "");
        let error = if throttled { error.throttled() } else { error };
        assert_eq!(may_be_one_zone(&error), expect, "{error}");
    };
    let retry = Class::Retry { after: None };
    check(retry, "backendError", false, true);
    check(retry, "RequestTimeout", false, true);
    check(retry, "rateLimitExceeded", true, false);
    check(retry, "NoConnection", false, false);
    check(Class::Auth, "forbidden", false, false);
}

#[test]
fn addresses_are_those_of_the_first_interface() {
    let read = |change: fn(&mut Value)| machine(&instance(change)).expect("a machine").access;
    assert!(read(|_| {}).is_unknown());
    let both = read(|body| {
        body["networkInterfaces"] = json!([
            { "networkIP": "10.128.0.2", "accessConfigs": [{ "natIP": "203.0.113.7" }] },
            { "networkIP": "10.9.0.2" },
        ]);
        body["metadata"] = json!({ "items": [
            { "key": "startup-script", "value": "a:b" },
            { "key": "ssh-keys", "value": "ops:ssh-ed25519 AAAA ops\nmore:ssh-rsa BBBB" },
        ] });
    });
    assert_eq!(both.private_ip, address(Some("10.128.0.2")));
    assert_eq!(both.public_ip, address(Some("203.0.113.7")));
    assert_eq!((both.user.as_deref(), both.dns_name), (Some("ops"), None));
    // A machine that is stopped keeps the access config, without an address.
    let inside = read(|body| {
        body["networkInterfaces"] =
            json!([{ "networkIP": "10.128.0.3", "accessConfigs": [{ "name": "external-nat" }] }]);
    });
    assert_eq!((inside.public_ip, inside.private_ip), (None, address(Some("10.128.0.3"))));
}
