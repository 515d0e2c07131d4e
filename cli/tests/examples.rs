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
        self.command(script).output().expect("bash runs")
    }

    fn command(&self, script: &str) -> Command {
        let here = self.place.path("");
        let specs = self.place.path("fleet-specs");
        let script = script
            .replace("/usr/local/bin/fleet", "fleet")
            .replace("/etc/fleet/specs", specs.to_str().expect("a path"))
            .replace("/var/log/fleet.jsonl", "fleet.jsonl");
        let bin = Path::new(env!("CARGO_BIN_EXE_fleet")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut bash = Command::new("bash");
        // As GitHub's runners call it.
        bash.args(["-eu", "-o", "pipefail", "-c", &script])
            .current_dir(&here)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("FLEET_SIM", "1")
            .env("FLEET_STATE", self.place.path("state"))
            .env("FLEET_CATALOG", self.place.path("no-catalog"))
            .env("GITHUB_STEP_SUMMARY", self.place.path("summary.md"));
        bash
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

/// A repository on a machine of CI: specs on `main`, a branch with a change, and a forge to comment on.
struct Pipeline {
    machine: Machine,
    env: Vec<(&'static str, String)>,
}

/// GitHub and GitLab, as far as the workflows use them.
const FORGE: &str = "tests/scripts/ci/forge.py";

impl Pipeline {
    fn new(env: &[(&'static str, &str)]) -> Self {
        use std::os::unix::fs::symlink;
        let machine = Machine::new();
        let bin = machine.place.path("bin");
        std::fs::create_dir(&bin).expect("a folder");
        for name in ["gh", "curl"] {
            symlink(root().join(FORGE), bin.join(name)).expect("a link");
        }
        let env = env.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let pipeline = Pipeline { machine, env };
        pipeline.run("git init -q -b main . && printf 'state\\nbin\\n' > .gitignore", &[]);
        pipeline.commit("base");
        pipeline
            .run("git update-ref refs/remotes/origin/main main && git checkout -q -b change", &[]);
        pipeline
    }

    fn commit(&self, message: &str) {
        let commit = "git -c user.name=a -c user.email=a@example.com commit -q -m";
        self.run(&format!("git add -A && {commit} '{message}'"), &[]);
    }

    fn shell(&self, script: &str, more: &[(&str, &str)]) -> Output {
        let path = |name: &str| self.machine.place.path(name).display().to_string();
        let script = format!("export PATH=\"{}:$PATH\"\n{script}", path("bin"));
        let mut bash = self.machine.command(&script);
        bash.env("FORGE", path("forge.json")).env("RUNNER_TEMP", path(""));
        bash.env("GITHUB_OUTPUT", path("output"));
        bash.envs(self.env.iter().map(|(name, value)| (*name, value)));
        bash.envs(more.iter().copied()).output().expect("bash runs")
    }

    /// Runs a script that must end well.
    fn run(&self, script: &str, more: &[(&str, &str)]) -> String {
        let output = self.shell(script, more);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{script}\n{:?}\n{out}\n{err}", output.status.code());
        out
    }

    fn comments(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.machine.place.path("forge.json"));
        text.map_or_else(|_| Vec::new(), |text| serde_json::from_str(&text).expect("JSON"))
    }

    /// What a step told the next ones.
    fn output(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.machine.place.path("output")).unwrap_or_default();
        let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        text.lines().rev().find_map(value)
    }
}

/// The script of a step of a workflow.
fn step(workflow: &str, name: &str) -> String {
    let all = steps(workflow);
    let found = all.into_iter().find(|(step, _)| step == name);
    found.unwrap_or_else(|| panic!("no step {name}")).1
}

const SPEC: &str = "fleet-specs/quickstart.yaml";

/// The quickstart with ten times its target.
fn raise(pipeline: &Pipeline) {
    let spec = pipeline.machine.place.path(SPEC);
    let text = std::fs::read_to_string(&spec).expect("the spec");
    let line =
        text.lines().find(|line| line.trim_start().starts_with("target:")).expect("a target");
    let target = line.split_whitespace().nth(1).expect("a number").to_owned();
    let raised = line.replace(&target, &format!("{target}0"));
    std::fs::write(spec, text.replace(line, &raised)).expect("written");
    pipeline.commit("ten times as much");
}

#[test]
fn a_pull_request_gets_one_comment() {
    let pipeline = Pipeline::new(&[
        ("GITHUB_BASE_REF", "main"),
        ("GITHUB_REPOSITORY", "team/fleets"),
        ("PR", "7"),
        ("GH_TOKEN", "a-token"),
    ]);
    let workflow = example("ci/github/fleet-plan.yml");
    let run = || {
        pipeline.run(&step(&workflow, "Plan"), &[]);
        pipeline.run(&step(&workflow, "Comment"), &[]);
        pipeline.output("code").expect("a code")
    };
    pipeline.run(&step(&workflow, "Validate"), &[]);
    assert_eq!(run(), "0");
    let first = pipeline.comments();
    assert!(
        first[0]["body"].as_str().expect("a body").contains("Fleet plan: no change"),
        "{first:?}"
    );
    raise(&pipeline);
    assert_eq!(run(), "7");
    let second = pipeline.comments();
    assert_eq!((second.len(), &second[0]["edits"]), (1, &1.into()), "{second:?}");
    let body = second[0]["body"].as_str().expect("a body");
    assert!(body.starts_with("<!-- fleet-plan -->\n### ❌ Fleet plan: 1 fleet changes"), "{body}");
    assert!(body.contains("monthly-increase&gt;500usd"), "{body}");
    // The job fails after it commented, unless somebody waived the rules.
    let verdict = step(&workflow, "Verdict");
    let ends = |code: &str, waived: &str| {
        pipeline.shell(&verdict, &[("CODE", code), ("WAIVED", waived)]).status.code()
    };
    assert_eq!((ends("7", "false"), ends("7", "true")), (Some(7), Some(0)));
    assert_eq!((ends("4", "true"), ends("0", "false")), (Some(4), Some(0)));
    // A plan that cannot be made is said in the same comment.
    std::fs::write(
        pipeline.machine.place.path("fleet-specs/policy.yaml"),
        "apiVersion: fleet/v1\nkind: Policy\n",
    )
    .expect("written");
    assert_eq!(run(), "4");
    let third = pipeline.comments();
    let body = third[0]["body"].as_str().expect("a body");
    assert_eq!(third.len(), 1);
    assert!(body.contains("failed with exit code 4") && body.contains("    error: "), "{body}");
}

#[test]
fn a_merge_request_gets_one_note() {
    let workflow = example("ci/gitlab/.gitlab-ci.yml");
    let jobs: Vec<String> = blocks(&workflow);
    let [plan, apply, reconcile] = jobs.as_slice() else { panic!("{jobs:?}") };
    let pipeline = Pipeline::new(&[
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "main"),
        ("CI_API_V4_URL", "https://gitlab.example.com/api/v4"),
        ("CI_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("FLEET_NOTES_TOKEN", "a-token"),
        ("CI_MERGE_REQUEST_LABELS", "urgent"),
    ]);
    pipeline.run(plan, &[]);
    assert_eq!(pipeline.comments().len(), 1);
    raise(&pipeline);
    assert_eq!(pipeline.shell(plan, &[]).status.code(), Some(7));
    let notes = pipeline.comments();
    assert_eq!((notes.len(), &notes[0]["edits"]), (1, &1.into()), "{notes:?}");
    pipeline.run(plan, &[("CI_MERGE_REQUEST_LABELS", "urgent,cost-approved")]);
    pipeline.run(apply, &[]);
    assert!(!pipeline.machine.place.live().is_empty());
    pipeline.run(reconcile, &[]);
}

/// The scripts under `script:` of a GitLab pipeline.
fn blocks(workflow: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut lines = workflow.lines();
    while let Some(line) = lines.next() {
        if line != "    - |" {
            continue;
        }
        let block = lines.by_ref().take_while(|line| line.starts_with("      ") || line.is_empty());
        all.push(
            block
                .map(|line| line.strip_prefix("      ").unwrap_or(line))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    all
}

#[test]
fn what_was_merged_is_applied_as_it_was_planned() {
    let workflow = example("ci/github/fleet-apply.yml");
    let pipeline = Pipeline::new(&[]);
    pipeline.run(
        "openssl genpkey -algorithm ed25519 -out key.pem 2>/dev/null && mkdir -p .github && \
         openssl pkey -in key.pem -pubout -out .github/fleet-plan.pub",
        &[],
    );
    let key = std::fs::read_to_string(pipeline.machine.place.path("key.pem")).expect("a key");
    let plan = || pipeline.run(&step(&workflow, "Plan"), &[("FLEET_PLAN_KEY", key.trim())]);
    plan();
    assert_eq!(pipeline.output("changes").as_deref(), Some("true"));
    let summary = std::fs::read_to_string(pipeline.machine.place.path("summary.md"));
    assert!(summary.expect("a summary").contains("quickstart"));
    let apply = step(&workflow, "Apply");
    let spoiled =
        pipeline.shell(&format!("sed -i 's/quickstart/quickstarT/' fleet.plan\n{apply}"), &[]);
    assert_eq!(spoiled.status.code(), Some(5), "{}", text(&spoiled.stderr));
    assert!(pipeline.machine.place.live().is_empty());
    plan();
    pipeline.run(&apply, &[]);
    assert!(!pipeline.machine.place.live().is_empty());
    assert!(!pipeline.machine.place.path("fleet-plan.key").exists(), "the key is left behind");
    pipeline.run(&step(&example("ci/github/fleet-reconcile.yml"), "Reconcile"), &[]);
}

/// By actionlint and the published schemas of both forges.
#[test]
#[ignore = "needs the witnesses; `cargo xtask test` runs it"]
fn the_workflows_are_what_their_forges_take() {
    let witnesses = std::env::var("FLEET_WITNESSES").expect("FLEET_WITNESSES");
    let witnesses = Path::new(&witnesses);
    let folder = root().join("examples/ci");
    let mut workflows: Vec<_> = std::fs::read_dir(folder.join("github"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    workflows.sort();
    let run = |command: &mut Command| {
        let output = command.output().expect("it runs");
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    };
    let lint = |files: &[std::path::PathBuf]| {
        let script = root().join("tests/scripts/ci/lint.cjs");
        run(Command::new("node").arg(script).arg(witnesses.join("node_modules")).args(files))
    };
    assert_eq!(lint(&workflows), (true, String::new()));
    let schema = |name: &str, files: &[std::path::PathBuf], more: &[&str]| {
        let mut check = Command::new(witnesses.join("bin/check-jsonschema"));
        run(check.args(["--builtin-schema", name]).args(more).args(files))
    };
    let (valid, said) = schema("vendor.github-workflows", &workflows, &[]);
    assert!(valid, "{said}");
    let gitlab = [folder.join("gitlab/.gitlab-ci.yml")];
    let (valid, said) = schema("vendor.gitlab-ci", &gitlab, &["--data-transform", "gitlab-ci"]);
    assert!(valid, "{said}");
    // They bite.
    let spoiled = tempfile::tempdir().expect("a folder");
    let spoil = |file: &Path, from: &str, to: &str| {
        let text = std::fs::read_to_string(file).expect("a file");
        assert!(text.contains(from), "{from}");
        let copy = spoiled.path().join("spoiled.yml");
        std::fs::write(&copy, text.replace(from, to)).expect("written");
        copy
    };
    let plan = folder.join("github/fleet-plan.yml");
    assert!(!lint(&[spoil(&plan, "steps.plan.outputs", "steps.plam.outputs")]).0);
    assert!(!schema("vendor.github-workflows", &[spoil(&plan, "runs-on:", "run-on:")], &[]).0);
    let note = spoil(&gitlab[0], "interruptible: true", "interruptible: perhaps");
    assert!(!schema("vendor.gitlab-ci", &[note], &["--data-transform", "gitlab-ci"]).0);
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
