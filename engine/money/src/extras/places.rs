//! Where regions lie, as far as prices of traffic depend on it.

use fleet_model::Cloud;

/// Parts of the world that prices tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    NorthAmerica,
    Europe,
    Asia,
    SouthAmerica,
    Australia,
    China,
    /// Nobody told us a price for it.
    Elsewhere,
}

/// Azure's regions in North America and Europe, which have one price.
const AZURE_NORTH_AMERICA: [&str; 11] = [
    "eastus",
    "eastus2",
    "westus",
    "westus2",
    "westus3",
    "centralus",
    "northcentralus",
    "southcentralus",
    "westcentralus",
    "canadacentral",
    "canadaeast",
];
const AZURE_EUROPE: [&str; 14] = [
    "northeurope",
    "westeurope",
    "uksouth",
    "ukwest",
    "francecentral",
    "francesouth",
    "germanywestcentral",
    "swedencentral",
    "norwayeast",
    "switzerlandnorth",
    "italynorth",
    "polandcentral",
    "spaincentral",
    "austriaeast",
];

/// Where a region lies.
pub(super) fn part(cloud: Cloud, region: &str) -> Part {
    let starts = |starts: &[&str]| starts.iter().any(|start| region.starts_with(start));
    match cloud {
        Cloud::Aws | Cloud::Gcp if starts(&["us-gov"]) => Part::Elsewhere,
        Cloud::Aws if starts(&["ap-southeast-2", "ap-southeast-4"]) => Part::Australia,
        Cloud::Aws if starts(&["us-", "ca-"]) => Part::NorthAmerica,
        Cloud::Aws if starts(&["eu-"]) => Part::Europe,
        Cloud::Aws if starts(&["ap-"]) => Part::Asia,
        Cloud::Aws if starts(&["sa-"]) => Part::SouthAmerica,
        Cloud::Aws if starts(&["cn-"]) => Part::China,
        Cloud::Gcp if starts(&["us-", "northamerica-northeast"]) => Part::NorthAmerica,
        Cloud::Gcp if starts(&["europe-"]) => Part::Europe,
        Cloud::Gcp if starts(&["asia-"]) => Part::Asia,
        Cloud::Gcp if starts(&["southamerica-"]) => Part::SouthAmerica,
        Cloud::Gcp if starts(&["australia-"]) => Part::Australia,
        Cloud::Azure if AZURE_NORTH_AMERICA.contains(&region) => Part::NorthAmerica,
        Cloud::Azure if AZURE_EUROPE.contains(&region) => Part::Europe,
        Cloud::Azure if starts(&["australia"]) => Part::Australia,
        Cloud::Azure if starts(&["china"]) => Part::China,
        Cloud::Lambda if starts(&["us-"]) => Part::NorthAmerica,
        Cloud::Lambda if starts(&["europe-"]) => Part::Europe,
        Cloud::Lambda if starts(&["asia-"]) => Part::Asia,
        Cloud::Lambda if starts(&["australia-"]) => Part::Australia,
        Cloud::Aws | Cloud::Gcp | Cloud::Azure | Cloud::Lambda => Part::Elsewhere,
    }
}
