//! Defaults and variables: what a fleet means with them, and what is said when it cannot mean it.

use crate::files::Tree;
use fleet_spec::{Diagnostics, GivenBy, LoadOptions, Loaded, LoadedFleet, Values};

const DEFAULTS: &str = "\
apiVersion: fleet/v1
kind: Defaults
metadata: { name: organisation, labels: { owner: platform, tier: low } }
variables: { REGION: us-east-1, IMAGE: null }
spec:
  capacity: { unit: vcpus, base: { onDemand: 25% }, penalty: 10 }
  instances: { families: [m6i, m7i], vcpus: { min: 4, max: 8 } }
  placement:
    clouds:
      - provider: aws
        regions: [\"${REGION}\"]
  budget: { hourlyUsd: 3 }
  template:
    image: { aws: \"${IMAGE}\" }
    disk: { sizeGiB: 50 }
    userDataFile: boot.sh
";

const WEB: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: \"web-${STAGE}\", labels: { tier: high } }
variables: { STAGE: test, SIZE: 16 }
spec:
  capacity:
    target: ${SIZE}
    availability: 99%
  instances: { families: [m5], vcpus: { max: 16 } }
  budget: { monthlyUsd: 900 }
";

/// The same, written out.
const WRITTEN: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web-test, labels: { owner: platform, tier: high } }
spec:
  capacity: { unit: vcpus, base: { onDemand: 25% }, target: 16, availability: 99% }
  instances: { families: [m5], vcpus: { min: 4, max: 16 } }
  placement: { clouds: [{ provider: aws, regions: [us-east-1] }] }
  budget: { monthlyUsd: 900 }
  template:
    image: { aws: ami-1 }
    disk: { sizeGiB: 50 }
    userDataFile: boot.sh
";

fn given(flags: &[(&str, &str)], environment: &[(&str, &str)]) -> LoadOptions {
    let flags = flags.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let values = Values { flags: flags.collect(), environment: environment.collect() };
    LoadOptions { values, ..LoadOptions::default() }
}

fn only(loaded: Result<Loaded, Diagnostics>) -> LoadedFleet {
    loaded.unwrap_or_else(|errors| panic!("{errors}")).fleets.remove(0)
}

fn tree() -> Tree {
    Tree::new(&[
        ("defaults.yaml", DEFAULTS),
        ("boot.sh", "#!/bin/sh\necho ${REGION}\n"),
        ("team/web.yaml", WEB),
    ])
}

fn says(tree: &Tree, name: &str, options: &LoadOptions) -> String {
    let errors = tree.load_with(&[name], options).expect_err("errors").render(false);
    errors.replace(&format!("{}/", tree.path("").display().to_string().trim_end_matches('/')), "")
}

#[test]
fn a_fleet_over_defaults_is_the_same_as_written_out() {
    let options = given(&[("IMAGE", "ami-1")], &[]);
    let tree = tree();
    let by_file = only(tree.load_with(&["team/web.yaml"], &options));
    let by_folder = only(tree.load_with(&[""], &options));
    let written = Tree::new(&[("w.yaml", WRITTEN), ("boot.sh", "#!/bin/sh\necho ${REGION}\n")]);
    let written = only(written.load(&["w.yaml"]));
    assert_eq!(by_file.desired, written.desired);
    assert_eq!(by_folder.desired.digest, written.desired.digest);
    assert_eq!(by_file.defaults, ["organisation"]);
    assert!(written.defaults.is_empty());
}

#[test]
fn the_nearest_folder_wins_key_by_key() {
    let near = DEFAULTS.replace("organisation", "team").replace("min: 4, max: 8", "max: 2");
    let near = near.split("variables").next().expect("a head").to_owned()
        + "spec: { instances: { vcpus: { min: 2, max: 2 } }, budget: { hourlyUsd: 1 } }\n";
    let tree = Tree::new(&[
        ("defaults.yaml", DEFAULTS),
        ("boot.sh", "x"),
        ("team/defaults.yml", &near),
        (
            "team/a.yaml",
            "{apiVersion: fleet/v1, kind: Fleet, metadata: {name: a}, spec: {capacity: {target: 4}}}",
        ),
        (
            "b.yaml",
            "{apiVersion: fleet/v1, kind: Fleet, metadata: {name: b}, spec: {capacity: {target: 4}}}",
        ),
    ]);
    let loaded = tree.load_with(&[""], &given(&[("IMAGE", "ami-1")], &[])).expect("valid");
    let of = |name: &str| {
        let fleet = loaded.fleets.iter().find(|fleet| fleet.desired.fleet.as_str() == name);
        fleet.unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(of("a").defaults, ["team", "organisation"]);
    assert_eq!(of("a").desired.instances.vcpus.max, Some(2));
    assert_eq!(of("a").desired.instances.families.len(), 2);
    assert_eq!(of("b").defaults, ["organisation"]);
    assert_eq!(of("b").desired.instances.vcpus.max, Some(8));
    assert_ne!(of("a").desired.budget, of("b").desired.budget);
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_default() {
    let tree = tree();
    let region = |options: &LoadOptions| {
        let fleet = only(tree.load_with(&["team/web.yaml"], options));
        let line = fleet
            .effective()
            .into_iter()
            .find(|line| line.value.as_ref().is_some_and(|(path, _)| path.ends_with("regions[0]")));
        let line = line.expect("a region");
        (line.value.and_then(|(_, value)| value).expect("a value"), line.variables[0].given_by)
    };
    let image = ("IMAGE", "ami-1");
    let eu = ("REGION", "eu-west-1");
    let west = ("REGION", "us-west-2");
    assert_eq!(region(&given(&[], &[image])), ("us-east-1".into(), GivenBy::Default));
    assert_eq!(region(&given(&[], &[image, eu])), ("eu-west-1".into(), GivenBy::Environment));
    assert_eq!(region(&given(&[west], &[image, eu])), ("us-west-2".into(), GivenBy::Flag));
}

#[test]
fn the_effective_spec_means_the_same() {
    let tree = tree();
    let fleet = only(tree.load_with(&["team/web.yaml"], &given(&[("IMAGE", "ami-1")], &[])));
    let lines: Vec<String> = fleet.effective().into_iter().map(|line| line.text).collect();
    let again =
        Tree::new(&[("x.yaml", &lines.join("\n")), ("boot.sh", "#!/bin/sh\necho ${REGION}\n")]);
    assert_eq!(only(again.load(&["x.yaml"])).desired, fleet.desired);
}

/// Every value of a spec as a variable, and every section in Defaults: the fleet is the same.
#[test]
fn a_spec_of_variables_and_defaults_alone_means_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet-specs/llm-training.yaml");
    let other = std::fs::read_to_string(path).expect("a spec");
    for text in [crate::TRAIN, &other] {
        let fleet = crate::only(crate::accept(text));
        let mut variables = String::from("variables:\n");
        let mut lines: Vec<String> = Vec::new();
        for (at, line) in fleet.effective().into_iter().enumerate() {
            let Some((path, Some(value))) = line.value else {
                lines.push(line.text);
                continue;
            };
            if !path.starts_with("spec.") {
                lines.push(line.text);
                continue;
            }
            let end = line.text.find(": ").or(line.text.find("- ")).expect("a value") + 2;
            lines.push(format!("{}\"${{V{at}}}\"", &line.text[..end]));
            variables += &format!("  V{at}: {}\n", serde_json::Value::from(value));
        }
        let text = lines.join("\n");
        let spec = text.find("\nspec:\n").expect("a spec") + 1;
        let fleet_only = format!("{}{variables}{}", &text[..spec], &text[spec..]);
        assert_eq!(crate::only(crate::accept(&fleet_only)).desired, fleet.desired);

        let head = "apiVersion: fleet/v1\nkind: Defaults\nmetadata: { name: d }\n";
        let defaults = format!("{head}{variables}{}\n", &text[spec..]);
        let tree = Tree::new(&[("defaults.yaml", &defaults), ("fleet.yaml", &text[..spec])]);
        assert_eq!(only(tree.load(&["fleet.yaml"])).desired, fleet.desired);
    }
}

#[test]
fn scripts_keep_what_is_theirs_and_are_never_shown() {
    let text = "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: a }\nvariables: { KEY: hush }\n\
                spec:\n  capacity: { target: 1 }\n  template:\n    userData: echo ${KEY} ${HOME} $KEY ${KEY:-x}\n";
    let fleet = crate::only(crate::accept(text));
    let template = fleet.desired.templates.values().next().expect("a template");
    let script = template.user_data.as_ref().expect("a script");
    assert_eq!(script.expose(), "echo hush ${HOME} $KEY ${KEY:-x}");
    let shown = format!("{:?}", fleet.effective());
    assert!(!shown.contains("hush") && !shown.contains("echo"), "{shown}");
}

#[test]
fn a_value_is_one_scalar_whatever_it_looks_like() {
    let tree = tree();
    for evil in ["[a, b]", "{ a: b }", "x\ny: z", "us-east-1 # no", "~", "", "- a"] {
        let said =
            says(&tree, "team/web.yaml", &given(&[("IMAGE", "ami-1"), ("REGION", evil)], &[]));
        assert!(said.contains("defaults.yaml:11:19"), "{evil}: {said}");
        assert!(said.contains("REGION from --var"), "{evil}: {said}");
    }
    // The same text as a label is fine, and is text.
    let fleet = "apiVersion: fleet/v1\nkind: Fleet\nvariables: { A: null }\n\
                 metadata: { name: a, labels: { a: \"${A}\" } }\nspec: { capacity: { target: 1 } }\n";
    let tree = Tree::new(&[("a.yaml", fleet)]);
    for text in ["{ a: b }", "null", "x: y", "8"] {
        let fleet = only(tree.load_with(&["a.yaml"], &given(&[("A", text)], &[])));
        assert_eq!(fleet.desired.labels["a"], text);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let image = ("IMAGE", "ami-1");
    let tree = tree();
    insta::assert_snapshot!("missing", says(&tree, "team/web.yaml", &given(&[], &[])));
    let wrong = given(&[image, ("SIZE", "eight")], &[("REGION", "us east")]);
    insta::assert_snapshot!("wrong_values", says(&tree, "team/web.yaml", &wrong));
    let unknown = given(&[image, ("REGOIN", "x"), ("QUITE_ELSE", "x")], &[]);
    insta::assert_snapshot!("unknown_flags", says(&tree, "team/web.yaml", &unknown));

    let web = WEB
        .replace("${SIZE}", "${SIZ}")
        .replace("STAGE: test", "STAGE: \"${SIZE}\", 1X: [a], UNUSED: 1");
    let tree = Tree::new(&[("defaults.yaml", DEFAULTS), ("boot.sh", "x"), ("team/web.yaml", &web)]);
    insta::assert_snapshot!("declarations", says(&tree, "team/web.yaml", &given(&[image], &[])));
}

#[test]
fn what_is_wrong_with_defaults_is_told_once() {
    let bad = DEFAULTS.replace("families", "familes").replace("hourlyUsd: 3", "hourlyUsd: -3");
    let two = WEB.replace("web-${STAGE}", "two-${STAGE}");
    let tree = Tree::new(&[
        ("defaults.yaml", &bad),
        ("boot.sh", "x"),
        ("a.yaml", WEB),
        ("b.yaml", &two),
        ("other.yaml", &DEFAULTS.replace("organisation", "other")),
    ]);
    insta::assert_snapshot!("defaults", says(&tree, "", &given(&[("IMAGE", "ami-1")], &[])));
    // A fleet that lacks what only a fleet can say is told so itself.
    let tree = Tree::new(&[
        ("defaults.yaml", DEFAULTS),
        ("boot.sh", "x"),
        ("a.yaml", "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: a }\n"),
        (
            "b.yaml",
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: b }\nspec: { capacity: { target: 4, base: { onDemand: 8 } } }\n",
        ),
    ]);
    insta::assert_snapshot!("lacking", says(&tree, "", &given(&[("IMAGE", "ami-1")], &[])));
}

#[test]
fn a_total_counts_budgets_from_defaults() {
    let policy = "{apiVersion: fleet/v1, kind: Policy, metadata: {name: p}, spec: {budget: {totalHourlyUsd: 5}}}";
    let fleet = |name: &str| {
        format!(
            "{{apiVersion: fleet/v1, kind: Fleet, metadata: {{name: {name}}}, spec: {{capacity: {{target: 4}}}}}}"
        )
    };
    let tree = Tree::new(&[
        ("defaults.yaml", DEFAULTS),
        ("policy.yaml", policy),
        ("boot.sh", "x"),
        ("a.yaml", &fleet("a")),
        ("b.yaml", &fleet("b")),
    ]);
    let said = says(&tree, "a.yaml", &given(&[("IMAGE", "ami-1")], &[]));
    assert!(said.contains("fleets may cost $6.00"), "{said}");
}

/// A spec from a pull request must not put a runner's secrets where they can be read.
#[test]
fn credentials_of_the_environment_are_out_of_reach() {
    let fleet = "apiVersion: fleet/v1\nkind: Fleet\nvariables: { AWS_SECRET_ACCESS_KEY: null }\n\
                 metadata: { name: a, labels: { a: \"${AWS_SECRET_ACCESS_KEY}\" } }\n\
                 spec: { capacity: { target: 1 } }\n";
    let tree = Tree::new(&[("a.yaml", fleet)]);
    let name = "AWS_SECRET_ACCESS_KEY";
    let said = says(&tree, "a.yaml", &given(&[], &[(name, "hush")]));
    assert!(!said.contains("hush"), "{said}");
    assert!(said.contains("is not read from the environment"), "{said}");
    // With a default the environment is passed over as well.
    let tree = Tree::new(&[("a.yaml", &fleet.replace("null", "none"))]);
    let fleet = only(tree.load_with(&["a.yaml"], &given(&[], &[(name, "hush")])));
    assert_eq!(fleet.desired.labels["a"], "none");
    let fleet = only(tree.load_with(&["a.yaml"], &given(&[(name, "mine")], &[(name, "hush")])));
    assert_eq!(fleet.desired.labels["a"], "mine");
}

#[test]
fn values_do_not_grow_without_end() {
    let labels: String = (0..100).map(|at| format!("l{at}: \"${{A}}\", ")).collect();
    let fleet = format!(
        "{{apiVersion: fleet/v1, kind: Fleet, variables: {{ A: null }}, metadata: {{ name: a, labels: {{ {labels} }} }}, spec: {{ capacity: {{ target: 1 }} }} }}"
    );
    let tree = Tree::new(&[("a.yaml", &fleet)]);
    let said = says(&tree, "a.yaml", &given(&[("A", &"x".repeat(16 * 1024))], &[]));
    assert!(said.contains("variables add more than 1048576 bytes"), "{said}");
    let said = says(&tree, "a.yaml", &given(&[("A", &"x".repeat(16 * 1024 + 1))], &[]));
    assert!(said.contains("the value of `A` has 16385 bytes"), "{said}");
    assert!(!said.contains("xxxxxxxx"), "{said}");
}

#[test]
fn values_are_not_printed_by_accident() {
    let options = given(&[("A", "hush")], &[("B", "hush")]);
    assert!(!format!("{options:?}").contains("hush"));
}
