//! What people meet first: no credentials, one broken file among many, names in place of files,
//! commands that could take too much.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::collections::BTreeSet;
#[cfg(feature = "aws")]
use std::process::Command;
use std::time::Duration;
use support::{Place, text};

fn spec(name: &str, target: u32) -> String {
    format!(
        "apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: {name} }}
spec:
  capacity: {{ unit: instances, target: {target} }}
  instances: {{ families: [m6i] }}
  placement: {{ clouds: [ {{ provider: aws, regions: [us-east-1] }} ] }}
"
    )
}

fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("specs")).expect("a folder");
    place.write("specs/a.yaml", &spec("a", 2));
    place.write("specs/b.yaml", &spec("b", 3));
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn one_broken_file_stops_one_fleet() {
    let place = place();
    place.write("specs/broken.yaml", &spec("broken", 2).replace("target: 2", "target: many"));
    let output = place.run(&["plan", "specs"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{out}{err}");
    assert!(out.contains("fleet a:") && out.contains("fleet b:"), "{out}");
    assert!(err.contains("specs/broken.yaml:5:") && err.contains("left out"), "{err}");

    let document = json(&place.expect(4, &["apply", "specs", "--yes", "-o", "json"]));
    assert_eq!(document["leftOut"][0]["fleet"], "broken");
    assert_eq!(document["leftOut"][0]["diagnostics"][0]["line"], 5);
    assert_eq!(document["fleets"].as_array().map(Vec::len), Some(2));
    assert_eq!(place.live().len(), 5, "the others were applied");

    let lines = place.expect(4, &["reconcile", "specs"]);
    let lines: Vec<Value> = lines.lines().map(json).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["exitCode"], 4);
    assert_eq!(lines[0]["leftOut"][0]["fleet"], "broken");

    // Whoever asks for others does not hear of it; whoever checks does.
    place.expect(0, &["plan", "specs", "--fleet", "a"]);
    place.expect(4, &["plan", "specs", "--fleet", "broken"]);
    place.expect(4, &["validate", "specs"]);
}

#[test]
fn a_broken_policy_stops_every_fleet() {
    let place = place();
    place.write("specs/policy.yaml", "apiVersion: fleet/v1\nkind: Policy\nspec: { maxCost: [\n");
    let out = place.expect(4, &["apply", "specs", "--yes"]);
    assert_eq!(out, "");
    assert_eq!(place.live().len(), 0);
}

#[test]
fn two_of_one_name_are_both_left_out() {
    let place = place();
    place.write("specs/z.yaml", &spec("a", 9));
    place.expect(4, &["apply", "specs", "--yes"]);
    assert_eq!(place.live().len(), 3, "b alone");
}

#[test]
fn destroy_takes_only_what_is_named() {
    let place = place();
    place.expect(0, &["apply", "specs", "--yes"]);
    place.expect(64, &["destroy", "--yes"]);
    assert_eq!(place.live().len(), 5);
    // A name where a file is expected.
    assert!(place.expect(0, &["status", "a"]).contains("fleet a"));
    place.expect(0, &["destroy", "a", "--yes"]);
    assert_eq!(place.live().len(), 3);
    assert!(place.expect(0, &["history", "a"]).contains("fleet destroy"));
    place.expect(4, &["destroy", "nobody", "--yes"]);
    place.expect(0, &["destroy", "--all", "--yes"]);
    assert_eq!(place.live().len(), 0);
}

#[test]
#[cfg(feature = "aws")]
fn simulated_state_is_not_for_real_clouds() {
    let place = place();
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    for command in ["plan", "status", "explain", "reconcile"] {
        let mut real = Command::new(env!("CARGO_BIN_EXE_fleet"));
        real.current_dir(place.path("")).env_clear().env("AWS_EC2_METADATA_DISABLED", "true");
        real.args([command, "specs/a.yaml", "--state", "state", "--catalog", "embedded"]);
        let output = real.output().expect("fleet runs");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains("stands on simulated clouds"), "{command}: {said}");
    }
}

#[test]
fn many_fleets_are_changed_side_by_side() {
    let place = place();
    for nth in 0..40 {
        place.write(&format!("specs/f{nth}.yaml"), &spec(&format!("f{nth}"), 1));
    }
    place.expect(0, &["apply", "specs", "--yes"]);
    assert_eq!(place.live().len(), 45);
    place.assert_one_per_slot();
    let plan = json(&place.expect(0, &["plan", "specs", "-o", "json", "--detailed-exitcode"]));
    assert_eq!(plan["summary"]["keep"], 45);
    let lines = place.expect(0, &["reconcile", "specs"]);
    assert_eq!(lines.lines().count(), 42);
}

