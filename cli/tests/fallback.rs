//! On-demand in the place of spot that is lost or cannot be had, and the way back.

mod support;

use fleet_model::{Machine, Market};
use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

const WEB: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web }
spec:
  capacity: { target: 14, base: { onDemand: 2 } }
  instances: { types: [m6i.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1, us-west-2] }] }
  fallback: {}
";

fn calm(spec: &str) -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("fleet.yaml", spec);
    place
}

fn minutes(place: &Place, minutes: u64) {
    place.sim.advance(Duration::from_secs(minutes * 60)).expect("time");
}

/// Machines that stand: spot, on demand.
fn stand(place: &Place) -> (usize, usize) {
    let live = place.live();
    let spot = |machine: &&Machine| machine.market == Market::Spot;
    let spots = live.iter().filter(spot).count();
    (spots, live.len() - spots)
}

/// Takes spot machines back, and lets them go.
fn lose(place: &Place, count: usize) {
    place.sim.interrupt("*/spot", count).expect("spot machines");
    minutes(place, 3);
}

/// What a fleet's status says, in JSON, of one kind of notice.
fn told(place: &Place, kind: &str) -> Value {
    let status = place.expect(0, &["status", "-o", "json"]);
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let notices = status["fleets"][0]["notices"].as_array().cloned().unwrap_or_default();
    notices.into_iter().find(|notice| notice["is"] == kind).unwrap_or_default()
}

/// Applies, and asks whether a plan at once is empty.
fn applied(place: &Place) {
    place.expect(0, &["apply", "--yes"]);
    place.expect(0, &["plan", "--detailed-exitcode"]);
}

#[test]
fn losses_fall_back_and_spot_that_holds_brings_machines_back() {
    let place = calm(WEB);
    applied(&place);
    assert_eq!(stand(&place), (12, 2));
    lose(&place, 4);
    insta::assert_snapshot!("plan", place.expect(0, &["plan"]));
    applied(&place);
    assert_eq!(stand(&place), (8, 6));
    insta::assert_snapshot!("status", place.expect(0, &["status"]));
    let notice = told(&place, "fallback");
    assert_eq!((&notice["onDemand"], &notice["burst"]), (&4.0.into(), &12.0.into()));
    assert_eq!(notice["because"]["is"], "lost");
    assert_eq!(
        (&notice["back"]["is"], &notice["back"]["forSeconds"]),
        (&"holds".into(), &1800.into())
    );
    minutes(&place, 29);
    place.expect(0, &["plan", "--detailed-exitcode"]);
    minutes(&place, 1);
    insta::assert_snapshot!("back", place.expect(0, &["plan"]));
    // One after the other, as the reconciles come.
    for left in [5, 4, 3, 2] {
        applied(&place);
        assert_eq!(stand(&place), (14 - left, left));
        minutes(&place, 3);
    }
    applied(&place);
    assert_eq!(told(&place, "fallback"), Value::Null);
    place.assert_one_per_slot();
    let history = place.expect(0, &["history", "web"]);
    let news = history.lines().filter(|line| line.contains("fallback") || line.contains("moving"));
    insta::assert_snapshot!("history", news.collect::<Vec<_>>().join("\n"));
}

#[test]
fn spot_that_cannot_be_had_is_waited_for_and_then_bought_on_demand() {
    let patient = WEB.replace("fallback: {}", "fallback: { after: { losses: 500 }, share: 50% }");
    let place = calm(&patient);
    place.sim.exhaust("*/spot", None).expect("a fault");
    place.expect(3, &["apply", "--yes"]);
    assert_eq!(stand(&place), (0, 2));
    let words = place.expect(0, &["status"]);
    assert!(words.contains("spot cannot fill the burst since"), "{words}");
    assert_eq!(told(&place, "spotShort")["onDemandFrom"], "2026-01-01T00:15:00Z");
    minutes(&place, 14);
    place.expect(3, &["apply", "--yes"]);
    assert_eq!(stand(&place), (0, 2));
    minutes(&place, 2);
    place.expect(3, &["apply", "--yes"]);
    // Half of the burst at most.
    assert_eq!(stand(&place), (0, 8));
    // Spot is there again: what is missing comes at once, what is on demand goes back in time.
    place.sim.heal().expect("healed");
    minutes(&place, 20);
    applied(&place);
    assert_eq!(stand(&place), (6, 8));
    minutes(&place, 40);
    applied(&place);
    assert_eq!(stand(&place), (7, 7));
}

#[test]
fn a_return_that_is_refused_destroys_nothing_and_waits_twice_as_long() {
    let place = calm(WEB);
    applied(&place);
    lose(&place, 3);
    applied(&place);
    assert_eq!(stand(&place), (9, 5));
    place.sim.exhaust("*/spot", None).expect("a fault");
    minutes(&place, 31);
    place.expect(0, &["apply", "--yes"]);
    assert_eq!(stand(&place), (9, 5));
    assert_eq!(told(&place, "fallback")["back"]["forSeconds"], 3600);
    place.expect(0, &["plan", "--detailed-exitcode"]);
}

#[test]
fn the_budget_holds() {
    // Twelve spot machines and the base, each with its address; on demand costs more than twice as much.
    let tight = format!("{WEB}  budget: {{ hourlyUsd: 0.77 }}\n");
    let place = calm(&tight);
    applied(&place);
    // All of it on spot fits, a part of it on demand does not: more for the same money.
    lose(&place, 6);
    applied(&place);
    assert_eq!(stand(&place), (12, 2));
    place.sim.exhaust("*/spot", None).expect("a fault");
    lose(&place, 6);
    place.expect(3, &["apply", "--yes"]);
    assert_eq!(stand(&place), (6, 4));
    let address = 5_000;
    let live = place.live();
    let hourly: u64 = live.iter().filter_map(|one| Some(one.price?.0 + address)).sum();
    assert!(hourly <= 770_000, "{hourly}");
}

#[test]
fn without_a_word_nothing_is_bought_on_demand() {
    let place = calm(&WEB.replace("  fallback: {}\n", ""));
    applied(&place);
    place.sim.exhaust("*/spot", None).expect("a fault");
    lose(&place, 6);
    place.expect(3, &["apply", "--yes"]);
    minutes(&place, 60);
    place.expect(3, &["apply", "--yes"]);
    assert_eq!(stand(&place), (6, 2));
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_with_its_place() {
    let place =
        calm(&WEB.replace("fallback: {}", "fallback: { share: 0%, returnAfter: 2d, afterr: 3 }"));
    let output = place.run(&["validate"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    insta::assert_snapshot!("bad", text(&output.stderr));
}
