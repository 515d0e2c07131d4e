//! `fleet simulate` as people and CI call it: small recordings, the real binary.

mod support;

use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A recording's zones stand in for clouds, families and template.
const SPEC: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: train }
spec:
  capacity: { target: 4, penalty: 10 }
";

/// Ten hours of two zones, of which one fails now and then.
fn capacity(zone: usize, sample: usize) -> u32 {
    if zone == 0 || sample % 40 < 30 { 6 } else { 0 }
}

const SAMPLES: usize = 120;

fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = desk.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("fleet.yaml", SPEC);
    let spread = "  placement: { spread: { maxSharePerZone: 25% } }\n";
    write("narrow.yaml", &format!("{SPEC}{spread}"));
    write(
        "traces/small/trace.json",
        r#"{"intervalSeconds": 300, "onDemandUsdPerHour": 10.0,
            "zones": ["us-east-1a", "us-west-2b"], "regions": ["us-east-1", "us-west-2"]}"#,
    );
    let mut rows = String::from("us-east-1a,us-west-2b\n");
    for sample in 0..SAMPLES {
        writeln!(rows, "{},{}", capacity(0, sample), capacity(1, sample)).expect("a row");
    }
    write("traces/small/capacity.csv", &rows);
    write("traces/small/price.csv", "sample,us-east-1a,us-west-2b\n0,4.0,3.0\n");
    for (zone, name) in ["us-east-1a_v100_1", "us-west-2b_v100_1"].into_iter().enumerate() {
        let data: Vec<u32> = (0..SAMPLES).map(|sample| capacity(zone, sample)).collect();
        let raw = serde_json::json!({ "metadata": { "gap_seconds": 300.0 }, "data": data });
        write(&format!("raw/{name}.json"), &raw.to_string());
    }
    desk
}

fn run(desk: &Path, code: i32, args: &[&str]) -> (String, String) {
    let mut command = Command::cargo_bin("fleet").expect("the binary");
    let output = command.current_dir(desk).env_clear().arg("simulate").args(args).output();
    let output = output.expect("an exit");
    support::judge::judge(&[&["simulate"], args].concat(), &output);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    (out, err)
}

fn json(desk: &Path, args: &[&str]) -> Value {
    let (out, _) = run(desk, 0, &[args, &["-o", "json"]].concat());
    serde_json::from_str(&out).expect("a document")
}

#[test]
fn every_policy_is_compared_and_drawn() {
    let desk = desk();
    let desk = desk.path();
    let all = ["fleet.yaml", "--traces", "traces", "--policy", "all", "--chart", "out.svg"];
    let told = json(desk, &all);
    let policies = told["fleets"][0]["policies"].as_array().expect("policies");
    assert_eq!(policies.len(), 9);
    assert_eq!(policies[0]["name"], "fleet");
    for policy in policies {
        for measure in [
            "relativeCost",
            "availablePercent",
            "deliveredPercent",
            "j3",
            "j10",
            "j30",
            "unitHours",
        ] {
            assert!(policy[measure].is_number(), "{measure}: {policy}");
        }
    }
    // Nothing is missing on demand, and it costs what it costs.
    let on_demand = policies.iter().find(|p| p["name"] == "on-demand").expect("on demand");
    let cost = on_demand["relativeCost"].as_f64().expect("a cost");
    assert!((cost - 1.0).abs() < 1e-9 && on_demand["deliveredPercent"] == 100.0, "{on_demand}");
    assert!(policies[0]["relativeCost"].as_f64() < Some(0.6), "{}", policies[0]);
    let chart = std::fs::read_to_string(desk.join("out.svg")).expect("a chart");
    assert!(
        chart.starts_with("<svg") && chart.contains("spothedge") && chart.contains("Brier"),
        "{chart}"
    );
    let (markdown, _) = run(desk, 0, &[&all[..5], &["-o", "markdown"]].concat());
    assert!(markdown.contains("| round-robin | "), "{markdown}");
}

