//! `fleet catalog …`.

use clap::{Args, Subcommand};
use fleet_catalog::Sort;
use fleet_model::{Cloud, Market, Pattern};
use std::path::PathBuf;

/// What to do with the catalog.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Import a folder of price lists, for all later commands
    Import {
        /// The folder with the CSV files.
        dir: PathBuf,
    },
    /// Ask a cloud for its current types and prices, and store them in the catalog
    Refresh(RefreshArgs),
    /// List types, one line per type and region
    List(ListArgs),
    /// Show one type in every place
    Show {
        /// The cloud's name for the type: p5.48xlarge
        #[arg(value_name = "TYPE")]
        name: String,
    },
}

/// `fleet catalog refresh`.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// The cloud to ask
    #[arg(long, value_name = "CLOUD")]
    pub provider: Cloud,
    /// Only regions like this: us-east-1, 'us-*' [default: all that the account can use]
    #[arg(long, value_name = "REGION", value_parser = pattern)]
    pub region: Vec<Pattern>,
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
    /// Only types like this: p5.48xlarge, 'p5.*'
    #[arg(long = "type", value_name = "TYPE", value_parser = pattern)]
    pub kind: Option<Pattern>,
    /// Only types of this family: p5, a3-highgpu, Standard_ND96
    #[arg(long, value_name = "FAMILY")]
    pub family: Option<String>,
    /// Only what is sold in this market: on-demand or spot
    #[arg(long, value_name = "MARKET")]
    pub market: Option<Market>,
    /// At least this many vCPUs
    #[arg(long, value_name = "N")]
    pub min_vcpus: Option<u32>,
    /// At least this much memory
    #[arg(long, value_name = "GIB")]
    pub min_memory_gib: Option<u64>,
    /// Order: price, spot-price, price-per-gpu, name, vcpus, memory
    #[arg(long, value_name = "ORDER", default_value = "price", value_parser = order)]
    pub sort: Sort,
    /// How many lines; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40)]
    pub limit: usize,
}

fn order(text: &str) -> Result<Sort, String> {
    text.parse().map_err(|_| format!("the orders are {}", Sort::ALL.map(Sort::as_str).join(", ")))
}

fn pattern(text: &str) -> Result<Pattern, std::convert::Infallible> {
    Ok(Pattern::new(text))
}
