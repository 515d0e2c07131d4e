//! What the clouds ask for what comes with a machine: their own price list, and no code of the engine. It is what
//! docs/prices.md carries over for the regions that those prices are of, taken in every region alike.
//!
//! Traffic is not on it: these machines send nothing, and what a spec expects of them no cloud knows.

use fleet_model::{Cloud, Market, MicroUsd, PoolId, Template};
use serde::{Deserialize, Serialize};

/// Prices per hour beside a machine. `None`: nobody knows what it is, because the image or the subnet decides, or it is
/// nothing that this list has a price for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tariff {
    pub(crate) disk: Option<MicroUsd>,
    pub(crate) address: Option<MicroUsd>,
}

/// Micro-dollars per GiB and month.
const PER_GIB: [(Cloud, &str, u64); 5] = [
    (Cloud::Aws, "gp3", 80_000),
    (Cloud::Aws, "gp2", 100_000),
    (Cloud::Gcp, "pd-standard", 40_000),
    (Cloud::Gcp, "pd-balanced", 100_000),
    (Cloud::Gcp, "pd-ssd", 170_000),
];

/// Dollars in hundredths per month, for 32, 64, … 1,024 GiB.
const AZURE_TIERS: [(&str, [u64; 6]); 2] = [
    ("Premium_LRS", [528, 1_021, 1_971, 3_802, 7_322, 13_517]),
    ("Standard_LRS", [154, 301, 589, 1_133, 2_176, 4_096]),
];

/// Google's series that boot from Hyperdisk alone, by their first letters.
const HYPERDISK: [&str; 14] = [
    "a4-",
    "a4x-",
    "c4-",
    "c4a-",
    "c4d-",
    "ct6e-",
    "g4-",
    "h4d-",
    "m4-",
    "n4-",
    "n4a-",
    "n4d-",
    "x4-",
    "a3-ultragpu-",
];

/// What comes with a machine of a pool that was asked for by a template.
pub(crate) fn of(pool: &PoolId, template: &Template) -> Tariff {
    let own_network = template.network.is_some() || !template.subnets.is_empty();
    let address = match (pool.place.cloud, pool.market) {
        (Cloud::Aws, _) if own_network => None,
        (Cloud::Aws, _) => Some(5_000),
        (Cloud::Gcp, _) if own_network => Some(0),
        (Cloud::Gcp, Market::Spot) => Some(2_500),
        (Cloud::Gcp, Market::OnDemand | Market::Reserved) => Some(5_000),
        (Cloud::Azure | Cloud::Lambda, _) => Some(0),
    };
    Tariff { disk: disk(pool, template).map(MicroUsd), address: address.map(MicroUsd) }
}

fn disk(pool: &PoolId, template: &Template) -> Option<u64> {
    let cloud = pool.place.cloud;
    let asked = template.disk.as_ref();
    let usual = match cloud {
        Cloud::Lambda => return Some(0),
        Cloud::Aws => "gp3",
        Cloud::Gcp if HYPERDISK.iter().any(|one| pool.instance_type.as_str().starts_with(one)) => {
            "hyperdisk-balanced"
        }
        Cloud::Gcp => "pd-balanced",
        Cloud::Azure => "StandardSSD_LRS",
    };
    let kind = asked.and_then(|disk| disk.kind.as_deref()).unwrap_or(usual);
    let gib = u64::from(asked.and_then(|disk| disk.size_gib)?);
    let month = match cloud {
        Cloud::Azure => azure(kind, gib)?,
        Cloud::Aws | Cloud::Gcp | Cloud::Lambda => {
            let same =
                |row: &&(Cloud, &str, u64)| row.0 == cloud && row.1.eq_ignore_ascii_case(kind);
            PER_GIB.iter().find(same)?.2 * gib
        }
    };
    // A month has 730 hours here.
    Some((month + 365) / 730)
}

/// A disk is billed as the tier that holds it.
fn azure(kind: &str, gib: u64) -> Option<u64> {
    if kind.eq_ignore_ascii_case("StandardSSD_LRS") {
        let tier = gib.next_power_of_two().max(4);
        return (tier <= 4_096).then_some(tier * 75_000);
    }
    let (_, tiers) = AZURE_TIERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind))?;
    let step = gib.next_power_of_two().max(32).ilog2() - 5;
    tiers.get(step as usize).map(|cents| cents * 10_000)
}
