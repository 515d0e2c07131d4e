//! Defaults and variables as people and programs meet them.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

const DEFAULTS: &str = "\
apiVersion: fleet/v1
kind: Defaults
metadata: { name: house }
variables: { REGION: us-east-1, BOOT_ARG: null }
spec:
  instances: { types: [m6i.xlarge] }
  placement:
    clouds:
      - provider: aws
        regions: [\"${REGION}\"]
  template:
    userData: echo ${BOOT_ARG}
";

const FLEET: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web }
variables: { SIZE: 2 }
spec:
  capacity:
    target: ${SIZE}
    base: { onDemand: 100% }
";

fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write("defaults.yaml", DEFAULTS);
    place.write("fleet.yaml", FLEET);
    place
}

#[test]
fn variables_change_the_fleet_and_defaults_hold() {
    let place = place();
    let hush = ["--var", "BOOT_ARG=hush"];
    place.expect(0, &["apply", "--yes", "--var", "BOOT_ARG=hush"]);
    assert_eq!(place.live().len(), 2);
    // The same values are the same fleet, from wherever they come.
    let output = place
        .command(&["plan", "--detailed-exitcode"])
        .env("BOOT_ARG", "hush")
        .env("SIZE", "2")
        .output()
        .expect("fleet runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let said =
        place.expect(2, &["plan", "--detailed-exitcode", hush[0], hush[1], "--var", "SIZE=3"]);
    assert!(said.contains("1 to launch"), "{said}");
    // A value of the template counts, as if it were written there.
    let said = place.expect(2, &["plan", "--detailed-exitcode", "--var", "BOOT_ARG=other"]);
    assert!(said.contains("older template"), "{said}");
}

#[test]
fn a_value_that_is_missing_or_unknown_changes_nothing() {
    let place = place();
    for args in
        [&["apply", "--yes"][..], &["apply", "--yes", "--var", "BOOT_ARG=x", "--var", "SIZ=3"]]
    {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(4), "{args:?}");
        assert!(place.live().is_empty());
    }
    let output = place.run(&["plan", "--var", "BOOT_ARG"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).contains("NAME=VALUE"), "{}", text(&output.stderr));
}

#[test]
fn a_saved_plan_asks_for_the_values_again_and_holds_none() {
    let place = place();
    let flags = ["--var", "BOOT_ARG=hush", "--var", "SIZE=3"];
    let plan = [&["plan", "--out", "it.plan"][..], &flags].concat();
    let output = place.run(&plan);
    assert!(text(&output.stderr).contains("--var BOOT_ARG=… --var SIZE=…"), "{output:?}");
    let saved = std::fs::read_to_string(place.path("it.plan")).expect("a plan");
    assert!(!saved.contains("hush"));
    let output = place.run(&["apply", "--yes", "it.plan", "--var", "BOOT_ARG=hush"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("--var and the environment"), "{output:?}");
    place.expect(0, &[&["apply", "--yes", "it.plan"][..], &flags].concat());
    assert_eq!(place.live().len(), 3);
}

#[test]
fn the_effective_spec_says_where_values_come_from_and_hides_scripts() {
    let place = place();
    let shown = place.expect(0, &["validate", "--show", "--var", "BOOT_ARG=hush"]);
    for part in [
        "target: 2 ",
        "# fleet.yaml:7, SIZE from its default at fleet.yaml:4:20",
        "- us-east-1 ",
        "# defaults.yaml:10 (defaults), REGION from its default at defaults.yaml:4:22",
        "# userData: 9 bytes, never shown",
        "BOOT_ARG from --var",
    ] {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
    assert!(!shown.contains("hush"));
    // What is shown is a spec; only the script is missing from it.
    let written = shown.replace("# userData: 9 bytes, never shown", "userData: echo hush");
    let other = Place::new(1, Preset::Calm, Duration::ZERO);
    other.write("fleet.yaml", &written);
    other.expect(0, &["apply", "--yes"]);

    let json = place.expect(0, &["validate", "--show", "-o", "json", "--var", "BOOT_ARG=hush"]);
    assert!(!json.contains("hush"));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let fleet = &json["fleets"][0];
    assert_eq!(fleet["defaults"][0], "house");
    let of = |path: &str| {
        let all = fleet["effective"].as_array().expect("values");
        all.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("{path}")).clone()
    };
    assert_eq!(of("spec.capacity.target")["value"], "2");
    assert_eq!(of("spec.capacity.target")["variables"][0]["givenBy"], "default");
    assert_eq!(of("spec.template.userData")["value"], Value::Null);
    assert_eq!(of("spec.template.userData")["variables"][0]["givenBy"], "flag");
    assert_eq!(of("spec.instances.types[0]")["isDefault"], true);
}
