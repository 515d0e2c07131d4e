//! `cargo xtask markets`: builds the contest of fleet-replay and runs it.

use crate::Report;
use crate::shell::cargo;
use crate::swarm::report;
use clap::Args;

/// Which markets.
#[derive(Args)]
pub(crate) struct Markets {
    /// How many; kinds take turns
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Others for another seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first: with `--count 1` one market of the table again
    #[arg(long, default_value_t = 0)]
    from: u32,
}

/// Runs it.
pub(crate) fn run(markets: &Markets) -> Report {
    let Markets { count, seed, from } = markets;
    let options = [("--count", count.to_string()), ("--seed", seed.to_string())];
    let from = ("--from", from.to_string());
    let mut args =
        vec!["run", "--release", "--package", "fleet-replay", "--example", "markets", "--"];
    args.extend(options.iter().chain([&from]).flat_map(|(name, value)| [*name, value.as_str()]));
    report("markets", cargo(&args))
}
