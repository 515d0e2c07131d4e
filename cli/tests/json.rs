//! The contract of `-o json`: documents, their schemas, and a judge that bites. Every other test hands its
//! documents to the same judge (`support::judge`).

mod support;

use fleet_sim::Preset;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use support::judge::faults;
use support::{MORTAL, Place};

/// A spec that several clouds fill, in a world of its own.
fn place() -> Place {
    let place = Place::new(7, Preset::Calm, Duration::ZERO);
    place.write("fleet.yaml", MORTAL);
    place
}

fn document(place: &Place, code: i32, args: &[&str]) -> Value {
    let text = place.expect(code, &[args, &["-o", "json"]].concat());
    serde_json::from_str(&text).expect("one document")
}

/// A judge that lets everything pass is none.
#[test]
fn the_judge_bites() {
    let place = place();
    let plan = document(&place, 0, &["plan"]);
    assert_eq!(faults(&plan), Vec::<String>::new());
    let with = |pointer: &str, change: &dyn Fn(&mut Value)| {
        let mut plan = plan.clone();
        change(plan.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")));
        faults(&plan)
    };
    let add = |value: &mut Value| value["surprise"] = json!(1);
    let objects = [
        "",
        "/cost",
        "/fleets/0",
        "/fleets/0/steps/0",
        "/fleets/0/steps/0/reason",
        "/fleets/0/pools/0",
    ];
    for pointer in objects.into_iter().chain(["/fleets/0/rejected/0", "/fleets/0/pools/0/reason"]) {
        let found = with(pointer, &add);
        assert!(found.iter().any(|fault| fault.contains("surprise")), "{pointer}: {found:?}");
        assert!(found.iter().any(|fault| fault.starts_with(pointer)), "{pointer}: {found:?}");
    }
    let remove = |key: &'static str| {
        move |value: &mut Value| {
            value.as_object_mut().expect("an object").remove(key).expect("a key");
        }
    };
    // Unknown is null, and never left out.
    for (pointer, key) in
        [("", "exitCode"), ("/fleets/0", "outlook"), ("/fleets/0/steps/0", "image")]
    {
        assert!(!with(pointer, &remove(key)).is_empty(), "{pointer} without {key}");
    }
    assert!(!with("/fleets/0/steps/0/pool", &|value| *value = json!(3)).is_empty());
    assert!(!with("/fleets/0/decidedAt", &|value| *value = json!("yesterday")).is_empty());
    assert!(!with("/exitCode", &|value| *value = json!(77)).is_empty());
    assert!(!with("/kind", &|value| *value = json!("status")).is_empty());
}

/// Every command on one fleet, then on two: the judge looks at each, and the shape is the same.
#[test]
fn one_fleet_and_many_have_one_shape() {
    let place = place();
    let alone: [(&str, &[&str]); 8] = [
        ("validate", &[]),
        ("plan", &["--detailed-exitcode"]),
        ("apply", &["--yes"]),
        ("status", &[]),
        ("explain", &[]),
        ("history", &[]),
        ("doctor", &[]),
        ("destroy", &["--yes"]),
    ];
    let run = |place: &Place, command: &str, more: &[&str]| {
        let code = if command == "plan" { 2 } else { 0 };
        document(place, code, &[&[command], more].concat())
    };
    let one: Vec<Value> = alone.iter().map(|(command, more)| run(&place, command, more)).collect();
    let second = MORTAL.replace("name: mortal", "name: second");
    place.write("fleet.yaml", &format!("{MORTAL}---\n{second}"));
    for ((command, more), one) in alone.iter().zip(one) {
        let two = run(&place, command, more);
        let keys = |value: &Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        assert_eq!(keys(&one), keys(&two), "{command}");
        assert_eq!((&one["kind"], &one["command"]), (&json!(command), &json!(command)));
        let fleets = |value: &Value| value["fleets"].as_array().map(Vec::len).expect("fleets");
        // Simulated clouds have no accounts.
        let wanted = if *command == "doctor" { (0, 0) } else { (1, 2) };
        assert_eq!((fleets(&one), fleets(&two)), wanted, "{command}");
    }
}

