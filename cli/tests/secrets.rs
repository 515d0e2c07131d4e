//! Secrets in every input, and a look for them in every output.

mod support;

use fleet_sim::Preset;
use std::path::Path;
use std::process::Output;
use std::time::Duration;
use support::{Place, text};

/// What no output may hold. What follows says where it was put.
const CANARY: &str = "canary-5up3r";

/// Variables with credentials, of clouds and of stores.
const VARIABLES: [&str; 12] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SSE_CUSTOMER_KEY_BASE64",
    "AZURE_CLIENT_SECRET",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_TOKEN",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN",
    "LAMBDA_API_KEY",
    "FLEET_SOMETHING",
];

fn spec() -> String {
    format!(
        "\
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: discreet }}
spec:
  capacity: {{ unit: instances, target: 8, base: {{ onDemand: 50% }} }}
  instances: {{ vcpus: {{ min: 2, max: 8 }} }}
  placement:
    clouds:
      - {{ provider: aws, regions: [us-east-1] }}
      - {{ provider: gcp, regions: [us-central1] }}
      - {{ provider: azure, regions: [eastus] }}
      - {{ provider: lambda, regions: [us-*] }}
  template:
    userData: {{ aws: \"#!/bin/sh\\nexport P={CANARY}-inline\", azure: {CANARY}-azure }}
    userDataFile: {{ gcp: boot.sh }}
"
    )
}

/// A world whose every input holds a canary.
fn place() -> Place {
    let place = Place::new(7, Preset::Calm, Duration::ZERO);
    let state = place.path("state").to_str().expect("a path").to_owned();
    let env = VARIABLES.map(|name| (name.to_owned(), format!("{CANARY}-{name}")));
    let place = place.with_state(state, env.to_vec());
    place.write("fleet.yaml", &spec());
    place.write("boot.sh", &format!("#!/bin/sh\necho {CANARY}-file\n"));
    place
}

fn all(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn assert_silent(what: &str, text: &str) {
    let found = text.find(CANARY).map(|at| text[at..].chars().take(60).collect::<String>());
    assert_eq!(found, None, "{what} holds a secret");
}

/// Every file below a folder but those that the test wrote itself.
fn assert_files_silent(folder: &Path) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files += assert_files_silent(&path);
        } else if !path.ends_with("fleet.yaml") && !path.ends_with("boot.sh") {
            files += 1;
            assert_silent(&path.display().to_string(), &text(&std::fs::read(&path).expect("read")));
        }
    }
    files
}

#[test]
fn no_output_holds_a_secret() {
    let place = place();
    let runs: &[(i32, &[&str])] = &[
        (0, &["validate"]),
        (0, &["plan", "--save-inputs", "inputs.json", "--out", "plan.json"]),
        (0, &["plan", "-o", "json"]),
        (0, &["plan", "-o", "markdown"]),
        (0, &["plan", "--inputs", "inputs.json"]),
        (0, &["apply", "--yes", "plan.json"]),
        (0, &["reconcile"]),
        (0, &["status", "--machines", "-o", "json"]),
        (0, &["explain"]),
        (0, &["explain", "-o", "json"]),
        (0, &["history", "-o", "json"]),
        (0, &["sweep"]),
        (0, &["unlock", "discreet"]),
        (0, &["destroy", "--yes"]),
    ];
    for (code, args) in runs {
        for format in ["text", "json"] {
            let log = ["--log", "trace", "--log-format", format];
            let output = place.run(&[*args, &log].concat());
            let said = all(&output);
            assert_silent(&format!("{args:?}"), &said);
            let again = format == "json" && args.contains(&"apply");
            assert_eq!(
                output.status.code(),
                Some(if again { 5 } else { *code }),
                "{args:?} {said}"
            );
        }
    }
    assert!(assert_files_silent(&place.path("")) > 10, "journal, plan, inputs, world");
}

