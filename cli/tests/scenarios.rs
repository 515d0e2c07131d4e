//! Scenarios through the real binary; each ends at rest.

mod support;

use fleet_model::{Machine, MachineState};
use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Place, TRAIN, root};

fn lifelike() -> Place {
    Place::new(1, Preset::Lifelike, Duration::ZERO)
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn apply_then_plan_is_empty_for_the_example_spec() {
    let place = lifelike();
    let spec = place.write("train.yaml", TRAIN);
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["apply", "--yes", spec]);
    place.expect(0, &["plan", "--detailed-exitcode", spec]);
    let status = json(&place.expect(0, &["status", "-o", "json", spec]));
    assert_eq!(
        status["fleets"][0]["machines"].as_array().expect("machines").len(),
        place.live().len()
    );
    for field in ["id", "provider", "region", "zone", "type", "market", "state", "slot"] {
        assert!(status["fleets"][0]["machines"][0][field].is_string(), "{field}: {status:#}");
    }
    assert!(status["fleets"][0]["machines"][0]["hourlyUsd"].is_number(), "{status:#}");
}

#[test]
fn apply_then_plan_is_empty_for_every_spec_we_ship() {
    let mut specs = Vec::new();
    collect(&root().join("fleet-specs"), &mut specs);
    assert!(specs.len() >= 7, "{specs:?}");
    for spec in specs {
        let place = lifelike();
        let spec = spec.to_str().expect("a path");
        place.expect(0, &["apply", "--yes", spec]);
        place.expect(0, &["plan", "--detailed-exitcode", spec]);
        place.assert_one_per_slot();
    }
}

/// Whether a file holds for the fleets around it, which find it themselves.
fn shared(path: &Path) -> bool {
    ["policy.yaml", "defaults.yaml"].iter().any(|name| path.ends_with(name))
}

/// Fleets, by file.
fn collect(folder: &Path, specs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, specs);
        } else if path.extension().is_some_and(|e| e == "yaml") && !shared(&path) {
            specs.push(path);
        }
    }
    specs.sort();
}

/// An outage of the market: nothing is left, and nobody has any. Clouds are asked a bounded number of times, and
/// what they have again is taken at the next look.
#[test]
fn a_fleet_is_whole_again_minutes_after_an_outage() {
    const SPEC: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: whole }
spec:
  capacity: { unit: instances, target: 10 }
  instances: { vcpus: { min: 4, max: 4 } }
  placement:
    strategy: price-capacity-optimized
    clouds: [{ provider: aws, regions: [us-east-1, us-west-2] }]
";
    let place = Place::new(5, Preset::Calm, Duration::ZERO);
    let spec = place.write("whole.yaml", SPEC);
    let spec = spec.to_str().expect("a path");
    let minutes =
        |minutes: u64| place.sim.advance(Duration::from_secs(minutes * 60)).expect("time");
    place.expect(0, &["apply", "--yes", spec]);
    minutes(10);
    place.sim.exhaust("aws/*/spot", None).expect("a fault");
    place.sim.interrupt("aws/*/spot", 10).expect("spot machines");
    // Rounds of each apply.
    let mut rounds = Vec::new();
    for _ in 0..5 {
        let applied = json(&place.expect(3, &["apply", "--yes", "-o", "json", spec]));
        let fleet = &applied["fleets"][0];
        rounds.push(fleet["rounds"].as_array().expect("rounds").len());
        assert_eq!(fleet["unplaced"][0]["missing"], 10.0, "{fleet:#}");
        assert_eq!(fleet["unplaced"][0]["because"][0]["is"], "blocked", "{fleet:#}");
        assert_eq!(fleet["held"][0]["is"], "attemptLimit", "{fleet:#}");
        minutes(5);
    }
    // What is taken back and what takes its place have slots of their own: each is searched for once.
    assert_eq!(rounds, [40, 40, 1, 1, 1]);
    place.sim.heal().expect("healed");
    place.expect(0, &["apply", "--yes", spec]);
    assert_eq!(place.live().len(), 10);
    place.expect(0, &["plan", "--detailed-exitcode", spec]);
    place.assert_one_per_slot();
}

/// Clouds show new machines late. What is not seen cannot be ended, and must not be left behind.
#[test]
fn what_was_launched_a_moment_ago_goes_as_well() {
    const SPEC: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: brief }
spec:
  capacity: { unit: instances, target: 8, base: { onDemand: 25% }, burst: { spot: 100% } }
  instances: { types: [n2-standard-4, e2-standard-4] }
  placement: { clouds: [{ provider: gcp, regions: [us-central1, us-east1] }] }
