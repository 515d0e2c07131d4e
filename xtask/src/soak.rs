//! `cargo xtask soak`: builds the real binary and lets replicas of its controller live through a day.

use crate::Report;
use crate::shell::{cargo, run};
use crate::swarm::report;
use serde_json::json;

/// Runs it. Without the SDKs of clouds: none is reached.
pub(crate) fn execute(options: &[String]) -> Report {
    let build = ["build", "--release", "--no-default-features"];
    let packages = ["--package", "fleet-cli", "--package", "fleet-soak"];
    if !run(cargo(&[&build[..], &packages].concat())) {
        return Report { ok: false, figures: json!({ "command": "soak", "ok": false }) };
    }
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let fleet = format!("{target}/release/fleet");
    let mut arguments =
        vec!["run", "--quiet", "--release", "--package", "fleet-soak", "--", "--fleet", &fleet];
    arguments.extend(options.iter().map(String::as_str));
    report("soak", &arguments)
}
