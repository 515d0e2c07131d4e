//! `cargo xtask soak`: builds the real binary and lets replicas of its controller live through a day. `--quick`: the
//! binary that tests have built anyway, a dozen small fleets, two hours.

use crate::Report;
use crate::shell::{at, cargo, run, target};
use crate::swarm::report;
use serde_json::json;
use std::process::Command;

/// What `--quick` asks for.
const QUICK: [&str; 6] = ["--hours", "2", "--fleets", "12", "--machines", "8"];

/// Runs it. A whole day runs without the SDKs of clouds: none is reached, and they take long to build.
pub(crate) fn execute(quick: bool, options: &[String]) -> Report {
    let build: &[&str] = match quick {
        true => &["build", "--workspace", "--bins"],
        false => &[
            "build",
            "--release",
            "--no-default-features",
            "--package",
            "fleet-cli",
            "--package",
            "fleet-soak",
        ],
    };
    if !run(cargo(build)) {
        return Report { ok: false, figures: json!({ "command": "soak", "ok": false }) };
    }
    let built = target().join(if quick { "debug" } else { "release" });
    let mut soak = Command::new(built.join("fleet-soak"));
    soak.arg("--fleet").arg(built.join("fleet")).args(if quick { &QUICK[..] } else { &[] });
    soak.args(options).current_dir(at(""));
    report("soak", soak)
}