";
    for seed in 1..=4 {
        let place = Place::new(seed, Preset::Lifelike, Duration::ZERO);
        let spec = place.write("brief.yaml", SPEC);
        let spec = spec.to_str().expect("a path");
        place.expect(0, &["apply", "--yes", spec]);
        let said = place.expect(0, &["destroy", "--yes", spec]);
        let stays = |machine: &Machine| machine.state != MachineState::Stopping;
        assert!(!place.live().iter().any(stays), "seed {seed}: {said}");
    }
}

#[test]
fn two_applies_at_once() {
    let place = Place::new(1, Preset::Lifelike, Duration::from_millis(30));
    let spec = place.write("train.yaml", TRAIN);
    let spec = spec.to_str().expect("a path");
    let mut first = place.start(&["apply", "--yes", spec]);
    let mut second = place.start(&["apply", "--yes", spec]);
    let mut codes = [first.wait().expect("ended").code(), second.wait().expect("ended").code()];
    codes.sort();
    assert_eq!(codes, [Some(0), Some(6)], "one wins, the other is told so");
    place.assert_one_per_slot();
    place.expect(0, &["plan", "--detailed-exitcode", spec]);
}

#[test]
fn a_region_in_outage_is_told_and_left_alone() {
    let place = lifelike();
    let spec = place.write("train.yaml", TRAIN);
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["apply", "--yes", spec]);
    let before: Vec<_> = place.live().into_iter().map(|machine| machine.id).collect();
    let scope = place.live()[0].place.scope().to_string();
    place.expect(0, &["sim", "outage", &scope]);
    place.expect(0, &["sim", "advance", "10m"]);
    let plan = json(&place.expect(0, &["plan", "-o", "json", spec]));
    assert_eq!(plan["fleets"][0]["steps"].as_array().expect("steps").len(), 0, "{plan:#}");
    let told = place.expect(0, &["plan", spec]);
    let (cloud, region) = scope.split_once('/').expect("a scope");
    assert!(told.contains(cloud) && told.contains(region) && told.contains("answer"), "{told}");
    place.run(&["apply", "--yes", spec]);
    let after: Vec<_> = place.live().into_iter().map(|machine| machine.id).collect();
    assert_eq!(before, after);
    place.expect(0, &["sim", "heal"]);
    place.expect(0, &["plan", "--detailed-exitcode", spec]);
}

#[test]
fn a_saved_plan_is_refused_when_the_world_has_moved() {
    let place = lifelike();
    let spec = place.write("train.yaml", TRAIN);
    let spec = spec.to_str().expect("a path");
    let saved = place.path("train.fleet-plan");
    let saved = saved.to_str().expect("a path");
    place.expect(0, &["plan", "--out", saved, spec]);
    place.expect(0, &["sim", "advance", "2h"]);
    place.expect(5, &["apply", "--yes", saved]);
    assert!(place.live().is_empty(), "a stale plan changes nothing");
    place.expect(0, &["plan", "--out", saved, spec]);
    place.expect(0, &["apply", "--yes", saved]);
    place.expect(5, &["apply", "--yes", saved]);
    place.assert_one_per_slot();
}

#[test]
fn an_altered_plan_is_refused() {
    let place = lifelike();
    let spec = place.write("train.yaml", TRAIN);
    let saved = place.path("train.fleet-plan");
    let saved = saved.to_str().expect("a path");
    place.expect(0, &["plan", "--out", saved, spec.to_str().expect("a path")]);
    let plan = std::fs::read_to_string(saved).expect("a plan");
    let alterations = [
        ("\"expiresAt\":\"2026", "\"expiresAt\":\"2036"),
        ("\"allowDestroy\":null", "\"allowDestroy\":99"),
        ("base-0.1", "base-9.1"),
        ("\"token\":\"fleet-", "\"token\":\"fleet-0"),
        ("\"maxPrice\":null", "\"maxPrice\":1"),
    ];
    for (from, to) in alterations {
        assert!(plan.contains(from), "{from}");
        place.write("train.fleet-plan", &plan.replacen(from, to, 1));
        place.expect(5, &["apply", "--yes", saved]);
        assert!(place.live().is_empty(), "{to}: a forged plan changes nothing");
    }
    place.write("train.fleet-plan", &plan);
    place.expect(0, &["apply", "--yes", saved]);
}

#[test]
fn spot_is_lost_and_comes_back() {
    let place = lifelike();
    let spec = place.write("train.yaml", TRAIN);
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["apply", "--yes", spec]);
    for _ in 0..6 {
        place.expect(0, &["sim", "advance", "4h"]);
        // A market can be short of spot for a while: then the rest is reported, not forced.
        let code = place.run(&["reconcile", spec]).status.code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}");
        place.assert_one_per_slot();
    }
}

