//! `cargo xtask test`.

use crate::shell::{cargo, note, watch};
use crate::{Report, debian, emulators, focus};
use clap::ValueEnum;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A part of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Everything.
    All,
    /// Model, spec, catalog, core.
    Core,
    /// The provider trait, the simulator, the swarm.
    Sim,
    /// Run, its protocol, and the CLI without SDKs; all against stand-ins for S3, GCS and Azure Blob
    /// (needs python3 and node).
    State,
    /// The binary.
    Cli,
    /// The pages of the dashboard in headless Chromium (needs chromium, python3 and node).
    Pages,
    /// The AWS provider and the CLI, both against moto (needs python3).
    Aws,
    /// The other providers and the CLI, against fakes and the vendors' own clients (needs python3 and
    /// node).
    Clouds,
    /// The controller, and what it measures, against Debian's Prometheus (needs apt-get, python3 and node).
    Metrics,
}

/// The packages of a part. Empty: all of them.
fn packages(part: Part) -> &'static [&'static str] {
    match part {
        Part::All => &[],
        Part::Core => &["fleet-model", "fleet-spec", "fleet-catalog", "fleet-core"],
        Part::Sim => &["fleet-provider", "fleet-sim", "fleet-swarm"],
        Part::State => &["fleet-run", "fleet-protocol", "fleet-cli"],
        Part::Cli => &["fleet-cli"],
        Part::Pages => &["fleet-controller", "fleet-cli"],
        Part::Aws => &["fleet-aws", "fleet-cli", "fleet-emulators"],
        Part::Clouds => &[
            "fleet-azure",
            "fleet-lambda",
            "fleet-gcp",
            "fleet-fakes",
            "fleet-cli",
            "fleet-emulators",
        ],
        Part::Metrics => &["fleet-controller", "fleet-cli"],
    }
}

/// The tests of a part that need servers, or the vendors' own clients. What stands in one list runs
/// one after the other, the lists side by side: most of it is waiting.
fn witnessed(part: Part) -> &'static [&'static [&'static str]] {
    match part {
        Part::All => &[
            &["aws", "conformance", "witness", "clouds"],
            &["rounds", "state", "suite", "examples", "pages", "api_witness", "prometheus"],
        ],
        Part::State => &[&["state"]],
        Part::Aws => &[&["aws"]],
        Part::Clouds => &[&["conformance", "witness", "suite", "clouds"], &["rounds"]],
        Part::Pages => &[&["pages"]],
        Part::Metrics => &[&["prometheus"]],
        Part::Core | Part::Sim | Part::Cli => &[],
    }
}

/// Whether a part has providers of real clouds, which replay recorded traffic.
fn replays(part: Part) -> bool {
    matches!(part, Part::All | Part::Aws | Part::Clouds)
}

/// Runs a part. Plain `cargo test`: it needs nothing to be installed, and runs the examples in
/// the documentation, too.
pub(crate) fn run(part: Part) -> Report {
    let start = Instant::now();
    let packages = packages(part);
    let mut selection: Vec<&str> =
        packages.iter().flat_map(|package| ["--package", package]).collect();
    if packages.is_empty() {
        selection.push("--workspace");
    }
    if part == Part::Pages {
        selection.push("--no-default-features");
    }
    if part == Part::Metrics {
        // Simulated clouds, and state in a folder.
        let features = "fleet-cli/otel,fleet-cli/notify";
        selection.extend(["--no-default-features", "--features", features]);
    }
    if part == Part::State {
        // No cloud is needed but simulated ones, and the SDKs take minutes to build.
        selection.extend([
            "--no-default-features",
            "--features",
            "fleet-cli/state-s3,fleet-cli/state-gcs,fleet-cli/state-azure",
        ]);
    }
    let mut args = vec!["test", "--no-fail-fast"];
    args.extend(&selection);
    let mut counts = Counts::default();
    let mut first = cargo(&args);
    if matches!(part, Part::All | Part::Cli)
        && let Some(python) = focus::python()
    {
        first.env("FLEET_FOCUS_PYTHON", python);
    }
    let mut ran = watch(first, |line| counts.add(line));
    let lanes = witnessed(part);
    if ran && !lanes.is_empty() {
        // What the first run passed over.
        ran = emulators::witnesses().is_some_and(|witnesses| {
            let looks = |name: &str| lanes.iter().any(|names| names.contains(&name));
            if looks("prometheus") && !debian::unpacked(&witnesses)
                || looks("pages") && !debian::browser()
            {
                return false;
            }
            counts.ignored = 0;
            side_by_side(lanes, &mut counts, |names| {
                emulators::tests(&witnesses, &selection, names)
            })
        });
    }
    let recordings = match (ran, replays(part)) {
        (true, true) => Recordings::replay(&selection),
        (true, false) | (false, _) => Some(Recordings::default()),
    };
    ran &= recordings.is_some();
    let Recordings { recorded, own } = recordings.unwrap_or_default();
    let Counts { passed, failed, ignored, skipped } = counts;
    for test in &skipped {
        note(&format!("skipped {test}"));
    }
    if !ran && failed == 0 {
        note("error: the tests could not be built or run to their end");
    }
    let ok = ran && failed == 0;
    Report {
        ok,
        figures: json!({
            "command": "test",
            "part": part.to_possible_value().map(|part| part.get_name().to_owned()),
            "ok": ok,
            "passed": passed,
            "failed": failed,
            "ignored": ignored,
            "skipped": skipped.len(),
            "recordings": recorded,
            "ownRecordings": own,
            "seconds": seconds(start),
        }),
    }
}

