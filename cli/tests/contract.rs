//! The contract of the binary: exit codes, streams, files. On simulated clouds, in a fresh folder.

mod support;

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const SPEC: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web, labels: { team: shop } }
spec:
  capacity: { unit: vcpus, target: 32, base: { onDemand: 50% }, burst: { spot: 100% } }
  instances: { families: [m5, m6i], vcpus: { min: 2, max: 8 } }
  placement:
    clouds: [ { provider: aws, regions: [us-east-1, us-west-2] } ]
    spread: { maxSharePerPool: 50% }
  budget: { hourlyUsd: 20 }
";

/// As `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them. Test data.
const PRIVATE: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MC4CAQAwBQYDK2VwBCIEIECtESEf+6LtKKh0ZLjEdiKkB9TqG8iG4TqvjtzLV+xf\n\
-----END PRIVATE KEY-----\n";
const PUBLIC: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MCowBQYDK2VwAyEAMWo8lELH/7U3C+5Pda/woWSqEmaPn/UXjjMc+yQKbGs=\n\
-----END PUBLIC KEY-----\n";

/// A fresh folder with a spec and calm clouds.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Desk(tempfile::tempdir().expect("a folder"));
        desk.write("fleet.yaml", SPEC);
        desk.ok(&["sim", "reset", "--preset", "calm"]);
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("a file");
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::cargo_bin("fleet").expect("the binary");
        command.current_dir(self.path()).env_clear().env("FLEET_SIM", "1");
        let output = command.args(["--catalog", "embedded"]).args(args).output().expect("an exit");
        support::judge::judge(args, &output);
        output
    }

    /// Runs, and expects a code; both streams, for the eye and for more checks.
    fn expect(&self, code: i32, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "colour without a terminal");
        (out, err)
    }

    fn ok(&self, args: &[&str]) -> String {
        self.expect(0, args).0
    }

    fn json(&self, code: i32, args: &[&str]) -> Value {
        let (out, _) = self.expect(code, &[args, &["-o", "json"]].concat());
        let value: Value = serde_json::from_str(&out).expect("one document");
        assert_eq!(value["formatVersion"], 1, "{args:?}");
        value
    }
}

#[test]
fn usage_errors_are_64_and_help_is_0() {
    let desk = Desk::new();
    desk.expect(64, &["no-such-command"]);
    desk.expect(64, &["plan", "--no-such-flag"]);
    desk.expect(64, &["sim", "advance", "soon"]);
    desk.expect(64, &["plan", "--log", "=,="]);
    assert!(desk.ok(&["--help"]).contains("Exit codes"));
    assert!(desk.ok(&["--version"]).starts_with("fleet "));
    assert!(desk.ok(&["plan", "--help"]).contains("--detailed-exitcode"));
}

#[test]
fn plan_apply_plan_comes_to_rest() {
    let desk = Desk::new();
    let plan = desk.json(2, &["plan", "--detailed-exitcode"]);
    assert!(plan["summary"]["create"].as_u64() > Some(0));
    assert_eq!(plan["summary"]["destroy"], 0);
    assert!(plan["cost"]["hourlyAfterUsd"].as_f64() > Some(0.0));
    assert_eq!(plan["cost"]["hourlyBeforeUsd"], 0.0);
    let step = &plan["fleets"][0]["steps"][0];
    assert_eq!(step["action"], "create");
    assert!(
        step["pool"].is_string() && step["count"].is_u64() && step["reason"]["why"].is_string()
    );

    let applied = desk.json(0, &["apply", "--yes"]);
    assert_eq!(applied["fleets"][0]["created"], plan["summary"]["create"]);
    let quiet = desk.json(0, &["plan", "--detailed-exitcode"]);
    assert_eq!(quiet["summary"]["create"], 0);
    assert_eq!(quiet["summary"]["keep"], plan["summary"]["create"]);
    assert!(desk.ok(&["plan"]).contains("No changes."));

    let status = desk.json(0, &["status"]);
    let machines = status["fleets"][0]["machines"].as_array().expect("machines");
    assert_eq!(machines.len() as u64, plan["summary"]["create"].as_u64().expect("a number"));
    for field in ["id", "provider", "region", "zone", "type", "market", "state", "slot"] {
        assert!(machines[0][field].is_string(), "{field}");
    }
    assert!(machines[0]["hourlyUsd"].is_number() && machines[0]["launchedAt"].is_string());
    assert_eq!(status["fleets"][0]["gaps"], serde_json::json!([]));

    desk.expect(1, &["destroy"]);
    let gone = desk.json(0, &["destroy", "--yes"]);
    assert_eq!(gone["fleets"][0]["destroyed"], plan["summary"]["create"]);
    assert_eq!(desk.json(0, &["status"])["fleets"][0]["machines"], serde_json::json!([]));
    assert!(desk.ok(&["history"]).contains("launched"));
    assert!(desk.ok(&["sweep"]).contains("no orphans"));
}