/// A replay says what it took for granted, and what of the spec the recording does not have.
#[test]
fn what_is_assumed_and_replaced_is_named() {
    let desk = desk();
    let desk = desk.path();
    let told = json(desk, &["fleet.yaml", "--traces", "traces"]);
    let fleet = &told["fleets"][0];
    assert_eq!(fleet["replaced"], serde_json::json!([]), "this spec asks for nothing else");
    let assumed = fleet["assumptions"].to_string();
    assert!(
        assumed.contains("every 5m") && assumed.contains("those of the recording"),
        "{assumed}"
    );
    assert_eq!(fleet["recordings"][0]["onDemandHourlyUsd"], 10.0);

    let elsewhere = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: elsewhere }
spec:
  capacity: { unit: vcpus, target: 4 }
  instances: { families: [m6i, n2] }
  placement:
    clouds: [{ provider: aws, regions: [us-east-1] }, { provider: gcp, regions: [us-central1] }]
  budget: { hourlyUsd: 3 }
";
    std::fs::write(desk.join("elsewhere.yaml"), elsewhere).expect("a spec");
    let (text, _) = run(desk, 0, &["elsewhere.yaml", "--traces", "raw", "--delay", "7m"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "capacity.unit: 4 vcpus; replayed as 4 machines of one unit each",
        "instances: m6i, n2; replayed as the one type that was recorded",
        "placement.clouds: gcp us-central1; replayed as the zones that were recorded (us-east-1a, us-west-2b)",
        "budget: $3.00 per hour; replayed as no budget",
        "A machine is ready 10m after its launch: --delay 7m, in whole samples.",
        "Where a recording has no prices, spot costs 30% of on-demand.",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    let told = json(desk, &["elsewhere.yaml", "--traces", "raw"]);
    assert_eq!(told["fleets"][0]["replaced"][2]["field"], "placement.clouds");
    let (markdown, _) = run(desk, 0, &["elsewhere.yaml", "--traces", "raw", "-o", "markdown"]);
    assert!(markdown.contains("Not as the spec says:"), "{markdown}");
}

/// What the judge charges is one thing, what the fleet plans with another; both are said.
#[test]
fn the_judges_penalty_is_not_the_fleets() {
    let desk = desk();
    let desk = desk.path();
    let own = |name: &str, field: &str| {
        let spec = SPEC.replace(", penalty: 10", field);
        std::fs::write(desk.join(name), spec).expect("a spec");
    };
    own("plain.yaml", "");
    own("serving.yaml", ", availability: 99%");
    let replay =
        |spec: &str, more: &[&str]| json(desk, &[&[spec, "--traces", "traces"], more].concat());
    let ten = replay("fleet.yaml", &[]);
    let five = replay("fleet.yaml", &["--penalty", "5"]);
    let (ten, five) = (&ten["fleets"][0], &five["fleets"][0]);
    assert_eq!((&ten["penalty"], &five["penalty"]), (&10.0.into(), &5.0.into()));
    for measure in ["relativeCost", "deliveredPercent", "j10", "j10OverBound"] {
        assert_eq!(ten["policies"][0][measure], five["policies"][0][measure], "{measure}");
    }
    assert_eq!(ten["policies"][0]["overBound"], ten["policies"][0]["j10OverBound"]);
    assert!(five["policies"][0]["overBound"].as_f64() < ten["policies"][0]["overBound"].as_f64());
    let plain = &replay("plain.yaml", &[])["fleets"][0];
    assert!(plain["specPenalty"].is_null(), "{plain}");
    assert!(plain["assumptions"].to_string().contains("what spot does not grant is missing"));
    let serving = &replay("serving.yaml", &[])["fleets"][0];
    assert_eq!(serving["specPenalty"], 30.0);
    let said = serving["assumptions"].to_string();
    assert!(said.contains("own penalty of 30, which is what `availability: 99%` means"), "{said}");
    let (text, _) = run(desk, 0, &["fleet.yaml", "--traces", "traces", "--penalty", "2.5"]);
    assert!(text.contains("J2.5") && text.contains("over bound: J2.5 over"), "{text}");
    for wrong in ["0", "-1", "nan", "much"] {
        run(desk, 64, &["fleet.yaml", "--traces", "traces", &format!("--penalty={wrong}")]);
    }
}

#[test]
fn a_notice_is_worth_something_and_is_said() {
    let desk = desk();
    let replay = |notice: &str| {
        let told = json(desk.path(), &["fleet.yaml", "--traces", "traces", "--notice", notice]);
        told["fleets"][0].clone()
    };
    let none = replay("0s");
    assert_eq!(none["recordings"][0]["noticeSeconds"], 0);
    assert!(none["assumptions"].to_string().contains("without notice"), "{none}");
    let cloud = replay("cloud");
    assert_eq!(cloud["recordings"][0]["noticeSeconds"], 120);
    assert!(cloud["assumptions"].to_string().contains("announced 2m ahead"), "{cloud}");
    for wrong in ["soon", "2d", "-1s"] {
        let notice = format!("--notice={wrong}");
        run(desk.path(), 64, &["fleet.yaml", "--traces", "traces", &notice]);
    }
}

#[test]
fn predictions_are_held_against_what_came_of_them() {
    let desk = desk();
    let args = ["fleet.yaml", "--traces", "traces"];
    let told = json(desk.path(), &args);
    let hour = &told["fleets"][0]["calibration"][0];
    assert_eq!(hour["hours"], 1.0);
    let bins = hour["bins"].as_array().expect("bins");
    let sum: u64 = bins.iter().filter_map(|bin| bin["predictions"].as_u64()).sum();
    assert!(sum > 0 && Some(sum) == hour["predictions"].as_u64(), "{hour}");
    let (shown, _) = run(desk.path(), 0, &[&args[..], &["--calibration"]].concat());
    assert!(shown.contains("Predicted losses") && shown.contains("Brier score"), "{shown}");
    let (quiet, _) = run(desk.path(), 0, &args);
    assert!(!quiet.contains("Predicted losses"), "{quiet}");
    let others = [&args[..], &["--policy", "on-demand", "--calibration"]].concat();
    let (none, _) = run(desk.path(), 0, &others);
    assert!(none.contains("Nothing was predicted"), "{none}");
}

#[test]
fn a_gate_that_fails_is_one_document() {
    let desk = desk();
    let gate = ["fleet.yaml", "--traces", "traces", "--fail-if", "cost>0.01", "-o", "json"];
    let (out, _) = run(desk.path(), 1, &gate);
    let told: Value = serde_json::from_str(&out).expect("one document");
    assert_eq!(told["failed"], serde_json::json!(["train on small: cost>0.01"]));
}

#[test]
fn a_seed_shuffles_zones_and_nothing_else() {
    let desk = desk();
    let replay =
        |seed: &str| json(desk.path(), &["fleet.yaml", "--traces", "traces", "--seed", seed]);
    assert_eq!(replay("7"), replay("7"));
    let bound =
        |told: &Value| told["fleets"][0]["recordings"][0]["omniscient"].as_f64().expect("a bound");
    assert!((bound(&replay("1")) - bound(&replay("0"))).abs() < 1e-9);
}

#[test]
fn the_raw_public_set_is_read() {
    let desk = desk();
    let told = json(desk.path(), &["fleet.yaml", "--traces", "raw", "--delay", "10m"]);
    assert_eq!(told["fleets"][0]["delaySeconds"], 600);
    assert_eq!(told["fleets"][0]["recordings"][0]["hours"], 10.0);
    assert!(told["fleets"][0]["policies"][0]["deliveredPercent"].as_f64() > Some(90.0), "{told}");
}

#[test]
fn a_gate_fails_the_run_and_says_which() {
    let desk = desk();
    let gated = |code, gate| {
        run(desk.path(), code, &["fleet.yaml", "--traces", "traces", "--fail-if", gate]).1
    };
    gated(0, "cost>1.5");
    let told = gated(1, "cost>0.01");
    assert!(told.contains("train on small: cost>0.01"), "{told}");
    gated(64, "speed>3");
}

#[test]
fn limits_that_a_recording_cannot_meet_are_named() {
    let desk = desk();
    let narrow = ["narrow.yaml", "--traces", "traces"];
    let told = json(desk.path(), &narrow);
    let limit = &told["fleets"][0]["recordings"][0]["outOfReach"];
    assert_eq!(
        (&limit["limit"], &limit["most"], &limit["raiseToPercent"]),
        (&"maxSharePerZone".into(), &2.into(), &50.0.into())
    );
    let (text, _) = run(desk.path(), 0, &narrow);
    assert!(
        text.contains("maxSharePerZone 25% allows 2 of 4") && text.contains("raise it to 50%"),
        "{text}"
    );
    assert!(
        json(desk.path(), &["fleet.yaml", "--traces", "traces"])["fleets"][0]["recordings"][0]["outOfReach"]
            .is_null()
    );
}

/// A recording that is none is refused, with its place and a hint. Nothing is replayed.
#[test]
fn a_wrong_recording_has_a_place_and_a_hint() {
    let desk = desk();
    let desk = desk.path();
    let write = |name: &str, text: &str| {
        std::fs::write(desk.join("traces/small").join(name), text).expect("a file");
    };
    let file = |name: &str| std::fs::read_to_string(desk.join("traces/small").join(name));
    let sound = file("capacity.csv").expect("a file");
    let check = |place: &str, words: &str| {
        let (out, err) = run(desk, 1, &["fleet.yaml", "--traces", "traces"]);
        assert_eq!(out, "");
        let place = format!("--> traces/small/{place}");
        assert!(err.contains(words) && err.contains(&place) && err.contains("hint:"), "{err}");
    };
    write("capacity.csv", &sound.replace("us-east-1a,", "sample,us-east-1a,"));
    check("capacity.csv:1", "column 1, `sample`, has no place here");
    let short: Vec<&str> = sound.lines().take(13).collect();
    write("capacity.csv", &short.join("\n"));
    check("capacity.csv", "12 samples, one every 300 s, are too few to measure anything");
    write("capacity.csv", &sound);
    write("price.csv", "sample,us-east-1a,us-west-2b\n0,4.0,3.0\n7,4.0,NaN\n");
    check("price.csv:3", "`NaN` in column `us-west-2b` is not a price");
    std::fs::remove_file(desk.join("traces/small/price.csv")).expect("a file");
    check("price.csv", "cannot read the recording");
}

#[test]
fn a_target_out_of_reach_is_shown_where_it_stands() {
    let desk = desk();
    let desk = desk.path();
    for target in ["0", "10001"] {
        let spec = SPEC.replace("target: 4", &format!("target: {target}"));
        std::fs::write(desk.join("big.yaml"), spec).expect("a spec");
        // The other fleet is not replayed first.
        std::fs::write(desk.join("first.yaml"), SPEC.replace("train", "first")).expect("a spec");
        let (out, err) = run(desk, 1, &["first.yaml", "big.yaml", "--traces", "traces"]);
        assert_eq!(out, "");
        assert!(err.contains("--> big.yaml:5:23") && err.contains("1 to 10000"), "{err}");
    }
}

/// A recording has no clock: what the spec says of times is named, and changes no figure.
#[test]
fn times_of_the_spec_are_not_followed_and_named() {
    let desk = desk();
    let desk = desk.path();
    let timed = SPEC.replace("penalty: 10", "penalty: 10, reconcileEvery: 6h");
    let timed = format!(
        "{timed}  expires: 2022-01-01T00:00:00Z
  schedule:
    - {{ cron: \"0 8 * * *\", target: 2 }}
    - {{ cron: \"0 20 * * *\", target: 0 }}
"
    );
    std::fs::write(desk.join("timed.yaml"), timed).expect("a spec");
    let plain = json(desk, &["fleet.yaml", "--traces", "traces"]);
    let told = json(desk, &["timed.yaml", "--traces", "traces"]);
    assert_eq!(told["fleets"][0]["policies"], plain["fleets"][0]["policies"]);
    let (text, _) = run(desk, 0, &["timed.yaml", "--traces", "traces"]);
    for part in [
        "schedule: 2 entries; replayed as a target of 4 throughout",
        "expires: 2022-01-01T00:00:00Z; replayed as a fleet without end",
        "capacity.reconcileEvery: 6h; replayed as a reconcile at every sample",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn what_differs_between_recordings_and_policies_is_said() {
    let desk = desk();
    let desk = desk.path();
    let copy = |name: &str, from: &str, to: &str| {
        let folder = desk.join("traces").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        for file in ["trace.json", "capacity.csv", "price.csv"] {
            let text = std::fs::read_to_string(desk.join("traces/small").join(file));
            let text = text.expect("a file").replace(from, to);
            std::fs::write(folder.join(file), text).expect("a file");
        }
    };
    copy("dear", "10.0", "20.0");
    copy("same", "", "");
    let flat = |args: &[&str]| {
        let (text, _) = run(desk, 0, &[&["--traces", "traces"], args].concat());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = flat(&["fleet.yaml", "--policy", "fleet", "--policy", "spothedge"]);
    assert!(text.contains("at $20 (dear), $10 (same, small) per hour"), "{text}");
    assert!(text.contains("every 5m, with"), "{text}");
    let buy = "The other policies buy on demand what spot does not grant";
    assert!(text.contains(&format!("{buy}, whatever a missing machine counts for.")), "{text}");
    std::fs::write(desk.join("plain.yaml"), SPEC.replace(", penalty: 10", "")).expect("a spec");
    let text = flat(&["plain.yaml", "--policy", "all"]);
    assert!(
        text.contains(&format!("{buy}. The fleet does not: its spec has no `penalty`")),
        "{text}"
    );
    assert!(!flat(&["plain.yaml"]).contains(buy), "the fleet is alone");
}

#[test]
fn every_fleet_has_its_own_chart() {
    let desk = desk();
    let desk = desk.path();
    std::fs::write(desk.join("web.yaml"), SPEC.replace("train", "web")).expect("a spec");
    let args = ["fleet.yaml", "web.yaml", "--traces", "traces", "--chart", "out.svg"];
    let (_, err) = run(desk, 0, &args);
    for fleet in ["train", "web"] {
        let chart =
            std::fs::read_to_string(desk.join(format!("out-{fleet}.svg"))).expect("a chart");
        assert!(chart.contains(&format!("<title>{fleet} on traces</title>")), "{chart}");
        assert!(err.contains(&format!("out-{fleet}.svg")), "{err}");
    }
    assert!(!desk.join("out.svg").exists());
}

#[test]
fn values_that_make_no_sense_are_refused_with_what_to_write() {
    let desk = desk();
    for (flag, value, words) in [
        ("--penalty", "-1", "write a number from 0.001 to 10000"),
        ("--penalty", "-inf", "write a number from 0.001 to 10000"),
        ("--notice", "-5s", "write 30s, 2m or cloud"),
        ("--notice", "200ms", "a second or more"),
        ("--delay", "-5s", "write 90s or 5m"),
        ("--delay", "0s", "1s to 24h"),
        ("--delay", "30d", "1s to 24h"),
        ("--policy", "spothege", "did you mean `spothedge`?"),
        ("--policy", "cheapest", "lowest-price, even-spread, round-robin"),
        ("--fail-if", "availability<nan%", "is not a number or share"),
        ("--fail-if", "cost>inf", "is not a number or share"),
    ] {
        let (_, err) = run(desk.path(), 64, &["fleet.yaml", "--traces", "traces", flag, value]);
        assert!(err.contains(words) && !err.contains("'-- "), "{flag} {value}: {err}");
    }
    // What looks like a file is one.
    let (_, err) =
        run(desk.path(), 4, &["fleet.yaml", "--traces", "traces", "--policy", "no.yaml"]);
    assert!(err.contains("no.yaml"), "{err}");
}
