//! The developers' front door: `cargo xtask test`, `lint`, `swarm`, `bench`, `docs`.
//!
//! Needs nothing but Rust, and Python 3 for the emulators of clouds. Output of the tools passes through as it comes; the last line on stdout
//! is one line of JSON with the figures, so that programs can read it.

mod bench;
mod deny;
mod docs;
mod emulators;
mod fuzz;
mod lint;
mod shell;
mod swarm;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [PART]     run the tests; among them, that generated docs are up to date
                  PART: core (model, spec, catalog, core), sim (provider, sim, swarm), state (run and
                  its protocol, cli without SDKs, and both against stand-ins for S3, GCS and Azure
                  Blob; needs python3 and node), cli (the binary, tests/), aws (aws, cli, and both against moto, which is
                  installed below the target folder; needs python3), clouds (gcp, cli, and both
                  against witnesses; needs python3 and node), all [default]
  lint            rustfmt, clippy with warnings denied, a drawing of the engine's rooms and that imports
                  run one way between them, cargo-deny (installed below the target folder on first
                  use; advisories only where their database can be reached)
  swarm [--seeds N] [--from S]
                  live N simulated worlds (20,000) full of faults, and check every promise of
                  docs/safety.md at every moment; --seed S --trace shows one of them
  determinism [--seeds N]
                  live N worlds (1,000) twice and compare their traces, byte for byte
  sensitivity [--seeds N] [--bug NAME]
                  switch each seeded safety bug on, and see that the swarm finds it
  bench [FILTER]  run the benchmarks
  fuzz            hand damaged specs, plans, journals and price lists to their readers;
                  --cases N or --minutes N per target [default: as cargo test does]
  docs [--check]  write docs/spec.md, docs/clouds.md and docs/fleet.schema.json; --check only compares

Each ends with one line of JSON with its figures.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let report = match words[..] {
        ["test"] => test::run("all"),
        ["test", part] if test::packages(part).is_some() => test::run(part),
        ["lint"] => lint::run(),
        [command @ ("swarm" | "determinism" | "sensitivity"), ref options @ ..] => {
            swarm::run_swarm(command, options)
        }
        ["bench"] => bench::run(None),
        ["bench", filter] => bench::run(Some(filter)),
        ["fuzz"] => fuzz::run(fuzz::Amount::Usual),
        ["fuzz", "--cases", n] if n.parse::<u64>().is_ok() => {
            fuzz::run(fuzz::Amount::Cases(n.parse().unwrap_or_default()))
        }
        ["fuzz", "--minutes", n] if n.parse::<u64>().is_ok() => {
            fuzz::run(fuzz::Amount::Minutes(n.parse().unwrap_or_default()))
        }
        ["docs"] => docs::execute(docs::Mode::Write),
        ["docs", "--check"] => docs::execute(docs::Mode::Check),
        ["help" | "--help" | "-h"] => {
            shell::say(USAGE);
            return ExitCode::SUCCESS;
        }
        _ => {
            shell::note(USAGE);
            return ExitCode::from(64);
        }
    };
    shell::say(&report.figures.to_string());
    if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How a command went.
struct Report {
    /// Whether all of it went well.
    ok: bool,
    /// The figures, for the last line.
    figures: serde_json::Value,
}