#[test]
fn simulated_clouds_have_no_account_and_no_price_list() {
    let desk = Desk::new();
    assert!(desk.ok(&["doctor"]).contains("need no account"));
    let told = desk.json(0, &["doctor"]);
    assert_eq!((&told["ok"], &told["simulated"]), (&true.into(), &true.into()));
    desk.expect(1, &["doctor", "--print-policy"]);
    desk.expect(4, &["doctor", "missing.yaml"]);
    desk.expect(64, &["doctor", "--provider", "mars"]);
    let (_, err) = desk.expect(1, &["catalog", "refresh", "--provider", "aws"]);
    assert!(err.contains("leave --sim out"), "{err}");
    desk.expect(64, &["catalog", "refresh"]);
}

#[test]
fn without_a_terminal_nothing_is_asked_and_nothing_done() {
    let desk = Desk::new();
    let (_, err) = desk.expect(1, &["apply"]);
    assert!(err.contains("--yes"), "{err}");
    assert_eq!(desk.json(0, &["status"])["fleets"][0]["machines"], serde_json::json!([]));
}

#[test]
fn a_saved_plan_is_applied_once_and_then_stale() {
    let desk = Desk::new();
    let (_, err) = desk.expect(0, &["plan", "--out", "p.json"]);
    assert!(err.contains("fleet apply --sim p.json"), "{err}");
    desk.expect(0, &["apply", "--yes", "p.json"]);
    let (_, err) = desk.expect(5, &["apply", "--yes", "p.json"]);
    assert!(err.contains("stale"), "{err}");
    assert_eq!(desk.json(0, &["plan", "--detailed-exitcode"])["summary"]["create"], 0);
}

#[test]
fn a_plan_that_was_touched_is_refused_and_nothing_is_sent() {
    let desk = Desk::new();
    desk.write("plan.key", PRIVATE);
    desk.write("plan.pub", PUBLIC);
    desk.expect(0, &["plan", "--out", "p.json", "--sign", "plan.key"]);
    let apply = ["apply", "--yes", "p.json", "--require-signature", "plan.pub"];
    let plan = std::fs::read(desk.path().join("p.json")).expect("a plan");
    for at in (0..plan.len()).step_by(plan.len() / 40) {
        let mut altered = plan.clone();
        altered[at] ^= 0x01;
        std::fs::write(desk.path().join("p.json"), &altered).expect("written");
        desk.expect(5, &apply);
    }
    desk.expect(5, &["apply", "--yes", "--require-signature", "plan.pub"]);
    desk.expect(0, &["plan", "--out", "p.json"]);
    let (_, err) = desk.expect(5, &apply);
    assert!(err.contains("not signed"), "{err}");
    assert!(!desk.path().join(".fleet/fleets").exists(), "nothing was recorded, nor sent");
    std::fs::write(desk.path().join("p.json"), &plan).expect("written");
    desk.expect(0, &apply);
}

