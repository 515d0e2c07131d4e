//! `fleet compare` and `fleet benchmark`.

use clap::{Args, Subcommand};
use fleet_model::{Cloud, Figure, Pattern};
use fleet_money::benchmark::Metric;
use std::path::PathBuf;

/// `fleet compare`.
///
/// Every cloud's machines with an accelerator, side by side: the price, and what a job on them costs. Spot is
/// charged with the interruptions that are to be expected, with a checkpoint at the best interval.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Accelerators: H100,A100,L4 or tpu-v5e; 'A100*' is every size, H100-NVL one variant
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true, value_parser = pattern)]
    pub gpu: Vec<Pattern>,
    /// Accelerators in a node
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub count: u32,
    /// Nodes that work together: all of them must live
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub nodes: u32,
    /// Hours of useful work in the job
    #[arg(long, value_name = "HOURS", default_value = "8", value_parser = hours)]
    pub hours: f64,
    /// The hours are hours on this accelerator; others take as long as their figures say [default: every
    /// machine works for so many hours]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// What useful work is: bf16, fp8, fp16, tf32, fp32, int8, hbm-bandwidth, memory, `measured` (or
    /// measured:fp8, measured:training), or a file with figures of your own
    #[arg(long, value_name = "FIGURE|FILE", default_value = "bf16", value_parser = perf)]
    pub perf: Perf,
    /// Only on these clouds
    #[arg(long, value_name = "CLOUD", value_delimiter = ',')]
    pub provider: Vec<Cloud>,
    /// Only in regions like these: us-east-1,'europe-*'
    #[arg(long, value_name = "REGION", value_delimiter = ',', value_parser = pattern)]
    pub regions: Vec<Pattern>,
    /// Prices of commitments: CSV with provider,region,type,usdPerHour and, where known, term,until,source
    #[arg(long, value_name = "FILE")]
    pub commitments: Option<PathBuf>,
    /// Minutes to write a checkpoint
    #[arg(long, value_name = "MINUTES", default_value = "2", value_parser = minutes)]
    pub checkpoint_minutes: f64,
    /// Minutes to load a checkpoint and go on, on a machine that runs
    #[arg(long, value_name = "MINUTES", default_value = "5", value_parser = minutes)]
    pub restart_minutes: f64,
    /// Hours that a spot machine lives, in the mean [default: learned reliability, or the planner's prior]
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    pub spot_life_hours: Option<f64>,
    /// The job saves when an interruption is announced, where the notice is long enough for a checkpoint
    #[arg(long)]
    pub save_on_notice: bool,
    /// Draw what the work costs
    #[arg(long, value_name = "FILE.svg", value_parser = crate::args::svg_file)]
    pub chart: Option<PathBuf>,
    /// Write every row and every figure as CSV; `-` for the screen, in place of the table
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// What `--perf` names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Perf {
    /// What makers publish.
    Published(Figure),
    /// What benchmarks saw.
    Measured(Metric),
    /// A table of the user's own.
    File(PathBuf),
}

/// The names of figures on the command line.
const FIGURES: [(&str, Figure); 8] = [
    ("bf16", Figure::Bf16),
    ("fp8", Figure::Fp8),
    ("fp16", Figure::Fp16),
    ("tf32", Figure::Tf32),
    ("fp32", Figure::Fp32),
    ("int8", Figure::Int8),
    ("hbm-bandwidth", Figure::Bandwidth),
    ("memory", Figure::Memory),
];

/// A figure, by its short name or as a spec calls it.
fn figure(text: &str) -> Option<Figure> {
    let short = FIGURES.iter().find(|(name, _)| *name == text).map(|(_, figure)| *figure);
    short.or_else(|| text.parse().ok())
}

fn perf(text: &str) -> Result<Perf, String> {
    if let Some(figure) = figure(text) {
        return Ok(Perf::Published(figure));
    }
    let metric = match text.strip_prefix("measured") {
        Some("") => Some(Metric::Figure(Figure::Bf16)),
        Some(":training") => Some(Metric::Training),
        Some(rest) => rest.strip_prefix(':').and_then(figure).map(Metric::Figure),
        None => None,
    };
    if let Some(metric) = metric {
        return Ok(Perf::Measured(metric));
    }
    // What looks like a file is one; anything else is a word that nobody knows.
    let path = PathBuf::from(text);
    if path.extension().is_some() || path.components().count() > 1 || path.exists() {
        return Ok(Perf::File(path));
    }
    let names: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
    Err(format!(
        "the figures are {}, measured and measured:FIGURE; a file of your own has an extension, \
         such as perf.csv",
        names.join(", ")
    ))
}

fn pattern(text: &str) -> Result<Pattern, String> {
    match text.trim() {
        "" => Err("the name is empty".into()),
        name => Ok(Pattern::new(name)),
    }
}

/// Up to ten years.
fn hours(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|hours| (0.01..=87_600.0).contains(hours));
    number.ok_or_else(|| format!("`{text}` is no time; write hours from 0.01 to 87600"))
}

/// Up to a day.
fn minutes(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|minutes| (0.0..=1440.0).contains(minutes));
    number.ok_or_else(|| format!("`{text}` is no time; write minutes from 0 to 1440"))
}

/// What to do with results of benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchmarkCommand {
    /// Add results of examples/benchmark to your performance table, for `fleet compare --perf measured`
    Add {
        /// What the benchmark printed.
        #[arg(value_name = "RESULT.json", required = true)]
        files: Vec<PathBuf>,
        /// The machine type, where the result does not say it: p5en.48xlarge
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
    /// List the performance table
    List,
    /// Remove a result
    Remove {
        /// The number that `list` shows.
        #[arg(value_name = "N")]
        number: usize,
    },
}
