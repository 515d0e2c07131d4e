//! `fleet plan --compare` and `--fail-if`: a branch against its base, in real git repositories.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;
use support::{Place, text};

/// A repository with a branch `main`, on simulated clouds.
struct Repository(Place);

impl Repository {
    /// With these files on `main`, and a branch `change` at hand.
    fn new(files: &[(&str, &str)]) -> Self {
        let repository = Repository(Place::new(1, Preset::Calm, Duration::ZERO));
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write(".gitignore", "state\n");
        repository.edit(files);
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "-m", "base"]);
        repository.git(&["checkout", "-q", "-b", "change"]);
        repository
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(args)
            .current_dir(self.0.path(""))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    fn edit(&self, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, text)| self.write(name, text));
    }

    /// The document of a plan of `specs` against `main`, with more arguments.
    fn plan(&self, code: i32, more: &[&str]) -> Value {
        let args = [&["plan", "-o", "json", "specs", "--compare", "main"], more].concat();
        serde_json::from_str(&self.0.expect(code, &args)).expect("JSON")
    }

    fn comment(&self, code: i32, more: &[&str]) -> String {
        let args = [&["plan", "-o", "markdown", "specs", "--compare", "main"], more].concat();
        self.0.expect(code, &args)
    }
}

/// A fleet of on-demand machines, which have one price everywhere.
fn fleet(name: &str, target: u32) -> String {
    fleet_of(name, target, "m6i.xlarge", "")
}

fn fleet_of(name: &str, target: u32, types: &str, metadata: &str) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: {name}{metadata} }}\nspec:\n  \
         capacity: {{ target: {target}, base: {{ onDemand: 100% }} }}\n  \
         instances: {{ types: [{types}] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n"
    )
}

fn edit<'a>(document: &'a Value, fleet: &str) -> &'a Value {
    let fleets = document["comparison"]["fleets"].as_array().expect("a list");
    fleets.iter().find(|one| one["fleet"] == fleet).expect("the fleet")
}

/// m6i.xlarge on demand in us-east-1, with its public address.
const EACH: f64 = 0.197;

#[test]
fn a_branch_is_compared_with_its_base() {
    let repository = Repository::new(&[
        ("specs/web.yaml", &fleet("web", 4)),
        ("specs/old.yaml", &fleet("old", 2)),
        ("specs/same.yaml", &fleet("same", 1)),
    ]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 6)), ("specs/new.yaml", &fleet("new", 3))]);
    std::fs::remove_file(repository.0.path("specs/old.yaml")).expect("removed");
    let before = repository.git(&["status", "--porcelain"]);
    let document = repository.plan(0, &[]);
    for (name, is, was, will) in [
        ("web", "changed", 4, 6),
        ("old", "removed", 2, 0),
        ("same", "same", 1, 1),
        ("new", "added", 0, 3),
    ] {
        let one = edit(&document, name);
        let machines = (&one["before"]["machines"], &one["after"]["machines"]);
        assert_eq!((&one["is"], machines), (&is.into(), (&was.into(), &will.into())), "{one}");
    }
    let fields = &edit(&document, "web")["fields"];
    let target = serde_json::json!([{ "field": "spec.capacity.target", "from": "4", "to": "6" }]);
    assert_eq!(fields, &target);
    let comparison = &document["comparison"];
    assert_eq!(comparison["increase"]["machines"], 3);
    let more = comparison["increase"]["hourlyUsd"].as_f64().expect("a number");
    assert!((more - 3.0 * EACH).abs() < 1e-6, "{more}");
    assert_eq!(comparison["increase"]["percent"], 42.9);
    // Nothing of the repository was touched.
    assert_eq!(repository.git(&["status", "--porcelain"]), before);
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    let comment = repository.comment(0, &[]);
    let mut lines = comment.lines();
    assert_eq!(lines.next(), Some("<!-- fleet-plan -->"));
    assert_eq!(
        lines.next(),
        Some(
            "### Fleet plan: 3 fleets change (1 new, 1 removed), +3 machines, $1,007 → $1,438 per month \
             (+$431, +43 %)"
        )
    );
    assert!(
        comment.contains(
            "| changed | `web` | 4 → 6 instances | 4 → 6 | $575 → $863<br><sub>$0.7880 → $1.1820 per hour</sub> | +$288, +50 % | launch 6 |"
        ),
        "{comment}"
    );
}

