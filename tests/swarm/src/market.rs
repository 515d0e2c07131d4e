//! A small market: every cloud, a few regions and types, so that worlds are quick and still differ.

use fleet_model::{
    Accelerators, Architecture, Catalog, CatalogRow, Cloud, InstanceKind, MicroUsd, Place,
    Resources, Timestamp,
};
use std::sync::{Arc, LazyLock};

/// The catalog that all worlds share.
pub(crate) static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| Arc::new(catalog()));

/// Cloud, type, vCPUs, GPUs, price on demand in thousandths of a dollar, whether sold as spot.
const KINDS: [(Cloud, &str, u32, u32, u64, bool); 11] = [
    (Cloud::Aws, "c6i.xlarge", 4, 0, 170, true),
    (Cloud::Aws, "m6i.large", 2, 0, 96, true),
    (Cloud::Aws, "m6i.xlarge", 4, 0, 192, true),
    (Cloud::Aws, "p4d.24xlarge", 96, 8, 32_773, true),
    (Cloud::Gcp, "a2-highgpu-8g", 96, 8, 29_387, true),
    (Cloud::Gcp, "n2-standard-4", 4, 0, 194, true),
    (Cloud::Gcp, "n2-standard-8", 8, 0, 388, true),
    (Cloud::Azure, "Standard_D4s_v5", 4, 0, 192, true),
    (Cloud::Azure, "Standard_ND96asr_v4", 96, 8, 27_200, true),
    (Cloud::Lambda, "cpu_4x_general", 4, 0, 40, false),
    (Cloud::Lambda, "gpu_8x_a100", 124, 8, 10_320, false),
];

const PLACES: [(Cloud, &str, &str); 10] = [
    (Cloud::Aws, "us-east-1", "use1-az1"),
    (Cloud::Aws, "us-east-1", "use1-az2"),
    (Cloud::Aws, "us-west-2", "usw2-az1"),
    (Cloud::Gcp, "us-central1", "us-central1-a"),
    (Cloud::Gcp, "us-central1", "us-central1-b"),
    (Cloud::Gcp, "us-west1", "us-west1-a"),
    (Cloud::Azure, "eastus", "regional"),
    (Cloud::Azure, "westus2", "regional"),
    (Cloud::Lambda, "us-east-1", "regional"),
    (Cloud::Lambda, "us-west-1", "regional"),
];

fn catalog() -> Catalog {
    let mut kinds: Vec<_> = KINDS.into_iter().collect();
    kinds.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let mut places: Vec<Place> = PLACES
        .into_iter()
        .map(|(cloud, region, zone)| Place { cloud, region: region.into(), zone: zone.into() })
        .collect();
    places.sort();
    let mut rows = Vec::new();
    for (at, place) in (0u32..).zip(&places) {
        for (kind, &(cloud, _, _, _, price, has_spot)) in (0u32..).zip(&kinds) {
            if cloud != place.cloud {
                continue;
            }
            // Two zones never cost the same: ties would hide what depends on an order.
            let price = price * 1000 + u64::from(at) * 7;
            let spot = has_spot.then_some(MicroUsd(price * 2 / 5));
            let on_demand = Some(MicroUsd(price));
            rows.push(CatalogRow { kind, place: at, on_demand, spot, has_spot });
        }
    }
    Catalog {
        source: "a small market".into(),
        as_of: Timestamp::UNIX_EPOCH,
        kinds: kinds.into_iter().map(|k| Arc::new(kind(k))).collect(),
        places,
        rows,
    }
}

fn kind((cloud, name, vcpus, gpus, ..): (Cloud, &str, u32, u32, u64, bool)) -> InstanceKind {
    let accelerators = (gpus > 0).then(|| Accelerators {
        name: Some("A100".into()),
        count_milli: gpus * 1000,
        memory_mib: Some(40 * 1024),
        maker: None,
    });
    InstanceKind {
        cloud,
        name: name.into(),
        resources: Resources {
            vcpus: Some(vcpus),
            memory_mib: Some(u64::from(vcpus) * 4096),
            architecture: Architecture::X86_64,
            accelerators,
            local_disk: None,
            generation: None,
        },
    }
}
