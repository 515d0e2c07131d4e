//! Which commit and features a binary is made from, for `fleet --version` and the metric `fleet_build_info`.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

use std::path::Path;
use std::process::Command;

fn main() {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // A release says so itself; elsewhere git does, if there is one.
    let commit = set("FLEET_BUILD_COMMIT").or_else(commit).unwrap_or_else(|| "unknown".into());
    let mut features: Vec<String> = std::env::vars()
        .filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_owned))
        .filter(|name| name != "DEFAULT")
        .map(|name| name.to_lowercase().replace('_', "-"))
        .collect();
    features.sort();
    let version = set("CARGO_PKG_VERSION").unwrap_or_default();
    // One line each: cargo takes what comes after a line break for something else.
    let listed = if features.is_empty() { "none".to_owned() } else { features.join(" ") };
    for (name, value) in [
        ("FLEET_COMMIT", commit.as_str()),
        ("FLEET_FEATURES", &features.join(",")),
        ("FLEET_VERSION", &format!("{version} ({commit})")),
        ("FLEET_LISTED_FEATURES", &listed),
    ] {
        println!("cargo:rustc-env={name}={value}");
    }
    println!("cargo:rerun-if-env-changed=FLEET_BUILD_COMMIT");
}

fn commit() -> Option<String> {
    // Written at every commit and checkout.
    let log = Path::new("../.git/logs/HEAD");
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    let answer = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(answer.stdout).ok()?;
    answer.status.success().then(|| commit.trim().to_owned())
}
