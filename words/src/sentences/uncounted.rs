//! What no amount counts, in words.

use crate::text::count;
use fleet_model::{CostKind, Extra, Extras, MicroUsd, NoPrice, Uncounted};
use std::collections::BTreeMap;

/// One sentence per reason, most machines first.
pub fn uncounted(all: &[Uncounted]) -> Vec<String> {
    let mut reasons: BTreeMap<(CostKind, NoPrice), (u64, Vec<&'static str>)> = BTreeMap::new();
    for one in all {
        let (machines, clouds) = reasons.entry((one.kind, one.because)).or_default();
        *machines += u64::from(one.machines);
        clouds.push(one.cloud.as_str());
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (machines, _))| std::cmp::Reverse(*machines));
    let one = |((kind, because), (machines, clouds)): ((CostKind, NoPrice), (u64, Vec<&str>))| {
        let machines = count(machines, "machine");
        let clouds = clouds.join(", ");
        match kind {
            CostKind::Machine => format!("{machines} on {clouds}: {}", why(because)),
            CostKind::Disk | CostKind::Address | CostKind::Egress => {
                format!("{kind} of {machines}: {}", why(because))
            }
        }
    };
    reasons.into_iter().map(one).collect()
}

/// Why there is no price, and what would change that.
pub fn why(because: NoPrice) -> &'static str {
    match because {
        NoPrice::Machine => "neither the catalog nor the cloud tells the price",
        NoPrice::ImageDecides => "the image decides the size (template.disk.sizeGiB)",
        NoPrice::DiskKind => "no price is known for this kind of disk",
        NoPrice::DiskSize => "no price is known for a disk of this size",
        NoPrice::SubnetDecides => "the subnet decides whether there is one",
        NoPrice::Route => "no price is known between the data and these machines",
        NoPrice::Internet => "no price is known from there to the internet",
        NoPrice::Volume => "no price is known for so much from there",
        NoPrice::NotRecorded => "what they cost at the launch was not written down",
        NoPrice::Adopted => {
            "somebody else launched them, and the journal does not tell what they have"
        }
        NoPrice::UnknownType => "nobody knows what machines of their type count for",
    }
}

/// What would give it a price, or do without.
pub fn way_to_a_price(because: NoPrice) -> &'static str {
    match because {
        NoPrice::Machine => "import a catalog with prices, or leave these types out",
        NoPrice::ImageDecides => "set template.disk.sizeGiB",
        NoPrice::DiskKind | NoPrice::DiskSize => {
            "choose a kind and size of disk that docs/prices.md has a price for"
        }
        NoPrice::SubnetDecides => "leave template.subnets and template.network out",
        NoPrice::Route | NoPrice::Internet => {
            "choose regions for whose traffic docs/prices.md has a price"
        }
        NoPrice::Volume => "expect less traffic (placement.egressGiBPerDay)",
        NoPrice::Adopted => "see the bill; machines that are launched in their place are counted",
        NoPrice::UnknownType => "give the type a weight (placement.weights)",
        NoPrice::NotRecorded => {
            "it is written down from the first look of this version on; see the bill for the time before"
        }
    }
}

/// What one machine costs beside its price: "disk $0.0110 beside", "traffic beside has no price".
pub fn beside(extras: &Extras) -> Vec<String> {
    let one = |(kind, extra): (CostKind, Extra)| {
        let kind = match kind {
            CostKind::Machine => "machine",
            CostKind::Disk => "disk",
            CostKind::Address => "public address",
            CostKind::Egress => "traffic",
        };
        match extra {
            Extra::Hourly(MicroUsd(0)) | Extra::About(MicroUsd(0)) => None,
            Extra::Hourly(price) => Some(format!("{kind} {price}")),
            Extra::About(price) => Some(format!("{kind} about {price}")),
            Extra::Unknown(_) => Some(format!("{kind} of unknown price")),
        }
    };
    extras.each().into_iter().filter_map(one).collect()
}
