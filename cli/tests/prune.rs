//! A folder of specs is the truth: fleets that none of them names are unmanaged, and end only if somebody
//! says so.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

fn spec(name: &str, target: u32) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: {name} }}\nspec:\n  \
         capacity: {{ target: {target}, base: {{ onDemand: 100% }} }}\n  instances: {{ families: [m6i] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n"
    )
}

/// Two fleets in a folder, of which one loses its spec.
fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write("fleets/web.yaml", &spec("web", 2));
    place.write("fleets/old.yaml", &spec("old", 6));
    place.expect(0, &["apply", "--yes", "fleets"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    std::fs::remove_file(place.path("fleets/old.yaml")).expect("a file");
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn machines(place: &Place) -> usize {
    let status = json(&place.expect(0, &["status", "--fleet", "old", "-o", "json"]));
    status["fleets"][0]["machines"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_fleet_without_a_spec_is_reported_and_stays() {
    let place = place();
    let expected = serde_json::json!([{ "fleet": "old", "machines": 6 }]);
    for args in [["plan", "fleets", "-o", "json"], ["status", "fleets", "-o", "json"]] {
        let document = json(&place.expect(0, &args));
        assert_eq!(document["unmanaged"], expected, "{args:?}");
        assert_eq!(document["fleets"].as_array().map(Vec::len), Some(1), "{args:?}");
    }
    for command in ["plan", "status"] {
        let said = text(&place.run(&[command, "fleets"]).stderr);
        assert!(said.contains("fleet `old` is unmanaged: it has 6 machines"), "{command}: {said}");
    }
    let lines = place.expect(0, &["reconcile", "fleets"]);
    let lines: Vec<Value> = lines.lines().map(json).collect();
    assert_eq!(lines[0]["unmanaged"], expected);
    assert_eq!(lines.len(), 2);
    place.expect(0, &["apply", "--yes", "fleets"]);
    assert_eq!(machines(&place), 6);
    // Whoever speaks of one fleet or file says nothing about the others.
    for args in [
        &["plan", "fleets/web.yaml", "-o", "json"][..],
        &["plan", "fleets", "--fleet", "web", "-o", "json"],
    ] {
        assert_eq!(json(&place.expect(0, args))["unmanaged"], serde_json::json!([]), "{args:?}");
    }
}

#[test]
fn prune_ends_it_within_the_limit_on_destroys() {
    let place = place();
    let shown = place.expect(0, &["plan", "--prune", "fleets"]);
    assert!(shown.contains("fleet old") && shown.contains("--allow-destroy 6"), "{shown}");
    // All of a fleet is more than one apply may destroy without the number.
    place.expect(3, &["apply", "--yes", "--prune", "fleets"]);
    assert_eq!(machines(&place), 5);
    place.expect(0, &["apply", "--yes", "--prune", "--allow-destroy", "5", "fleets"]);
    assert_eq!(machines(&place), 0);
    let document = json(&place.expect(0, &["plan", "fleets", "-o", "json"]));
    assert_eq!(document["unmanaged"], serde_json::json!([]), "what has no machines is no news");
}

#[test]
fn prune_needs_a_whole_folder_that_can_be_read() {
    let place = place();
    for args in [
        &["apply", "--yes", "--prune", "fleets/web.yaml"][..],
        &["reconcile", "--prune", "fleets", "--fleet", "web"],
    ] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(64), "{args:?}");
        assert!(text(&output.stderr).contains("only a whole folder"), "{args:?}");
    }
    place.write("fleets/old.yaml", &spec("old", 6).replace("m6i", "m6i]"));
    place.expect(4, &["apply", "--yes", "--prune", "--allow-destroy", "6", "fleets"]);
    place.write("fleets/old.yaml", &format!("<<<<<<< HEAD\n{}", spec("old", 6)));
    let output = place.run(&["apply", "--yes", "--prune", "--allow-destroy", "6", "fleets"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("nothing is pruned"), "{}", text(&output.stderr));
    assert_eq!(machines(&place), 6);
}

#[test]
fn a_file_that_nobody_can_read_as_text_ends_no_fleet() {
    let place = place();
    let wide: Vec<u8> = spec("old", 6).bytes().flat_map(|byte| [byte, 0]).collect();
    for (content, code) in [(&[][..], 0), (b"\x89PNG\r\n\x1a\n\0", 0), (&wide, 4)] {
        std::fs::write(place.path("fleets/old.yaml"), content).expect("written");
        let output = place.run(&["apply", "--yes", "--prune", "--allow-destroy", "6", "fleets"]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("nothing is pruned"), "{}", text(&output.stderr));
        assert_eq!(machines(&place), 6);
    }
}

#[test]
fn a_policy_prunes_round_by_round() {
    let place = place();
    place.write(
        "fleets/policy.yaml",
        "apiVersion: fleet/v1\nkind: Policy\nmetadata: { name: truth }\nspec: { prune: true }\n",
    );
    let mut left = Vec::new();
    for _ in 0..7 {
        place.run(&["reconcile", "fleets"]);
        left.push(machines(&place));
    }
    assert_eq!(left, [5, 4, 3, 2, 1, 0, 0]);
}
