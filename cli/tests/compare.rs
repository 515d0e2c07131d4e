//! `fleet compare` and `fleet benchmark`: what they say, what they refuse, and the picture in the docs.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, root};

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

/// A folder of its own, with a home for the performance table.
fn place() -> Place {
    let place = Place::new(7, Preset::Calm, Duration::ZERO);
    let home = place.path("home").display().to_string();
    let state = place.path("state").display().to_string();
    place.with_state(state, vec![("FLEET_CATALOG".into(), home)])
}

fn json(place: &Place, code: i32, args: &[&str]) -> Value {
    let text = place.expect(code, &[args, &["-o", "json"]].concat());
    serde_json::from_str(&text).expect("one document")
}

fn result() -> String {
    root().join("examples/benchmark/results/h200.json").display().to_string()
}

#[test]
fn the_cheapest_work_comes_first_in_every_form() {
    let place = place();
    let args = ["compare", "--gpu", "H100,A100*,L4", "--count", "8", "--hours", "12"];
    let document = json(&place, 0, &args);
    let ways = document["ways"].as_array().expect("ways");
    assert!(ways.len() >= 12, "{}", ways.len());
    let cost = |way: &Value| way["job"]["perUsefulUsd"].as_f64().expect("a cost");
    assert!(ways.windows(2).all(|two| cost(&two[0]) <= cost(&two[1])));
    for way in ways {
        let job = &way["job"];
        let hours = job["expectedHours"].as_f64().expect("hours");
        let spot = way["market"] == "spot";
        assert_eq!(spot, hours > 12.0, "{way}");
        assert_eq!(spot, way["interruptions"]["perHour"].as_f64() > Some(0.0), "{way}");
        // The price of the work is that of the job, over what it comes to.
        let units = way["useful"]["units"].as_f64().expect("units");
        let expect = job["costUsd"].as_f64().expect("a cost") / (units * 12.0 / 1000.0);
        assert!((cost(way) / expect - 1.0).abs() < 1e-4, "{way}");
        assert!(way["useful"]["source"].as_str().is_some_and(|source| source.len() > 10));
        assert_eq!(way["committedHourlyUsd"], Value::Null);
    }
    let first = ways[0]["type"].as_str().expect("a type");
    let text = place.expect(0, &args);
    let line = text.lines().nth(3).expect("a row");
    assert!(line.contains(first) && text.contains("Prices as of"), "{text}");
    assert!(place.expect(0, &[&args[..], &["-o", "markdown"]].concat()).contains("|---|"));
    let csv = place.expect(0, &[&args[..], &["--csv", "-"]].concat());
    assert_eq!(csv.lines().count(), ways.len() + 1, "{csv}");
    let cells = csv.lines().map(|line| line.split(',').count());
    assert!(cells.clone().all(|count| count == 19), "{:?}", cells.collect::<Vec<_>>());
}

/// What a fleet has seen of a pool is what a comparison goes by.
#[test]
fn rates_are_learned_or_said_or_a_guess() {
    let place = place();
    let spec = "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: seen }\nspec:\n  \
                capacity: { target: 2 }\n  instances: { types: [g6.xlarge] }\n  \
                placement: { strategy: lowest-price, clouds: [{ provider: aws, regions: [us-east-1] }] }\n";
    place.write("fleet.yaml", spec);
    let args = ["compare", "--gpu", "L4", "--provider", "aws", "--regions", "us-east-1"];
    let basis = |document: &Value| {
        let ways = document["ways"].as_array().expect("ways");
        let spot = ways.iter().find(|way| way["market"] == "spot").expect("spot");
        spot["interruptions"]["basis"].as_str().map(str::to_owned)
    };
    assert_eq!(basis(&json(&place, 0, &args)).as_deref(), Some("prior"));
    let said = json(&place, 0, &[&args[..], &["--spot-life-hours", "20"]].concat());
    assert_eq!(basis(&said).as_deref(), Some("said"));
    let rate = |way: &Value| way["interruptions"]["perHour"].as_f64();
    assert!(said["ways"].as_array().expect("ways").iter().any(|way| rate(way) == Some(0.05)));
    place.expect(0, &["apply", "--yes"]);
    let learned = json(&place, 0, &args);
    let text = place.expect(0, &args);
    if basis(&learned).as_deref() == Some("learned") {
        assert!(text.contains("machine-hours"), "{text}");
    } else {
        // The fleet bought in another zone than the cheapest of the catalog: still a guess, and it says so.
        assert!(text.contains("which is a guess"), "{text}");
    }
}