/// What stands is another matter than what the base asks for, and both are said.
#[test]
fn before_is_what_the_base_asks_for() {
    let repository = Repository::new(&[("specs/web.yaml", &fleet("web", 4))]);
    repository.0.expect(0, &["apply", "--yes", "specs"]);
    repository.0.expect(0, &["sim", "advance", "10m"]);
    repository.git(&["checkout", "-q", "main"]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 9))]);
    repository.git(&["commit", "-q", "-a", "-m", "nine, and nobody applied it"]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 10))]);
    let document = repository.plan(0, &[]);
    let one = edit(&document, "web");
    assert_eq!(one["before"]["machines"], 9, "{one}");
    assert_eq!(one["after"]["machines"], 10, "{one}");
    assert_eq!(one["now"]["machines"], 4, "{one}");
    assert_eq!(one["drift"], true, "{one}");
    assert_eq!(document["summary"]["create"], 6, "an apply launches what is missing");
    let comment = repository.comment(0, &[]);
    assert!(comment.contains("it has 4 machines, $575 per month"), "{comment}");
    // A frozen fleet does nothing; what its spec asks for is the same.
    repository.0.expect(0, &["freeze", "web", "--reason", "a holiday"]);
    assert_eq!(edit(&repository.plan(0, &[]), "web")["after"]["machines"], 10);
}

#[test]
fn policies_defaults_and_files_are_those_of_the_base() {
    let defaults = |types: &str| {
        format!(
            "apiVersion: fleet/v1\nkind: Defaults\nmetadata: {{ name: all }}\nspec:\n  instances: \
             {{ types: [{types}] }}\n"
        )
    };
    let policy = |usd: u32| {
        format!(
            "apiVersion: fleet/v1\nkind: Policy\nmetadata: {{ name: all }}\nspec: {{ budget: \
             {{ perFleetHourlyUsd: {usd} }} }}\n"
        )
    };
    let spec = fleet("web", 2).replace("  instances: { types: [m6i.xlarge] }\n", "")
        + "  template: { userDataFile: boot.sh }\n";
    let repository = Repository::new(&[
        ("defaults.yaml", &defaults("m6i.xlarge")),
        ("policy.yaml", &policy(5)),
        ("specs/web.yaml", &spec),
        ("specs/boot.sh", "#!/bin/sh\necho one\n"),
    ]);
    assert_eq!(edit(&repository.plan(0, &[]), "web")["is"], "same");
    repository.edit(&[("defaults.yaml", &defaults("m6i.2xlarge"))]);
    let document = repository.plan(0, &[]);
    let one = edit(&document, "web");
    assert_eq!(one["is"], "changed");
    assert_eq!(one["fields"][0]["field"], "spec.instances.types");
    let double = document["comparison"]["increase"]["percent"].as_f64();
    // The machine costs twice as much, its address the same.
    assert_eq!(double, Some(97.5), "{document}");
    repository.edit(&[("defaults.yaml", &defaults("m6i.xlarge")), ("policy.yaml", &policy(6))]);
    let document = repository.plan(0, &[]);
    assert_eq!(
        (&edit(&document, "web")["is"], &edit(&document, "web")["fields"]),
        (&"changed".into(), &Value::Array(Vec::new()))
    );
    repository
        .edit(&[("policy.yaml", &policy(5)), ("specs/boot.sh", "#!/bin/sh\necho two-secret\n")]);
    let comment = repository.comment(0, &[]);
    assert!(comment.contains("a policy, user data, or a variable changed"), "{comment}");
    assert!(!comment.contains("secret"), "{comment}");
}

