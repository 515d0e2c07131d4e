//! Fleets by the clock: targets of a schedule in a time zone, and an end.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

/// Simulated time begins on Thursday, 2026-01-01, at midnight UTC: one o'clock in Berlin.
const OFFICE: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: office }
spec:
  capacity: { target: 4, base: { onDemand: 2 } }
  instances: { families: [m6i] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1] }] }
  schedule:
    - { cron: 0 8 * * mon-fri, timeZone: Europe/Berlin, target: 20 }
    - { cron: 0 20 * * *, timeZone: Europe/Berlin, target: 1 }
";

fn hours(place: &Place, hours: u64) {
    place.sim.advance(Duration::from_secs(hours * 3600)).expect("time");
}

/// What a command that fails says.
fn refused(place: &Place, code: i32, args: &[&str]) -> String {
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// What one reconcile launched and destroyed, and what it says besides.
fn reconciled(place: &Place, code: i32) -> (u64, u64, String) {
    let line: Value = serde_json::from_str(&place.expect(code, &["reconcile"])).expect("JSON");
    let fleet = &line["fleets"][0];
    let number = |name: &str| fleet[name].as_u64().expect("a number");
    let said = |name: &str| fleet[name].as_array().cloned().unwrap_or_default();
    let words: Vec<String> = [said("held"), said("notices")]
        .concat()
        .iter()
        .filter_map(|one| one["is"].as_str().map(str::to_owned))
        .collect();
    (number("created"), number("destroyed"), words.join(" "))
}

#[test]
fn a_schedule_is_obeyed_and_needs_no_consent() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("fleet.yaml", OFFICE);
    let shown = place.expect(0, &["plan"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "the schedule wants 1 instance since 2025-12-31 19:00 UTC, and 20 instances from \
             2026-01-01 07:00 UTC on"
        ),
        "{shown}"
    );
    // A base of two is cut to the target.
    assert_eq!(reconciled(&place, 0).0, 1);
    hours(&place, 7);
    assert_eq!(reconciled(&place, 0), (19, 0, "scheduled".into()));
    assert_eq!(reconciled(&place, 0), (0, 0, "scheduled".into()), "it rests");
    hours(&place, 12);
    // Nineteen of twenty, and nobody has to allow it: the spec says so.
    assert_eq!(reconciled(&place, 0), (0, 19, "scheduled".into()));
    assert_eq!(reconciled(&place, 0), (0, 0, "scheduled".into()), "it rests");
    // Over the weekend Friday evening holds.
    hours(&place, 60);
    assert_eq!(reconciled(&place, 0), (0, 0, "scheduled".into()));
    let status = place.expect(0, &["status"]);
    assert!(status.contains("the schedule wants 1 instance since"), "{status}");
}

#[test]
fn a_plan_of_before_is_stale_once_the_clock_says_otherwise() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("fleet.yaml", OFFICE);
    place.sim.advance(Duration::from_secs(7 * 3600 - 60)).expect("time");
    place.expect(0, &["plan", "--out", "night.plan"]);
    place.sim.advance(Duration::from_secs(120)).expect("time");
    place.expect(5, &["apply", "night.plan", "--yes"]);
}

#[test]
fn a_policy_that_is_stricter_holds_the_clock_up() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("fleet.yaml", OFFICE);
    place.write(
        "policy.yaml",
        "apiVersion: fleet/v1\nkind: Policy\nmetadata: { name: careful }\nspec: { maxDestroyPerApply: 20% }\n",
    );
    hours(&place, 8);
    place.expect(0, &["apply", "--yes"]);
    hours(&place, 12);
    let (_, destroyed, words) = reconciled(&place, 3);
    assert_eq!((destroyed, words.contains("destroyLimit")), (2, true), "{words}");
}

