//! The documents of `fleet catalog`.

use super::bodies;
use super::words::{Architecture, Maker, Provider, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// Instance types and their prices, by region.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogList {
    /// Where the facts come from.
    pub source: String,
    /// How old the oldest of them are.
    pub as_of: Time,
    /// Every type in every region that matches, in the order asked for; `--limit` does not cut it.
    pub offers: Vec<ListedOffer>,
}

/// One instance type in every place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogShow {
    /// Where the facts come from.
    pub source: String,
    /// How old the oldest of them are.
    pub as_of: Time,
    /// The type.
    pub instance: Kind,
    /// Where it is sold.
    pub offers: Vec<ShownOffer>,
}

/// What an import read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogImport {
    /// The file of the catalog.
    pub file: String,
    /// How old the oldest facts are.
    pub as_of: Time,
    /// Lines read.
    pub lines: u64,
    /// Instance types.
    pub types: u64,
    /// Zones and regions.
    pub places: u64,
    /// Types in places.
    pub offers: u64,
}

/// What a refresh changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogRefresh {
    /// The file of the catalog.
    pub file: String,
    /// How old the oldest facts are.
    pub as_of: Time,
    /// Where the facts come from.
    pub source: String,
    /// Regions that were refreshed.
    pub regions: Vec<String>,
    /// Regions in which nothing was listed: kept as they were.
    pub unlisted_regions: Vec<String>,
    /// Offers read.
    pub offers: u32,
    /// Offers that are new.
    pub offers_new: u32,
    /// Offers that are gone.
    pub offers_gone: u32,
    /// Types that are new.
    pub types_new: u32,
    /// Types that changed.
    pub types_changed: u32,
    /// Places that are new.
    pub places_new: u32,
    /// On-demand prices that changed.
    pub on_demand_changed: u32,
    /// On-demand prices that could not be read, and stay.
    pub on_demand_kept: u32,
    /// Offers without an on-demand price.
    pub unpriced: u32,
    /// Spot prices that changed.
    pub spot_changed: u32,
    /// Spot prices that could not be read, and stay.
    pub spot_kept: u32,
}

bodies! {
    CatalogList: "catalog-list", "catalog list";
    CatalogShow: "catalog-show", "catalog show";
    CatalogImport: "catalog-import", "catalog import";
    CatalogRefresh: "catalog-refresh", "catalog refresh";
}

/// An instance type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kind {
    /// Its name.
    pub r#type: String,
    /// Its cloud.
    pub provider: Provider,
    /// Virtual processors.
    pub vcpus: Option<u32>,
    /// Memory.
    #[serde(rename = "memoryMiB")]
    pub memory_mib: Option<u64>,
    /// Its instruction set.
    pub architecture: Architecture,
    /// GPUs and their like; `null` without any.
    pub accelerators: Option<Accelerators>,
}

/// GPUs and their like.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accelerators {
    /// What they are called.
    pub name: Option<String>,
    /// How many; parts of one are possible.
    pub count: f64,
    /// Memory of each.
    #[serde(rename = "memoryMiB")]
    pub memory_mib: Option<u64>,
    /// Who makes them.
    pub maker: Option<Maker>,
}

/// A type in a region.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedOffer {
    #[serde(flatten)]
    pub kind: Kind,
    /// The region.
    pub region: String,
    /// In how many zones.
    pub zones: u64,
    /// On-demand price per hour, over the zones.
    pub on_demand_hourly_usd: Option<Range>,
    /// Spot price per hour, over the zones.
    pub spot_hourly_usd: Option<Range>,
    /// Whether it is sold as spot.
    pub has_spot: bool,
}

/// From the lowest to the highest.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

/// A type in a zone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownOffer {
    /// The region.
    pub region: String,
    /// The zone.
    pub zone: String,
    /// On-demand price per hour.
    pub on_demand_hourly_usd: Option<f64>,
    /// Spot price per hour.
    pub spot_hourly_usd: Option<f64>,
    /// Whether it is sold as spot.
    pub has_spot: bool,
}
