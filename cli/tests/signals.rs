//! The clouds' signals, as users meet them: what they say, how far they are believed, how to do without.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

fn spec(name: &str, placement: &str) -> String {
    format!(
        "apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: {name} }}
spec:
  capacity: {{ unit: instances, target: 4 }}
  instances: {{ types: [m6i.large] }}
  placement:
    clouds: [ {{ provider: aws, regions: [us-east-1] }} ]
{placement}"
    )
}

const IGNORE: &str = "    ignoreSignals: [aws-placement-score]\n";

fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("a.yaml", &spec("a", ""));
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The signals of the pools of a plan.
fn signals(place: &Place, file: &str) -> Vec<Value> {
    let document = json(&place.expect(0, &["plan", file, "-o", "json"]));
    let pools = document["fleets"][0]["pools"].as_array().expect("pools").clone();
    let all = pools.iter().flat_map(|pool| pool["signals"].as_array().expect("signals"));
    all.cloned().collect()
}

fn weights(place: &Place, file: &str) -> Vec<f64> {
    let all = signals(place, file);
    all.iter().map(|signal| signal["weightPercent"].as_f64().expect("a weight")).collect()
}

#[test]
fn a_plan_and_an_explanation_tell_what_is_said_and_how_far_it_is_believed() {
    let place = place();
    let said = signals(&place, "a.yaml");
    assert!(!said.is_empty());
    for signal in &said {
        assert_eq!(signal["name"], "aws-placement-score");
        assert_eq!(signal["source"], "spotPlacementScore");
        assert_eq!(signal["percent"], 100.0);
        assert_eq!(signal["weightPercent"], 50.0);
    }
    let pool = "aws/us-east-1/use1-az1/m6i.large/spot";
    let shown = place.expect(0, &["explain", "a.yaml", "--pool", pool]);
    let line = "aws-placement-score: a launch is 100% likely; believed to 50%";
    assert!(shown.contains(line), "{shown}");
    let explained = json(&place.expect(0, &["explain", "a.yaml", "--pool", pool, "-o", "json"]));
    assert_eq!(explained["fleets"][0]["pools"][0]["signals"][0]["weightPercent"], 50.0);
    // A word that was heard for the first time may be as old as any; later it is known to have stood.
    assert!(said.iter().all(|signal| signal["steadySince"].is_null()), "{said:?}");
    place.expect(0, &["apply", "a.yaml", "--yes"]);
    place.sim.advance(Duration::from_secs(3 * 3600)).expect("time");
    place.expect(0, &["apply", "a.yaml", "--yes"]);
    let shown = place.expect(0, &["explain", "a.yaml", "--pool", pool]);
    assert!(shown.contains("taken to have stood since 20"), "{shown}");
    let said = signals(&place, "a.yaml");
    assert!(said.iter().any(|signal| signal["steadySince"].is_string()), "{said:?}");
}

#[test]
fn what_is_ignored_says_nothing_and_touches_no_machine() {
    let place = place();
    place.expect(0, &["apply", "a.yaml", "--yes"]);
    let before = place.live();
    place.write("a.yaml", &spec("a", IGNORE));
    let shown = place.expect(0, &["plan", "a.yaml"]);
    assert!(shown.contains("No changes."), "{shown}");
    assert!(signals(&place, "a.yaml").is_empty());
    place.expect(0, &["apply", "a.yaml", "--yes"]);
    assert_eq!(place.live(), before);
}

#[test]
fn an_unknown_signal_is_an_error_with_a_place_and_a_hint() {
    let place = place();
    place.write("a.yaml", &spec("a", "    ignoreSignals: [aws-placement-scor]\n"));
    let output = place.run(&["apply", "a.yaml", "--yes"]);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    assert!(shown.contains("a.yaml:9:21"), "{shown}");
    assert!(shown.contains("aws-placement-score"), "{shown}");
    assert!(place.live().is_empty());
}

#[test]
fn a_signal_that_was_right_is_believed_more_by_every_fleet_of_the_state() {
    let place = place();
    place.write("b.yaml", &spec("b", ""));
    assert!(weights(&place, "b.yaml").iter().all(|weight| *weight == 50.0));
    // Launches that were called certain are granted.
    place.expect(0, &["apply", "a.yaml", "--yes"]);
    let (own, other) = (weights(&place, "a.yaml"), weights(&place, "b.yaml"));
    assert!(!own.is_empty() && own.iter().all(|weight| *weight > 51.0), "{own:?}");
    assert_eq!(own[0], other[0], "the same evidence");
    // Who ignored it has nothing to add.
    place.write("c.yaml", &spec("c", IGNORE));
    place.expect(0, &["apply", "c.yaml", "--yes"]);
    assert_eq!(weights(&place, "b.yaml")[0], other[0]);
}
