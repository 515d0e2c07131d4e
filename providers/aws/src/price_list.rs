//! What EC2 sells where and for how much: types, the zones that have them, on-demand prices from
//! the price list and spot prices of this moment.
//!
//! The price list is a service of its own, with a right of its own. Where it does not answer, types
//! and spot prices are still worth having: prices are then unknown, which is not free.

use crate::error::{Asked, read, refused};
use crate::prices::{self, Prices};
use crate::session::{ANY_REGION, Session, Site};
use aws_sdk_ec2::operation::describe_instance_type_offerings::builders::DescribeInstanceTypeOfferingsInputBuilder;
use aws_sdk_ec2::operation::describe_instance_types::builders::DescribeInstanceTypesInputBuilder;
use aws_sdk_ec2::types::{
    ArchitectureType, InstanceTypeInfo, InstanceTypeOffering, LocationType, UsageClassType,
};
use aws_sdk_pricing::types::{Filter, FilterType};
use fleet_model::{
    Accelerators, Architecture, AwsName, Cloud, InstanceKind, InstanceType, MicroUsd, Pattern,
    Place, Region, Resources, Timestamp, Zone,
};
use fleet_provider::{Class, Error, Listed};
use futures::{StreamExt, stream};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Regions asked at once.
const REGIONS_AT_ONCE: usize = 4;

/// Types per page; EC2 takes no more.
const TYPES: i32 = 100;

/// Offerings per page.
const OFFERINGS: i32 = 1000;

/// Far more than there are.
const PAGES: usize = 500;

/// Everything that is sold in the regions that match.
pub(crate) async fn all(
    session: &Session,
    wanted: &[Pattern],
    now: Timestamp,
) -> Result<Vec<Listed>, Error> {
    let regions = regions(session, wanted).await?;
    let answers: Vec<(String, Result<Vec<Listed>, Error>)> = stream::iter(regions)
        .map(|region| async move {
            let answer = in_region(session, &region, now).await;
            (region, answer)
        })
        .buffer_unordered(REGIONS_AT_ONCE)
        .collect()
        .await;
    let (mut listed, mut failed) = (Vec::new(), None);
    for (region, answer) in answers {
        match answer {
            Ok(here) => listed.extend(here),
            // One silent region must not keep the others from being listed.
            Err(error) => {
                tracing::warn!(%region, %error, "not listed");
                failed = Some(error);
            }
        }
    }
    match failed {
        Some(error) if listed.is_empty() => Err(error),
        _ => {
            listed.sort_by(|a, b| (&a.place, &a.kind.name).cmp(&(&b.place, &b.kind.name)));
            Ok(listed)
        }
    }
}

/// The regions that this account can use and somebody asked for.
async fn regions(session: &Session, wanted: &[Pattern]) -> Result<Vec<String>, Error> {
    let site = session.site(&ANY_REGION.into()).await;
    // Without `all_regions` EC2 leaves out those that the account has not opted in to. Some
    // emulators list them all the same.
    let answer = site.ec2.describe_regions().send().await;
    let answer = answer.map_err(|error| read(Asked::Read, error))?;
    let open = answer.regions().iter().filter(|r| r.opt_in_status() != Some("not-opted-in"));
    let names = open.filter_map(|region| region.region_name()).map(str::to_owned);
    let asked = |name: &String| wanted.is_empty() || wanted.iter().any(|w| w.matches(name));
    let names: Vec<String> = names.filter(asked).collect();
    if names.is_empty() {
        let words = "no region that this account can use matches";
        return Err(refused(Class::Invalid, "NoSuchRegion", words));
    }
    Ok(names)
}

async fn in_region(session: &Session, region: &str, now: Timestamp) -> Result<Vec<Listed>, Error> {
    let site = session.site(&region.into()).await;
    let kinds = kinds(&site).await?;
    let sold = zonal(&site).await?;
    let names: BTreeSet<&InstanceType> = kinds.keys().collect();
    let spot = prices::spot_prices(&site, &names, false, now).await.unwrap_or_else(|error| {
        tracing::warn!(%region, %error, "no spot prices");
        BTreeMap::new()
    });
    let on_demand = on_demand(session, region).await.unwrap_or_else(|error| {
        tracing::warn!(%region, %error, "no on-demand prices; those of the catalog stand");
        BTreeMap::new()
    });
    Ok(join(&Region::from(region), &kinds, &sold, &on_demand, &spot))
}