#[test]
fn a_plan_of_another_spec_is_stale() {
    let desk = Desk::new();
    desk.expect(0, &["plan", "--out", "p.json"]);
    desk.write("fleet.yaml", &SPEC.replace("target: 32", "target: 40"));
    let (_, err) = desk.expect(5, &["apply", "--yes", "p.json"]);
    assert!(err.contains("spec"), "{err}");
    desk.write("p.json", r#"{"kind":"FleetPlan"}"#);
    desk.expect(5, &["apply", "--yes", "p.json"]);
}

#[test]
fn inputs_replay_offline() {
    let desk = Desk::new();
    let plan = desk.json(0, &["plan", "--save-inputs", "i.json"]);
    std::fs::remove_file(desk.path().join("fleet.yaml")).expect("removed");
    assert_eq!(desk.json(0, &["plan", "--inputs", "i.json"]), plan);
    desk.expect(2, &["plan", "--inputs", "i.json", "--detailed-exitcode"]);
    desk.write("i.json", "{}");
    desk.expect(1, &["plan", "--inputs", "i.json"]);
}

#[test]
fn user_data_stays_out_of_every_file_and_stream() {
    let desk = Desk::new();
    let secret = "hunter2-canary";
    desk.write(
        "fleet.yaml",
        &format!("{SPEC}  template: {{ userData: {{ aws: \"{secret}\" }} }}\n"),
    );
    let mut seen = String::new();
    for args in [
        ["plan", "--save-inputs", "i.json", "--log", "trace"].as_slice(),
        &["plan", "--out", "p.json", "-o", "json"],
        &["apply", "--yes", "--log", "trace"],
        &["status", "-o", "json"],
        &["history", "-o", "json"],
        &["explain", "-o", "json"],
    ] {
        let (out, err) = desk.expect(0, args);
        seen.push_str(&out);
        seen.push_str(&err);
    }
    for file in ["i.json", "p.json"] {
        seen.push_str(&std::fs::read_to_string(desk.path().join(file)).expect("a file"));
    }
    assert!(!seen.contains(secret));
}

#[test]
fn a_bad_spec_is_4_with_its_place_and_a_hint() {
    let desk = Desk::new();
    desk.write("fleet.yaml", &SPEC.replace("target:", "targt:"));
    for command in ["validate", "plan", "apply", "reconcile"] {
        let args: &[&str] = if command == "apply" { &[command, "--yes"] } else { &[command] };
        let (_, err) = desk.expect(4, args);
        assert!(err.contains("fleet.yaml:5:"), "{err}");
        assert!(err.contains("did you mean `target`?"), "{err}");
    }
    assert_eq!(desk.json(4, &["validate"])["valid"], false);
}

#[test]
fn nothing_left_after_the_filters_names_the_filter() {
    let desk = Desk::new();
    desk.write("fleet.yaml", &SPEC.replace("max: 8", "max: 3").replace("min: 2", "min: 3"));
    let (_, err) = desk.expect(4, &["validate"]);
    assert!(err.contains("nothing in the catalog is left") && err.contains("vcpus"), "{err}");
    desk.write("fleet.yaml", &SPEC.replace("[us-east-1, us-west-2]", "[us-esat-1]"));
    let (_, err) = desk.expect(4, &["plan"]);
    assert!(err.contains("did you mean `us-east-1`?"), "{err}");
    assert!(err.contains("fleet.yaml:8:"), "{err}");
}

#[test]
fn without_sim_the_way_out_is_named() {
    let desk = Desk::new();
    let elsewhere = SPEC
        .replace(
            "provider: aws, regions: [us-east-1, us-west-2]",
            "provider: gcp, regions: [us-central1]",
        )
        .replace("m5, m6i", "n2-standard");
    desk.write("fleet.yaml", &elsewhere);
    let mut command = Command::cargo_bin("fleet").expect("the binary");
    command.current_dir(desk.path()).env_clear().args(["--catalog", "embedded", "plan"]);
    let output = command.output().expect("an exit");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if cfg!(feature = "gcp") {
        // The cloud is a gap, and the gap says what is missing.
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}{err}");
        assert!(said.contains("FLEET_GCP_PROJECT"), "{said}");
    } else {
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("--sim") && err.contains("gcp"), "{err}");
    }
}

