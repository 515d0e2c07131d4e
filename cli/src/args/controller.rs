//! `fleet controller` and `fleet ui`.

use super::door::DoorArgs;
use super::sim::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `fleet controller`.
#[derive(Debug, Args)]
pub(crate) struct ControllerArgs {
    /// Folder with specs, or address of a git repository
    #[arg(value_name = "DIR|GIT-URL")]
    pub source: String,
    /// Branch of the repository
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// Folder in the repository [default: all of it]
    #[arg(long, value_name = "FOLDER")]
    pub path: Option<PathBuf>,
    /// Fetch the repository this often
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub fetch_every: Duration,
    /// Look at each fleet this often, whatever happens
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub every: Duration,
    /// Ask clouds for interruption notices this often
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub notices_every: Duration,
    /// Ask clouds for prices and room this often
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration)]
    pub market_every: Duration,
    /// Fleets that are looked after side by side
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub at_once: usize,
    /// Name of this replica [default: host name and process]
    #[arg(long, value_name = "NAME", env = "FLEET_REPLICA")]
    pub replica: Option<String>,
    /// Look and decide, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Look after every fleet once, then end
    #[arg(long)]
    pub once: bool,
    /// Address to serve pages, API and metrics at, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8190")]
    pub listen: String,
    /// Simulated seconds per second [with --sim; default: 60]
    #[arg(long, value_name = "N", default_value_t = 60.0, hide_default_value = true)]
    pub speed: f64,
    #[command(flatten)]
    pub door: DoorArgs,
}