#[test]
fn a_base_that_is_invalid_is_not_known() {
    let repository = Repository::new(&[
        ("specs/web.yaml", &fleet("web", 4).replace("target", "targt")),
        ("specs/fine.yaml", &fleet("fine", 1)),
    ]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 4))]);
    let document = repository.plan(7, &["--fail-if", "monthly-increase>1000000usd"]);
    let one = edit(&document, "web");
    assert_eq!((&one["is"], &one["before"]), (&"unknown".into(), &Value::Null));
    assert_eq!(document["comparison"]["before"], Value::Null);
    let problem = document["comparison"]["problems"][0].as_str().expect("a sentence");
    assert!(problem.contains("main:specs/web.yaml:5"), "{problem}");
    assert_eq!(document["rules"][0]["is"], "unknown");
    // Absolute rules do not need the base.
    repository.plan(0, &["--fail-if", "monthly>1000000usd"]);
}

#[test]
fn what_is_not_in_the_base_is_new() {
    let repository = Repository::new(&[("readme.md", "nothing\n")]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 4))]);
    let document = repository.plan(7, &["--fail-if", "new-family", "--fail-if", "destroys>0"]);
    assert_eq!(edit(&document, "web")["is"], "added");
    assert_eq!(document["comparison"]["newFamilies"], serde_json::json!(["aws m6i"]));
    assert_eq!(
        (&document["rules"][0]["is"], &document["rules"][1]["is"]),
        (&"broken".into(), &"kept".into())
    );
    // From a folder below, by one file, and with a fleet that is new by name.
    let inside = repository
        .0
        .command(&["plan", "web.yaml", "--compare", "main", "--fleet", "web"])
        .current_dir(repository.0.path("specs"))
        .output()
        .expect("fleet runs");
    let said = text(&inside.stdout);
    assert!(inside.status.success() && said.contains("Compared with the specs at main"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_said_with_a_hint() {
    let repository = Repository::new(&[("specs/web.yaml", &fleet("web", 4))]);
    let check = |reference: &str, words: &str| {
        let compare = format!("--compare={reference}");
        let output = repository.0.run(&["plan", "specs", &compare]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(words) && said.contains("hint:"), "{said}");
    };
    check("no-such-branch", "fetch-depth: 0");
    check("--upload-pack=evil", "is not the name of a commit");
    check("", "is not the name of a commit");
    let alone = Place::new(1, Preset::Calm, Duration::ZERO);
    alone.write("web.yaml", &fleet("web", 4));
    let output = alone.run(&["plan", "web.yaml", "--compare", "main"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("not in a git repository"), "{said}");
}

#[test]
fn a_base_with_more_commits_is_said() {
    let repository = Repository::new(&[("specs/web.yaml", &fleet("web", 4))]);
    repository.edit(&[("specs/web.yaml", &fleet("web", 5))]);
    repository.git(&["commit", "-q", "-a", "-m", "five"]);
    assert_eq!(repository.plan(0, &[])["comparison"]["baseIsAhead"], false);
    repository.git(&["checkout", "-q", "main"]);
    repository.edit(&[("specs/more.yaml", &fleet("more", 4))]);
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "-m", "more"]);
    repository.git(&["checkout", "-q", "change"]);
    let document = repository.plan(0, &[]);
    assert_eq!(document["comparison"]["baseIsAhead"], true);
    assert_eq!(edit(&document, "more")["is"], "removed");
}

#[test]
fn rules_hold_without_a_base_against_what_stands() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("web.yaml", &fleet("web", 4));
    let rule = |rule: &'static str| ["plan", "web.yaml", "--fail-if", rule];
    place.expect(7, &rule("monthly-increase>500usd"));
    place.expect(0, &rule("monthly-increase>600usd"));
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place.expect(0, &["sim", "advance", "10m"]);
    place.expect(0, &rule("monthly-increase>0usd"));
    place.expect(0, &rule("new-family"));
    // A limit on destroys puts them off; they are counted all the same.
    place.write("web.yaml", &fleet("web", 1));
    let said = place.expect(7, &rule("destroys>2"));
    assert!(said.contains("destroys>2: 3 machines to destroy"), "{said}");
    place.expect(0, &rule("destroys>3"));
    let output = place.run(&rule("monthly-increse>5usd"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(
        said.contains("did you mean `monthly-increase`?\n    monthly-increse>5usd\n    ^^^^^"),
        "{said}"
    );
}

/// A spec that is gone saves nothing while its machines run; with `--prune` they go.
#[test]
fn removed_fleets_are_paid_for_until_they_are_gone() {
    let repository = Repository::new(&[
        ("specs/old.yaml", &fleet("old", 4)),
        ("specs/web.yaml", &fleet("web", 1)),
    ]);
    repository.0.expect(0, &["apply", "--yes", "specs"]);
    repository.0.expect(0, &["sim", "advance", "10m"]);
    std::fs::remove_file(repository.0.path("specs/old.yaml")).expect("removed");
    repository.edit(&[("specs/new.yaml", &fleet("new", 4))]);
    let rule = ["--fail-if", "monthly-increase>500usd"];
    let document = repository.plan(7, &rule);
    assert_eq!(document["comparison"]["increase"]["machines"], 0);
    assert_eq!(edit(&document, "old")["pruned"], false);
    let why = document["rules"][0]["why"].as_str().expect("a sentence");
    assert!(why.contains("$575 per month of removed fleets that still run"), "{why}");
    let document = repository.plan(0, &["--prune", rule[0], rule[1]]);
    assert_eq!(edit(&document, "old")["pruned"], true);
}

/// A forge refuses a comment of more than 65,536 characters.
#[test]
fn a_comment_has_an_end() {
    let many = |target: u32| -> String {
        let one =
            |at: u32| fleet_of(&format!("fleet-{at}"), target, "m6i.xlarge", ", labels: { a: b }");
        (0..400).map(one).collect::<Vec<_>>().join("---\n")
    };
    let repository = Repository::new(&[("specs/all.yaml", &many(2))]);
    repository.edit(&[("specs/all.yaml", &many(3))]);
    let comment = repository.comment(7, &["--fail-if", "monthly>1usd", "--fail-if", "unplaced"]);
    assert!(comment.len() < 62_000, "{}", comment.len());
    let first = comment.lines().nth(1).expect("a heading");
    assert!(first.contains("400 fleets change, +400 machines"), "{first}");
    assert!(comment.contains("more fleets_ |") && comment.contains("more fleets like these"));
    assert!(comment.contains("<sub>Both sides"), "the end is there");
}

const P5: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: train, labels: { team: a } }
spec:
  capacity: { unit: gpus, target: 16, base: { onDemand: 100% } }
  instances: { families: [p5] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1] }] }