#[test]
fn an_outage_leaves_everything_as_it_is() {
    let desk = Desk::new();
    desk.expect(0, &["apply", "--yes"]);
    let before = desk.json(0, &["status"])["fleets"][0]["machines"].as_array().map(Vec::len);
    desk.ok(&["sim", "outage", "us-east-1"]);
    let (out, _) = desk.expect(0, &["plan"]);
    assert!(out.contains("aws/us-east-1 does not answer"), "{out}");
    let status = desk.json(0, &["status"]);
    assert_eq!(
        status["fleets"][0]["machines"].as_array().map(Vec::len),
        before,
        "nothing is forgotten"
    );
    assert_eq!(status["fleets"][0]["gaps"][0]["region"], "us-east-1");
    desk.ok(&["sim", "heal"]);
    assert_eq!(desk.json(0, &["plan", "--detailed-exitcode"])["summary"]["create"], 0);
}

#[test]
fn exhausted_pools_lead_elsewhere_or_to_3() {
    let desk = Desk::new();
    let few = SPEC.replace("[us-east-1, us-west-2]", "[us-west-2]").replace("min: 2", "min: 8");
    desk.write("fleet.yaml", &few);
    desk.ok(&["sim", "exhaust", "aws/*/*/*/spot"]);
    let applied = desk.json(3, &["apply", "--yes"]);
    assert_eq!(applied["exitCode"], 3);
    assert_eq!(applied["fleets"][0]["unplaced"][0]["group"], "burst");
    assert!(applied["fleets"][0]["unplaced"][0]["because"][0]["why"].is_string());
}

#[test]
fn simulated_journals_are_kept_apart_and_end_with_their_world() {
    let desk = Desk::new();
    desk.expect(0, &["apply", "--yes"]);
    assert!(desk.ok(&["sim", "reset"]).contains("forgot the journals of web"));
    let (out, err) = desk.expect(0, &["history"]);
    assert!(out.is_empty() && err.contains("Nothing was applied"), "{err}");
    desk.expect(0, &["apply", "--yes"]);
    let mark = desk.path().join(".fleet/fleets/web/simulated");
    std::fs::remove_file(mark).expect("a mark");
    let (_, err) = desk.expect(1, &["apply", "--yes"]);
    assert!(err.contains("does not stand on simulated clouds"), "{err}");
}