/// One line per type and zone.
fn join(
    region: &Region,
    kinds: &BTreeMap<InstanceType, (InstanceKind, bool)>,
    sold: &BTreeSet<(InstanceType, Zone)>,
    on_demand: &BTreeMap<InstanceType, MicroUsd>,
    spot: &Prices,
) -> Vec<Listed> {
    let line = |(name, zone): &(InstanceType, Zone)| {
        let (kind, has_spot) = kinds.get(name)?;
        let place = Place { cloud: Cloud::Aws, region: region.clone(), zone: zone.clone() };
        // Local zones have prices of their own, which are not the region's.
        let regional = !place.needs_opt_in();
        let price =
            spot.get(&(name.clone(), zone.clone())).map(|level| level.price).filter(|_| *has_spot);
        Some(Listed {
            kind: kind.clone(),
            on_demand: on_demand.get(name).copied().filter(|_| regional),
            spot: price.filter(|price| price.0 > 0),
            has_spot: *has_spot,
            place,
        })
    };
    sold.iter().filter_map(line).collect()
}

/// Every type of a region, and whether it is sold as spot.
async fn kinds(site: &Site) -> Result<BTreeMap<InstanceType, (InstanceKind, bool)>, Error> {
    let asked = DescribeInstanceTypesInputBuilder::default().max_results(TYPES);
    let mut kinds = BTreeMap::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        for info in answer.instance_types() {
            if let Some(kind) = kind(info) {
                let spot = info.supported_usage_classes().contains(&UsageClassType::Spot);
                kinds.insert(kind.name.clone(), (kind, spot));
            }
        }
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(kinds);
        }
    }
    Err(endless("types"))
}

/// Which types each zone has.
async fn zonal(site: &Site) -> Result<BTreeSet<(InstanceType, Zone)>, Error> {
    let asked = DescribeInstanceTypeOfferingsInputBuilder::default()
        .location_type(LocationType::AvailabilityZoneId)
        .max_results(OFFERINGS);
    let mut sold = BTreeSet::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        let pair = |offering: &InstanceTypeOffering| {
            let zone = Zone::from(offering.location()?);
            Some((InstanceType::from(offering.instance_type()?.as_str()), zone))
        };
        sold.extend(answer.instance_type_offerings().iter().filter_map(pair));
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(sold);
        }
    }
    Err(endless("offerings"))
}

fn endless(what: &str) -> Error {
    let words = format!("the list of {what} has no end");
    refused(Class::Retry { after: None }, "EndlessList", words)
}

/// A type in our words: the same as an import would give, where both know it.
fn kind(info: &InstanceTypeInfo) -> Option<InstanceKind> {
    let name = info.instance_type()?.as_str();
    let parts = AwsName::of(name);
    let processor = info.processor_info().map(|p| p.supported_architectures()).unwrap_or_default();
    let is_arm = |a: &ArchitectureType| a.as_str().starts_with("arm64");
    let architecture = match processor {
        [] => parts.architecture(),
        some if some.iter().any(is_arm) => Architecture::Arm64,
        _ => Architecture::X86_64,
    };
    let stated = accelerators(info).or_else(|| parts.accelerators());
    let unsure = || parts.is_accelerated().then(Accelerators::unknown);
    let vcpus = info.v_cpu_info().and_then(|cpus| cpus.default_v_cpus());
    let memory = info.memory_info().and_then(|memory| memory.size_in_mib());
    Some(InstanceKind {
        cloud: Cloud::Aws,
        name: name.into(),
        resources: Resources {
            vcpus: vcpus.and_then(|n| u32::try_from(n).ok()),
            memory_mib: memory.and_then(|n| u64::try_from(n).ok()),
            architecture,
            accelerators: stated.or_else(unsure),
            local_disk: info.instance_storage_supported().or_else(|| parts.local_disk()),
            generation: parts.generation(),
        },
    })
}