const SERVE: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: serve }
spec:
  capacity: { unit: gpus, target: 16, availability: 99% }
  instances: { families: [p5, a3-highgpu] }
  placement:
    clouds: [ { provider: aws, regions: [us-east-1] }, { provider: gcp, regions: [us-central1] } ]
";

#[test]
fn a_hedged_fleet_without_a_base_falls_back_on_demand() {
    let place = lifelike();
    let spec = place.write("serve.yaml", SERVE);
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["sim", "exhaust", "*/spot"]);
    place.expect(0, &["apply", "--yes", spec]);
    let markets: Vec<_> = place.live().into_iter().map(|machine| machine.market).collect();
    assert_eq!(markets, [fleet_model::Market::OnDemand; 2]);
    place.assert_one_per_slot();
}

#[test]
fn what_is_paid_for_is_used_first_and_costs_only_what_comes_beside() {
    let place = lifelike();
    let paid =
        "    commitments: [ { provider: aws, region: us-east-1, type: p5.48xlarge, count: 2 } ]\n";
    let spec = place.write("serve.yaml", &format!("{}{paid}", SERVE.replace("99%", "99.9%")));
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["apply", "--yes", spec]);
    let plan = json(&place.expect(0, &["plan", "--detailed-exitcode", "-o", "json", spec]));
    // The commitment pays for the machines. Their two addresses are paid for all the same.
    assert_eq!(plan["cost"]["hourlyAfterUsd"], 0.01, "{plan:#}");
    let paid = |line: &&serde_json::Value| line["hourlyAfterUsd"] != 0.0;
    let lines = plan["fleets"][0]["costLines"].as_array().expect("lines");
    assert!(lines.iter().filter(paid).all(|line| line["kind"] == "address"), "{lines:#?}");
    assert_eq!(plan["cost"]["committedMachines"], 2, "{plan:#}");
    assert!(place.expect(0, &["plan", spec]).contains("2 machines paid for already"));
    place.assert_one_per_slot();
}

#[test]
fn a_fleet_by_price_is_proven_to_cost_the_least() {
    let place = lifelike();
    let cheap = "    strategy: lowest-price\n";
    let spec =
        place.write("serve.yaml", &format!("{}{cheap}", SERVE.replace(", availability: 99%", "")));
    let spec = spec.to_str().expect("a path");
    let told = json(&place.expect(0, &["explain", "-o", "json", spec]));
    let proven = &told["fleets"][0]["provenGap"];
    let gap = proven["burstPercent"].as_f64().unwrap_or_else(|| panic!("no proof: {told:#}"));
    assert!(gap < 0.1 && proven["basePercent"].is_null(), "{gap}");
    assert!(place.expect(0, &["explain", spec]).contains("Proven"));
}

/// A signal ends an apply of many fleets after those that are under way: the others are not begun.
#[test]
fn a_stop_leaves_the_fleets_that_were_not_begun() {
    const FLEETS: usize = 100;
    let place = Place::new(1, Preset::Calm, Duration::from_millis(100));
    let specs = place.path("specs");
    std::fs::create_dir(&specs).expect("a folder");
    for at in 0..FLEETS {
        let spec = format!(
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: team-{at} }}\nspec:\n  \
             capacity: {{ unit: instances, target: 4, base: {{ onDemand: 100% }} }}\n  \
             instances: {{ families: [m6i] }}\n  \
             placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n"
        );
        place.write(&format!("specs/{at}.yaml"), &spec);
    }
    let specs = specs.to_str().expect("a path");
    let apply = place.command(&["apply", "--yes", specs]).stdout(Stdio::piped()).spawn();
    let mut apply = apply.expect("fleet starts");
    while place.live().is_empty() {
        assert_eq!(apply.try_wait().expect("a child"), None, "it ended too early");
        std::thread::sleep(Duration::from_millis(10));
    }
    let asked = Command::new("kill").args(["-TERM", &apply.id().to_string()]).status();
    assert!(asked.expect("kill").success());
    let output = apply.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("stopped on request before"), "{said}");
    let owners = place.live().into_iter().filter_map(|one| one.owner);
    let begun: BTreeSet<_> = owners.map(|owner| owner.fleet).collect();
    assert!(begun.len() < FLEETS / 2, "{} fleets were begun", begun.len());

    // Nobody holds anything: the same command goes on at once.
    place.expect(0, &["apply", "--yes", specs]);
    place.expect(0, &["plan", "--detailed-exitcode", specs]);
    assert_eq!(place.live().len(), 4 * FLEETS);
    place.assert_one_per_slot();
}
