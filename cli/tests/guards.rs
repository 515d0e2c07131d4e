//! The guards as people and programs meet them: what each says, how it ends, and the way forward.

mod support;

use fleet_model::{Machine, MachineState};
use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::Place;

/// A fleet of on-demand machines on AWS, with more lines at its end.
fn spec(target: u32, more: &str) -> String {
    format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: guarded }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 100% }} }}
  instances: {{ types: [m6i.xlarge, m7i.xlarge] }}
  placement:
    clouds: [{{ provider: aws, regions: [us-east-1, us-west-2] }}]
{more}"
    )
}

struct Guarded(Place);

impl Guarded {
    fn new() -> Self {
        Guarded(Place::new(1, Preset::Lifelike, Duration::ZERO))
    }

    /// A fleet of so many machines that stands for a while.
    fn standing(target: u32) -> Self {
        let fleet = Guarded::new();
        fleet.write(target, "");
        fleet.apply(0);
        fleet.advance(600);
        fleet
    }

    /// Takes machines away, and lets time pass until their absence is proof.
    fn lose(&self, count: usize) {
        for machine in self.running().iter().take(count) {
            self.0.sim.reclaim(&machine.id).expect("gone");
        }
        self.advance(2 * 3600);
    }

    fn write(&self, target: u32, more: &str) {
        self.0.write("fleet.yaml", &spec(target, more));
    }

    fn expect(&self, code: i32, args: &[&str]) -> String {
        self.0.expect(code, args)
    }

    fn apply(&self, code: i32) -> String {
        self.expect(code, &["apply", "--yes"])
    }

