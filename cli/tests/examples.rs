//! Every command in examples/ is run as it stands, on simulated clouds, with our paths for theirs.

mod support;

use fleet_sim::Preset;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use support::{Place, root, text};

struct Machine {
    place: Place,
}

impl Machine {
    /// A machine with `fleet` on its path and the specs where the examples expect them.
    fn new() -> Self {
        let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
        copy(&root().join("fleet-specs"), &place.path("fleet-specs"));
        Machine { place }
    }

    fn shell(&self, script: &str) -> Output {
        let here = self.place.path("");
        let specs = self.place.path("fleet-specs");
        let script = script
            .replace("/usr/local/bin/fleet", "fleet")
            .replace("/etc/fleet/specs", specs.to_str().expect("a path"))
            .replace("/var/log/fleet.jsonl", "fleet.jsonl");
        let bin = Path::new(env!("CARGO_BIN_EXE_fleet")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("bash")
            .args(["-eu", "-c", &script])
            .current_dir(&here)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("FLEET_SIM", "1")
            .env("FLEET_STATE", self.place.path("state"))
            .env("FLEET_CATALOG", self.place.path("no-catalog"))
            .env("GITHUB_STEP_SUMMARY", self.place.path("summary.md"))
            .output()
            .expect("bash runs")
    }

    fn expect_success(&self, script: &str) -> String {
        let output = self.shell(script);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{script}\n{:?}\n{out}\n{err}", output.status.code());
        out
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}

/// The scripts of a workflow's steps, by the step's name.
fn steps(workflow: &str) -> Vec<(String, String)> {
    let mut steps = Vec::new();
    let mut name = String::new();
    let mut lines = workflow.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if let Some(named) = trimmed.strip_prefix("- name: ") {
            name = named.to_owned();
        }
        let Some(script) = trimmed.strip_prefix("run: ") else { continue };
        let mut script = script.to_owned();
        if script == "|" {
            script.clear();
            let indent = line.len() - trimmed.len();
            while let Some(next) =
                lines.next_if(|next| next.len() - next.trim_start().len() > indent)
            {
                script.push_str(next.trim_start());
                script.push('\n');
            }
        }
        steps.push((name.clone(), script));
    }
    steps
}

fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).expect("an example")
}

#[test]
fn the_workflow_plans_and_applies() {
    let machine = Machine::new();
    let steps = steps(&example("github-actions/fleet.yml"));
    let ours: Vec<_> = steps.iter().filter(|(_, script)| script.contains("fleet ")).collect();
    let names: Vec<&str> = ours.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Validate", "Plan", "Apply"]);
    for (_, script) in ours {
        machine.expect_success(script);
    }
    let summary = std::fs::read_to_string(machine.place.path("summary.md")).expect("a summary");
    assert!(summary.contains("quickstart"), "{summary}");
    assert!(!machine.place.live().is_empty());
    machine.expect_success("fleet plan --detailed-exitcode fleet-specs/");
}

#[test]
fn the_crontab_reconciles() {
    let machine = Machine::new();
    let crontab = example("cron/crontab");
    let line = crontab.lines().find(|line| line.contains("fleet reconcile")).expect("a line");
    let command = line.splitn(6, ' ').nth(5).expect("a command");
    machine.expect_success(command);
    let log = std::fs::read_to_string(machine.place.path("fleet.jsonl")).expect("a log");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert_eq!(support::judge::faults(&line), Vec::<String>::new(), "{line}");
        assert!(line["at"].is_string() && line["exitCode"].is_number(), "{line}");
    }
    assert!(log.lines().count() >= 7, "{log}");
}

#[test]
fn the_service_reconciles() {
    let machine = Machine::new();
    let unit = example("systemd/fleet-reconcile.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let fine =
        unit.lines().find_map(|line| line.strip_prefix("SuccessExitStatus=")).expect("codes");
    let code = machine.shell(start).status.code().expect("a code").to_string();
    assert!(code == "0" || fine.split(' ').any(|fine| fine == code), "exit code {code}");
    assert!(!machine.place.live().is_empty());
}
