//! `cargo xtask lint`.

use crate::shell::{self, cargo, has_cargo, note, target};
use crate::test::seconds;
use crate::{Report, deny};
use serde_json::json;
use std::time::Instant;

/// The linters: the cargo subcommand, and all of its arguments.
const LINTERS: [(&str, &[&str]); 2] = [
    ("fmt", &["fmt", "--all", "--check"]),
    ("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
];

/// Runs every linter, in a folder of its own: what clippy makes is of no use to a build, and two builds in one folder
/// wait for each other. One that is not there, or cannot look, is named here and in the figures.
pub(crate) fn run() -> Report {
    let start = Instant::now();
    let mut figures = json!({ "command": "lint" });
    let mut ok = true;
    for (name, args) in LINTERS {
        let mut command = cargo(args);
        command.env("CARGO_TARGET_DIR", target().join("lint"));
        let result = if !has_cargo(name) {
            note(&format!("skipped: `cargo {name}` is not installed"));
            "skipped"
        } else if shell::run(command) {
            "ok"
        } else {
            ok = false;
            "failed"
        };
        figures[name] = result.into();
    }
    // A drawing of which room of the engine uses which.
    let rooms = ["test", "--quiet", "--workspace", "--test", "rooms", "--", "--nocapture"];
    let one_way = shell::run(cargo(&rooms));
    ok &= one_way;
    figures["rooms"] = if one_way { "ok" } else { "failed" }.into();
    let (deny, advisories) = deny::check();
    ok &= deny != "failed" && advisories != "failed";
    figures["deny"] = deny.into();
    figures["advisories"] = advisories.into();
    figures["ok"] = ok.into();
    figures["seconds"] = seconds(start).into();
    Report { ok, figures }
}