#[test]
fn of_two_applies_one_wins_and_the_other_is_6() {
    let desk = Desk::new();
    desk.ok(&["sim", "reset", "--preset", "calm", "--latency", "700ms"]);
    let mut first = std::process::Command::new(assert_cmd::cargo::cargo_bin("fleet"))
        .current_dir(desk.path())
        .env_clear()
        .env("FLEET_SIM", "1")
        .args(["--catalog", "embedded", "apply", "--yes"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("a process");
    let lock = desk.path().join(".fleet/fleets/web/lock");
    while !std::fs::read_to_string(&lock).is_ok_and(|holder| !holder.is_empty()) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (_, err) = desk.expect(6, &["apply", "--yes"]);
    assert!(err.contains("another run is changing fleet `web`"), "{err}");
    assert!(first.wait().expect("an exit").success());
    desk.expect(0, &["apply", "--yes", "--lock-wait", "1m"]);
    let machines = desk.json(0, &["status"])["fleets"][0]["machines"].as_array().map(Vec::len);
    let kept = desk.json(0, &["plan", "--detailed-exitcode"])["summary"]["keep"].as_u64();
    assert_eq!(machines.map(|n| n as u64), kept, "nothing is doubled");
}

#[test]
fn reconcile_writes_one_line_per_fleet() {
    let desk = Desk::new();
    let (out, err) = desk.expect(0, &["reconcile"]);
    assert_eq!((out.lines().count(), err.as_str()), (1, ""));
    let line: Value = serde_json::from_str(&out).expect("a line of JSON");
    assert_eq!((&line["fleets"][0]["fleet"], &line["exitCode"]), (&"web".into(), &0.into()));
    let (out, _) = desk.expect(0, &["reconcile"]);
    let line: Value = serde_json::from_str(&out).expect("a line of JSON");
    assert_eq!(line["fleets"][0]["created"], 0);
}

#[test]
fn several_fleets_come_in_the_order_of_their_names() {
    let desk = Desk::new();
    let other = SPEC.replace("name: web", "name: api");
    desk.write("fleet.yaml", &format!("{SPEC}---\n{other}"));
    let plan = desk.json(2, &["plan", "--detailed-exitcode"]);
    let names: Vec<&Value> =
        plan["fleets"].as_array().expect("fleets").iter().map(|one| &one["fleet"]).collect();
    assert_eq!(names, ["api", "web"]);
    let one = desk.json(0, &["plan", "-f", "web"]);
    assert_eq!(one["fleets"][0]["fleet"], "web");
    desk.expect(4, &["plan", "-f", "wbe"]);
    desk.expect(0, &["apply", "--yes", "-f", "api"]);
    desk.expect(0, &["apply", "--yes"]);
    assert!(desk.json(0, &["status"])["fleets"].as_array().map(Vec::len) == Some(2));
}

#[test]
fn fleets_without_a_spec_are_still_seen_and_can_go() {
    let desk = Desk::new();
    desk.expect(0, &["apply", "--yes"]);
    std::fs::remove_file(desk.path().join("fleet.yaml")).expect("removed");
    let status = desk.json(0, &["status"]);
    assert!(!status["fleets"][0]["machines"].as_array().expect("machines").is_empty());
    desk.expect(0, &["destroy", "--yes", "-f", "web"]);
    assert_eq!(desk.json(0, &["status"])["fleets"][0]["machines"], serde_json::json!([]));
}

#[test]
fn explain_says_why_and_why_not() {
    let desk = Desk::new();
    let (out, _) = desk.expect(0, &["explain"]);
    assert!(out.contains("the spec does not name the region"), "{out}");
    let (out, _) = desk.expect(0, &["explain", "web", "--pool", "gcp/*/*/n2-standard-8/spot"]);
    assert!(out.contains("the spec does not name gcp"), "{out}");
    desk.expect(1, &["explain", "--pool", "mars/x"]);
    desk.expect(1, &["explain", "--slot", "burst-99"]);
    desk.expect(0, &["apply", "--yes"]);
    assert!(desk.ok(&["explain", "--slot", "base-0"]).contains("kept"));
}

#[test]
fn init_writes_a_spec_that_works_and_overwrites_nothing() {
    let desk = Desk::new();
    desk.expect(1, &["init"]);
    desk.ok(&["init", "new.yaml", "--name", "fresh"]);
    let spec = std::fs::read_to_string(desk.path().join("new.yaml")).expect("a spec");
    assert!(spec.starts_with("# yaml-language-server: $schema=.fleet-schema.json"));
    let (out, err) = desk.expect(0, &["validate", "new.yaml"]);
    assert!(out.contains("0 warnings"), "{out}{err}");
    desk.expect(0, &["apply", "--yes", "new.yaml"]);
    desk.expect(64, &["init", "x.yaml", "--name", "Not A Name"]);
}

#[test]
fn catalog_schema_completions_and_man() {
    let desk = Desk::new();
    let list = desk.json(0, &["catalog", "list", "--gpu", "H100", "--region", "us-*"]);
    assert!(!list["offers"].as_array().expect("offers").is_empty());
    assert!(desk.ok(&["catalog", "list", "--gpu", "H10O"]).contains("did you mean `H100`?"));
    assert!(desk.ok(&["catalog", "show", "p5.48xlarge"]).contains("8 × H100"));
    let (_, err) = desk.expect(1, &["catalog", "show", "p5.48xlrage"]);
    assert!(err.contains("did you mean `p5.48xlarge`"), "{err}");
    assert!(desk.ok(&["schema"]).contains("fleet/v1"));
    assert!(desk.ok(&["completions", "bash"]).contains("_fleet"));
    desk.ok(&["man", "pages"]);
    assert!(desk.path().join("pages/fleet-apply.1").exists());
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let desk = Desk::new();
    let fleet = assert_cmd::cargo::cargo_bin("fleet");
    for command in ["catalog list -n 0", "schema", "plan", "--help", "completions zsh"] {
        let script = format!(
            "{} --catalog embedded {command} 2>err.txt | head -c 1 >/dev/null; cat err.txt",
            fleet.display()
        );
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(desk.path())
            .env("FLEET_SIM", "1")
            .output()
            .expect("an exit");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{command}");
    }
}
