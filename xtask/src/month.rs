//! `cargo xtask month`: builds a month in the life of a fleet and runs it.

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

/// Runs it. Without the SDKs of clouds: none is reached.
pub(crate) fn execute(month: &Month) -> Report {
    let Month { seed, days, spec } = month;
    let package = ["--release", "--package", "fleet-month"];
    // Apart from the run, which is measured.
    if !run(cargo(&[&["build"], &package[..]].concat())) {
        return Report { ok: false, figures: json!({ "command": "month", "ok": false }) };
    }
    let (seed, days) = (seed.to_string(), days.to_string());
    let mut options = vec!["--seed", &seed, "--days", &days];
    if let Some(spec) = spec {
        options.extend(["--spec", spec]);
    }
    report("month", cargo(&[&["run", "--quiet"], &package[..], &["--"], &options].concat()))
}
