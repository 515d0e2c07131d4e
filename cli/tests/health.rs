//! Readiness, health and notices through the program.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

fn spec(target: u32, spot: bool, more: &str) -> String {
    let base = if spot { "0" } else { "100%" };
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: web }}\nspec:\n  \
         capacity: {{ target: {target}, base: {{ onDemand: {base} }} }}\n  \
         instances: {{ families: [m6i] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n{more}"
    )
}

const CHECKED: &str = "  health:\n    command: [sh, -c, '! grep -qx \"$FLEET_SLOT\" bad']\n    \
                       unhealthyAfter: 5m\n";

fn place(spec: &str) -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("bad", "");
    place.write("web.yaml", spec);
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place.sim.advance(Duration::from_secs(1200)).expect("time");
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn slots(place: &Place) -> Vec<String> {
    let status = json(&place.expect(0, &["status", "web.yaml", "-o", "json"]));
    let machines = status["fleets"][0]["machines"].as_array().expect("machines");
    let mut slots: Vec<String> =
        machines.iter().filter_map(|one| one["slot"].as_str()).map(str::to_owned).collect();
    slots.sort();
    slots
}

#[test]
fn one_whose_checks_fail_is_replaced_after_a_while_and_many_are_left_alone() {
    let place = place(&spec(10, false, CHECKED));
    assert!(place.expect(0, &["history", "web"]).contains("health     10 ready"));
    place.write("bad", "base-3\n");
    let first = place.run(&["apply", "--yes", "web.yaml"]);
    let said = text(&first.stdout) + &text(&first.stderr);
    assert!(said.contains("fails") || said.contains("fail"), "{said}");
    let status = place.run(&["status", "web.yaml"]);
    let said = text(&status.stdout) + &text(&status.stderr);
    assert!(said.contains("which fills base-3, fail"), "{said}");
    place.sim.advance(Duration::from_secs(301)).expect("time");
    let applied = place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert!(applied.contains("1 launched, 1 destroyed"), "{applied}");
    assert!(applied.contains("it is unhealthy"), "{applied}");
    assert_eq!(slots(&place).len(), 10);
    // A check that is broken says that everything is: nothing is touched, and it is said.
    place.write("bad", "base-1\nbase-2\nbase-4\nbase-5\n");
    place.run(&["apply", "--yes", "web.yaml"]);
    place.sim.advance(Duration::from_secs(301)).expect("time");
    let held = place.run(&["apply", "--yes", "web.yaml"]);
    let said = text(&held.stdout) + &text(&held.stderr);
    assert_eq!(held.status.code(), Some(3), "{said}");
    assert!(said.contains("4 of 10 machines are unhealthy"), "{said}");
    let before = slots(&place);
    // Mended, it is at rest.
    place.write("bad", "");
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    let plan = place.expect(0, &["plan", "--detailed-exitcode", "web.yaml"]);
    assert!(plan.contains("No changes"), "{plan}");
    assert_eq!(slots(&place), before);
}

#[test]
fn a_program_that_is_not_there_says_nothing_of_machines() {
    let missing = "  health: { command: [./no-such-check] }\n";
    let place = place(&spec(3, false, CHECKED));
    place.write("web.yaml", &spec(3, false, missing));
    let out = place.run(&["apply", "--yes", "web.yaml"]);
    let said = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("cannot be started"), "{said}");
    place.sim.advance(Duration::from_secs(3600)).expect("time");
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert_eq!(slots(&place).len(), 3);
}

#[test]
fn a_notice_brings_the_successor_and_runs_the_drain_once() {
    let drain = "  interruption:\n    onNotice: drain\n    graceSeconds: 20\n    \
                 drain: [sh, -c, 'echo $FLEET_SLOT $FLEET_MACHINE >> drained']\n";
    let place = place(&spec(4, true, drain));
    place.expect(0, &["sim", "interrupt", "aws/*", "--count", "1"]);
    let applied = place.run(&["apply", "--yes", "web.yaml"]);
    let said = text(&applied.stdout) + &text(&applied.stderr);
    assert!(said.contains("1 launched"), "{said}");
    let drained = std::fs::read_to_string(place.path("drained")).expect("it ran");
    assert_eq!(drained.lines().count(), 1, "{drained}");
    place.run(&["apply", "--yes", "web.yaml"]);
    let drained = std::fs::read_to_string(place.path("drained")).expect("it ran");
    assert_eq!(drained.lines().count(), 1, "once: {drained}");
    assert!(place.expect(0, &["history", "web"]).contains("drain      asked the work on"));
}

#[test]
fn a_notice_that_is_ignored_changes_nothing_until_the_machine_is_gone() {
    let place = place(&spec(4, true, "  interruption: { onNotice: ignore }\n"));
    place.expect(0, &["sim", "interrupt", "aws/*", "--count", "1"]);
    let plan = place.expect(0, &["plan", "web.yaml"]);
    assert!(plan.contains("No changes"), "{plan}");
    place.sim.advance(Duration::from_secs(300)).expect("time");
    let applied = place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert!(applied.contains("1 launched"), "{applied}");
}
