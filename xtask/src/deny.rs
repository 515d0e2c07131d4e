//! `cargo deny`: licences, sources and bans always, advisories where their database can be reached.

use crate::shell::{cargo, has_cargo, note, run, target};
use std::process::Command;

/// Installed below the target folder on first use, unless there is one already. Unoptimised: it
/// builds in a minute so, and runs for seconds.
const VERSION: &str = "0.20.2";

/// How the two halves went: `ok`, `failed` or `skipped`.
pub(crate) fn check() -> (&'static str, &'static str) {
    let Some(deny) = installed() else {
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

/// How to call it.
fn installed() -> Option<impl Fn(&[&str]) -> Command> {
    let folder = target().join("tools").join(format!("cargo-deny-{VERSION}"));
    let own = folder.join("bin").join("cargo-deny");
    let there = has_cargo("deny");
    if !there && !own.exists() {
        let version = format!("={VERSION}");
        let mut install =
            cargo(&["install", "cargo-deny", "--version", &version, "--locked", "--debug"]);
        install.arg("--root").arg(&folder).arg("--target-dir").arg(folder.join("build"));
        install.env("CARGO_PROFILE_DEV_DEBUG", "0");
        if !run(install) {
            return None;
        }
        // What it was built from is of no more use.
        let _ = std::fs::remove_dir_all(folder.join("build"));
    }
    Some(move |args: &[&str]| {
        let mut command = if there { cargo(&["deny"]) } else { Command::new(&own) };
        command.args(args).current_dir(crate::shell::at(""));
        command
    })
}
