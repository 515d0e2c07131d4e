//! Types and prices.

use super::columns::{Columns, left, right};
use crate::output::catalog::{self as output, CatalogList, CatalogShow, ListedOffer, ShownOffer};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM};
use crate::text::{self, clean_line, price};
use fleet_catalog::{Listed, Range, Shown};
use fleet_model::{Catalog, InstanceKind, MicroUsd, Resources, Zone};

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
    let mut table = Columns::without(&["zones", "GiB", "vcpus", "cloud", "accelerators"]);
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

fn kind(kind: &InstanceKind) -> output::Kind {
    let InstanceKind { cloud, name, resources } = kind;
    let accelerators = |a: &fleet_model::Accelerators| output::Accelerators {
        name: a.name.as_ref().map(ToString::to_string),
        count: f64::from(a.count_milli) / 1000.0,
        memory_mib: a.memory_mib,
        maker: a.maker.map(Into::into),
    };
    output::Kind {
        r#type: name.to_string(),
        provider: (*cloud).into(),
        vcpus: resources.vcpus,
        memory_mib: resources.memory_mib,
        architecture: resources.architecture.into(),
        accelerators: resources.accelerators.as_ref().map(accelerators),
    }
}

/// Lines of a list, for programs.
pub(crate) fn list_document(catalog: &Catalog, lines: &[Listed]) -> CatalogList {
    let range = |Range { min, max }: Range| output::Range { min: usd(min), max: usd(max) };
    let one = |line: &Listed| ListedOffer {
        kind: kind(&line.kind),
        region: line.region.to_string(),
        zones: line.zones as u64,
        on_demand_hourly_usd: line.on_demand.map(range),
        spot_hourly_usd: line.spot.map(range),
        has_spot: line.has_spot,
    };
    CatalogList {
        source: catalog.source.to_string(),
        as_of: Time(catalog.as_of),
        offers: lines.iter().map(one).collect(),
    }
}

/// One type, for programs.
pub(crate) fn show_document(catalog: &Catalog, shown: &Shown) -> CatalogShow {
    let one = |offer: &fleet_catalog::Offer| ShownOffer {
        region: offer.place.region.to_string(),
        zone: offer.place.zone.to_string(),
        on_demand_hourly_usd: offer.on_demand.map(usd),
        spot_hourly_usd: offer.spot.map(usd),
        has_spot: offer.has_spot,
    };
    CatalogShow {
        source: catalog.source.to_string(),
        as_of: Time(catalog.as_of),
        instance: kind(&shown.kind),
        offers: shown.offers.iter().map(one).collect(),
    }
}
