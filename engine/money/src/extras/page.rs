//! The tables as a page of the documentation.

use super::Source;
use super::disk::Billed;
use super::traffic::{Band, From, To};
use super::{RULES, Until, address, disk, traffic};
use fleet_model::{Cloud, MicroUsd, thousands};

/// Every price, with its source.
pub fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    out.push_str("\n## Boot disks\n\n");
    out.push_str(
        "| cloud | kind | price | exact in | besides | source |\n|---|---|---|---|---|---|\n",
    );
    for row in &disk::ROWS {
        let price = match row.billed {
            Billed::PerGib(0) => "nothing".to_owned(),
            Billed::PerGib(each) => format!("{} per GiB and month", MicroUsd(each)),
            Billed::Tiers(tiers) => {
                let one = |(gib, price): &(u32, u64)| {
                    format!("{} GiB {}", thousands(u64::from(*gib)), MicroUsd(*price))
                };
                format!("a month, up to: {}", tiers.iter().map(one).collect::<Vec<_>>().join(", "))
            }
            Billed::Unknown => "not known".to_owned(),
        };
        out.push_str(&line([
            row.cloud.as_str(),
            &format!("`{}`", row.kind),
            &price,
            &if matches!(row.billed, Billed::Unknown) { "–".into() } else { exact(row.holds_in) },
            row.besides,
            &cited(row.source),
        ]));
    }
    out.push_str("\n## Public IPv4 addresses\n\n");
    out.push_str("| cloud | market | price per hour | exact in | who gets one | source |\n|---|---|---|---|---|---|\n");
    for row in &address::ROWS {
        let named = |other: &address::Row| other.cloud == row.cloud && other.market.is_some();
        let rest = if address::ROWS.iter().any(named) { "any other" } else { "any" };
        out.push_str(&line([
            row.cloud.as_str(),
            row.market.map_or(rest, |market| market.as_str()),
            &row.hourly.to_string(),
            &exact(row.holds_in),
            row.given,
            &cited(row.source),
        ]));
    }
    out.push_str(
        "\n## Traffic\n\nThe first row that fits holds. Inside a region traffic is free.\n\n",
    );
    out.push_str("| cloud | from | to | price per GiB | source |\n|---|---|---|---|---|\n");
    for row in &traffic::ROWS {
        let from = match row.from {
            From::Regions(regions) => regions.join(", "),
            From::Like(parts) if row.cloud == Cloud::Gcp => {
                format!("{parts:?}").replace(['[', ']'], "")
            }
            From::Like(parts) if row.cloud == Cloud::Azure => {
                format!("{parts:?}, about").replace(['[', ']'], "")
            }
            From::Like(parts) => {
                format!("other regions in {parts:?}, about").replace(['[', ']'], "")
            }
            From::Anywhere => "anywhere".to_owned(),
        };
        let to = match row.to {
            To::Internet => "the internet, other clouds".to_owned(),
            To::Region(name) => name.to_owned(),
            To::Parts(parts) => format!("{parts:?}").replace(['[', ']'], ""),
            To::Regions => "other regions of the cloud".to_owned(),
        };
        out.push_str(&line([
            row.cloud.as_str(),
            &spaced(&from),
            &spaced(&to),
            &bands(row.bands),
            &cited(row.source),
        ]));
    }
    out.push_str(BILLED);
    for rule in &RULES {
        let step = match rule.step {
            1 => "none".to_owned(),
            step => in_words(step),
        };
        out.push_str(&line([
            rule.cloud.map_or("any", |cloud| cloud.as_str()),
            rule.kind.as_str(),
            &step,
            &if rule.least == 0 { "–".to_owned() } else { in_words(rule.least) },
            match rule.until {
                Until::Deleted => "deleted",
                Until::MachineEnds => "the machine ends",
            },
            rule.reading.unwrap_or_default(),
            rule.source,
        ]));
    }
    out.push_str(UNKNOWN);
    out
}

fn in_words(ms: u64) -> String {
    match ms {
        1_000 => "a second".to_owned(),
        60_000 => "a minute".to_owned(),
        3_600_000 => "an hour".to_owned(),
        ms => format!("{ms} ms"),
    }
}

const BILLED: &str = "
## For how long

What was spent ([tasks/cost.md](tasks/cost.md)) counts each from the launch of its machine on, at the price that was
written down then. What a cloud's page leaves open is read the dearer way.

| cloud | what | steps | at least | until | reading | source |
|---|---|---|---|---|---|---|
";

const INTRODUCTION: &str = "\
# Prices beside the machine

<!-- Made from engine/money/src/extras by `cargo xtask docs`. -->

A plan counts the boot disk, the public IPv4 address and the expected traffic of every machine, as lines of
their own ([tasks/plan-cost.md](tasks/plan-cost.md)). These are the prices that it takes. They are list prices
in US dollars, carried over from public sources, and they age: the date is that of the copy that was read.
Grade A is the cloud's own page, B a well-kept project's table or test, C anything else.

Where a price is known for some regions only, a plan takes it for the others as well and says *about*. Where
none is known, the plan says so and counts nothing.
";

const UNKNOWN: &str = "
## What is not in it

- Ways without a price: between regions of Azure, out of Azure's regions outside North America and Europe,
  from Google Cloud to Australia and China, out of AWS regions that no row names.
- Traffic between zones of a region (AWS: $0.01 per GiB each way), NAT gateways, load balancers, snapshots.
- Free parts: 100 GB a month to the internet on AWS and Azure, over all that an account sends.
- What else the account sends: it may move a fleet's traffic into a cheaper band.
- Operations on Azure's Standard disks.
- Discounts of your contract, and taxes.
- Further disks that an image brings along.
";

fn line<const N: usize>(cells: [&str; N]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn cited(source: Source) -> String {
    format!("{} ({}, grade {})", source.name, source.date, source.grade)
}

fn exact(regions: &[&str]) -> String {
    if regions.is_empty() { "everywhere".to_owned() } else { regions.join(", ") }
}

/// `NorthAmerica` as people write it.
fn spaced(text: &str) -> String {
    text.replace("NorthAmerica", "North America").replace("SouthAmerica", "South America")
}

fn bands(bands: &[Band]) -> String {
    let mut below = 0;
    let mut parts = Vec::new();
    for band in bands {
        let price = MicroUsd(band.each);
        parts.push(match band.up_to_gib {
            Some(gib) => format!("{price} up to {} GiB", thousands(gib)),
            None if below == 0 => price.to_string(),
            None => format!("{price} above"),
        });
        below = band.up_to_gib.unwrap_or(u64::MAX);
    }
    if below != u64::MAX {
        parts.push("not known above".to_owned());
    }
    parts.join(", ")
}
