//! Machines that run are moved to cheaper pools, as prices move.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::Place;

const BATCH: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: batch }
spec:
  capacity: { target: 20 }
  instances: { types: [m6i.large, m7i.large, m6a.large] }
  placement: { strategy: lowest-price, clouds: [{ provider: aws, regions: [us-east-1, us-west-2] }] }
";

/// Reconciles every half hour for so many of them; what `explain` says before each.
fn half_hours(place: &Place, count: usize) -> Vec<Value> {
    let mut seen = Vec::new();
    for _ in 0..count {
        place.sim.advance(Duration::from_secs(1800)).expect("time");
        let shown = place.expect(0, &["explain", "-o", "json"]);
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        let moves = shown["fleets"][0]["moves"].as_array().cloned().unwrap_or_default();
        if moves.iter().any(|one| one["moves"] == true) {
            let text = place.expect(0, &["explain"]);
            assert!(text.contains("Cheaper pools for machines that run"), "{text}");
            assert!(text.contains("1 machine moves now"), "{text}");
        }
        seen.extend(moves);
        place.run(&["reconcile"]);
        place.assert_one_per_slot();
    }
    seen
}

/// Moments at which machines moved, and how many each time, from the history.
fn moves(place: &Place) -> Vec<(String, usize)> {
    let history = place.expect(0, &["history", "batch", "-o", "json"]);
    let history: Value = serde_json::from_str(&history).expect("JSON");
    let events = history["fleets"][0]["events"].as_array().cloned().unwrap_or_default();
    let moving = events.iter().filter(|event| event["kind"] == "moving");
    let one = |event: &Value| {
        let slots = event["slots"].as_array().map_or(0, Vec::len);
        (event["at"].as_str().unwrap_or_default().to_owned(), slots)
    };
    moving.map(one).collect()
}

#[test]
fn prices_that_stay_lower_move_machines_and_explain_shows_the_arithmetic() {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    place
        .write("fleet.yaml", &format!("{BATCH}  rebalance: {{ minSaving: 10%, maxPerHour: 1 }}\n"));
    place.run(&["apply", "--yes"]);
    let seen = half_hours(&place, 24);
    assert!(!seen.is_empty());
    for one in &seen {
        let number = |name: &str| one[name].as_f64().expect("a number");
        let less = number("hourlyUsd") - number("thenHourlyUsd");
        if one["moves"] == true {
            assert!(number("gainUsd") >= 2.0 * number("costUsd"), "{one}");
            assert!(less / number("hourlyUsd") >= 0.066, "{one}");
        }
    }
    let moved = moves(&place);
    assert!(!moved.is_empty(), "nothing moved in twelve hours");
    assert!(moved.iter().all(|(_, machines)| *machines == 1), "{moved:?}");
}

#[test]
fn without_a_word_nobody_moves() {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    place.write("fleet.yaml", BATCH);
    place.run(&["apply", "--yes"]);
    assert!(half_hours(&place, 6).is_empty());
    assert!(moves(&place).is_empty());
}
