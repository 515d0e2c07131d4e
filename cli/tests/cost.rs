//! `fleet cost`: what was spent, by whatever a person asks for, beside the clouds' own bill and beside files
//! of other programs.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;
use support::{Place, root};

const SPECS: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: train, labels: { team: research } }
spec:
  capacity: { unit: gpus, target: 6, base: { onDemand: 50% } }
  instances: { accelerators: { names: [L4] } }
  placement: { clouds: [{ provider: gcp, regions: [us-central1] }] }
---
apiVersion: fleet/v1
kind: Fleet
metadata: { name: serve, labels: { team: '=product, \"x\"' } }
spec:
  capacity: { unit: vcpus, target: 16, base: { onDemand: 50% } }
  instances: { families: [m7i] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1] }] }
";

/// Some days of two fleets, destroyed at the end.
fn lived() -> Place {
    let place = Place::new(3, Preset::Lifelike, Duration::ZERO);
    place.write("fleet.yaml", SPECS);
    place.expect(0, &["apply", "--yes"]);
    for _ in 0..4 {
        place.expect(0, &["sim", "advance", "17h"]);
        place.run(&["reconcile"]);
    }
    place.expect(0, &["destroy", "--yes", "--fleet", "serve"]);
    place.expect(0, &["sim", "advance", "1h"]);
    place.expect(0, &["destroy", "--yes", "--fleet", "serve"]);
    place
}

fn json(place: &Place, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["-o", "json"]).collect();
    serde_json::from_str(&place.expect(0, &args)).expect("JSON")
}

fn cents(value: &Value) -> i64 {
    (value.as_f64().expect("a number") * 100.0).round() as i64
}

#[test]
fn every_way_to_group_comes_to_the_same_and_to_the_bill() {
    let place = lived();
    let total =
        |by: &str| cents(&json(&place, &["cost", "report", "--by", by])["total"]["costUsd"]);
    let all = total("fleet");
    assert!(all > 1000, "{all}");
    for by in [
        "day",
        "team",
        "pool",
        "market",
        "provider",
        "type,region",
        "month,label:team",
        "label:none",
    ] {
        assert_eq!(total(by), all, "{by}");
    }
    // Machines of AWS that run are counted from their launch until their cloud tells when they ran; these
    // are gone.
    let report = json(&place, &["cost", "report", "serve"]);
    let bill = json(&place, &["sim", "bill"]);
    let lines = bill["lines"].as_array().expect("lines");
    // Where the image decides how large a disk is, the bill does not know what it costs either.
    let serve = lines.iter().filter(|line| line["fleet"] == "serve" && line["kind"] != "disk");
    let billed: f64 = serve.map(|line| line["costUsd"].as_f64().expect("a price")).sum();
    let spent = report["total"]["costUsd"].as_f64().expect("a number");
    assert!((billed - spent).abs() < 0.01, "{billed} {spent}");
    assert!(report["total"]["onDemandUsd"].as_f64() > Some(spent), "{report}");
    assert_eq!(report["total"]["unit"], "vcpus");
    assert_eq!(report["unpriced"], Value::Array(Vec::new()));
}

#[test]
fn days_add_up_to_a_window_and_nothing_is_outside_it() {
    let place = lived();
    let cost = |args: &[&str]| {
        let args: Vec<&str> = ["cost", "report"].iter().chain(args).copied().collect();
        json(&place, &args)["total"]["costUsd"].as_f64().expect("a number")
    };
    let days: f64 = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
        .iter()
        .map(|day| cost(&["--from", day, "--to", day]))
        .sum();
    assert!((days - cost(&[])).abs() < 1e-4, "{days} {}", cost(&[]));
    assert_eq!(cost(&["--from", "2026-02-01", "--to", "2026-02-02"]), 0.0);
    let one = cost(&["--from", "2026-01-01T10:00:00Z", "--to", "2026-01-01T11:00:00Z"]);
    assert!(
        one > 0.0 && one < cost(&["--from", "2026-01-01", "--to", "2026-01-01"]) / 20.0,
        "{one}"
    );
}

