//! Fleets and machines that change names and hands.

use super::sim;
use clap::Args;
use fleet_model::Cloud;
use fleet_provider::TagFilter;
use std::path::PathBuf;
use std::time::Duration;

/// `fleet rename`.
#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// The name that the fleet has now
    #[arg(value_name = "OLD")]
    pub from: String,
    /// The name that it gets
    #[arg(value_name = "NEW")]
    pub to: String,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet release`.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The fleet that lets its machines go
    #[arg(value_name = "FLEET")]
    pub fleet: String,
    /// Only these machines, by slot or id: base-0,burst-3 [default: all of them]
    #[arg(long, value_name = "SLOT|ID", value_delimiter = ',')]
    pub machines: Vec<String>,
    /// Do not ask for the fleet's name
    #[arg(short, long)]
    pub yes: bool,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The fleet that takes machines in, or its spec
    #[arg(value_name = "SPEC|FLEET")]
    pub which: PathBuf,
    /// The cloud that they stand on
    #[arg(long, value_name = "CLOUD")]
    pub provider: Cloud,
    /// The tag (or label) that they carry: tag:team=research
    #[arg(long, value_name = "tag:KEY=VALUE", value_parser = filter)]
    pub filter: TagFilter,
    /// Only these regions [default: every region that the spec allows]
    #[arg(long, value_name = "REGION", value_delimiter = ',')]
    pub region: Vec<String>,
    /// Only list the machines, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub list: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `tag:KEY=VALUE`. The value may be empty and hold further `=`.
fn filter(text: &str) -> Result<TagFilter, String> {
    let said = text.strip_prefix("tag:").and_then(|tag| tag.split_once('='));
    match said {
        Some((key, value)) if !key.is_empty() => {
            Ok(TagFilter { key: key.to_owned(), value: value.to_owned() })
        }
        _ => Err("write tag:KEY=VALUE, such as tag:team=research".to_owned()),
    }
}
