//! `fleet simulate`.

use super::SpecArgs;
use super::sim::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `fleet simulate`.
///
/// `--policy` names what is compared here: `fleet` (the default), `lowest-price`, `even-spread`,
/// `round-robin`, `spothedge`, `spothedge-spare`, `price-capacity`, `capacity`, `on-demand`, or
/// `all`. A name that is none of these is a policy file, as with every command.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// A recording, or a folder of recordings
    #[arg(long, value_name = "DIR")]
    pub traces: PathBuf,
    /// Time from a launch until a machine is ready
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub delay: Duration,
    /// Shuffle the zones of a recording; 0 leaves them as recorded
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Draw cost against missing capacity
    #[arg(long, value_name = "FILE.svg")]
    pub chart: Option<PathBuf>,
    /// Fail if this holds for the first policy: 'availability<99%', 'cost>0.5', 'j10>0.6'
    #[arg(long, value_name = "CONDITION", value_parser = fleet_replay::Gate::parse)]
    pub fail_if: Vec<fleet_replay::Gate>,
}
