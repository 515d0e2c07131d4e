//! The developers' front door: `cargo xtask test`, `lint`, `swarm`, `bench`, `docs`.
//!
//! Needs nothing but Rust, and Python 3 and Node for the emulators of clouds. Output of the tools
//! passes through as it comes; the last line on stdout is one line of JSON with the figures, so that
//! programs can read it.

mod api;
mod bench;
mod debian;
mod deny;
mod docs;
mod emulators;
mod focus;
mod fuzz;
mod lint;
mod markets;
mod month;
mod package;
mod shell;
mod soak;
mod swarm;
mod test;
mod tools;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;

/// The developers' front door. Each command ends with one line of JSON with its figures.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the tests; among them, that generated docs are up to date
    Test {
        /// Which of them
        #[arg(value_enum, default_value = "all")]
        part: test::Part,
    },
    /// Run rustfmt and clippy with warnings denied, draw the engine's modules and check that imports
    /// run one way between them, and run cargo-deny
    ///
    /// cargo-deny is installed below the target folder on first use; advisories are checked only where
    /// their database can be reached.
    Lint,
    /// Run simulated worlds full of faults and check every promise of docs/safety.md at every moment
    Swarm(Seeds),
    /// Run simulated worlds about money and check that no budget is passed, by the clouds' own bill
    Budgets(Seeds),
    /// Run worlds twice and compare their traces, byte for byte
    Determinism(Seeds),
    /// Switch each seeded safety bug on and check that the swarm finds it
    Sensitivity(Seeds),
    /// Run the benchmarks
    Bench {
        /// Only those whose names contain this
        filter: Option<String>,
    },
    /// Let the engine and simple policies play made-up spot markets, and compare what they cost
    ///
    /// Fails if a bound of docs/placement.md is broken.
    Markets(markets::Markets),
    /// Reconcile 200 machines on four simulated clouds every hour for a month, with recorded interruptions
    ///
    /// Fails if the base was ever short, if less than 99 % of the target was there, or if a machine was
    /// moved twice without a cause. Without the recordings the simulated clouds draw their own markets.
    Month(month::Month),
    /// Reconcile 50 GPU machines on three simulated clouds for a week, without and with `availability`
    ///
    /// Prints launches, what was present and what it cost, and how few launches were enough for somebody who
    /// knew the future.
    Week(month::Week),
    /// Let three replicas of the controller look after 100 fleets for a simulated day
    ///
    /// One is killed every half hour, and a commit that nobody can use comes every hour. Fails if a machine is
    /// doubled or lost, if a fleet is not what its spec says in the end, if memory grows, or if it takes more
    /// than 5 s from a notice to the launch of a replacement.
    Soak(Handed),
    /// Send made-up requests to a controller, drive it with a generated client, validate its OpenAPI description, and
    /// open a thousand streams of events
    ///
    /// Needs python3; schemathesis and others are installed below the target folder on first use.
    Api {
        /// So many requests at least
        #[arg(long, default_value_t = 10_000)]
        requests: u64,
    },
    /// Make a Debian package with man pages and completions; cargo-deb is installed below the target folder
    Package(package::Package),
    /// Hand damaged specs, plans, journals and price lists to their readers
    Fuzz(Amount),
    /// Write docs/spec.md, docs/clouds.md, docs/fleet.schema.json, the tables of guards and the output blocks of the docs
    Docs {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
}

/// Options that are handed on to the swarm.
#[derive(Args)]
struct Seeds {
    /// Options of the swarm, such as `--seeds 20000`, `--from 1`, `--seed 7 --trace`, `--bug NAME`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// How long, and options that are handed on.
#[derive(Args)]
struct Handed {
    /// Two hours of a dozen small fleets, with a debug build
    #[arg(long)]
    quick: bool,
    /// Options of the soak, such as `--hours 2 --fleets 10`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// How much is tried, per target. As much as a plain `cargo test` tries, unless this says otherwise.
#[derive(Args)]
#[group(multiple = false)]
struct Amount {
    /// So many cases
    #[arg(long)]
    cases: Option<u64>,
    /// For so many minutes
    #[arg(long)]
    minutes: Option<u64>,
}

fn main() -> ExitCode {
    let Xtask { command } = match Xtask::try_parse() {
        Ok(xtask) => xtask,
        Err(usage) => {
            let _ = usage.print();
            // As `fleet` does: 64 is a usage error.
            return ExitCode::from(if usage.use_stderr() { 64 } else { 0 });
        }
    };
    let report = match command {
        Command::Test { part } => test::run(part),
        Command::Lint => lint::run(),
        Command::Swarm(seeds) => swarm::run_swarm("swarm", &seeds.options),
        Command::Budgets(seeds) => swarm::run_swarm("budgets", &seeds.options),
        Command::Determinism(seeds) => swarm::run_swarm("determinism", &seeds.options),
        Command::Sensitivity(seeds) => swarm::run_swarm("sensitivity", &seeds.options),
        Command::Bench { filter } => bench::run(filter.as_deref()),
        Command::Markets(markets) => markets::run(&markets),
        Command::Month(month) => month::execute(&month),
        Command::Week(week) => month::execute_week(&week),
        Command::Soak(handed) => soak::execute(handed.quick, &handed.options),
        Command::Api { requests } => api::execute(requests),
        Command::Package(package) => package::execute(&package),
        Command::Fuzz(amount) => fuzz::run(&amount),
        Command::Docs { check } => docs::execute(check),
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
