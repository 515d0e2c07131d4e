//! What this Compute Engine sells: a few regions, types, images and prices.

use serde_json::{Value, json};

/// Regions with the letters of their zones.
const REGIONS: &[(&str, &str)] = &[
    ("us-central1", "abcf"),
    ("us-east1", "bcd"),
    ("us-west1", "abc"),
    ("europe-west4", "abc"),
    ("africa-south1", "abc"),
    ("asia-east1", "abc"),
    ("asia-east2", "abc"),
    ("asia-northeast1", "abc"),
    ("asia-northeast2", "abc"),
    ("asia-northeast3", "abc"),
    ("asia-south1", "abc"),
    ("asia-south2", "abc"),
    ("asia-southeast1", "abc"),
    ("asia-southeast2", "abc"),
    ("australia-southeast1", "abc"),
    ("australia-southeast2", "abc"),
    ("europe-central2", "abc"),
    ("europe-north1", "abc"),
    ("europe-north2", "abc"),
    ("europe-southwest1", "abc"),
    ("europe-west1", "bcd"),
    ("europe-west10", "abc"),
    ("europe-west12", "abc"),
    ("europe-west2", "abc"),
    ("europe-west3", "abc"),
    ("europe-west6", "abc"),
    ("europe-west8", "abc"),
    ("europe-west9", "abc"),
    ("me-central1", "abc"),
    ("me-central2", "abc"),
    ("me-west1", "abc"),
    ("northamerica-northeast1", "abc"),
    ("northamerica-northeast2", "abc"),
    ("northamerica-south1", "abc"),
    ("southamerica-east1", "abc"),
    ("southamerica-west1", "abc"),
    ("us-east4", "abc"),
    ("us-east5", "abc"),
    ("us-south1", "abc"),
    ("us-west2", "abc"),
    ("us-west3", "abc"),
    ("us-west4", "abc"),
];

/// A type: name, vCPUs, memory in MB, built-in accelerators.
type Type = (&'static str, u32, u32, Option<(&'static str, u32)>);

const TYPES: &[Type] = &[
    ("e2-medium", 2, 4096, None),
    ("e2-standard-2", 2, 8192, None),
    ("e2-standard-4", 4, 16384, None),
    ("n1-standard-4", 4, 15360, None),
    ("n1-standard-8", 8, 30720, None),
    ("n2-standard-2", 2, 8192, None),
    ("n2-standard-4", 4, 16384, None),
    ("n2-standard-8", 8, 32768, None),
    ("n2-standard-16", 16, 65536, None),
    ("n2d-standard-4", 4, 16384, None),
    ("c2-standard-4", 4, 16384, None),
    ("c3-standard-4", 4, 16384, None),
    ("t2a-standard-4", 4, 16384, None),
    ("g2-standard-4", 4, 16384, Some(("nvidia-l4", 1))),
    ("a2-highgpu-1g", 12, 87040, Some(("nvidia-tesla-a100", 1))),
    ("a3-highgpu-1g", 26, 239_616, Some(("nvidia-h100-80gb", 1))),
    ("a3-ultragpu-8g", 224, 3_022_848, Some(("nvidia-h200-141gb", 8))),
    ("a3-highgpu-8g", 208, 1_916_928, Some(("nvidia-h100-80gb", 8))),
    ("ct5lp-hightpu-4t", 112, 196_608, Some(("ct5lp", 4))),
    ("ct6e-standard-4t", 180, 737_280, Some(("ct6e", 4))),
];

/// What can be attached to `n1`.
const ATTACHABLE: &[&str] = &["nvidia-tesla-t4", "nvidia-tesla-v100", "nvidia-tesla-p100"];

/// Images: project, name, family, architecture.
const IMAGES: &[(&str, &str, &str, &str)] = &[
    ("debian-cloud", "debian-12-bookworm-v20260714", "debian-12", "X86_64"),
    ("debian-cloud", "debian-12-bookworm-arm64-v20260714", "debian-12-arm64", "ARM64"),
    ("ubuntu-os-cloud", "ubuntu-2404-noble-amd64-v20260701", "ubuntu-2404-lts-amd64", "X86_64"),
    (
        "ubuntu-os-accelerator-images",
        "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e-v20260701",
        "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e",
        "X86_64",
    ),
    ("ubuntu-os-cloud", "ubuntu-2404-noble-arm64-v20260701", "ubuntu-2404-lts-arm64", "ARM64"),
];

