//! Subcommands of cargo that we do not write ourselves.

use crate::shell::{at, cargo, has_cargo, run, target};
use std::process::Command;

/// How to call one. Installed below the target folder on first use, unless there is one already. Unoptimised: it
/// builds in a minute so, and runs for seconds.
pub(crate) fn subcommand(name: &str, version: &str) -> Option<impl Fn(&[&str]) -> Command> {
    let package = format!("cargo-{name}");
    let folder = target().join("tools").join(format!("{package}-{version}"));
    let own = folder.join("bin").join(&package);
    let there = has_cargo(name);
    if !there && !own.exists() {
        let exactly = format!("={version}");
        let mut install =
            cargo(&["install", &package, "--version", &exactly, "--locked", "--debug"]);
        install.arg("--root").arg(&folder).arg("--target-dir").arg(folder.join("build"));
        install.env("CARGO_PROFILE_DEV_DEBUG", "0");
        if !run(install) {
            return None;
        }
        // What it was built from is of no more use.
        let _ = std::fs::remove_dir_all(folder.join("build"));
    }
    let name = name.to_owned();
    Some(move |args: &[&str]| {
        let mut command = if there { cargo(&[&name]) } else { Command::new(&own) };
        command.args(args).current_dir(at(""));
        command
    })
}