#[test]
fn files_for_spreadsheets_are_safe_and_whole() {
    let place = lived();
    let csv = place.expect(0, &["cost", "report", "--by", "team", "-o", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[0].starts_with("team,costUsd,machineHours,"), "{csv}");
    // A spreadsheet must not take a label for a formula.
    assert!(lines[1].starts_with("\"'=product, \"\"x\"\"\","), "{csv}");
}

#[test]
fn nonsense_is_refused_and_says_why() {
    let place = lived();
    let check = |code: i32, args: &[&str], words: &str| {
        let output = place.run(args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?} {told}");
        assert!(told.contains(words), "{args:?} {told}");
    };
    check(64, &["cost", "report", "--by", "mood"], "group by team, fleet, pool");
    check(64, &["cost", "report", "--by", "label:"], "group by team, fleet, pool");
    check(64, &["cost", "report", "--from", "yesterday"], "neither a day such as");
    check(64, &["cost", "report", "--time-zone", "Mars"], "no time zone of that name");
    check(
        64,
        &["cost", "report", "--from", "2026-01-03", "--to", "2026-01-01"],
        "ends before it begins",
    );
    check(4, &["cost", "report", "nobody"], "there is no fleet `nobody`");
    check(1, &["cost", "reconcile", "nowhere.csv"], "cannot read the bill");
    place.write("x.csv", "a,b\n1,2\n");
    check(1, &["cost", "reconcile", "x.csv"], "columns are those of no bill");
}

#[test]
fn a_bill_agrees_or_says_where_it_does_not() {
    let place = lived();
    let focus = place.expect(0, &["cost", "report", "-o", "focus"]);
    place.write("bill.csv", &focus);
    let same = place.expect(0, &["cost", "reconcile", "bill.csv"]);
    assert!(same.contains("FOCUS") && same.contains("reconciled up to"), "{same}");
    // A machine that costs twice as much, one that no journal knows, and one that is not on the bill.
    let mut lines: Vec<String> = focus.lines().map(str::to_owned).collect();
    let header: Vec<String> = lines[0].split(',').map(str::to_owned).collect();
    let column = |name: &str| header.iter().position(|other| other == name).expect("a column");
    let cost = column("EffectiveCost");
    let cell = |line: &str, at: usize| line.split(',').nth(at).expect("a cell").to_owned();
    // What comes beside machines has no id of theirs.
    let (category, resource) = (column("ServiceCategory"), column("ResourceId"));
    let machines: Vec<&String> =
        lines[1..].iter().filter(|line| cell(line, category) == "Compute").collect();
    let (first, last) = (machines[0], machines[machines.len() - 1]);
    let (dear, missing) = (cell(first, resource), cell(last, resource));
    assert_ne!(dear, missing);
    let stranger = first.replace(&dear, "i-stranger");
    lines.retain(|line| !line.contains(&missing));
    for line in lines.iter_mut().filter(|line| line.contains(&dear)) {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        let twice: f64 = 2.0 * cells[cost].parse::<f64>().expect("a number");
        cells[cost] = twice.to_string();
        *line = cells.join(",");
    }
    lines.push(stranger);
    place.write("other.csv", &(lines.join("\n") + "\n"));
    let told = place.expect(2, &["cost", "reconcile", "other.csv", "-o", "json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let differ = told["differ"].as_array().expect("a list");
    assert_eq!(differ.len(), 1, "{told}");
    assert_eq!(
        (&differ[0]["machine"], &differ[0]["what"]),
        (&Value::from(dear), &Value::from("price"))
    );
    assert_eq!(told["onlyBilled"][0]["machine"], "i-stranger", "{told}");
    assert_eq!(told["onlyBilled"].as_array().map(Vec::len), Some(1));
    assert_eq!(told["onlyRecorded"][0]["machine"], missing, "{told}");
    let words = place.expect(2, &["cost", "reconcile", "other.csv"]);
    for part in
        ["1 machine differs", "on the bill and in no journal", "in a journal and not on the bill"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
}

/// A FOCUS file whose cells of a column are others, where a row is about something.
fn changed(focus: &str, about: &str, column: &str, cell: &str) -> String {
    let header: Vec<&str> = focus.lines().next().expect("a header").split(',').collect();
    let nth = header.iter().position(|name| *name == column).expect("a column");
    let line = |line: &str| {
        // Cells with commas of their own come after those that tests change.
        let mut cells: Vec<&str> = line.split(',').collect();
        if line.contains(about) {
            cells[nth] = cell;
        }
        cells.join(",") + "\n"
    };
    header.join(",") + "\n" + &focus.lines().skip(1).map(line).collect::<String>()
}

#[test]
fn a_bill_is_compared_in_the_time_that_is_asked_for() {
    let place = lived();
    place.write("bill.csv", &place.expect(0, &["cost", "report", "-o", "focus"]));
    let reconcile = |code: i32, args: &[&str]| {
        let args: Vec<&str> =
            ["cost", "reconcile", "bill.csv"].iter().chain(args).copied().collect();
        place.expect(code, &args)
    };
    for window in [
        &["--to", "2026-01-01"][..],
        &["--from", "2026-01-02"],
        &["--from", "2026-01-02", "--to", "2026-01-02"],
        &["--from", "2026-01-01T03:20:00Z", "--to", "2026-01-03T02:10:00Z"],
        &["--to", "2026-01-02", "--time-zone", "Asia/Kolkata"],
    ] {
        let told = reconcile(0, window);
        assert!(told.contains("agree;") && !told.contains("$0.00"), "{window:?} {told}");
    }
    for window in [&["--from", "2026-01-05"][..], &["--to", "2025-12-01"]] {
        let told = reconcile(0, window);
        assert!(told.contains("holds nothing to compare in the time asked for"), "{told}");
        let told = json(&place, &[&["cost", "reconcile", "bill.csv"], window].concat());
        assert_eq!((&told["reconciledTo"], &told["agree"]), (&Value::Null, &Value::from(0)));
    }
    let output =
        place.run(&["cost", "reconcile", "bill.csv", "--from", "2026-01-03", "--to", "2026-01-01"]);
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn a_bill_of_one_cloud_says_nothing_of_others() {
    let place = lived();
    let focus = place.expect(0, &["cost", "report", "-o", "focus"]);
    let lines = focus.lines().enumerate();
    let aws: Vec<&str> = lines
        .filter(|(nth, line)| *nth == 0 || line.contains("us-east-1"))
        .map(|(_, line)| line)
        .collect();
    place.write("aws.csv", &(aws.join("\n") + "\n"));
    let told = json(&place, &["cost", "reconcile", "aws.csv"]);
    assert_eq!(told["clouds"], serde_json::json!(["aws"]), "{told}");
    let others = told["otherClouds"].as_array().expect("a list");
    assert_eq!((others.len(), &others[0]["cloud"]), (1, &Value::from("gcp")), "{told}");
    assert!(others[0]["machines"].as_u64() > Some(2), "{told}");
    let words = place.expect(0, &["cost", "reconcile", "aws.csv"]);
    for part in ["clouds compared: aws\n", "machines of gcp: left out"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // The form tells it too: no machine of Google is missing from a bill of AWS.
    let head = "line_item_resource_id,line_item_usage_start_date,line_item_unblended_cost";
    place.write("cur.csv", &format!("{head}\n"));
    let told = place.expect(2, &["cost", "reconcile", "cur.csv"]);
    assert!(told.contains("holds nothing about machines") && !told.contains("train"), "{told}");
    assert!(told.contains("in a journal and not on the bill"), "{told}");
    place.expect(0, &["cost", "reconcile", "cur.csv", "--from", "2027-01-01"]);
    place.write("azure.csv", "Date,ResourceId,MeterCategory,Cost\n");
    let told = place.expect(0, &["cost", "reconcile", "azure.csv"]);
    assert!(told.contains("clouds compared: azure\n") && told.contains("of aws: left"), "{told}");
}

#[test]
fn a_bill_that_cannot_be_trusted_is_refused() {
    let place = lived();
    let focus = place.expect(0, &["cost", "report", "-o", "focus"]);
    let check = |bill: &str, words: &[&str]| {
        place.write("bill.csv", bill);
        let output = place.run(&["cost", "reconcile", "bill.csv"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(output.stdout.is_empty(), "{told}");
        for part in words {
            assert!(told.contains(part), "{part}: {told}");
        }
    };
    check(
        &changed(&focus, "", "BillingCurrency", "EUR"),
        &["line 2: its cost is in EUR, not in USD", "hint: ", "export the bill in USD"],
    );
    for cost in ["1e300", "-1e300", "NaN"] {
        let words = format!("line 2: `{cost}` is more than any machine comes to");
        check(&changed(&focus, "", "EffectiveCost", cost), &[&words, "hint: "]);
    }
    let cut: String = focus.lines().take(3).collect::<Vec<_>>().join("\n");
    check(&cut[..cut.len() - 40], &["line 3: it has", "the header has 64", "export it again"]);
    place.write("bill.csv", &(focus.replacen('\n', "\n\n\n", 2) + "\n\n"));
    place.expect(0, &["cost", "reconcile", "bill.csv"]);
}

#[test]
fn differences_are_tables_in_markdown() {
    let place = lived();
    let focus = place.expect(0, &["cost", "report", "-o", "focus"]);
    place.write("bill.csv", &changed(&focus, "us-east-1", "EffectiveCost", "9"));
    let told = place.expect(2, &["cost", "reconcile", "bill.csv", "-o", "markdown"]);
    for part in [
        "**FOCUS**: ",
        "machines differ**\n\n| machine | fleet |",
        "\n|---|---|---|---|---:|",
        "| price |",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    place.write("bill.csv", focus.lines().next().expect("a header"));
    let told = place.expect(2, &["cost", "reconcile", "bill.csv", "-o", "markdown"]);
    assert!(told.contains("**in a journal and not on the bill**\n\n| machine |"), "{told}");
}

#[test]
fn a_focus_file_keeps_the_rules_of_focus() {
    let place = lived();
    let Some(python) = std::env::var_os("FLEET_FOCUS_PYTHON") else {
        fleet_testkit::skipped(
            "FLEET_FOCUS_PYTHON names no Python with focus-validator; `cargo xtask test cli` makes one",
        );
        return;
    };
    place.write("focus.csv", &place.expect(0, &["cost", "report", "-o", "focus"]));
    let told = Command::new("python3")
        .arg(root().join("tests/scripts/focus.py"))
        .arg(python)
        .arg(place.path("focus.csv"))
        .output()
        .expect("python3 runs");
    let words = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{words}\n{}", String::from_utf8_lossy(&told.stderr));
    assert!(words.contains("\"columns\": 57"), "{words}");
}

/// A fleet without a label, which grows and changes to a dearer family, and whose spot runs out.
#[test]
fn what_is_odd_names_the_apply_that_caused_it() {
    let spec = |target: u32, family: &str| {
        format!(
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: web }}\nspec:\n  \
             capacity: {{ target: {target} }}\n  instances: {{ families: [{family}] }}\n  \
             placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n  fallback: {{}}\n"
        )
    };
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    let days = |days: u32| {
        for _ in 0..days {
            place.expect(0, &["sim", "advance", "24h"]);
            place.run(&["reconcile"]);
        }
    };
    let found = || {
        let report = json(&place, &["cost", "anomalies", "--days", "4"]);
        report["anomalies"].as_array().cloned().expect("a list")
    };
    let kinds = |all: &[Value]| -> Vec<String> {
        all.iter().map(|one| one["is"].as_str().expect("a word").to_owned()).collect()
    };
    place.write("fleet.yaml", &spec(6, "m6i"));
    place.expect(0, &["apply", "--yes"]);
    days(4);
    assert_eq!(kinds(&found()), ["unlabelled"]);
    place.write("fleet.yaml", &spec(14, "r7i"));
    place.run(&["apply", "--yes", "--allow-destroy", "6"]);
    place.expect(0, &["sim", "exhaust", "aws/*/spot"]);
    place.expect(0, &["sim", "interrupt", "aws/*/spot", "--count", "8"]);
    days(4);
    let all = found();
    for kind in ["onDemandDrift", "dearerFamily", "costGrew", "unlabelled"] {
        assert!(kinds(&all).contains(&kind.to_owned()), "{kind}: {all:#?}");
    }
    for one in &all {
        let caused = ["onDemandDrift", "dearerFamily", "costGrew"]
            .contains(&one["is"].as_str().expect("a word"));
        assert_eq!(one["cause"]["who"].is_string(), caused, "{one:#?}");
    }
    let shown = place.expect(0, &["cost", "anomalies", "--days", "4"]);
    assert!(shown.contains("r7i is new") && shown.contains("since the round of"), "{shown}");
    assert!(shown.contains("`fleet explain web`") && !shown.contains("FLEET"), "{shown}");
    let page = place.expect(0, &["cost", "anomalies", "--days", "4", "-o", "markdown"]);
    assert!(page.contains("| fleet | what | since | next |\n|---|---|---|---|\n| web |"), "{page}");
    assert!(page.contains("| `fleet history web` shows what was launched |"), "{page}");
    // What is older than the days before is no news.
    days(9);
    assert!(!kinds(&found()).contains(&"dearerFamily".to_owned()));
}

#[test]
fn a_chart_is_svg_and_a_group_is_named_once() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    let refused = |args: &[&str], says: &str| {
        let output = place.run(&[&["cost", "report"], args].concat());
        let said = support::text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(says), "{said}");
    };
    refused(&["--chart", "x.png"], "charts are SVG, not png; write x.svg");
    refused(&["--by", "day,day"], "day is named twice");
    assert!(!place.path("x.png").exists());
}