/// Limits of every region, and of the project.
const QUOTAS: &[(&str, f64)] = &[
    ("CPUS", 2400.0),
    ("N2_CPUS", 1500.0),
    ("N2D_CPUS", 1500.0),
    ("C2_CPUS", 300.0),
    ("C3_CPUS", 300.0),
    ("A2_CPUS", 96.0),
    ("PREEMPTIBLE_CPUS", 1500.0),
    ("NVIDIA_T4_GPUS", 16.0),
    ("NVIDIA_L4_GPUS", 16.0),
    ("NVIDIA_A100_GPUS", 8.0),
    ("PREEMPTIBLE_NVIDIA_T4_GPUS", 16.0),
    ("PREEMPTIBLE_NVIDIA_L4_GPUS", 0.0),
    ("INSTANCES", 24_000.0),
    ("IN_USE_ADDRESSES", 2300.0),
    ("SSD_TOTAL_GB", 82_000.0),
];

/// Prices in Iowa, in nano-dollars an hour: description, group, on demand, spot.
const PRICES: &[(&str, &str, u64, u64)] = &[
    ("N2 Instance Core", "CPU", 31_611_000, 7_650_000),
    ("N2 Instance Ram", "RAM", 4_237_000, 1_020_000),
    ("E2 Instance Core", "CPU", 21_811_590, 6_543_000),
    ("E2 Instance Ram", "RAM", 2_923_530, 877_000),
    ("N1 Predefined Instance Core", "N1Standard", 31_611_000, 6_655_000),
    ("N1 Predefined Instance Ram", "N1Standard", 4_237_000, 892_000),
    ("G2 Instance Core", "CPU", 24_988_000, 9_995_000),
    ("G2 Instance Ram", "RAM", 2_927_000, 1_171_000),
    ("Nvidia L4 GPU", "GPU", 560_040_000, 224_016_000),
    ("Nvidia Tesla T4 GPU", "GPU", 350_000_000, 140_000_000),
];

/// Sold as spot, flex-start or out of reservations, never on demand.
pub(crate) fn never_on_demand(kind: &str) -> bool {
    matches!(kind, "a3-highgpu-1g" | "a3-highgpu-2g" | "a3-highgpu-4g") || is_bound(kind)
}

/// Bound to its reservations, and to Hyperdisk.
pub(crate) fn is_bound(kind: &str) -> bool {
    kind.starts_with("a3-ultragpu-") || kind.starts_with("a4-") || kind.starts_with("a4x-")
}

/// Every region that there is.
pub fn regions() -> impl Iterator<Item = &'static str> {
    REGIONS.iter().map(|(name, _)| *name)
}

pub(crate) fn zones(region: &str) -> Vec<String> {
    let letters = REGIONS.iter().find(|(name, _)| *name == region).map_or("", |(_, all)| all);
    letters.chars().map(|letter| format!("{region}-{letter}")).collect()
}

/// Every zone that there is.
pub fn all_zones() -> Vec<String> {
    regions().flat_map(zones).collect()
}

/// The region of a zone, if there is such a zone.
pub(crate) fn region_of(zone: &str) -> Option<&'static str> {
    regions().find(|region| zones(region).iter().any(|other| other == zone))
}

pub(crate) fn is_type(name: &str) -> bool {
    TYPES.iter().any(|(other, ..)| *other == name)
}

pub(crate) fn vcpus(kind: &str) -> u32 {
    TYPES.iter().find(|(name, ..)| *name == kind).map_or(0, |(_, vcpus, ..)| *vcpus)
}

pub(crate) fn built_in(kind: &str) -> Option<(&'static str, u32)> {
    TYPES.iter().find(|(name, ..)| *name == kind).and_then(|(.., built_in)| *built_in)
}

pub(crate) fn is_attachable(accelerator: &str) -> bool {
    ATTACHABLE.contains(&accelerator)
}

