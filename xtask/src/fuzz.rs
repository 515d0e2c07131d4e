//! `cargo xtask fuzz`.

use crate::shell::{cargo, watch};
use crate::test::seconds;
use crate::{Amount, Report};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Damages real inputs and hands them to every reader.
pub(crate) fn run(amount: &Amount) -> Report {
    let start = Instant::now();
    let mut command = cargo(&[
        "test",
        "--package",
        "fleet-fuzz",
        "--package",
        "fleet-cli",
        // None of the readers reaches a cloud, and the SDKs take minutes to build.
        "--no-default-features",
        "--no-fail-fast",
        "--",
        "fuzz_",
        "--nocapture",
    ]);
    if let Some(cases) = amount.cases {
        command.env("FLEET_FUZZ_CASES", cases.to_string());
    }
    if let Some(minutes) = amount.minutes {
        command.env("FLEET_FUZZ_SECONDS", (minutes * 60).to_string());
    }
    let mut found = Found::default();
    let ran = watch(command, |line| found.add(line));
    let Found { targets, failures } = found;
    let cases: u64 = targets.values().filter_map(Value::as_u64).sum();
    let ok = ran && failures == 0 && targets.len() == TARGETS;
    let figures = json!({
        "command": "fuzz",
        "ok": ok,
        "targets": targets,
        "cases": cases,
        "failures": failures,
        "seconds": seconds(start),
    });
    Report { ok, figures }
}

/// Readers that are tried: spec, plan, journal, catalog and figures.
const TARGETS: usize = 5;

/// What the targets said.
#[derive(Default)]
struct Found {
    targets: Map<String, Value>,
    failures: u64,
}

impl Found {
    fn add(&mut self, line: &str) {
        // The harness may have begun the line with the test's name.
        let said = line.find("fuzz ").and_then(|at| line[at..].strip_prefix("fuzz "));
        if let Some((target, rest)) = said.and_then(|said| said.split_once(": "))
            && let Some(cases) = rest.strip_suffix(" cases").and_then(|n| n.parse::<u64>().ok())
        {
            self.targets.insert(target.to_owned(), cases.into());
        }
        self.failures += u64::from(line.starts_with("test ") && line.ends_with("FAILED"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_lines_of_a_run() {
        let mut found = Found::default();
        for line in [
            "test fuzz_spec ... fuzz spec: 300 cases",
            "fuzz plan: 2000 cases",
            "ok",
            "test saved::tests::fuzz_plan ... FAILED",
        ] {
            found.add(line);
        }
        assert_eq!((&found.targets["spec"], &found.targets["plan"]), (&300.into(), &2000.into()));
        assert_eq!(found.failures, 1);
    }
}