#[test]
fn a_fleet_expires_is_announced_and_is_gone() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    let until = format!("{OFFICE}  expires: 2026-01-03T12:00:00+01:00\n");
    place.write("fleet.yaml", &until);
    place.expect(0, &["apply", "--yes"]);
    assert!(!place.expect(0, &["status"]).contains("expire"), "two days ahead is early");
    hours(&place, 40);
    let status = place.expect(0, &["status"]);
    assert!(status.contains("the fleet expires at 2026-01-03 11:00 UTC"), "{status}");
    place.expect(0, &["apply", "--yes"]);
    hours(&place, 20);
    let shown = place.expect(0, &["plan"]);
    assert!(shown.contains("the fleet expired at 2026-01-03 11:00 UTC"), "{shown}");
    let (created, destroyed, _) = reconciled(&place, 0);
    assert_eq!((created, destroyed > 0), (0, true));
    let status: Value =
        serde_json::from_str(&place.expect(0, &["status", "-o", "json"])).expect("JSON");
    assert_eq!(status["fleets"][0]["machines"], Value::Array(Vec::new()));
    assert_eq!(reconciled(&place, 0).1, 0, "it rests");
}

#[test]
fn a_frozen_fleet_stays_as_it_is_until_its_end() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    let spec = |target: u32| {
        OFFICE
            .split("  schedule:")
            .next()
            .unwrap_or_default()
            .replace("target: 4", &format!("target: {target}"))
    };
    place.write("fleet.yaml", &spec(4));
    let unknown = refused(&place, 4, &["freeze", "office", "--reason", "audit"]);
    assert!(unknown.contains("there is no fleet `office`"), "{unknown}");
    place.expect(0, &["apply", "--yes"]);
    let said = place
        .expect(0, &["freeze", "office", "--reason", "audit of\u{1b}[2J costs", "--for", "4h"]);
    assert_eq!(
        said.trim(),
        "Fleet office is frozen until 2026-01-01 04:00 UTC: nothing of it is changed (audit of\\u{1b}[2J costs)."
    );
    // As it should be: nothing is held back, and everybody is told.
    let shown = place.expect(0, &["plan", "--detailed-exitcode"]);
    assert!(shown.contains("frozen by hand since 2026-01-01 00:00 UTC until"), "{shown}");
    assert_eq!(reconciled(&place, 0), (0, 0, "byHand".into()));
    // Not up, not down, not gone.
    for target in [6, 3] {
        place.write("fleet.yaml", &spec(target));
        let (created, destroyed, words) = reconciled(&place, 3);
        assert_eq!((created, destroyed, words.as_str()), (0, 0, "byHand"), "{target}");
    }
    let shown = place.expect(3, &["destroy", "--yes"]);
    assert!(shown.contains("0 to launch and 4 to destroy wait"), "{shown}");
    let status: Value =
        serde_json::from_str(&place.expect(0, &["status", "-o", "json"])).expect("JSON");
    assert_eq!(status["fleets"][0]["machines"].as_array().map(Vec::len), Some(4));
    // It ends by itself.
    place.write("fleet.yaml", &spec(6));
    hours(&place, 5);
    assert_eq!(reconciled(&place, 0), (2, 0, String::new()));
    // And by hand.
    place.expect(0, &["freeze", "office", "--reason", "again"]);
    place.write("fleet.yaml", &spec(7));
    assert_eq!(reconciled(&place, 3).0, 0);
    let said = place.expect(0, &["thaw", "office"]);
    assert!(said.contains("not frozen"), "{said}");
    assert_eq!(reconciled(&place, 0), (1, 0, String::new()));
    let late = refused(
        &place,
        64,
        &["freeze", "office", "--reason", "x", "--until", "2020-01-01T00:00:00Z"],
    );
    assert!(late.contains("2020-01-01 00:00 UTC is over"), "{late}");
    let history = place.expect(0, &["history", "office"]);
    for word in ["frozen", "until 2026-01-01 04:00 UTC", "thawed"] {
        assert!(history.contains(word), "{word}: {history}");
    }
}
