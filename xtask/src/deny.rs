//! `cargo deny`: licences, sources and bans always, advisories where their database can be reached.

use crate::shell::{note, run};
use crate::tools::subcommand;

const VERSION: &str = "0.20.2";

/// How the two halves went: `ok`, `failed` or `skipped`.
pub(crate) fn check() -> (&'static str, &'static str) {
    let Some(deny) = subcommand("deny", VERSION) else {
        note("error: cargo-deny cannot be installed; crates.io is needed");
        return ("failed", "skipped");
    };
    let checks = run(deny(&["--workspace", "check", "bans", "licenses", "sources"]));
    let advisories = if !run(deny(&["--workspace", "fetch", "db"])) {
        note("skipped: the database of advisories cannot be reached, so they were not looked at");
        "skipped"
    } else {
        verdict(run(deny(&["--workspace", "check", "--disable-fetch", "advisories"])))
    };
    (verdict(checks), advisories)
}

fn verdict(well: bool) -> &'static str {
    if well { "ok" } else { "failed" }
}