pub(crate) fn machine_types(at: &str, zone: &str) -> Vec<Value> {
    let one = |(id, (name, vcpus, memory, built_in)): (usize, &Type)| {
        let mut value = json!({
            "kind": "compute#machineType",
            "id": (1000 + id).to_string(),
            "creationTimestamp": "1969-12-31T16:00:00.000-08:00",
            "name": name,
            "description": format!("{vcpus} vCPUs, {memory} MB RAM"),
            "guestCpus": vcpus,
            "memoryMb": memory,
            "isSharedCpu": *name == "e2-medium",
            "architecture": if name.starts_with("t2a") { "ARM64" } else { "X86_64" },
            "zone": zone,
            "selfLink": format!("{at}/zones/{zone}/machineTypes/{name}"),
        });
        if let Some((accelerator, count)) = built_in {
            let all =
                json!([{ "guestAcceleratorType": accelerator, "guestAcceleratorCount": count }]);
            value["accelerators"] = all;
        }
        value
    };
    TYPES.iter().enumerate().map(one).collect()
}

pub(crate) fn accelerator_types(at: &str, zone: &str) -> Vec<Value> {
    let one = |(id, name): (usize, &&str)| {
        json!({
            "kind": "compute#acceleratorType",
            "id": (10_000 + id).to_string(),
            "name": name,
            "maximumCardsPerInstance": 4,
            "zone": format!("{at}/zones/{zone}"),
            "selfLink": format!("{at}/zones/{zone}/acceleratorTypes/{name}"),
        })
    };
    ATTACHABLE.iter().enumerate().map(one).collect()
}

/// An image by its name, or the newest of a family.
pub(crate) fn image(base: &str, project: &str, name: &str, by_family: bool) -> Option<Value> {
    let same = |row: &&(&str, &str, &str, &str)| {
        row.0 == project && if by_family { row.2 == name } else { row.1 == name }
    };
    let (project, name, family, architecture) = IMAGES.iter().find(same)?;
    Some(json!({
        "kind": "compute#image",
        "id": "7700000000000000001",
        "name": name,
        "family": family,
        "architecture": architecture,
        "status": "READY",
        "diskSizeGb": "10",
        "selfLink": format!("{base}/projects/{project}/global/images/{name}"),
    }))
}

/// Limits, with what is used of them.
pub(crate) fn quotas(used: impl Fn(&str) -> f64) -> Vec<Value> {
    let one = |(metric, limit): &(&str, f64)| json!({ "metric": metric, "limit": limit, "usage": used(metric) });
    QUOTAS.iter().map(one).collect()
}

pub(crate) fn limit(metric: &str) -> f64 {
    QUOTAS.iter().find(|(name, _)| *name == metric).map_or(f64::MAX, |(_, limit)| *limit)
}

/// The price list, as the Cloud Billing catalog has it.
pub(crate) fn skus() -> Vec<Value> {
    let one = |description: &str, group: &str, usage: &str, nanos: u64| {
        let unit = if group == "RAM" || description.ends_with("Ram") { "GiBy.h" } else { "h" };
        let rate = json!({
            "startUsageAmount": 0.0,
            "unitPrice": {
                "currencyCode": "USD",
                "units": (nanos / 1_000_000_000).to_string(),
                "nanos": nanos % 1_000_000_000,
            },
        });
        json!({
            "name": format!("services/6F81-5844-456A/skus/{description}-{usage}"),
            "skuId": format!("{description}-{usage}"),
            "description": match usage {
                "Preemptible" if group == "GPU" => {
                    format!("{description} attached to Spot Preemptible VMs running in Americas")
                }
                "Preemptible" => format!("Spot Preemptible {description} running in Americas"),
                _ => format!("{description} running in Americas"),
            },
            "category": {
                "serviceDisplayName": "Compute Engine",
                "resourceFamily": "Compute",
                "resourceGroup": group,
                "usageType": usage,
            },
            "serviceRegions": ["us-central1", "us-east1", "us-west1"],
            "pricingInfo": [{ "pricingExpression": {
                "usageUnit": unit,
                "displayQuantity": 1,
                "tieredRates": [rate],
            } }],
        })
    };
    PRICES
        .iter()
        .flat_map(|(description, group, on_demand, spot)| {
            [
                one(description, group, "OnDemand", *on_demand),
                one(description, group, "Preemptible", *spot),
            ]
        })
        .collect()
}
