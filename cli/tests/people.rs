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

/// A plan names the fields of a template that changed, and what a label and a strategy do.
#[test]
fn changes_say_what_they_are_and_what_they_do() {
    let place = place();
    let with = |more: &str| format!("{}{more}", spec("a", 3));
    let first = "  template: { image: ami-1, userData: one, disk: { sizeGiB: 50 } }\n";
    place.write("specs/a.yaml", &with(first));
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");

    let second = "  template: { image: ami-2, userData: two, key: ops }\n";
    place.write("specs/a.yaml", &with(second));
    let screen = place.expect(0, &["plan", "specs/a.yaml"]);
    for line in [
        "~ template of aws: image ami-1 → ami-2",
        "~ template of aws: userData changed",
        "~ template of aws: disk.sizeGiB removed",
        "~ template of aws: key set to ops",
    ] {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    let plan = json(&place.expect(0, &["plan", "specs/a.yaml", "-o", "json"]));
    let changed = plan["fleets"][0]["templateChanges"].as_array().expect("changes");
    assert_eq!(changed.len(), 4);
    assert!(!format!("{plan}").contains("\"two\""), "user data is never shown");

    // Labels are changed in place, a strategy is for what comes.
    let labelled = with(first)
        .replace("name: a }", "name: a, labels: { team: blue } }")
        .replace("placement: {", "placement: { strategy: lowest-price,");
    place.write("specs/a.yaml", &labelled);
    let screen = place.expect(0, &["plan", "specs/a.yaml"]);
    assert!(
        screen.contains("labels of 3 machines on aws, changed in place: team=blue"),
        "{screen}"
    );
    let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("new machines follow it, those that stand stay"), "{screen}");
    assert!(screen.contains("0 to launch, 0 to destroy, 3 to keep"), "{screen}");
}

/// Rows add up to the total, whatever prices did since a launch.
#[test]
fn rows_add_up_to_the_total() {
    let place = Place::new(7, Preset::Lifelike, Duration::ZERO);
    place.write("fleet.yaml", &spec("a", 12));
    place.run(&["apply", "--yes"]);
    place.sim.advance(Duration::from_secs(36_000)).expect("time");
    place.write("fleet.yaml", &spec("a", 15));
    let plan = json(&place.expect(0, &["plan", "-o", "json"]));
    let fleet = &plan["fleets"][0];
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let pools = fleet["pools"].as_array().expect("pools");
    let after: f64 = pools
        .iter()
        .map(|pool| {
            number(&pool["keptHourlyUsd"]) + number(&pool["create"]) * number(&pool["hourlyUsd"])
        })
        .sum();
    let lines = fleet["costLines"].as_array().expect("lines");
    let sum = |of: &dyn Fn(&&Value) -> bool, what: &str| -> f64 {
        lines.iter().filter(of).map(|line| number(&line[what])).sum()
    };
    let total = number(&fleet["cost"]["hourlyAfterUsd"]);
    let near =
        |one: f64, other: f64| assert!((one - other).abs() < 1e-6, "{one} {other} {fleet:#}");
    assert!(total > after && after > 0.0, "addresses are counted as well");
    near(after, sum(&|line| line["kind"] == "machine", "hourlyAfterUsd"));
    near(total, sum(&|_| true, "hourlyAfterUsd"));
    near(number(&fleet["cost"]["hourlyBeforeUsd"]), sum(&|_| true, "hourlyBeforeUsd"));
    let added = number(&fleet["cost"]["monthlyDifferenceUsd"]);
    assert!((added - sum(&|_| true, "monthlyDifferenceUsd")).abs() < 1e-3, "{fleet:#}");
}

