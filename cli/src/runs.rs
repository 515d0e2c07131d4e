//! What the commands that talk to clouds have in common.

use crate::args::LimitArgs;
use fleet_model::Limits;
pub(crate) use fleet_words::runs::{failed, kept_as_it_is, verdict};
use std::sync::OnceLock;

/// How much one apply may do, from the flags.
pub(crate) fn limits(args: LimitArgs) -> Limits {
    let LimitArgs { allow_destroy, accept_loss } = args;
    Limits { allow_destroy, accept_loss, ..Limits::default() }
}

/// Who holds a lease, for the people who have to wait for it.
pub(crate) fn holder(command: &str) -> String {
    // Asked once: a run over many fleets names it many times.
    static COMMIT: OnceLock<Option<String>> = OnceLock::new();
    holder_with(command, COMMIT.get_or_init(commit).as_deref())
}

/// The same, of a run whose specs are of a commit.
pub(crate) fn holder_with(command: &str, commit: Option<&str>) -> String {
    let user = set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| "somebody".into());
    let commit = commit.map_or_else(String::new, |commit| {
        format!(", commit {}", commit.get(..12).unwrap_or(commit))
    });
    format!("{user} on {}, process {}, fleet {command}{commit}", host(), std::process::id())
}

/// What this machine is called.
pub(crate) fn host() -> String {
    set("HOSTNAME")
        .or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok())
        .map_or_else(|| "this machine".into(), |host| host.trim().to_owned())
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The commit that specs come from, as far as CI or git says so: journals say it of every run.
fn commit() -> Option<String> {
    let given = ["FLEET_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"];
    let given = given.into_iter().filter_map(|name| std::env::var(name).ok());
    let hex = |text: &str| {
        let short: String = text.trim().chars().take(12).collect();
        (short.len() >= 7 && short.chars().all(|c| c.is_ascii_hexdigit())).then_some(short)
    };
    if let Some(commit) = given.map(|text| hex(&text)).find(Option::is_some) {
        return commit;
    }
    let git = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output()
        .ok()?;
    hex(&String::from_utf8_lossy(&git.stdout)).filter(|_| git.status.success())
}
