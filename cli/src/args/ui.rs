//! `fleet ui`.

use super::sim::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `fleet ui`.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Files or folders with fleets [default: fleet.yaml, otherwise every fleet that has a journal]
    #[arg(value_name = "SPEC")]
    pub specs: Vec<PathBuf>,
    /// Address to serve the pages at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// Open no browser
    #[arg(long)]
    pub no_open: bool,
    /// Look at the clouds this often [default: 30s, with --sim 3s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub every: Option<Duration>,
    /// Show fleets in a simulated world of their own that is gone afterwards, with interruptions and outages
    #[arg(long, conflicts_with_all = ["specs", "every"])]
    pub demo: bool,
}
