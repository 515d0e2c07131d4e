//! Types and prices.

use super::columns::{Columns, left, right};
use super::plan_json::OUTPUT_FORMAT;
use crate::style::{BOLD, DIM};
use crate::text::{self, clean_line, price};
use fleet_catalog::{Listed, Range, Shown};
use fleet_model::{Catalog, Cloud, InstanceKind, MicroUsd, Resources, Zone};
use serde_json::{Value, json};

fn accelerators(resources: &Resources) -> String {
    let Some(accelerators) = &resources.accelerators else { return String::new() };
    let count = fleet_model::Units(accelerators.count_milli.into());
    let name = accelerators.name.as_deref().unwrap_or("unnamed");
    format!("{count} × {}", clean_line(name))
}

fn gib(resources: &Resources) -> String {
    resources.memory_mib.map_or("?".into(), |mib| format!("{:.0}", mib as f64 / 1024.0))
}

fn vcpus(resources: &Resources) -> String {
    resources.vcpus.map_or("?".into(), |vcpus| vcpus.to_string())
}

fn lowest(range: Option<Range>) -> Option<MicroUsd> {
    range.map(|range| range.min)
}

/// A spot price; a dash where nothing is sold as spot.
fn spot(has_spot: bool, spot: Option<MicroUsd>) -> String {
    if has_spot { price(spot) } else { "–".into() }
}

/// Lines of a list, for people.
pub(crate) fn table(lines: &[Listed]) -> String {
    let mut table = Columns::default();
    let heads = [left("type"), left("cloud"), left("region"), right("zones"), right("vcpus")];
    let more = [right("GiB"), left("accelerators"), right("on-demand"), right("spot")];
    table.styled(DIM, heads.into_iter().chain(more));
    for line in lines {
        let resources = &line.kind.resources;
        table.row([
            left(clean_line(line.kind.name.as_str())),
            left(line.kind.cloud.as_str()),
            left(line.region.as_str()),
            right(line.zones.to_string()),
            right(vcpus(resources)),
            right(gib(resources)),
            left(accelerators(resources)),
            right(price(lowest(line.on_demand))),
            right(spot(line.has_spot, lowest(line.spot))),
        ]);
    }
    table.render("")
}

/// Lines of a list, for comments.
pub(crate) fn markdown(lines: &[Listed]) -> String {
    let mut out =
        String::from("| type | cloud | region | vcpus | GiB | accelerators | on-demand | spot |\n");
    out.push_str("|---|---|---|--:|--:|---|--:|--:|\n");
    for line in lines {
        let resources = &line.kind.resources;
        out.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |\n",
            clean_line(line.kind.name.as_str()).replace(['`', '|'], ""),
            line.kind.cloud,
            text::markdown(line.region.as_str()),
            vcpus(resources),
            gib(resources),
            text::markdown(&accelerators(resources)),
            price(lowest(line.on_demand)),
            spot(line.has_spot, lowest(line.spot)),
        ));
    }
    out
}

/// What a type has, in one line.
fn about(kind: &InstanceKind) -> String {
    let InstanceKind { cloud, name, resources } = kind;
    let mut out = format!(
        "{BOLD}{}{BOLD:#} on {cloud}: {} vcpus, {} GiB, {}",
        clean_line(name.as_str()),
        vcpus(resources),
        gib(resources),
        resources.architecture
    );
    if resources.accelerators.is_some() {
        out.push_str(&format!(", {}", accelerators(resources)));
    }
    if let Some(memory) = resources.accelerators.as_ref().and_then(|a| a.memory_mib) {
        out.push_str(&format!(" with {:.0} GiB each", memory as f64 / 1024.0));
    }
    if resources.local_disk == Some(true) {
        out.push_str(", local disk");
    }
    out
}

/// One type in every place.
pub(crate) fn show(shown: &Shown) -> String {
    let mut table = Columns::default();
    table.styled(DIM, [left("region"), left("zone"), right("on-demand"), right("spot")]);
    let mut last = None;
    for offer in &shown.offers {
        let region = offer.place.region.as_str();
        let zone = offer.place.zone.as_str();
        table.row([
            // A region is named once: the eye then sees where it ends.
            left(if last == Some(region) { "" } else { region }),
            left(if zone == Zone::REGIONAL { "" } else { zone }),
            right(price(offer.on_demand)),
            right(spot(offer.has_spot, offer.spot)),
        ]);
        last = Some(region);
    }
    format!("{}\n\n{}", about(&shown.kind), table.render("  "))
}

fn kind(kind: &InstanceKind) -> Value {
    let InstanceKind { cloud, name, resources } = kind;
    let cloud: Cloud = *cloud;
    let accelerators = resources.accelerators.as_ref().map(|a| {
        json!({
            "name": a.name,
            "count": f64::from(a.count_milli) / 1000.0,
            "memoryMiB": a.memory_mib,
            "maker": a.maker,
        })
    });
    json!({
        "type": name,
        "provider": cloud,
        "vcpus": resources.vcpus,
        "memoryMiB": resources.memory_mib,
        "architecture": resources.architecture,
        "accelerators": accelerators,
    })
}

fn range(range: Option<Range>) -> Value {
    range.map_or(
        Value::Null,
        |Range { min, max }| json!({ "min": min.as_f64(), "max": max.as_f64() }),
    )
}

fn document(catalog: &Catalog, offers: Vec<Value>) -> Value {
    json!({
        "formatVersion": OUTPUT_FORMAT,
        "source": catalog.source,
        "asOf": catalog.as_of,
        "offers": offers,
    })
}

/// Lines of a list, for programs.
pub(crate) fn list_json(catalog: &Catalog, lines: &[Listed]) -> Value {
    let one = |line: &Listed| {
        let more = json!({
            "region": line.region,
            "zones": line.zones,
            "onDemandUsdPerHour": range(line.on_demand),
            "spotUsdPerHour": range(line.spot),
            "hasSpot": line.has_spot,
        });
        super::plan_json::merge(kind(&line.kind), more)
    };
    document(catalog, lines.iter().map(one).collect())
}

/// One type, for programs.
pub(crate) fn show_json(catalog: &Catalog, shown: &Shown) -> Value {
    let one = |offer: &fleet_catalog::Offer| {
        json!({
            "region": offer.place.region,
            "zone": offer.place.zone,
            "onDemandUsdPerHour": offer.on_demand.map(|price| price.as_f64()),
            "spotUsdPerHour": offer.spot.map(|price| price.as_f64()),
            "hasSpot": offer.has_spot,
        })
    };
    let offers = shown.offers.iter().map(one).collect();
    super::plan_json::merge(document(catalog, offers), kind(&shown.kind))
}
