//! Writing the snapshot's text.

use super::HEADER;
use super::choose::chosen;
use fleet_model::{Catalog, CatalogRow, Cloud, InstanceKind, MicroUsd, Region, Timestamp, Zone};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the embedded facts come from.
pub const SNAPSHOT_SOURCE: &str = "SkyPilot catalog v7 (AWS) and v8 (GCP, Azure, Lambda)";

/// The folders of lists that the snapshot is made of, below the folder of shared data.
pub const SNAPSHOT_LISTS: [&str; 2] = ["catalog", "catalog-azure-world"];

/// What else there is to say of a cloud's facts, for whoever reads the file.
fn note(cloud: Cloud) -> Option<&'static str> {
    match cloud {
        Cloud::Azure => Some(
            "# Regions outside the US: on-demand prices of Azure/karpenter-provider-azure \
             (Apache-2.0), 2026-06-18; spot prices not known",
        ),
        Cloud::Aws | Cloud::Gcp | Cloud::Lambda => None,
    }
}

/// When the embedded facts were true: August 2026.
pub fn snapshot_as_of() -> Timestamp {
    // 2026-08-01T00:00:00Z
    Timestamp::from_second(1_785_542_400).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Labels of a region's zones.
type Labels<'a> = BTreeMap<&'a Zone, char>;

/// The snapshot of a catalog, one text per cloud. The types that most fleets are made of are
/// chosen; all their places and prices are kept. Text has no room for writing to fail.
pub fn write_snapshot(catalog: &Catalog) -> Vec<(Cloud, String)> {
    Cloud::ALL.into_iter().map(|cloud| (cloud, cloud_text(catalog, cloud))).collect()
}

fn cloud_text(catalog: &Catalog, cloud: Cloud) -> String {
    let mut by_kind: BTreeMap<u32, Vec<&CatalogRow>> = BTreeMap::new();
    let mut regions: BTreeMap<&Region, Labels<'_>> = BTreeMap::new();
    for row in &catalog.rows {
        let kind = catalog.kind(row);
        if kind.cloud == cloud && chosen(kind) {
            by_kind.entry(row.kind).or_default().push(row);
            let place = catalog.place(row);
            regions.entry(&place.region).or_default().insert(&place.zone, ' ');
        }
    }
    let mut text = format!("{HEADER}\nsource {}\nas-of {}\n\n", catalog.source, catalog.as_of);
    if let Some(note) = note(cloud) {
        let _ = writeln!(text, "{note}");
    }
    let _ = writeln!(text, "cloud {cloud}");
    for (region, zones) in &mut regions {
        label(zones);
        let _ = write!(text, "region {region}");
        for (zone, label) in zones {
            let _ = write!(text, " {label}={zone}");
        }
        text.push('\n');
    }
    for rows in by_kind.values() {
        if let Some(first) = rows.first() {
            text.push('\n');
            write_kind(&mut text, catalog.kind(first));
            write_offers(&mut text, catalog, rows, &regions);
        }
    }
    text
}

/// A zone's last character where that is free: `f` of `us-central1-f`, `4` of `use1-az4`.
fn label(zones: &mut Labels<'_>) {
    let mut taken = String::new();
    // Short names first, so that local zones do not take the labels of the region's own.
    let mut order: Vec<&Zone> = zones.keys().copied().collect();
    order.sort_by_key(|zone| (zone.as_str().len(), *zone));
    for zone in order {
        let own =
            if zone.as_str() == Zone::REGIONAL { Some('*') } else { zone.as_str().chars().last() };
        let label = own
            .into_iter()
            .chain('a'..='z')
            .chain('A'..='Z')
            .find(|label| {
                !taken.contains(*label) && (label.is_ascii_alphanumeric() || *label == '*')
            })
            .unwrap_or('?');
        taken.push(label);
        zones.insert(zone, label);
    }
}

fn write_kind(text: &mut String, kind: &InstanceKind) {
    let resources = &kind.resources;
    let _ = write!(text, "type {}", kind.name);
    let mut say = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(text, " {key}={value}");
        }
    };
    say("vcpus", resources.vcpus.map(|n| n.to_string()));
    say("memory-mib", resources.memory_mib.map(|n| n.to_string()));
    say("arch", Some(resources.architecture.to_string()));
    say("disk", resources.local_disk.map(|yes| if yes { "yes" } else { "no" }.to_owned()));
    say("generation", resources.generation.map(|n| n.to_string()));
    if let Some(accelerators) = &resources.accelerators {
        say("count", Some(count(accelerators.count_milli)));
        say("accelerator", accelerators.name.as_ref().map(|name| name.replace(' ', "_")));
        say("accelerator-mib", accelerators.memory_mib.map(|n| n.to_string()));
        say("maker", accelerators.maker.map(|maker| maker.to_string()));
    }
    text.push('\n');
}

/// A line per region and on-demand price.
fn write_offers(
    text: &mut String,
    catalog: &Catalog,
    rows: &[&CatalogRow],
    regions: &BTreeMap<&Region, Labels<'_>>,
) {
    // Region, on-demand price, spot: the labels of the zones that share all three.
    let mut lines: BTreeMap<(&Region, Option<MicroUsd>), BTreeMap<Spot, String>> = BTreeMap::new();
    for row in rows {
        let place = catalog.place(row);
        let label = regions.get(&place.region).and_then(|zones| zones.get(&place.zone));
        let spot = if row.has_spot { Spot::Sold(row.spot) } else { Spot::NotSold };
        let line = lines.entry((&place.region, row.on_demand)).or_default();
        line.entry(spot).or_default().extend(label);
    }
    for ((region, on_demand), groups) in lines {
        let _ = write!(text, " {region} {}", price(on_demand));
        let mut groups: Vec<(String, Spot)> =
            groups.into_iter().map(|(spot, labels)| (labels, spot)).collect();
        groups.sort();
        for (labels, spot) in groups {
            let _ = match spot {
                Spot::NotSold => write!(text, " {labels}"),
                Spot::Sold(spot) => write!(text, " {labels}={}", price(spot)),
            };
        }
        text.push('\n');
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    NotSold,
    Sold(Option<MicroUsd>),
}

/// Dollars with as many decimals as are needed, six at most.
fn price(price: Option<MicroUsd>) -> String {
    match price {
        None => "-".to_owned(),
        Some(MicroUsd(micros)) => decimal(micros, 6),
    }
}

/// Thousandths as a decimal number.
fn count(milli: u32) -> String {
    decimal(milli.into(), 3)
}

fn decimal(number: u64, places: usize) -> String {
    let one = 10_u64.pow(u32::try_from(places).unwrap_or(0));
    let fraction = format!("{:0places$}", number % one);
    let fraction = fraction.trim_end_matches('0');
    match fraction {
        "" => (number / one).to_string(),
        _ => format!("{}.{fraction}", number / one),
    }
}
