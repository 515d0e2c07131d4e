//! `fleet catalog …`.

use clap::{Args, Subcommand, ValueEnum};
use fleet_model::{Cloud, Pattern};
use std::path::PathBuf;

/// What to do with the catalog.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Read a folder of price lists and keep it for every later command
    Import {
        /// The folder with the CSV files.
        dir: PathBuf,
    },
    /// List types, one line per type and region
    List(ListArgs),
    /// Show one type in every place
    Show {
        /// The cloud's name for the type: p5.48xlarge
        #[arg(value_name = "TYPE")]
        name: String,
    },
}

/// `fleet catalog list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only with this accelerator: H100, 'A100*'
    #[arg(long, value_name = "NAME", value_parser = pattern)]
    pub gpu: Option<Pattern>,
    /// Only on this cloud
    #[arg(long, value_name = "CLOUD")]
    pub provider: Option<Cloud>,
    /// Only in regions like this: us-east-1, 'us-*'
    #[arg(long, value_name = "REGION", value_parser = pattern)]
    pub region: Option<Pattern>,
    /// Only types like this: 'p5.*', or of this family: p5
    #[arg(long = "type", value_name = "TYPE", value_parser = pattern)]
    pub kind: Option<Pattern>,
    /// With at least so many vCPUs
    #[arg(long, value_name = "N")]
    pub min_vcpus: Option<u32>,
    /// In what order
    #[arg(long, value_enum, default_value_t = Sort::Name)]
    pub sort: Sort,
    /// How many lines; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40)]
    pub limit: usize,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// By cloud, region and type.
    Name,
    /// By on-demand price, cheapest first, unpriced last.
    Price,
    /// By spot price, cheapest first, unpriced last.
    Spot,
    /// By on-demand price per accelerator.
    PricePerGpu,
}

fn pattern(text: &str) -> Result<Pattern, std::convert::Infallible> {
    Ok(Pattern::new(text))
}
