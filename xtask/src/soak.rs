//! `cargo xtask soak`: builds the real binary and lets replicas of its controller live through a day. `--quick`: a
//! debug build, a dozen small fleets, two hours.

use crate::Report;
use crate::shell::{at, cargo, run, target};
use crate::swarm::report;
use serde_json::json;
use std::process::Command;

/// What `--quick` asks for.
const QUICK: [&str; 6] = ["--hours", "2", "--fleets", "12", "--machines", "8"];

/// What is built: without the SDKs of clouds, since none is reached and they take long, and with the heap that users
/// get, since memory is judged.
const BUILT: [&str; 7] = [
    "--no-default-features",
    "--features",
    "fleet-cli/jemalloc",
    "--package",
    "fleet-cli",
    "--package",
    "fleet-soak",
];

/// Runs it.
pub(crate) fn execute(quick: bool, options: &[String]) -> Report {
    let profile: &[&str] = if quick { &[] } else { &["--release"] };
    if !run(cargo(&[&["build"], profile, &BUILT].concat())) {
        return Report { ok: false, figures: json!({ "command": "soak", "ok": false }) };
    }
    let built = target().join(if quick { "debug" } else { "release" });
    let mut soak = Command::new(built.join("fleet-soak"));
    soak.arg("--fleet").arg(built.join("fleet")).args(if quick { &QUICK[..] } else { &[] });
    soak.args(options).current_dir(at(""));
    report("soak", soak)
}
