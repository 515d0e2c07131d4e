//! What EC2 answered to others, read by us: recorded bodies are served by a local server, and the
//! adapter must make of them what they say. Nothing here was written by us but the fallback.

#![expect(clippy::print_stdout, reason = "how much was replayed is what is looked for")]

mod support;
#[path = "support/warnings.rs"]
mod warnings;

use fleet_model::{CauseKind, Cloud, Machine, MachineState};
use fleet_provider::evidence::{self, Call};
use fleet_provider::{Class, Listing};
use serde_json::Value;
use support::{Exchange, Served, errors, instances, own, recorded, served_error, values};

/// What a recorded list holds, read off its text, and what the adapter read.
async fn check_list(name: &str, body: &str, spot: Option<String>) -> usize {
    let served = Served::start([
        ("DescribeInstances", (200, body.to_owned())),
        ("DescribeSpotInstanceRequests", (200, spot.unwrap_or_else(support::no_requests))),
    ])
    .await;
    let listing = served.machines().await.unwrap_or_else(|error| panic!("{name}: {error}"));
    let Listing::Complete(machines) = listing else { panic!("{name}: {listing:?}") };
    let told = instances(body);
    assert_eq!(machines.len(), told.len(), "{name}");
    for (machine, text) in machines.iter().zip(told) {
        check_machine(name, machine, text);
    }
    machines.len()
}

fn check_machine(name: &str, machine: &Machine, text: &str) {
    let id = &machine.id;
    let state = values(text, "name").into_iter().find(|name| support::STATES.contains(name));
    let expect = match state {
        Some("pending") => MachineState::Pending,
        Some("running") => MachineState::Running,
        Some("stopped") => MachineState::Stopped,
        Some("stopping" | "shutting-down") => MachineState::Stopping,
        Some("terminated") => MachineState::Terminated,
        other => panic!("{name} {id}: {other:?}"),
    };
    assert_eq!(machine.state, expect, "{name} {id}");
    let down = !matches!(expect, MachineState::Pending | MachineState::Running);
    let reason = values(text, "reason").first().copied().unwrap_or_default();
    let person = down && (text.contains("Client.UserInitiated") || reason.starts_with("User init"));
    let kind = machine.cause.as_ref().map(|cause| cause.kind);
    assert_eq!(kind, person.then_some(CauseKind::Person), "{name} {id} {reason}");
    // A machine that was started again has a younger launch time than its first interface.
    let interface = text.split("<networkInterfaceSet>").nth(1);
    let attached = interface.and_then(|rest| values(rest, "attachTime").first().copied());
    let launched = values(text, "launchTime").first().copied();
    let expect = attached.or(launched).expect("a time");
    let expect: fleet_model::Timestamp = expect.parse().expect("a time");
    assert_eq!(machine.launched_at, expect, "{name} {id}");
    assert_eq!(machine.notice, None, "{name} {id}: nobody takes it");
    // How it is reached. EC2 writes what is not there as an empty element, or not at all.
    let first = |tag: &str| values(text, tag).into_iter().next().filter(|text| !text.is_empty());
    let access = &machine.access;
    let ip = |ip: Option<std::net::IpAddr>| ip.map(|ip| ip.to_string());
    assert_eq!(ip(access.public_ip).as_deref(), first("ipAddress"), "{name} {id}");
    assert_eq!(ip(access.private_ip).as_deref(), first("privateIpAddress"), "{name} {id}");
    assert_eq!(access.dns_name.as_deref(), first("dnsName"), "{name} {id}");
    assert_eq!(access.key.as_deref(), first("keyName"), "{name} {id}");
}

/// Bodies of errors are read by the SDK, and each code is judged as the table says.
async fn check_error(name: &str, exchange: &Exchange) -> usize {
    let Some((code, message)) = &exchange.error else { return 0 };
    let status = exchange.status.unwrap_or_else(|| {
        // Not recorded. The table says what others saw; here it only carries the body.
        let seen = evidence::rows(Cloud::Aws).iter().find(|row| row.code == code.as_str());
        seen.and_then(|row| row.status).unwrap_or(400)
    });
    let served = Served::start([("DescribeInstances", (status, served_error(exchange)))]).await;
    let error = served.machines().await.expect_err("an error");
    assert_eq!((&error.code, &error.message), (code, message), "{name}");
    let judged = |call| evidence::judge(Cloud::Aws, call, status, code, message, None);
    let expect = match code.as_str() {
        "InsufficientInstanceCapacity" => {
            matches!(judged(Call::Launch).class, Class::Capacity { .. })
        }
        "RequestLimitExceeded" => judged(Call::Launch).throttled && error.throttled,
        "DependencyViolation" => matches!(judged(Call::End).class, Class::Retry { .. }),
        "OperationNotPermitted" => judged(Call::End).class == Class::Invalid,
        other if other.starts_with("Invalid") => {
            matches!(judged(Call::Launch).class, Class::Invalid | Class::Refused { .. })
        }
        other => {
            // Seen by others and by us never: at least it is no doubt.
            println!("recordings: {name}: {other} is in no row");
            judged(Call::Launch).class != Class::Unknown
        }
    };
    assert!(expect, "{name}: {code} {status} is {:?}", judged(Call::Launch));
    1
}

#[tokio::test]
async fn what_ec2_answered_to_others_is_read_as_it_was_meant() {
    if support::runs_again("what_ec2_answered_to_others_is_read_as_it_was_meant") {
        return;
    }
    let (files, ours) = match recorded() {
        Some(files) => (files, false),
        None => (own(), true),
    };
    let mut replayed = 0;
    for (name, file) in &files {
        let mut seen: Vec<(Option<u16>, (String, String))> = Vec::new();
        for exchange in errors(file) {
            // Hundreds are alike: each status and text is served once, and all are counted.
            let key = (exchange.status, exchange.error.clone().unwrap_or_default());
            if seen.contains(&key) {
                replayed += 1;
                continue;
            }
            seen.push(key);
            replayed += check_error(name, &exchange).await;
        }
        let spot = support::spot_requests(file);
        for body in support::lists(file) {
            check_list(name, &body, spot.clone()).await;
            replayed += 1;
        }
    }
    assert!(replayed >= if ours { 3 } else { 200 }, "{replayed} of {} files", files.len());
    println!("recordings: aws{} {replayed} replayed", if ours { " own" } else { "" });
    let no_file = |file: &Value| file.get("exchanges").is_none();
    assert!(!files.iter().any(|(_, file)| no_file(file)), "a file without exchanges");
}

/// The set for those who have no recordings must hold what it is for.
#[tokio::test]
async fn our_own_set_is_read_too() {
    if support::runs_again("our_own_set_is_read_too") {
        return;
    }
    let mut replayed = 0;
    for (name, file) in own() {
        for exchange in errors(&file) {
            replayed += check_error(&name, &exchange).await;
        }
        for body in support::lists(&file) {
            replayed += check_list(&name, &body, None).await;
        }
    }
    assert_eq!(replayed, 4);
}
