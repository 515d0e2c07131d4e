//! Where regions lie, to about a degree: enough for a map of the world.
//!
//! Clouds publish the place of a region as a city, a state or a country; the numbers are that place's.
//! A region that no table has is named beside the map and not drawn on it.

/// A region with its latitude and longitude in degrees.
type Spot = (&'static str, i16, i16);

/// https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html ("geography").
const AWS: &[Spot] = &[
    ("af-south-1", -34, 18),
    ("ap-east-1", 22, 114),
    ("ap-east-2", 25, 122),
    ("ap-northeast-1", 36, 140),
    ("ap-northeast-2", 37, 127),
    ("ap-northeast-3", 35, 135),
    ("ap-south-1", 19, 73),
    ("ap-south-2", 17, 78),
    ("ap-southeast-1", 1, 104),
    ("ap-southeast-2", -34, 151),
    ("ap-southeast-3", -6, 107),
    ("ap-southeast-4", -38, 145),
    ("ap-southeast-5", 3, 102),
    ("ap-southeast-6", -37, 175),
    ("ap-southeast-7", 14, 101),
    ("ca-central-1", 46, -74),
    ("ca-west-1", 51, -114),
    ("cn-north-1", 40, 116),
    ("cn-northwest-1", 38, 106),
    ("eu-central-1", 50, 9),
    ("eu-central-2", 47, 9),
    ("eu-north-1", 59, 18),
    ("eu-south-1", 45, 9),
    ("eu-south-2", 42, -1),
    ("eu-west-1", 53, -6),
    ("eu-west-2", 52, 0),
    ("eu-west-3", 49, 2),
    ("il-central-1", 32, 35),
    ("me-central-1", 24, 54),
    ("me-south-1", 26, 50),
    ("mx-central-1", 21, -100),
    ("sa-east-1", -24, -47),
    ("us-east-1", 39, -78),
    ("us-east-2", 40, -83),
    ("us-gov-east-1", 40, -83),
    ("us-gov-west-1", 46, -120),
    ("us-west-1", 37, -122),
    ("us-west-2", 46, -120),
];

/// https://cloud.google.com/compute/docs/regions-zones ("location"). `us-central2` has TPUs only and is not listed
/// there: its place, Oklahoma, is a guess.
const GCP: &[Spot] = &[
    ("africa-south1", -26, 28),
    ("asia-east1", 24, 120),
    ("asia-east2", 22, 114),
    ("asia-northeast1", 36, 140),
    ("asia-northeast2", 35, 135),
    ("asia-northeast3", 37, 127),
    ("asia-south1", 19, 73),
    ("asia-south2", 29, 77),
    ("asia-southeast1", 1, 104),
    ("asia-southeast2", -6, 107),
    ("asia-southeast3", 14, 101),
    ("australia-southeast1", -34, 151),
    ("australia-southeast2", -38, 145),
    ("europe-central2", 52, 21),
    ("europe-north1", 61, 27),
    ("europe-north2", 59, 18),
    ("europe-southwest1", 40, -4),
    ("europe-west1", 50, 4),
    ("europe-west10", 53, 13),
    ("europe-west12", 45, 8),
    ("europe-west2", 52, 0),
    ("europe-west3", 50, 9),
    ("europe-west4", 53, 7),
    ("europe-west6", 47, 9),
    ("europe-west8", 45, 9),
    ("europe-west9", 49, 2),
    ("me-central1", 25, 51),
    ("me-central2", 26, 50),
    ("me-west1", 32, 35),
    ("northamerica-northeast1", 46, -74),
    ("northamerica-northeast2", 44, -79),
    ("northamerica-south1", 21, -100),
    ("southamerica-east1", -24, -47),
    ("southamerica-west1", -33, -71),
    ("us-central1", 41, -96),
    ("us-central2", 36, -95),
    ("us-east1", 33, -80),
    ("us-east4", 39, -78),
    ("us-east5", 40, -83),
    ("us-south1", 33, -97),
    ("us-west1", 46, -121),
    ("us-west2", 34, -118),
    ("us-west3", 41, -112),
    ("us-west4", 36, -115),
];

/// https://learn.microsoft.com/en-us/azure/reliability/regions-list ("physical location").
const AZURE: &[Spot] = &[
    ("australiacentral", -35, 149),
    ("australiacentral2", -35, 149),
    ("australiaeast", -34, 151),
    ("australiasoutheast", -38, 145),
    ("austriaeast", 48, 16),
    ("belgiumcentral", 51, 4),
    ("brazilsouth", -24, -47),
    ("brazilsoutheast", -23, -43),
    ("canadacentral", 44, -79),
    ("canadaeast", 47, -71),
    ("centralindia", 19, 74),
    ("centralus", 42, -94),
    ("chilecentral", -33, -71),
    ("eastasia", 22, 114),
    ("eastus", 37, -79),
    ("eastus2", 37, -78),
    ("francecentral", 47, 2),
    ("francesouth", 44, 2),
    ("germanynorth", 53, 9),
    ("germanywestcentral", 50, 9),
    ("indonesiacentral", -6, 107),
    ("israelcentral", 31, 35),
    ("italynorth", 45, 9),
    ("japaneast", 36, 140),
    ("japanwest", 35, 136),
    ("jioindiacentral", 21, 79),
    ("jioindiawest", 22, 70),
    ("koreacentral", 38, 127),
    ("koreasouth", 35, 129),
    ("malaysiawest", 3, 102),
    ("mexicocentral", 21, -100),
    ("newzealandnorth", -37, 175),
    ("northcentralus", 42, -88),
    ("northeurope", 53, -6),
    ("norwayeast", 60, 11),
    ("norwaywest", 59, 6),
    ("polandcentral", 52, 21),
    ("qatarcentral", 25, 51),
    ("southafricanorth", -26, 28),
    ("southafricawest", -34, 19),
    ("southcentralus", 29, -98),
    ("southeastasia", 1, 104),
    ("southindia", 13, 80),
    ("spaincentral", 40, -4),
    ("swedencentral", 61, 17),
    ("swedensouth", 56, 13),
    ("switzerlandnorth", 47, 9),
    ("switzerlandwest", 46, 6),
    ("uaecentral", 24, 54),
    ("uaenorth", 25, 55),
    ("uksouth", 51, -1),
    ("ukwest", 53, -3),
    ("westcentralus", 41, -110),
    ("westeurope", 52, 5),
    ("westindia", 19, 73),
    ("westus", 38, -122),
    ("westus2", 47, -120),
    ("westus3", 33, -112),
];

/// Lambda's API tells a region's place in its `description` (`GET /regions`; its OpenAPI 1.8.3 lists the names and
/// has "California, USA" for `us-west-1`). Only that one is published with its place: the others are a guess
/// from their names, and stand in the middle of what they name.
const LAMBDA: &[Spot] = &[
    ("asia-northeast-1", 35, 135),
    ("asia-northeast-2", 36, 140),
    ("asia-south-1", 22, 79),
    ("australia-east-1", -34, 151),
    ("europe-central-1", 51, 10),
    ("europe-south-1", 42, 12),
    ("me-west-1", 31, 35),
    ("us-east-1", 39, -78),
    ("us-east-2", 39, -77),
    ("us-east-3", 39, -78),
    ("us-midwest-1", 40, -89),
    ("us-midwest-2", 40, -89),
    ("us-south-1", 31, -99),
    ("us-south-2", 31, -99),
    ("us-south-3", 31, -99),
    ("us-west-1", 37, -120),
    ("us-west-2", 34, -112),
    ("us-west-3", 40, -111),
];

/// Latitude and longitude of a region, in degrees; `None` if no table has it.
pub(super) fn spot(cloud: &str, region: &str) -> Option<(f64, f64)> {
    let table = match cloud {
        "aws" => AWS,
        "gcp" => GCP,
        "azure" => AZURE,
        "lambda" => LAMBDA,
        _ => return None,
    };
    let nth = table.binary_search_by_key(&region, |(name, ..)| name).ok()?;
    let (_, latitude, longitude) = table[nth];
    Some((f64::from(latitude), f64::from(longitude)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order_and_on_earth() {
        for table in [AWS, GCP, AZURE, LAMBDA] {
            assert!(table.windows(2).all(|two| two[0].0 < two[1].0), "not in order");
            assert!(table.iter().all(|(_, lat, long)| lat.abs() < 66 && long.abs() <= 180));
        }
        assert_eq!(spot("aws", "eu-west-1"), Some((53.0, -6.0)));
        assert_eq!(spot("aws", "nowhere"), None);
    }

    #[test]
    fn every_region_of_the_catalog_is_on_the_map() {
        let catalog = fleet_catalog::embedded();
        let mut missing = std::collections::BTreeSet::new();
        for place in &catalog.places {
            if spot(place.cloud.as_str(), place.region.name()).is_none() {
                missing.insert(format!("{} {}", place.cloud, place.region));
            }
        }
        assert!(missing.is_empty(), "{missing:?}");
    }
}
