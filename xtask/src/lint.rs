//! `cargo xtask lint`.

use crate::shell::{self, cargo, has_cargo, note};
use crate::test::seconds;
use crate::{Report, deny};
use serde_json::json;
use std::time::Instant;

/// The linters: the cargo subcommand, and all of its arguments.
const LINTERS: [(&str, &[&str]); 2] = [
    ("fmt", &["fmt", "--all", "--check"]),
    ("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
];

/// Runs every linter. One that is not there, or cannot look, is named here and in the figures.
pub(crate) fn run() -> Report {
    let start = Instant::now();
    let mut figures = json!({ "command": "lint" });
    let mut ok = true;
    for (name, args) in LINTERS {
        let result = if !has_cargo(name) {
            note(&format!("skipped: `cargo {name}` is not installed"));
            "skipped"
        } else if shell::run(cargo(args)) {
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
