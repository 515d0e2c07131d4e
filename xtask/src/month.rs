//! `cargo xtask month` and `week`: builds a month or a week in the life of a fleet and runs it.

use crate::Report;
use crate::shell::{cargo, run};
use crate::swarm::report;
use clap::Args;
use serde_json::json;

/// Which month.
#[derive(Args)]
pub(crate) struct Month {
    /// Which world: the same for the same seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many days
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: u32,
    /// Another fleet than that of tests/month/month.yaml
    #[arg(long)]
    spec: Option<String>,
}

/// Which week.
#[derive(Args)]
pub(crate) struct Week {
    /// Which world: the same for the same seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// So many worlds from that one on, and their means: one says little
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// How many days
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: u32,
    /// From one reconcile to the next: `5m` to `1h`
    #[arg(long, default_value = "1h")]
    every: String,
    /// Another fleet than that of tests/month/gpus.yaml
    #[arg(long)]
    spec: Option<String>,
}

/// Runs a month.
pub(crate) fn execute(month: &Month) -> Report {
    let Month { seed, days, spec } = month;
    let (seed, days) = (seed.to_string(), days.to_string());
    build_and_run("month", &["--seed", &seed, "--days", &days], spec.as_deref())
}

/// Runs a week.
pub(crate) fn execute_week(week: &Week) -> Report {
    let Week { seed, seeds, days, every, spec } = week;
    let [seed, seeds, days] = [*seed, *seeds, (*days).into()].map(|number: u64| number.to_string());
    let options = ["week", "--seed", &seed, "--seeds", &seeds, "--days", &days, "--every", every];
    build_and_run("week", &options, spec.as_deref())
}

/// Without the SDKs of clouds: none is reached.
fn build_and_run(command: &str, options: &[&str], spec: Option<&str>) -> Report {
    let package = ["--release", "--package", "fleet-month"];
    // Apart from the run, which is measured.
    if !run(cargo(&[&["build"], &package[..]].concat())) {
        return Report { ok: false, figures: json!({ "command": command, "ok": false }) };
    }
    let mut options = options.to_vec();
    if let Some(spec) = spec {
        options.extend(["--spec", spec]);
    }
    report(command, cargo(&[&["run", "--quiet"], &package[..], &["--"], &options].concat()))
}