    fn plan_json(&self) -> Value {
        let text = self.expect(0, &["plan", "-o", "json"]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The hold of a kind, as `plan -o json` tells it.
    fn held(&self, is: &str) -> Value {
        let plan = self.plan_json();
        let held = plan["fleets"][0]["held"]
            .as_array()
            .expect("held")
            .iter()
            .find(|held| held["is"] == is);
        held.unwrap_or_else(|| panic!("no {is} in {plan:#}")).clone()
    }

    fn advance(&self, seconds: u64) {
        self.0.sim.advance(Duration::from_secs(seconds)).expect("time");
    }

    fn running(&self) -> Vec<Machine> {
        let live = self.0.live().into_iter();
        live.filter(|machine| machine.state != MachineState::Stopping).collect()
    }

    fn at_rest(&self, machines: usize) {
        self.advance(120);
        assert_eq!(self.running().len(), machines);
        self.0.assert_one_per_slot();
        self.expect(0, &["plan", "--detailed-exitcode"]);
    }
}

fn assert_says(text: &str, parts: &[&str]) {
    // Lines are wrapped for people; words are what counts.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn the_destroy_limit_asks_for_the_exact_number() {
    let fleet = Guarded::standing(40);
    fleet.write(10, "");
    let held = fleet.held("destroyLimit");
    assert_eq!((held["allowed"].as_u64(), held["wanted"].as_u64()), (Some(4), Some(30)), "{held}");
    assert_says(held["next"].as_str().expect("next"), &["--allow-destroy 30"]);
    let said = fleet.expect(0, &["plan"]);
    assert_says(&said, &["destroy limit: 26 of 30 machines", "--allow-destroy 30"]);
    // More than wanted, and fewer, is not the number: the usual limit holds.
    for wrong in ["31", "29"] {
        let said = fleet.expect(0, &["plan", "--allow-destroy", wrong]);
        assert_says(&said, &["is not that number", "give --allow-destroy 30"]);
    }
    fleet.expect(3, &["apply", "--yes", "--allow-destroy", "31"]);
    fleet.advance(120);
    assert_eq!(fleet.running().len(), 36);
    let wanted = fleet.held("destroyLimit")["wanted"].to_string();
    fleet.expect(0, &["apply", "--yes", "--allow-destroy", &wanted]);
    fleet.at_rest(10);
}

#[test]
fn a_lowered_target_is_one_apply_up_to_half_of_the_fleet() {
    let fleet = Guarded::standing(40);
    fleet.write(20, "");
    let said = fleet.expect(0, &["plan"]);
    assert_says(&said, &["you lowered the target of", "20 to destroy"]);
    fleet.apply(0);
    fleet.at_rest(20);
    // Two machines more than half, and a pipeline stops.
    fleet.write(8, "");
    let said = fleet.apply(3);
    assert_says(&said, &["it takes a person", "maxDestroyPerApply"]);
    fleet.advance(120);
    assert_eq!(fleet.running().len(), 18);
}

#[test]
fn a_policy_says_how_far_a_pipeline_may_go() {
    let policy = |most: &str| {
        format!(
            "apiVersion: fleet/v1\nkind: Policy\nmetadata: {{name: careful}}\n\
             spec: {{maxDestroyPerApply: {most}}}\n"
        )
    };
    let fleet = Guarded::standing(40);
    fleet.0.write("policy.yaml", &policy("20%"));
    fleet.write(20, "");
    assert_says(&fleet.apply(3), &["it takes a person"]);
    fleet.advance(120);
    assert_eq!(fleet.running().len(), 36);
    fleet.0.write("policy.yaml", &policy("80%"));
    fleet.apply(0);
    fleet.at_rest(20);
}

#[test]
fn a_fleet_that_vanishes_is_frozen_until_the_loss_is_accepted() {
    let fleet = Guarded::standing(10);
    fleet.lose(4);
    let held = fleet.held("frozen");
    assert_eq!((held["missing"].as_u64(), held["of"].as_u64()), (Some(4), Some(10)), "{held}");
    let said = fleet.apply(3);
    assert_says(&said, &["frozen: 4 of 10 machines vanished", "--accept-loss 4"]);
    assert_eq!(fleet.running().len(), 6, "frozen means frozen");
    fleet.expect(3, &["apply", "--yes", "--accept-loss", "5"]);
    assert_eq!(fleet.running().len(), 6, "another number is not consent");
    fleet.expect(0, &["apply", "--yes", "--accept-loss", "4"]);
    fleet.at_rest(10);
}

#[test]
fn three_of_ten_are_replaced_without_asking() {
    let fleet = Guarded::standing(10);
    fleet.lose(3);
    fleet.apply(0);
    fleet.at_rest(10);
}

#[test]
fn a_region_whose_launches_fail_is_left_alone_for_a_while() {
    let fleet = Guarded::new();
    // One machine per pool, so that there are launches enough to fail in a row.
    fleet.write(8, "    spread: { maxSharePerPool: 13% }\n");
    fleet.expect(0, &["sim", "lose-answers", "aws"]);
    let said = fleet.apply(3);
    // What waits when the breaker of us-east-1 opens, after three of its five, is not sent any more.
    let made = fleet.running().len();
    assert!((6..=8).contains(&made), "{made}");
    let doubt = format!("{made} requests for {made} machines have no known outcome yet");
    assert_says(&said, &[&doubt]);
    assert!(!said.contains("NotAsked"), "{said}");
    // The next run knows it as well. Launches rest; looking and destroying do not.
    let history = fleet.expect(0, &["history"]);
    assert_says(&history, &["the breaker for launches in aws/us-east-1 until"]);
    let plan = fleet.plan_json();
    assert_eq!(plan["fleets"][0]["gaps"], serde_json::json!([]), "the region answers");
    let launches = plan["fleets"][0]["steps"].as_array().expect("steps").iter();
    assert_eq!(launches.filter(|step| step["action"] == "create").count(), 0, "{plan:#}");
    assert_eq!(fleet.running().len(), made);
    fleet.expect(0, &["sim", "heal"]);
    fleet.apply(0);
    fleet.at_rest(8);
}

#[test]
fn a_slot_is_not_tried_for_ever() {
    let fleet = Guarded::new();
    fleet.write(1, "");
    fleet.expect(0, &["sim", "exhaust", "aws/*"]);
    let tries = |fleet: &Guarded| {
        let text = fleet.expect(0, &["history", "-o", "json"]);
        text.matches("launchIntended").count()
    };
    for _ in 0..14 {
        fleet.apply(3);
        fleet.advance(200);
    }
    assert_eq!(tries(&fleet), 40 + 11, "the search, and once for each apply after it");
    let said = fleet.apply(3);
    assert_says(&said, &["attempt limit: slot base-0 was tried 40 times", "apply again then"]);
    assert_says(&said, &["1 instances of base could not be placed"]);
    let held = fleet.held("attemptLimit");
    assert_eq!((&held["slot"], &held["tries"]), (&"base-0".into(), &40.into()), "{held}");
    let before = tries(&fleet);
    fleet.apply(3);
    assert_eq!(tries(&fleet), before, "not again at once");
    // Capacity is back.
    fleet.expect(0, &["sim", "heal"]);
    fleet.advance(200);
    fleet.apply(0);
    fleet.at_rest(1);
}

#[test]
fn machines_that_never_come_up_are_not_launched_for_ever() {
    let fleet = Guarded::new();
    fleet.write(2, "");
    for _ in 0..2 {
        fleet.apply(0);
        for machine in fleet.running() {
            fleet.0.sim.reclaim(&machine.id).expect("gone");
        }
        fleet.advance(60);
    }
    let launched = fleet.0.sim.machines().expect("the truth").len();
    let said = fleet.apply(3);
    assert_says(&said, &["boot failures: 4 machines of base", "mend the template"]);
    let held = fleet.held("bootFailures");
    assert_eq!((&held["group"], held["failures"].as_u64()), (&"base".into(), Some(4)), "{held}");
    assert_eq!(fleet.0.sim.machines().expect("the truth").len(), launched, "nothing is launched");
    // A mended template is tried at once.
    fleet.write(2, "  template: { userData: \"#!/bin/sh\\ntrue\\n\" }\n");
    fleet.apply(0);
    fleet.at_rest(2);
}

#[test]
fn what_is_in_doubt_is_spent() {
    let fleet = Guarded::new();
    let budget = "  budget: { hourlyUsd: 1 }\n";
    fleet.write(4, budget);
    fleet.expect(0, &["sim", "lose-answers", "aws"]);
    fleet.apply(3);
    // The clouds made them, and nobody knows: 4 × $0.192.
    assert_eq!(fleet.running().len(), 4);
    fleet.write(40, budget);
    let plan = fleet.plan_json();
    assert!(!plan["fleets"][0]["inDoubt"].as_array().expect("in doubt").is_empty(), "{plan:#}");
    let after = plan["cost"]["hourlyAfterUsd"].as_f64().expect("a cost");
    assert!((0.7..=1.0).contains(&after), "{after}");
    assert!(plan["summary"]["create"].as_u64() <= Some(1), "{}", plan["summary"]);
    let said = fleet.expect(0, &["plan"]);
    assert_says(&said, &["the budget of $1.00/h is used up", "raise the budget"]);
    fleet.expect(0, &["sim", "heal"]);
    fleet.apply(3);
    assert!(fleet.running().len() <= 5, "{} machines", fleet.running().len());
    fleet.advance(600);
    fleet.write(4, budget);
    fleet.apply(0);
    fleet.at_rest(4);
}
