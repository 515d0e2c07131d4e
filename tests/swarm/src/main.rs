//! Lives worlds by the thousand. `cargo xtask swarm`, `determinism` and `sensitivity` run this.

mod report;

use fleet_swarm::PURSES;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: fleet-swarm COMMAND

  swarm [--seeds N] [--from S]      live N worlds, from seed S
  swarm --seed S --trace            live one world and show everything that happens
  budgets [--seeds N] [--from S]    live N worlds about money
  determinism [--seeds N]           live N worlds twice and compare their traces
  sensitivity [--bug NAME] [--from S] [--seeds N]
                                    switch each seeded bug on, and see whether it is found";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let Some((command, options)) = words.split_first() else { return usage() };
    let Some(options) = Options::read(options) else { return usage() };
    match *command {
        "swarm" if options.trace => report::one(options.from),
        "budgets" => report::swarm(PURSES + options.from, options.seeds.unwrap_or(1_000)),
        "swarm" => report::swarm(options.from, options.seeds.unwrap_or(20_000)),
        "determinism" => report::determinism(options.from, options.seeds.unwrap_or(1_000)),
        "sensitivity" => {
            let seeds = options.seeds.unwrap_or(60_000);
            report::sensitivity(options.bug.as_deref(), options.from, seeds)
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    report::note(USAGE);
    ExitCode::from(64)
}

struct Options {
    from: u64,
    seeds: Option<u64>,
    trace: bool,
    bug: Option<String>,
}

impl Options {
    /// Reads options; `None` if one makes no sense.
    fn read(words: &[&str]) -> Option<Self> {
        let mut options = Options { from: 1, seeds: None, trace: false, bug: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--trace" => options.trace = true,
                "--seeds" => options.seeds = Some(words.next()?.parse().ok()?),
                "--from" => options.from = words.next()?.parse().ok()?,
                "--seed" => {
                    options.from = words.next()?.parse().ok()?;
                    options.seeds = Some(1);
                }
                "--bug" => options.bug = Some((*words.next()?).to_owned()),
                _ => return None,
            }
        }
        Some(options)
    }
}
