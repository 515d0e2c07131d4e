//! `cargo xtask swarm`, `budgets`, `determinism` and `sensitivity`: builds the swarm and runs it.

use crate::Report;
use crate::shell::{cargo, run, say, watch_quietly};
use serde_json::{Value, json};
use std::process::Command;

/// Runs one of them; what it says last is our last line, too.
pub(crate) fn run_swarm(command: &str, options: &[String]) -> Report {
    // A profile of its own: optimised, and with every check of the language on.
    let mut package = vec!["--profile", "swarm", "--package", "fleet-swarm"];
    if command == "sensitivity" {
        package.extend(["--features", "bugs"]);
    }
    let build: Vec<&str> = [&["build"], &package[..]].concat();
    if !run(cargo(&build)) {
        return Report { ok: false, figures: json!({ "command": command, "ok": false }) };
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let run = [&["run", "--quiet"], &package[..], &["--", command], &options].concat();
    report(command, cargo(&run))
}

/// Runs a program of ours whose last line is the figures.
pub(crate) fn report(command: &str, program: Command) -> Report {
    let mut last = String::new();
    let ok = watch_quietly(program, |line| {
        // A line is held back until the next one shows that it is not the last.
        if !last.is_empty() {
            say(&last);
        }
        line.clone_into(&mut last);
    });
    match serde_json::from_str::<Value>(&last) {
        Ok(figures) => Report { ok, figures },
        Err(_) => {
            say(&last);
            Report { ok: false, figures: json!({ "command": command, "ok": false }) }
        }
    }
}
