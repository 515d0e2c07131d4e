//! `cargo xtask package`: a Debian package with the binary, man pages, completions and examples.

use crate::Report;
use crate::shell::{at, cargo, note, run, target};
use crate::tools::subcommand;
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::process::Command;

const CARGO_DEB: &str = "3.8.0";

/// What is packed.
#[derive(Args)]
pub(crate) struct Package {
    /// Without the SDKs of clouds: simulated clouds and local state only. Builds in a fraction of the time
    #[arg(long)]
    simulated: bool,
}

/// Builds it, and says where it is.
pub(crate) fn execute(package: &Package) -> Report {
    let file = pack(package.simulated);
    let figures = json!({ "command": "package", "ok": file.is_some(), "file": file });
    Report { ok: file.is_some(), figures }
}

fn pack(simulated: bool) -> Option<String> {
    let features: &[&str] = if simulated { &["--no-default-features"] } else { &[] };
    let build = ["build", "--release", "--locked", "--package", "fleet-cli"];
    let made = run(cargo(&[&build[..], features].concat()));
    let fleet = target().join("release").join("fleet");
    // Where cli/Cargo.toml looks for them.
    let folder = at("target/package");
    let completions = [("bash", "fleet.bash"), ("zsh", "_fleet"), ("fish", "fleet.fish")];
    let written = made
        && run(with(&fleet, &["man", &folder.join("man").to_string_lossy()]))
        && completions.iter().all(|(shell, file)| {
            let answer = with(&fleet, &["completions", shell]).output();
            answer.is_ok_and(|answer| std::fs::write(folder.join(file), answer.stdout).is_ok())
        });
    if !written {
        return None;
    }
    let deb = subcommand("deb", CARGO_DEB).or_else(|| {
        note("error: cargo-deb cannot be installed; crates.io is needed");
        None
    })?;
    let file = folder.join("fleet.deb");
    let output = file.to_string_lossy();
    let arguments = ["--no-build", "--no-strip", "--package", "fleet-cli", "--output", &*output];
    let target = target();
    let mut packed = deb(&arguments);
    packed.env("CARGO_TARGET_DIR", &target);
    run(packed).then(|| output.into_owned())
}

fn with(fleet: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(fleet);
    command.args(arguments);
    command
}
