//! Real clouds without credentials: noticed before anything is sent, and never taken for "no changes".

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn spec(cloud: &str) -> String {
    format!(
        "apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: {cloud} }}
spec:
  capacity: {{ unit: instances, target: 6, base: {{ onDemand: 2 }} }}
  template: {{ key: {{ lambda: laptop }} }}
  placement: {{ clouds: [ {{ provider: {cloud} }} ] }}
"
    )
}

fn plan(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleet"));
    command.current_dir(folder).env_clear().env("HOME", folder);
    // Not every machine that runs this is outside of a cloud.
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    command.args(["plan", "--catalog", "embedded", "--detailed-exitcode"]).args(args);
    command.output().expect("fleet runs")
}

#[test]
fn a_plan_that_could_not_look_is_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    for (cloud, next) in [
        ("aws", "set AWS_PROFILE"),
        ("gcp", "set FLEET_GCP_PROJECT"),
        ("azure", "set FLEET_AZURE_RESOURCE_GROUP"),
        ("lambda", "set LAMBDA_API_KEY"),
    ] {
        let file = format!("{cloud}.yaml");
        std::fs::write(folder.path().join(&file), spec(cloud)).expect("a spec");
        let output = plan(folder.path(), &[&file]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{out}{err}");
        assert_eq!(err, "", "no logs that nobody asked for");
        assert_eq!(out.matches("no credentials found").count(), 1, "{out}");
        let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(next) && said.contains("fleet doctor"), "{out}");
        assert!(out.contains("No plan.") && !out.contains("No changes"), "{out}");

        let output = plan(folder.path(), &[&file, "-o", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(document["fleets"][0]["changes"], Value::Null);
        assert_eq!(document["fleets"][0]["answered"], 0);
        assert_eq!(document["fleets"][0]["gaps"][0]["cause"], "no-credentials");
    }
    // All four at once: a line for each.
    let output = plan(folder.path(), &["."]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out.matches("no credentials found").count(), 4, "{out}");
    assert!(out.contains("None of 4 fleets could be looked at"), "{out}");
    // A comment has no numbers that nobody knows.
    let output = plan(folder.path(), &[".", "-o", "markdown"]);
    let out = text(&output.stdout);
    assert_eq!(out.matches("| ? | ? | ? | ? | ? | ⛔ no cloud answered |").count(), 4, "{out}");
    assert!(!out.contains("$0.00"), "{out}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
