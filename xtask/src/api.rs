//! What others make of the controller's API: a validator, a generator of clients and a fuzzer, in a folder of their own
//! below the target folder, made on first use.

use crate::Report;
use crate::shell::{cargo, note, run, target, watch};
use crate::test::seconds;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Counts up when what is in the folder changes.
const FOLDER: &str = "api-1";

const PYTHON: [&str; 3] =
    ["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1", "schemathesis==4.32.5"];

/// The folder. `None` if it cannot be made.
pub(crate) fn tools() -> Option<PathBuf> {
    let folder = target().join("emulators").join(FOLDER);
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON);
    let ready = run(venv) && run(pip) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note(
            "error: schemathesis and others cannot be installed; python3 with venv and its package index are needed",
        );
    }
    ready.then_some(folder)
}

/// Runs the tests that need them, without the SDKs of clouds.
pub(crate) fn execute(requests: u64) -> Report {
    let start = Instant::now();
    let mut figures = String::new();
    let ok = tools().is_some_and(|tools| {
        let mut tests = cargo(&["test", "--no-default-features", "--package", "fleet-cli"]);
        tests.args(["--test", "api", "--test", "api_streams", "--test", "api_witness"]);
        tests.args(["--", "--include-ignored", "--nocapture"]);
        tests.env("FLEET_API_TOOLS", tools).env("FLEET_API_REQUESTS", requests.to_string());
        watch(tests, |line| {
            if line.contains("schemathesis: ") {
                line.clone_into(&mut figures);
            }
        })
    });
    let seconds = seconds(start);
    let figures = json!({ "command": "api", "ok": ok, "requests": requests, "fuzzed": figures, "seconds": seconds });
    Report { ok, figures }
}
