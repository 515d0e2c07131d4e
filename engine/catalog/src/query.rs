//! Questions people ask of a catalog.

use fleet_model::{
    Architecture, Catalog, CatalogRow, Cloud, InstanceKind, Market, MicroUsd, Pattern, Place,
    Region, UnknownName,
};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

/// What to list. What is `None` does not narrow the list; what is not known of a type satisfies
/// no filter on it.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The accelerator's name: `H100`, `A100*`.
    pub gpu: Option<Pattern>,
    /// One cloud only.
    pub cloud: Option<Cloud>,
    /// The region's name.
    pub region: Option<Pattern>,
    /// The zone's name.
    pub zone: Option<Pattern>,
    /// The type's name.
    pub types: Option<Pattern>,
    /// The type's family, as a spec would name it: `p5`, `a3-highgpu`, `Standard_ND96`.
    pub family: Option<String>,
    /// The market: spot lists only what is sold as spot. Reservations are not in a catalog, so
    /// that reserved lists nothing.
    pub market: Option<Market>,
    /// At least so many vCPUs.
    pub min_vcpus: Option<u32>,
    /// At least so much memory.
    pub min_memory_gib: Option<u64>,
    /// The instruction set.
    pub architecture: Option<Architecture>,
    /// What comes first.
    pub sort: Sort,
    /// At most so many lines.
    pub limit: Option<usize>,
}

/// What comes first in a list. Unpriced comes last; ties are broken by cloud, type and region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// The lowest price in the market asked for, on-demand unless that is spot.
    #[default]
    Price,
    /// The lowest spot price.
    SpotPrice,
    /// The lowest price per accelerator, in the market asked for. Those without come last.
    PricePerGpu,
    /// Cloud and name.
    Name,
    /// Fewest vCPUs.
    Vcpus,
    /// Least memory.
    Memory,
}

impl Sort {
    /// Every order.
    pub const ALL: [Sort; 6] =
        [Sort::Price, Sort::SpotPrice, Sort::PricePerGpu, Sort::Name, Sort::Vcpus, Sort::Memory];

    /// The order's name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Sort::Price => "price",
            Sort::SpotPrice => "spot-price",
            Sort::PricePerGpu => "price-per-gpu",
            Sort::Name => "name",
            Sort::Vcpus => "vcpus",
            Sort::Memory => "memory",
        }
    }
}

impl FromStr for Sort {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Sort::ALL
            .into_iter()
            .find(|sort| sort.as_str() == text)
            .ok_or_else(|| UnknownName { what: "order", text: text.into() })
    }
}

/// The lowest and the highest price over some zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lowest.
    pub min: MicroUsd,
    /// The highest.
    pub max: MicroUsd,
}

impl Range {
    fn add(range: &mut Option<Range>, price: Option<MicroUsd>) {
        let Some(price) = price else { return };
        *range = Some(match *range {
            None => Range { min: price, max: price },
            Some(Range { min, max }) => Range { min: min.min(price), max: max.max(price) },
        });
    }
}

/// One type in one region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The type.
    pub kind: Arc<InstanceKind>,
    /// The region.
    pub region: Region,
    /// How many of its zones have it (and match).
    pub zones: usize,
    /// On-demand prices over those zones; `None`: unpriced.
    pub on_demand: Option<Range>,
    /// Spot prices over those zones; `None`: unpriced or not sold.
    pub spot: Option<Range>,
    /// Whether any of those zones sells it as spot.
    pub has_spot: bool,
}

impl Listed {
    /// The price of one accelerator at the lowest price in a market.
    pub fn per_gpu(&self, market: Market) -> Option<MicroUsd> {
        let range = match market {
            Market::OnDemand => self.on_demand,
            Market::Spot => self.spot,
            Market::Reserved => None,
        };
        let count = u64::from(self.kind.resources.accelerators.as_ref()?.count_milli);
        (range?.min * 1000).0.checked_div(count).map(MicroUsd)
    }
}

/// One line per type and region that the query matches.
pub fn list(catalog: &Catalog, query: &Query) -> Vec<Listed> {
    let wanted: Vec<bool> = catalog.kinds.iter().map(|kind| query.wants_kind(kind)).collect();
    let places: Vec<bool> = catalog.places.iter().map(|place| query.wants_place(place)).collect();
    let mut found: BTreeMap<(u32, &Region), Listed> = BTreeMap::new();
    for row in &catalog.rows {
        let is = |flags: &[bool], at: u32| flags.get(at as usize).copied().unwrap_or(false);
        if !is(&wanted, row.kind) || !is(&places, row.place) || !query.wants_row(row) {
            continue;
        }
        let region = &catalog.place(row).region;
        let listed = found.entry((row.kind, region)).or_insert_with(|| Listed {
            kind: Arc::clone(catalog.kind(row)),
            region: region.clone(),
            zones: 0,
            on_demand: None,
            spot: None,
            has_spot: false,
        });
        listed.zones += 1;
        Range::add(&mut listed.on_demand, row.on_demand);
        Range::add(&mut listed.spot, row.spot);
        listed.has_spot |= row.has_spot;
    }
    let mut lines: Vec<Listed> = found.into_values().collect();
    let market = query.market.unwrap_or(Market::OnDemand);
    let last = |key: Option<u64>| (key.is_none(), key);
    let lowest = |range: Option<Range>| last(range.map(|range| range.min.0));
    // The sort keeps the order of equals, which is that of cloud, name and region.
    match query.sort {
        Sort::Name => {}
        Sort::Price if market == Market::Spot => lines.sort_by_key(|line| lowest(line.spot)),
        Sort::Price => lines.sort_by_key(|line| lowest(line.on_demand)),
        Sort::SpotPrice => lines.sort_by_key(|line| lowest(line.spot)),
        Sort::PricePerGpu => {
            lines.sort_by_key(|line| last(line.per_gpu(market).map(|price| price.0)));
        }
        Sort::Vcpus => lines.sort_by_key(|line| last(line.kind.resources.vcpus.map(u64::from))),
        Sort::Memory => lines.sort_by_key(|line| last(line.kind.resources.memory_mib)),
    }
    lines.truncate(query.limit.unwrap_or(usize::MAX));
    lines
}