/// GPUs, else chips for inference and training, else whatever else accelerates.
fn accelerators(info: &InstanceTypeInfo) -> Option<Accelerators> {
    let milli = |count: Option<i32>| {
        u32::try_from(count?).ok().filter(|n| *n > 0).and_then(|n| n.checked_mul(1000))
    };
    let gpus = info.gpu_info().map(|gpus| gpus.gpus()).unwrap_or_default();
    if let Some(gpu) = gpus.first() {
        let memory = gpu.memory_info().and_then(|memory| memory.size_in_mib());
        let part = gpu.gpu_partition_size().filter(|part| *part > 0.0 && *part < 1.0);
        let count = match part {
            // A part of a GPU: an eighth, with an eighth of its memory.
            Some(part) => {
                let parts = f64::from(gpu.logical_gpu_count().unwrap_or(1));
                (part * parts * 1000.0).round() as u32
            }
            None => milli(gpu.count()).or_else(|| milli(gpu.logical_gpu_count()))?,
        };
        let whole = memory.filter(|_| part.is_none()).and_then(|mib| u64::try_from(mib).ok());
        let name = match whole {
            Some(memory) => Accelerators::of_memory(gpu.name()?, memory),
            None => gpu.name()?,
        };
        return Some(Accelerators::named(name, count));
    }
    let neurons = info.neuron_info().map(|neuron| neuron.neuron_devices()).unwrap_or_default();
    let neurons = neurons.iter().map(|device| (device.name(), device.count()));
    let inference = info.inference_accelerator_info().map(|i| i.accelerators());
    let inference = inference.unwrap_or_default().iter().map(|d| (d.name(), d.count()));
    let fpgas = info.fpga_info().map(|fpgas| fpgas.fpgas()).unwrap_or_default();
    let fpgas = fpgas.iter().map(|device| (device.name(), device.count()));
    let media = info.media_accelerator_info().map(|media| media.accelerators());
    let media = media.unwrap_or_default().iter().map(|d| (d.name(), d.count()));
    let (name, count) = neurons.chain(inference).chain(fpgas).chain(media).next()?;
    Some(Accelerators::named(name?, milli(count)?))
}

/// Linux on shared hardware, without software that costs extra: what the catalog's prices are for.
const PRODUCT: [(&str, &str); 5] = [
    ("operatingSystem", "Linux"),
    ("tenancy", "Shared"),
    ("preInstalledSw", "NA"),
    ("capacitystatus", "Used"),
    ("locationType", "AWS Region"),
];

/// On-demand prices of a region.
async fn on_demand(
    session: &Session,
    region: &str,
) -> Result<BTreeMap<InstanceType, MicroUsd>, Error> {
    let client = session.pricing().await;
    let filter = |(field, value): (&str, &str)| {
        let filter = Filter::builder().r#type(FilterType::TermMatch).field(field).value(value);
        filter.build().map_err(|e| refused(Class::Invalid, "BadFilter", e.to_string()))
    };
    let filters: Vec<Filter> = PRODUCT
        .into_iter()
        .chain([("regionCode", region)])
        .map(filter)
        .collect::<Result<_, _>>()?;
    let mut prices = BTreeMap::new();
    let mut page = None;
    for _ in 0..PAGES {
        let asked = client.get_products().service_code("AmazonEC2");
        let asked = asked.set_filters(Some(filters.clone())).set_next_token(page);
        let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
        for (name, price) in answer.price_list().iter().filter_map(|text| product(text)) {
            // Of two prices the dearer: a plan may turn out cheaper than it said, not dearer.
            let entry = prices.entry(name).or_insert(price);
            *entry = price.max(*entry);
        }
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(prices);
        }
    }
    Err(endless("prices"))
}

/// The part of the price list's documents that we read.
#[derive(Deserialize)]
struct Document {
    product: Product,
    terms: Terms,
}

#[derive(Deserialize)]
struct Product {
    attributes: Attributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    instance_type: String,
}

#[derive(Deserialize)]
struct Terms {
    #[serde(rename = "OnDemand", default)]
    on_demand: BTreeMap<String, Term>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    price_dimensions: BTreeMap<String, Dimension>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    unit: String,
    price_per_unit: BTreeMap<String, String>,
}

/// The hourly price in one document of the price list. A price of nothing is none.
fn product(text: &str) -> Option<(InstanceType, MicroUsd)> {
    let Document { product, terms } = serde_json::from_str(text).ok()?;
    let prices = terms.on_demand.values().flat_map(|term| term.price_dimensions.values());
    let hourly = prices.filter(|dimension| dimension.unit == "Hrs");
    let dollars = hourly.filter_map(|dimension| dimension.price_per_unit.get("USD"));
    let price = dollars.filter_map(|text| text.parse::<MicroUsd>().ok()).max();
    let price = price.filter(|price| price.0 > 0)?;
    Some((product.attributes.instance_type.as_str().into(), price))
}

#[cfg(test)]
#[path = "price_list_tests.rs"]
mod tests;
