//! A month in the life of a fleet, or a week: `cargo xtask month`, `cargo xtask week`.
//!
//! The real loop (look, plan, apply, journal, lease), once an hour as from cron, with a user's spec and
//! defaults, on the simulated clouds, whose spot markets follow recordings. One seed is one run, and runs
//! the same each time.

mod foresight;
mod market;
mod measures;
mod moves;
mod report;
mod run;
mod week;

use fleet_core::eligible;
use fleet_model::{Catalog, Desired, Market, Timestamp};
use fleet_replay::Trace;
use fleet_spec::LoadOptions;
use market::{MAPPING, Recorded};
use report::{Asked, Month};
use run::{BEGINS, HOUR, Pace, World};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use week::Week;

const USAGE: &str = "\
Usage: fleet-month [--seed N] [--days N] [--spec FILE] [--traces DIR]
       fleet-month week [--seed N] [--seeds N] [--days N] [--spec FILE] [--every SPAN]

  --seed N      which world (1)
  --seeds N     so many worlds from that one on, 1 to 1000, and their means (1)
  --days N      how long, 1 to 365 (30; a week: 7)
  --spec FILE   another fleet
  --traces DIR  recordings; without them the simulated clouds draw their own markets
  --every SPAN  from one reconcile to the next, `5m` to `1h` (1h)";

struct Options {
    /// A week on the market that the seed draws, not a month on a recorded one.
    week: bool,
    seed: u64,
    seeds: u64,
    days: u32,
    spec: PathBuf,
    traces: PathBuf,
    every: Duration,
}

impl Options {
    /// Reads options; `None` if one makes no sense.
    fn read(words: impl Iterator<Item = String>) -> Option<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shared = std::env::var_os("FLEET_SHARED_DATA");
        let shared = shared.map_or_else(|| here.join("../../../shared/data"), PathBuf::from);
        let mut words = words.peekable();
        let week = words.next_if(|word| word == "week").is_some();
        let (days, spec) = if week { (7, "gpus.yaml") } else { (30, "month.yaml") };
        let (spec, traces, every) = (here.join(spec), shared.join("traces"), HOUR);
        let mut options = Options { week, seed: 1, seeds: 1, days, spec, traces, every };
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word.as_str() {
                "--seed" => options.seed = value.parse().ok()?,
                "--seeds" if week => {
                    options.seeds = value.parse().ok().filter(|n| (1..=1000).contains(n))?;
                }
                "--days" => options.days = value.parse().ok().filter(|n| (1..=365).contains(n))?,
                "--spec" => options.spec = value.into(),
                "--traces" if !week => options.traces = value.into(),
                "--every" if week => options.every = span(&value)?,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Minutes or an hour. The clouds forget what ended an hour ago, so nobody looks less often.
fn span(text: &str) -> Option<Duration> {
    let minutes = match text.strip_suffix('m') {
        Some(minutes) => minutes.parse().ok()?,
        None => 60 * text.strip_suffix('h')?.parse::<u64>().ok()?,
    };
    (5..=60).contains(&minutes).then(|| Duration::from_secs(60 * minutes))
}

fn main() -> ExitCode {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        note(USAGE);
        return ExitCode::from(64);
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            note(&format!("error: {error}"));
            let command = if options.week { "week" } else { "month" };
            say(&serde_json::json!({ "command": command, "ok": false, "error": error }).to_string());
            ExitCode::FAILURE
        }
    }
}

/// Lives one or the other. Whether all that must hold holds.
fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let loaded = fleet_spec::load(std::slice::from_ref(&options.spec), &LoadOptions::default())
        .map_err(|problems| problems.render(false))?;
    let fleet = loaded.fleets.first().ok_or("the spec names no fleet")?;
    let catalog = Arc::new(fleet_catalog::embedded());
    let mut figures = if options.week {
        let &Options { seed, seeds, days, every, .. } = options;
        week::weeks(&fleet.desired, &catalog, &Week { seed, seeds, days, every })?
    } else {
        month(options, &fleet.desired, &catalog, start)?
    };
    figures["wallSeconds"] = ((start.elapsed().as_secs_f64() * 10.0).round() / 10.0).into();
    say(&figures.to_string());
    Ok(figures["ok"] == true)
}

/// Lives the month and tells of it.
fn month(
    options: &Options,
    desired: &Desired,
    catalog: &Arc<Catalog>,
    start: Instant,
) -> Result<Value, String> {
    let &Options { seed, days, .. } = options;
    let began = Timestamp::from_millisecond(BEGINS).map_err(|error| error.to_string())?;
    let hours = days * 24 + 1;
    let traces = traces(&options.traces)?;
    let lasting = HOUR * (hours + 1);
    let market = (!traces.is_empty())
        .then(|| Arc::new(Recorded::new(&traces, desired, catalog, seed, began, lasting)));
    say(&format!("{days} days of {}, reconciled every hour, seed {seed}", desired.fleet));
    if let Some(market) = &market {
        let names: Vec<&str> = traces.iter().map(|trace| trace.name.as_str()).collect();
        let (pools, changes) = market.size();
        say(&format!("spot    {pools} pools, {changes} changes, from {}", names.join(", ")));
        say(&format!("        {MAPPING}"));
    }
    let on_demand = eligible(desired, catalog).offerings.into_iter();
    let on_demand = on_demand.filter(|offering| offering.pool.market == Market::OnDemand);
    let cheapest = on_demand.filter_map(|offering| offering.price).min();
    let cheapest = cheapest.ok_or("nothing that the spec allows has an on-demand price")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let recorded = market.is_some();
    let lived = runtime.block_on(async {
        let world = World::new(seed, catalog.clone(), market);
        let on_hour = |hour: u32| {
            if hour.is_multiple_of(24 * 5) && hour > 0 {
                note(&format!("day {} after {:.0} s", hour / 24, start.elapsed().as_secs_f64()));
            }
        };
        world.live(desired, Pace { every: HOUR, looks: hours }, &on_hour).await
    })?;
    let asked = Asked { desired, seed, days, cheapest: cheapest.0 };
    let month = Month::measure(&asked, &lived);
    say(&format!("\n{}", month.screen()));
    for what in month.missed() {
        say(&format!("MISSED  {what}"));
    }
    Ok(month.figures(&asked, &lived, recorded))
}

/// The recordings, or none if they are not there: that is said aloud, and the run is another one.
fn traces(folder: &Path) -> Result<Vec<Trace>, String> {
    if !folder.is_dir() {
        note(&format!(
            "WARNING: no recordings in {}: the simulated clouds draw their own spot markets, which are much \
             calmer. Set FLEET_SHARED_DATA or --traces.",
            folder.display()
        ));
        return Ok(Vec::new());
    }
    Trace::load_all(folder).map_err(|error| error.to_string())
}

/// Says something on stdout. A reader that went away is no reason to stop.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Says something on stderr, where it does not mix with results.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