";

const POLICY: &str = "
apiVersion: fleet/v1
kind: Policy
metadata: { name: org }
spec:
  approvals:
    - { families: [p5], needs: { label: approved-by }, message: ask Ada }
";

/// What needs an approval is not launched, and what stands is cared for without it.
#[test]
fn an_approval_is_for_launches() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("policy.yaml", POLICY);
    place.write("train.yaml", P5);
    let refused = place.run(&["validate", "train.yaml"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("train.yaml:4:26") && said.contains("ask Ada"), "{said}");
    let said = place.expect(3, &["plan", "train.yaml", "--detailed-exitcode"]);
    assert!(said.contains("policy org wants an approval first"), "{said}");
    assert!(said.contains("give the fleet the label approved-by: ask Ada"), "{said}");
    let said =
        place.expect(0, &["explain", "train.yaml", "--pool", "aws/*/*/p5.48xlarge/on-demand"]);
    assert!(said.contains("policy org wants an approval first"), "{said}");
    place.expect(3, &["apply", "--yes", "train.yaml"]);
    assert!(place.live().is_empty());
    place.write("train.yaml", &P5.replace("team: a", "team: a, approved-by: ada"));
    place.expect(0, &["apply", "--yes", "train.yaml"]);
    assert_eq!(place.live().len(), 2);
    place.expect(0, &["sim", "advance", "10m"]);
    // The approval is taken back: the machines stay, and a lower target still holds.
    place.write("train.yaml", P5);
    place.expect(0, &["apply", "--yes", "train.yaml"]);
    assert_eq!(place.live().len(), 2);
    place.write("train.yaml", &P5.replace("target: 16", "target: 8"));
    place.expect(0, &["apply", "--yes", "train.yaml"]);
    assert_eq!(place.live().len(), 1);
}

