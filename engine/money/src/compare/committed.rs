//! Prices of commitments, as users know them: no catalog has them, because they are made in contracts.

use super::pick::{Picked, Wanted, accelerator_name};
use crate::bill::lines::Counted;
use crate::performance::TableError;
use fleet_model::{Catalog, Cloud, InstanceType, Market, MicroUsd};
use jiff::civil::Date;
use std::sync::Arc;

/// Columns that a file must have, and those that it may have.
const MUST: [&str; 4] = ["provider", "region", "type", "usdPerHour"];
const HINT: &str =
    "the first row is provider,region,type,usdPerHour, and term,until,source where known";

/// The price of one machine under a commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The cloud.
    pub cloud: Cloud,
    /// The region.
    pub region: String,
    /// The type.
    pub instance_type: InstanceType,
    /// What one machine costs an hour, used or not, with what is paid up front spread over the term.
    pub hourly: MicroUsd,
    /// For how long, and how it is paid, in the user's words.
    pub term: Option<String>,
    /// The first day on which it no longer covers.
    pub until: Option<Date>,
    /// Who says so.
    pub source: Option<String>,
    /// The line of the file.
    pub line: usize,
}

/// Reads a file of prices.
pub fn offers(text: &str) -> Result<Vec<Offer>, TableError> {
    // Comments become blank lines: the others keep their numbers.
    let kept = |line: &str| !line.trim_start().starts_with('#');
    let text: Vec<&str> = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(|line| if kept(line) { line } else { "" })
        .collect();
    let text = text.join("\n");
    let (file, lines) = Counted::new(text.as_bytes());
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(file);
    let bad = |line: usize, what: String| TableError { line, what, hint: HINT };
    let line_of = |at: &csv::Position| lines.of(at.byte()).unwrap_or(at.line()) as usize;
    let broken = |error: csv::Error| bad(error.position().map_or(1, line_of), error.to_string());
    let heads = reader.headers().map_err(broken)?.clone();
    let column = |name: &str| heads.iter().position(|head| head.eq_ignore_ascii_case(name));
    if let Some(missing) = MUST.iter().find(|name| column(name).is_none()) {
        return Err(bad(1, format!("there is no column `{missing}`")));
    }
    let mut offers = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(1, line_of);
        let cell =
            |name: &str| column(name).and_then(|at| record.get(at)).filter(|text| !text.is_empty());
        let must = |name: &str| cell(name).ok_or_else(|| bad(line, format!("`{name}` is empty")));
        let cloud: Cloud =
            must("provider")?.parse().map_err(|error| bad(line, format!("{error}")))?;
        let price = must("usdPerHour")?;
        let hourly = price.parse().ok().and_then(MicroUsd::from_f64).filter(|price| price.0 > 0);
        let no_price = || bad(line, format!("`{price}` is no price: write dollars above 0"));
        let until = cell("until").map(|text| {
            let no_day = |_| bad(line, format!("`{text}` is no day: write 2027-03-01"));
            text.parse::<Date>().map_err(no_day)
        });
        offers.push(Offer {
            cloud,
            region: must("region")?.to_owned(),
            instance_type: must("type")?.into(),
            hourly: hourly.ok_or_else(no_price)?,
            term: cell("term").map(str::to_owned),
            until: until.transpose()?,
            source: cell("source").map(str::to_owned),
            line,
        });
    }
    if offers.is_empty() {
        return Err(bad(1, "the file has no rows".into()));
    }
    Ok(offers)
}

/// Machines at prices of commitments that are looked for, and offers that no machine of the catalog is meant by.
pub fn pick_committed<'a>(
    catalog: &Catalog,
    wanted: &Wanted,
    offers: &'a [Offer],
) -> (Vec<Picked>, Vec<&'a Offer>) {
    let mut picked = Vec::new();
    let mut unknown = Vec::new();
    for offer in offers {
        let is_it = |row: &&fleet_model::CatalogRow| {
            let (kind, place) = (catalog.kind(row), catalog.place(row));
            place.cloud == offer.cloud
                && kind.name == offer.instance_type
                && place.region.name() == offer.region
        };
        let mut rows = catalog.rows.iter().filter(is_it).peekable();
        if rows.peek().is_none() {
            unknown.push(offer);
        }
        // Of a region, any zone that is looked at will do: they cost the same.
        let asked = |row: &&fleet_model::CatalogRow| {
            wanted.names(catalog.kind(row)) && wanted.allows(catalog.place(row))
        };
        let Some(row) = rows.find(asked) else { continue };
        let (kind, place) = (catalog.kind(row), catalog.place(row));
        let (Some(name), Some(per_node)) = (accelerator_name(kind), wanted.per_node(kind)) else {
            continue;
        };
        let has = kind.resources.accelerators.as_ref().map_or(0, |has| has.count_milli);
        let machines = per_node.saturating_mul(wanted.nodes);
        picked.push(Picked {
            accelerator: name.to_owned(),
            kind: Arc::clone(kind),
            place: place.clone(),
            market: Market::Reserved,
            machines,
            per_node,
            accelerators_milli: u64::from(has) * u64::from(machines),
            each: offer.hourly,
            offer: Some(Arc::new(offer.clone())),
        });
    }
    (picked, unknown)
}