/// What nobody names is what experts would choose, and `explain` says so.
#[test]
fn defaults_are_explained() {
    let place = place();
    let open = "apiVersion: fleet/v1
kind: Fleet
metadata: { name: open }
spec:
  capacity: { unit: vcpus, target: 2000 }
  placement: { spread: { minZones: 4 } }
";
    place.write("specs/open.yaml", open);
    let plan = json(&place.expect(0, &["plan", "specs/open.yaml", "-o", "json"]));
    let pools = plan["fleets"][0]["pools"].as_array().expect("pools");
    let mut zones: std::collections::BTreeMap<String, f64> = Default::default();
    for pool in pools {
        let kind = pool["type"].as_str().expect("a type");
        assert!(!kind.starts_with("t3") && !kind.starts_with("t4g"), "{kind}");
        assert!(pool["weight"].as_f64().expect("a weight") >= 2.0);
        let place = format!("{}/{}/{}", pool["provider"], pool["region"], pool["zone"]);
        *zones.entry(place).or_default() +=
            pool["weight"].as_f64().unwrap_or(0.0) * pool["create"].as_f64().unwrap_or(0.0);
    }
    assert!(zones.len() >= 4 && zones.values().all(|units| *units < 700.0), "{zones:?}");
    let screen = place.expect(0, &["explain", "specs/open.yaml"]);
    for rule in [
        "burstable, and the spec does not name it",
        "less than 2 vCPUs",
        "it has accelerators, and the spec asks for none",
        "the fleet is x86_64",
        "a region for some customers only",
    ] {
        assert!(screen.contains(rule), "{rule}\n{screen}");
    }
}

/// Four nodes for one training run stand in one zone, and stay together when they are more.
#[test]
fn a_training_run_stands_together() {
    let place = place();
    let run = |nodes: u32, more: &str| {
        format!(
            "apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: run }}
spec:
  capacity: {{ target: {nodes}, base: {{ onDemand: {nodes} }} }}
  instances: {{ accelerators: {{ names: [H100], perInstance: {{ min: 8 }} }} }}
  placement: {{ together: zone{more} }}
"
        )
    };
    let zones = || -> BTreeSet<String> {
        place.live().iter().map(|machine| machine.place.to_string()).collect()
    };
    place.write("specs/run.yaml", &run(4, ""));
    place.expect(0, &["apply", "specs/run.yaml", "--yes"]);
    let first = zones();
    assert_eq!(first.len(), 1, "{first:?}");
    place.write("specs/run.yaml", &run(6, ""));
    place.expect(0, &["apply", "specs/run.yaml", "--yes"]);
    assert_eq!((zones(), place.live().len()), (first, 6));
    place.write("specs/run.yaml", &run(6, ", spread: { minZones: 2 }"));
    let output = place.run(&["plan", "specs/run.yaml"]);
    assert_eq!(output.status.code(), Some(4));
    let told = text(&output.stderr);
    assert!(told.contains("together: zone and spread.minZones cannot both be had"), "{told}");
}

/// By its name a fleet is counted as the last apply counted it.
#[test]
fn a_fleet_by_name_has_its_unit_and_its_target() {
    let place = place();
    let vcpus = spec("a", 16)
        .replace("unit: instances", "unit: vcpus")
        .replace("placement: {", "placement: { strategy: lowest-price,");
    place.write("specs/a.yaml", &vcpus);
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    let screen = place.expect(0, &["status", "a"]);
    assert!(screen.contains("fleet a: 16 of 16 vcpus in "), "{screen}");
    assert!(!screen.contains("strategy") && !screen.contains("placed"), "{screen}");
}

/// A target below the size of what stands: the plan says what it cannot shed, and the way it names works.
#[test]
fn machines_that_are_too_large_are_named() {
    let place = place();
    let vcpus = |target: u32, more: &str| {
        spec("a", target)
            .replace("unit: instances", "unit: vcpus")
            .replace("families: [m6i]", &format!("families: [m6i]{more}"))
    };
    place.write("specs/a.yaml", &vcpus(64, ", vcpus: { min: 32 }"));
    place.expect(0, &["apply", "specs/a.yaml", "--yes"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    place.write("specs/a.yaml", &vcpus(8, ""));
    place.run(&["apply", "specs/a.yaml", "--yes", "--allow-destroy", "1"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    let screen = place.expect(0, &["plan", "specs/a.yaml"]);
    let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("burst holds 40 vcpus more than wanted"), "{screen}");
    let slot = said.split("`fleet replace FLEET ").nth(1).and_then(|rest| rest.split('`').next());
    place.expect(0, &["replace", "specs/a.yaml", slot.expect("a slot"), "--yes"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    let status = json(&place.expect(0, &["status", "specs/a.yaml", "-o", "json"]));
    assert_eq!(status["fleets"][0]["groups"][1]["have"], 8.0, "{status:#}");
}