#[test]
fn bad_questions_are_refused_with_a_hint() {
    let place = place();
    place.write("bad.csv", "H100,1\nA100,quick\n");
    place.write("other.csv", "Quantum9,1\n");
    let check = |args: &[&str], code: i32, says: &[&str]| {
        let document = json(&place, code, &[&["compare"], args].concat());
        let said = document.to_string();
        for word in says {
            assert!(said.contains(word), "{args:?}: {said}");
        }
    };
    check(&["--gpu", "H10O"], 64, &["H10O", "did you mean `H100`", "--gpu"]);
    check(&["--gpu", "H100", "--perf", "bad.csv"], 64, &["bad.csv:2", "`quick` is not a number"]);
    check(&["--gpu", "H100", "--perf", "other.csv"], 64, &["names no accelerator and no type"]);
    check(&["--gpu", "H100", "--perf", "none.csv"], 1, &["none.csv", "cannot read the figures"]);
    check(&["--gpu", "H100", "--regions", "us-eest-1"], 64, &["did you mean `us-east-1`"]);
    check(&["--gpu", "H100", "--reference", "T4"], 64, &["no figure for `T4`", "--reference"]);
    check(&["--gpu", "H100", "--perf", "measured"], 1, &["nothing is measured yet"]);
    check(&["--gpu", "H100", "--perf", "speed"], 64, &["the figures are bf16"]);
    check(&["--gpu", "H100", "--hours=-1"], 64, &["is no time"]);
    check(&["--gpu", "H100", "--count", "0"], 64, &["count"]);
    check(&[], 64, &["required arguments"]);
}

#[test]
fn results_are_kept_listed_used_and_removed() {
    let place = place();
    let file = result();
    place.expect(0, &["benchmark", "add", &file]);
    assert!(place.expect(0, &["benchmark", "add", &file]).contains("is there already"));
    place.expect(0, &["benchmark", "add", &file, "--type", "p5en.48xlarge"]);
    let list = json(&place, 0, &["benchmark", "list"]);
    assert_eq!(list["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(list["results"][0]["accelerator"], "H200");
    assert_eq!(list["results"][1]["type"], "p5en.48xlarge");
    assert_eq!(list["results"][0]["software"]["cuda"], "13.0");
    let args = ["compare", "--gpu", "H200,H100", "--count", "8", "--perf", "measured"];
    let document = json(&place, 0, &args);
    for way in document["ways"].as_array().expect("ways") {
        let measured = way["accelerator"] == "H200";
        let basis = if measured { "measured" } else { "publishedInstead" };
        assert_eq!(way["useful"]["basis"], basis, "{way}");
        if measured {
            assert_eq!(way["useful"]["units"].as_f64(), Some(8.0 * 672.46), "{way}");
        }
    }
    assert!(place.expect(0, &args).contains("* Not measured, so published peaks stand in: H100"));
    place.expect(64, &["benchmark", "remove", "3"]);
    place.expect(0, &["benchmark", "remove", "1"]);
    place.expect(0, &["benchmark", "remove", "1"]);
    assert!(place.expect(0, &["benchmark", "list"]).contains("no results yet"));
    // What is no result changes nothing, and a damaged table is not overwritten.
    place.write("no.json", "{\"kind\":\"plan\"}");
    place.expect(1, &["benchmark", "add", "no.json"]);
    place.write("home/performance.json", "{ damaged");
    place.expect(1, &["benchmark", "add", &file]);
    let kept = std::fs::read_to_string(place.path("home/performance.json")).expect("a file");
    assert_eq!(kept, "{ damaged");
}

/// The picture of docs/compare.md.
#[test]
fn the_chart_in_the_docs_is_drawn_by_the_program() {
    let place = place();
    let args = ["compare", "--gpu", "A10G,A10,L4,A100,A100-80GB,H100,H200", "--hours", "24"];
    let file = place.path("chart.svg").display().to_string();
    place.expect(0, &[&args[..], &["--chart", &file]].concat());
    let drawn = std::fs::read_to_string(&file).expect("a chart");
    assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n"));
    let kept = root().join("docs/compare.svg");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(kept, drawn).expect("the picture can be written");
        return;
    }
    let then = std::fs::read_to_string(kept).unwrap_or_default();
    assert!(then == drawn, "docs/compare.svg is out of date; run `cargo xtask docs`");
}

#[test]
fn a_job_that_never_ends_is_the_last_and_has_no_price() {
    let place = place();
    let args = ["compare", "--gpu", "H100", "--count", "1000", "--spot-life-hours", "0.01"];
    let text = place.expect(0, &args);
    let rows: Vec<&str> = text.lines().skip(3).take_while(|line| !line.trim().is_empty()).collect();
    let never: Vec<bool> = rows.iter().map(|row| row.contains("never")).collect();
    assert!(never.is_sorted() && !never[0] && never[never.len() - 1], "{text}");
    assert!(!text.contains("0s"), "{text}");
}

#[test]
fn a_result_of_another_machine_is_not_added() {
    let place = place();
    let add = |kind: &str| place.run(&["benchmark", "add", "--type", kind, &result()]);
    let refused = add("p5.48xlarge");
    let said = support::text(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("it is of H200, and `p5.48xlarge` has H100"), "{said}");
    let unknown = add("p5en.48xlarg");
    let said = support::text(&unknown.stderr);
    assert!(unknown.status.success(), "{said}");
    assert!(said.contains("did you mean `p5en.48xlarge`?"), "{said}");
}