#[test]
fn no_complaint_about_a_spec_quotes_user_data() {
    let place = place();
    let broken = [
        spec().replace("capacity:", "capactiy:"),
        spec().replace("userData: {", "userData: { lambda: [1, 2], "),
        spec().replace("    userDataFile", "   userDataFile"),
        spec().replace("azure: canary", "azrue: canary"),
        spec().replace("\", azure", "\", aws: again, azure"),
    ];
    for text in broken {
        place.write("fleet.yaml", &text);
        let output = place.run(&["validate", "--log", "trace"]);
        assert_eq!(output.status.code(), Some(4), "{}", all(&output));
        assert_silent("a complaint", &all(&output));
    }
}

#[test]
fn addresses_are_shown_without_passwords() {
    // Nobody listens there; with stores built in, they are asked all the same.
    let nobody = [
        ("AWS_ENDPOINT", "http://127.0.0.1:9"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:9"),
        ("AZURE_ALLOW_HTTP", "true"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "somebody"),
        ("AZURE_STORAGE_SAS_KEY", "sv=2024&sig=canary-5up3r-signature"),
        ("FLEET_LOG", "trace"),
    ];
    let mut env: Vec<(String, String)> = VARIABLES
        .iter()
        // With a key there would be no signature in the address.
        .filter(|name| !["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_TOKEN"].contains(name))
        .filter(|name| **name != "AWS_SSE_CUSTOMER_KEY_BASE64")
        .map(|name| ((*name).to_owned(), format!("{CANARY}-{name}")))
        .collect();
    env.extend(nobody.map(|(name, value)| (name.to_owned(), value.to_owned())));
    std::thread::scope(|scope| {
        for (address, args) in [
            (format!("s3://key:{CANARY}@bucket/team?sig={CANARY}"), &["plan"][..]),
            (format!("az://box/team?sig={CANARY}"), &["history"]),
            (format!("https://me:{CANARY}@example.com/team"), &["unlock", "discreet"]),
        ] {
            let place = place().with_state(address.clone(), env.clone());
            scope.spawn(move || {
                let output = place.run(args);
                let said = all(&output);
                assert_silent(&format!("{address}: {args:?}"), &said);
                assert_eq!(output.status.code(), Some(1), "{address}: {said}");
                assert!(said.contains("team"), "the address is named: {said}");
                // What HTTP clients tell at this level, and with it headers and bodies.
                assert!(!said.contains("connecting to"), "a library's own log: {said}");
            });
        }
    });
    let help = place().command(&[]).arg("--help").env("FLEET_STATE", CANARY).output();
    assert_silent("help", &all(&help.expect("fleet runs")));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "releases cannot be made to panic")]
fn panics_hold_no_values() {
    let place = place();
    let output =
        place.command(&["plan"]).env("FLEET_TEST_PANIC", CANARY).output().expect("fleet runs");
    assert_eq!(output.status.code(), Some(101), "{}", all(&output));
    assert!(all(&output).contains("withheld"), "{}", all(&output));
    assert_silent("a panic", &all(&output));
}

/// Every file below a folder, with its bytes.
fn contents(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.clone(), std::fs::read(&path).expect("read")));
        }
    }
    all.sort();
    all
}

/// Clouds and journal lie in files here, so a call that changed anything would be seen.
#[test]
fn reading_commands_change_nothing() {
    let place = place();
    place.expect(0, &["apply", "--yes"]);
    let larger = spec().replace("target: 8", "target: 12");
    place.write("fleet.yaml", &larger);
    let before = contents(&place.path("state"));
    for args in [
        &["validate"][..],
        &["plan"],
        &["plan", "--out", "plan.json", "--save-inputs", "inputs.json"],
        &["status", "--machines"],
        &["explain"],
        &["history"],
        &["sweep"],
        &["doctor"],
        &["unlock", "discreet"],
    ] {
        place.expect(0, args);
        let after = contents(&place.path("state"));
        let changed = before.iter().zip(&after).find(|(before, after)| before != after);
        assert_eq!(changed.map(|(before, _)| &before.0), None, "{args:?}");
        assert_eq!(before.len(), after.len(), "{args:?}");
    }
}