impl Query {
    fn wants_kind(&self, kind: &InstanceKind) -> bool {
        let has = &kind.resources;
        let accelerator = || has.accelerators.as_ref().and_then(|found| found.name.as_deref());
        matches(&self.types, kind.name.as_str())
            && self.cloud.is_none_or(|cloud| cloud == kind.cloud)
            && self.gpu.as_ref().is_none_or(|gpu| accelerator().is_some_and(|a| gpu.matches(a)))
            && self.family.as_ref().is_none_or(|family| kind.cloud.is_family(family, &kind.name))
            && self.min_vcpus.is_none_or(|min| has.vcpus.is_some_and(|vcpus| vcpus >= min))
            && self.min_memory_gib.is_none_or(|min| {
                has.memory_mib.is_some_and(|memory| memory >= min.saturating_mul(1024))
            })
            && self.architecture.is_none_or(|architecture| architecture == has.architecture)
    }

    fn wants_place(&self, place: &Place) -> bool {
        matches(&self.region, place.region.as_str()) && matches(&self.zone, place.zone.as_str())
    }

    fn wants_row(&self, row: &CatalogRow) -> bool {
        match self.market {
            None | Some(Market::OnDemand) => true,
            Some(Market::Spot) => row.has_spot,
            Some(Market::Reserved) => false,
        }
    }
}

fn matches(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small;

    fn check(query: Query, expect: &[&str]) {
        let lines = list(&small(), &query);
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{} {}", line.kind.name, line.region)).collect();
        assert_eq!(lines, expect, "{query:?}");
    }

    #[test]
    fn filters_narrow_and_unpriced_comes_last() {
        let query = Query::default;
        check(
            query(),
            &[
                "m6g.large us-east-1",
                "m5.large us-east-1",
                "m5.large us-west-2",
                "gpu_1x_a10 us-south-1",
                "a2-highgpu-1g us-central1",
                "p5.48xlarge us-east-1",
                "m6g.large us-west-2",
                "p5.48xlarge us-west-2",
            ],
        );
        check(
            Query { gpu: Some("h100".into()), ..query() },
            &["p5.48xlarge us-east-1", "p5.48xlarge us-west-2"],
        );
        check(
            Query { gpu: Some("*".into()), sort: Sort::PricePerGpu, limit: Some(3), ..query() },
            &["gpu_1x_a10 us-south-1", "a2-highgpu-1g us-central1", "p5.48xlarge us-east-1"],
        );
        check(
            Query {
                market: Some(Market::Spot),
                cloud: Some(Cloud::Aws),
                limit: Some(2),
                ..query()
            },
            &["m6g.large us-west-2", "m5.large us-east-1"],
        );
        check(Query { market: Some(Market::Reserved), ..query() }, &[]);
        check(Query { zone: Some("use1-atl*".into()), ..query() }, &["m5.large us-east-1"]);
        check(
            Query {
                architecture: Some(Architecture::Arm64),
                region: Some("us-w*".into()),
                ..query()
            },
            &["m6g.large us-west-2"],
        );
        check(
            Query { min_vcpus: Some(20), sort: Sort::Vcpus, limit: Some(1), ..query() },
            &["gpu_1x_a10 us-south-1"],
        );
        check(
            Query { min_memory_gib: Some(48), family: Some("a2-highgpu".into()), ..query() },
            &["a2-highgpu-1g us-central1"],
        );
        check(Query { min_memory_gib: Some(u64::MAX), ..query() }, &[]);
    }

    #[test]
    fn orders_have_names() {
        for sort in Sort::ALL {
            assert_eq!(sort.as_str().parse(), Ok(sort));
        }
        assert!("best".parse::<Sort>().is_err());
    }

    #[test]
    fn zones_are_gathered() {
        let lines = list(&small(), &Query { types: Some("m5.*".into()), ..Query::default() });
        let east = &lines[0];
        assert_eq!(east.zones, 3);
        let range = |min, max| Some(Range { min: MicroUsd(min), max: MicroUsd(max) });
        assert_eq!(east.on_demand, range(96_000, 120_000));
        assert_eq!(east.spot, range(38_400, 41_200));
        assert_eq!(east.per_gpu(Market::OnDemand), None);
    }
}
