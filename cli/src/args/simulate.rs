//! `fleet simulate`.

use super::SpecArgs;
use super::sim::parse_duration;
use clap::Args;
use fleet_replay::Notice;
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
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = delay,
        allow_hyphen_values = true)]
    pub delay: Duration,
    /// How long ahead an interruption is announced to the fleet: 2m, 30s, or `cloud` for two minutes
    /// on AWS and 30 seconds elsewhere [default: not at all]
    #[arg(long, value_name = "TIME|cloud", value_parser = notice, allow_hyphen_values = true)]
    pub notice: Option<Notice>,
    /// What the judge charges for a missing machine-hour, in on-demand hours; the fleet plans with the
    /// `penalty` or `availability` of its spec
    #[arg(long, value_name = "N", default_value = "10", value_parser = penalty,
        allow_hyphen_values = true)]
    pub penalty: f64,
    /// Shuffle the zones of a recording; 0 leaves them as recorded
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Show how often machines were lost that the fleet held, against what it predicted
    #[arg(long)]
    pub calibration: bool,
    /// Draw cost against missing capacity, and predicted against observed losses; of several fleets,
    /// each into its own FILE-FLEET.svg
    #[arg(long, value_name = "FILE.svg", value_parser = crate::args::svg_file)]
    pub chart: Option<PathBuf>,
    /// Fail if this holds for the first policy: 'availability<99%', 'cost>0.5', 'j10>0.6', 'j5>0.5'
    #[arg(long, value_name = "CONDITION", value_parser = fleet_replay::Gate::parse)]
    pub fail_if: Vec<fleet_replay::Gate>,
}

/// From a second to a day.
fn delay(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|_| format!("`{text}` is no time; write 90s or 5m"))?;
    match time.as_secs() {
        1..=86_400 => Ok(time),
        _ => Err("a machine is ready 1s to 24h after its launch; write 90s or 5m".into()),
    }
}

/// `2m` or `cloud`. A notice of more than a day is no notice.
fn notice(text: &str) -> Result<Notice, String> {
    if text == "cloud" {
        return Ok(Notice::Cloud);
    }
    let time = parse_duration(text)
        .map_err(|_| format!("`{text}` is no notice; write 30s, 2m or cloud"))?;
    if time > Duration::from_secs(86_400) {
        return Err("no cloud announces an interruption more than a day ahead".into());
    }
    if !time.is_zero() && time.as_secs() == 0 {
        return Err("a notice is a second or more; 0s is none".into());
    }
    Ok(if time.as_secs() == 0 { Notice::None } else { Notice::Seconds(time.as_secs() as u32) })
}

/// As in a spec: from a thousandth to ten thousand.
fn penalty(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.001..=10_000.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is no penalty; write a number from 0.001 to 10000"))
}