#[test]
fn small_commands_print_documents_too() {
    let place = place();
    document(&place, 0, &["apply", "--yes"]);
    let shown = document(&place, 0, &["sim", "show"]);
    assert_eq!(shown["machines"].as_array().map(Vec::len), Some(place.live().len()));
    assert!(document(&place, 0, &["sim", "advance", "1h"])["done"].is_string());
    assert!(document(&place, 0, &["sim", "outage", "us-east-1"])["done"].is_string());
    assert!(document(&place, 0, &["sweep"])["orphans"].is_array());
    assert!(document(&place, 0, &["catalog", "list", "--gpu", "H100"])["offers"].is_array());
    assert_eq!(
        document(&place, 0, &["catalog", "show", "p5.48xlarge"])["instance"]["type"],
        "p5.48xlarge"
    );
    assert_eq!(document(&place, 0, &["unlock", "mortal"])["fleets"][0]["unlocked"], false);
    assert_eq!(document(&place, 0, &["init", "new.yaml"])["spec"], "new.yaml");
    assert!(Path::new(&place.path("new.yaml")).exists());
    assert_eq!(document(&place, 0, &["sim", "reset"])["forgotten"], json!(["mortal"]));
}

#[test]
fn failures_are_documents() {
    let place = place();
    for (code, args) in [
        (4, ["plan", "missing.yaml"].as_slice()),
        (1, &["explain", "--pool", "mars/x"]),
        (1, &["apply"]),
        (64, &["plan", "--no-such-flag"]),
        (64, &["no-such-command"]),
        (4, &["status", "-f", "nobody"]),
    ] {
        let told = document(&place, code, args);
        assert_eq!(told["kind"], "error", "{args:?}: {told:#}");
        assert!(told["error"].as_str().is_some_and(|said| !said.is_empty()), "{told:#}");
    }
    // What programs read is not what apply reads.
    let printed = place.expect(0, &["plan", "-o", "json"]);
    place.write("printed.json", &printed);
    let told = document(&place, 5, &["apply", "--yes", "printed.json"]);
    assert!(told["hint"].as_str().is_some_and(|hint| hint.contains("--out")), "{told:#}");
    // A log of lines stays one, also where nothing could be begun.
    place.write("fleet.yaml", &MORTAL.replace("target: 48", "target: many"));
    let lines = place.expect(4, &["reconcile", "missing.yaml"]);
    assert_eq!(lines.lines().count(), 1, "{lines}");
    let told = document(&place, 4, &["validate"]);
    assert_eq!((&told["valid"], &told["fleets"]), (&json!(false), &json!([])));
    assert_eq!(told["diagnostics"][0]["path"], "spec.capacity.target");
    let told = document(&place, 4, &["plan"]);
    assert_eq!(told["error"], told["diagnostics"][0]["message"]);
    assert!(
        told["place"].as_str().is_some_and(|place| place.starts_with("fleet.yaml:5:")),
        "{told:#}"
    );
}

/// One flat record per event, which stands by itself wherever a list is cut.
#[test]
fn history_is_flat() {
    let place = place();
    place.expect(0, &["apply", "--yes"]);
    let all = document(&place, 0, &["history"]);
    let events = all["fleets"][0]["events"].as_array().expect("events");
    let launched: Vec<&Value> = events.iter().filter(|one| one["kind"] == "launched").collect();
    assert!(!launched.is_empty());
    for one in &launched {
        assert!(one["pool"].is_string() && one["who"].is_string(), "{one:#}");
        assert_eq!(one["slots"].as_array().map(Vec::len), one["machines"].as_array().map(Vec::len));
    }
    let machines: usize =
        launched.iter().filter_map(|one| Some(one["machines"].as_array()?.len())).sum();
    assert_eq!(machines, place.live().len());
    for one in events {
        assert!(
            one.as_object().expect("a record").values().all(|value| !value.is_object()),
            "{one:#}"
        );
    }
    let last = document(&place, 0, &["history", "--limit", "1"]);
    let last = last["fleets"][0]["events"].as_array().expect("events").clone();
    assert_eq!(last.last(), events.last(), "a cut list says the same of what it has");
}