/// How many recordings of real services the providers replayed, as their lines
/// `recordings: CLOUD N replayed` add up. Without the folder of recordings they replay a few of their
/// own making instead, and say `recordings: CLOUD own N replayed`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recordings {
    recorded: u64,
    own: u64,
}

impl Recordings {
    /// Runs the test target `recordings` of each selected package once more, and counts. `None` if
    /// one failed.
    ///
    /// A run of its own: in the first the test harness keeps to itself what a test prints, and a
    /// test that prints past it would be counted twice. What it tests was tested and counted
    /// before, so its results add nothing to the other figures.
    fn replay(selection: &[&str]) -> Option<Self> {
        let mut args = vec!["test"];
        args.extend(selection);
        args.extend(["--test", "recordings", "--", "--nocapture"]);
        let mut recordings = Recordings::default();
        watch(cargo(&args), |line| recordings.add(line)).then_some(recordings)
    }

    /// Reads one line of output. The harness may have begun it: `test name ... recordings: …`.
    fn add(&mut self, line: &str) {
        let Some((_, told)) = line.split_once("recordings: ") else { return };
        let words: Vec<&str> = told.split_whitespace().collect();
        let (sum, number) = match words[..] {
            [_, number, "replayed", ..] => (&mut self.recorded, number),
            [_, "own", number, "replayed", ..] => (&mut self.own, number),
            _ => return,
        };
        *sum += number.parse::<u64>().unwrap_or_default();
    }
}

/// Runs a command for each list of tests, all at once. Whether all went well.
fn side_by_side(
    lanes: &[&[&str]],
    counts: &mut Counts,
    command: impl Fn(&[&str]) -> Command,
) -> bool {
    let counts = Mutex::new(counts);
    let add = |line: &str| counts.lock().unwrap_or_else(PoisonError::into_inner).add(line);
    std::thread::scope(|scope| {
        let commands = lanes.iter().map(|names| command(names));
        let started: Vec<_> = commands.map(|command| scope.spawn(|| watch(command, add))).collect();
        started.into_iter().map(|lane| lane.join().unwrap_or(false)).fold(true, |all, ok| all & ok)
    })
}

/// Seconds since a moment, to a tenth.
pub(crate) fn seconds(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 10.0).round() / 10.0
}

/// What the lines `test result: …` add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    /// Tests, or parts of them, that did not run, each with its reason: `SKIPPED NAME: WHY`.
    skipped: BTreeSet<String>,
}

impl Counts {
    /// Reads one line of output.
    fn add(&mut self, line: &str) {
        if let Some(test) = line.trim().strip_prefix("SKIPPED ") {
            self.skipped.insert(test.to_owned());
        }
        let Some(result) = line.trim().strip_prefix("test result: ") else { return };
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let mut counts = Counts::default();
        counts.add("running 3 tests");
        counts.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s");
        counts.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s");
        counts.add("test it_says::test_result ... ok");
        // A test that runs twice, without and with emulators, is skipped once.
        counts.add("SKIPPED replays: shared data is absent: traces");
        counts.add("SKIPPED replays: shared data is absent: traces");
        let skipped = ["replays: shared data is absent: traces".to_owned()].into();
        assert_eq!(counts, Counts { passed: 7, failed: 2, ignored: 1, skipped });
    }

    #[test]
    fn recordings_add_up() {
        let mut recordings = Recordings::default();
        recordings.add("recordings: aws 17 replayed");
        recordings.add("test they_are_read ... recordings: lambda 2 replayed");
        recordings.add("recordings: gcp own 3 replayed");
        recordings.add("recordings: azure none");
        recordings.add("recordings: azure many replayed");
        recordings.add("test recordings_are_read ... ok");
        assert_eq!(recordings, Recordings { recorded: 19, own: 3 });
    }

    #[test]
    fn parts() {
        assert!(packages(Part::All).is_empty());
        assert!(packages(Part::Core).contains(&"fleet-core"));
        assert!(packages(Part::Clouds).contains(&"fleet-gcp"));
        assert!(replays(Part::Clouds) && !replays(Part::State));
        assert!(witnessed(Part::Core).is_empty());
        assert!(witnessed(Part::Clouds).concat().contains(&"clouds"));
    }
}