/// Specs come from whoever opens a pull request.
#[test]
fn nothing_in_a_spec_is_markup_in_a_comment() {
    let hostile =
        "</code><img src=x onerror=alert(1)> @team #12 | `x` [a](http://b) <!-- -->\\u202e";
    let spec =
        |text: &str| fleet_of("web", 4, "m6i.xlarge", &format!(", labels: {{ note: \"{text}\" }}"));
    let repository = Repository::new(&[("specs/web.yaml", &spec("plain"))]);
    repository.edit(&[("specs/web.yaml", &spec(hostile))]);
    let comment = repository.comment(0, &[]);
    let line =
        comment.lines().find(|line| line.contains("metadata.labels.note")).expect("the edit");
    for bad in ["<img", "@team", "#12", "<!--", "`x`", "[a](", "\u{202e}", " | "] {
        assert!(!line.contains(bad), "{bad}: {line}");
    }
    assert_eq!(line.matches("</code>").count(), 3, "{line}");
}

/// A value that CI gives is CI's secret, even where the spec shows it.
#[test]
fn values_from_outside_are_not_shown() {
    let spec = |name: &str| {
        fleet_of("web", 4, "m6i.xlarge", ", labels: { owner: \"${OWNER}\" }")
            .replace("kind: Fleet\n", "kind: Fleet\nvariables: { OWNER: nobody }\n")
            .replace("owner:", name)
    };
    let repository = Repository::new(&[("specs/web.yaml", &spec("owner:"))]);
    repository.edit(&[("specs/web.yaml", &spec("team:"))]);
    let shown = repository.comment(0, &[]);
    assert!(shown.contains("nobody"), "{shown}");
    let hidden = repository.comment(0, &["--var", "OWNER=hush-hush"]);
    assert!(!hidden.contains("hush-hush") && hidden.contains("${OWNER}"), "{hidden}");
}

/// What no amount counts is no reason to pass: nobody knows what it costs.
#[test]
fn traffic_without_a_price_breaks_rules_about_money() {
    let mumbai = |budget: &str| {
        format!(
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: mumbai }}\nspec:\n  \
             capacity: {{ target: 1, base: {{ onDemand: 100% }} }}\n  \
             instances: {{ types: [m6i.large] }}\n  template: {{ disk: {{ sizeGiB: 100 }} }}\n  \
             placement: {{ clouds: [{{ provider: aws, regions: [ap-south-1] }}], egressGiBPerDay: 500000 }}\n\
             {budget}"
        )
    };
    let repository = Repository::new(&[("specs/mumbai.yaml", &mumbai(""))]);
    let plan = |code: i32, rules: &[&str]| {
        let args = [&["plan", "specs"], rules].concat();
        repository.0.expect(code, &args)
    };
    let unpriced = plan(7, &["--fail-if", "unpriced"]);
    assert!(unpriced.contains("no price is known from there to the internet"), "{unpriced}");
    let monthly = plan(7, &["--fail-if", "monthly>1000usd"]);
    assert!(monthly.contains("traffic of 1 more machine without a known price"), "{monthly}");
    assert!(monthly.contains("at least $0.1"), "{monthly}");
    plan(7, &["--fail-if", ">10%"]);
    repository.edit(&[("specs/mumbai.yaml", &mumbai("  budget: { hourlyUsd: 5 }\n"))]);
    let output = repository.0.run(&["plan", "specs"]);
    let refused = text(&output.stdout) + &text(&output.stderr);
    let reason = "what its traffic costs is not known";
    assert!(refused.contains(reason) && !refused.contains("import a catalog"), "{refused}");
}

/// A change of type is a machine at a time; a rule is about all of them.
#[test]
fn machines_that_wait_for_successors_count_as_destroyed() {
    let repository = Repository::new(&[("specs/web.yaml", &fleet("web", 8))]);
    repository.0.expect(0, &["apply", "--yes", "specs"]);
    repository.0.expect(0, &["sim", "advance", "5m"]);
    repository.edit(&[("specs/web.yaml", &fleet_of("web", 8, "c7i.xlarge", ""))]);
    let text = repository.0.expect(7, &["plan", "specs", "--fail-if", "destroys>7"]);
    assert!(text.contains("8 machines to destroy"), "{text}");
    repository.0.expect(0, &["plan", "specs", "--fail-if", "destroys>8"]);
}