#[test]
fn failures_are_json_too() {
    let place = place();
    place.write("specs/a.yaml", &spec("a", 2).replace("target: 2", "target: many"));
    for command in ["plan", "status", "explain", "validate"] {
        let document = json(&place.expect(4, &[command, "specs/a.yaml", "-o", "json"]));
        assert_eq!(document["diagnostics"][0]["line"], 5, "{command}: {document}");
        assert_eq!(document["exitCode"], 4, "{command}");
    }
    let document = json(&place.expect(1, &["plan", "-o", "json"]));
    assert_eq!(document["exitCode"], 1);
    assert!(document["error"].as_str().is_some_and(|error| error.contains("no spec")));
    let document =
        json(&place.expect(2, &["plan", "b", "specs", "-o", "json", "--detailed-exitcode"]));
    assert_eq!(document["exitCode"], 2);
}

#[test]
fn many_fleets_fit_into_one_comment() {
    let place = place();
    for nth in 0..300 {
        place.write(&format!("specs/f{nth}.yaml"), &spec(&format!("f{nth}"), 1));
    }
    place.expect(0, &["apply", "specs/b.yaml", "--yes"]);
    let comment = place.expect(0, &["plan", "specs", "-o", "markdown"]);
    assert!(comment.len() < 65_536, "{} bytes", comment.len());
    // The summary names every fleet; details are cut with a note.
    assert!(comment.contains("| `f299` | 1 |") && comment.contains("| **all** | 302 |"));
    assert!(comment.contains("are left out: a comment has an end"), "{comment}");
    for nth in 300..1200 {
        place.write(&format!("specs/f{nth}.yaml"), &spec(&format!("f{nth}"), 1));
    }
    let comment = place.expect(0, &["plan", "specs", "-o", "markdown"]);
    assert!(comment.len() < 65_536, "{} bytes", comment.len());
    assert!(comment.contains("more fleets_ |") && comment.contains("| **all** | 1202 |"));
}

#[test]
fn history_can_be_cut() {
    let place = place();
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    place.expect(0, &["sim", "advance", "2d"]);
    place.write("specs/a.yaml", &spec("a", 3));
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    let records = |args: &[&str]| {
        let all = [&["history", "a", "-o", "json"], args].concat();
        let document = json(&place.expect(0, &all));
        let events = document["fleets"][0]["events"].as_array().expect("events").clone();
        let records: BTreeSet<u64> =
            events.iter().filter_map(|one| one["record"].as_u64()).collect();
        records.len()
    };
    let (all, recent) = (records(&[]), records(&["--since", "1d"]));
    assert!(0 < recent && recent < all, "{recent} of {all}");
    assert_eq!(records(&["--since", "2026-01-01T00:00:00Z"]), all);
    assert_eq!(records(&["--limit", "2"]), 2);
    place.expect(64, &["history", "--since", "yesterday"]);
}

/// What a plan says of the end of the way is what the way ends with, and its number works.
#[test]
fn a_plan_shows_the_end_and_not_only_the_next_slice() {
    let place = place();
    place.write("specs/a.yaml", &spec("a", 40));
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    place.write("specs/a.yaml", &spec("a", 6));
    let screen = place.expect(0, &["plan", "specs/a.yaml"]);
    let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("when done $") && said.contains("or one with --allow-destroy 34"),
        "{screen}"
    );
    let plan = json(&place.expect(0, &["plan", "specs/a.yaml", "-o", "json"]));
    let done = &plan["fleets"][0]["cost"]["whenDone"];
    assert_eq!(done["allowDestroy"], 34);

    // The number of applies, counted on a copy of the way.
    let mut applies = 0;
    while place.live().len() > 6 {
        let code = place.run(&["apply", "specs/a.yaml", "--yes"]).status.code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}");
        applies += 1;
    }
    assert_eq!(done["applies"], applies);
    let after = json(&place.expect(0, &["plan", "specs/a.yaml", "-o", "json"]));
    assert_eq!(after["cost"]["hourlyAfterUsd"], done["hourlyUsd"]);
    assert_eq!(after["fleets"][0]["cost"]["whenDone"], Value::Null);

    // Or all at once.
    place.write("specs/b.yaml", &spec("b", 40));
    place.expect(0, &["apply", "specs/b.yaml", "--yes"]);
    place.write("specs/b.yaml", &spec("b", 6));
    place.expect(0, &["apply", "specs/b.yaml", "--yes", "--allow-destroy", "34"]);
    assert_eq!(place.live().len(), 12);
}

/// A person at a terminal confirms the number, and one apply does it.
#[cfg(target_os = "linux")]
#[test]
fn a_lowered_target_is_one_apply_for_whoever_confirms_the_number() {
    let place = place();
    place.write("specs/a.yaml", &spec("a", 30));
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    place.write("specs/a.yaml", &spec("a", 5));
    let answered = |answers: &str| place.on_a_terminal(&["apply", "specs/a.yaml"], &[], answers);
    let said = answered("\nn\n");
    assert!(said.contains("Type 25 to destroy all of them"), "{said}");
    assert_eq!(place.live().len(), 30, "{said}");
    let said = answered("25\ny\n");
    assert!(said.contains("Destroy 25 machines for a"), "{said}");
    assert_eq!(place.live().len(), 5, "{said}");
}
