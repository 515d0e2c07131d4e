//! Catalogs for tests.

use crate::assemble::Assembly;
use fleet_model::{
    Accelerators, Architecture, Catalog, CatalogRow, Cloud, InstanceKind, MicroUsd, Resources,
    Timestamp,
};

fn kind(cloud: Cloud, name: &str, vcpus: u32, gpus: Option<(&str, u32)>) -> InstanceKind {
    InstanceKind {
        cloud,
        name: name.into(),
        resources: Resources {
            vcpus: Some(vcpus),
            memory_mib: Some(u64::from(vcpus) * 4096),
            architecture: if name.contains("6g") {
                Architecture::Arm64
            } else {
                Architecture::X86_64
            },
            accelerators: gpus.map(|(name, count)| Accelerators::named(name, count)),
            local_disk: Some(gpus.is_some()),
            generation: Some(5),
        },
    }
}

/// A few types of three clouds, with prices missing here and there.
pub(crate) fn small() -> Catalog {
    let mut all = Assembly::default();
    let m5 = all.add_kind(kind(Cloud::Aws, "m5.large", 2, None));
    let m6g = all.add_kind(kind(Cloud::Aws, "m6g.large", 2, None));
    let p5 = all.add_kind(kind(Cloud::Aws, "p5.48xlarge", 192, Some(("H100", 8000))));
    let a2 = all.add_kind(kind(Cloud::Gcp, "a2-highgpu-1g", 12, Some(("A100", 1000))));
    let lambda = all.add_kind(kind(Cloud::Lambda, "gpu_1x_a10", 30, Some(("A10", 1000))));
    let east = |all: &mut Assembly, zone| all.place(Cloud::Aws, "us-east-1", zone);
    let (one, two) = (east(&mut all, "use1-az1"), east(&mut all, "use1-az2"));
    let atlanta = east(&mut all, "use1-atl2-az1");
    let west = all.place(Cloud::Aws, "us-west-2", "usw2-az1");
    let google = all.place(Cloud::Gcp, "us-central1", "us-central1-f");
    let austin = all.place(Cloud::Lambda, "us-south-1", "regional");
    let mut add = |kind, place, on_demand: Option<u64>, spot: Option<u64>, has_spot| {
        let (on_demand, spot) = (on_demand.map(MicroUsd), spot.map(MicroUsd));
        all.rows.push(CatalogRow { kind, place, on_demand, spot, has_spot });
    };
    add(m5, one, Some(96_000), Some(38_400), true);
    add(m5, two, Some(96_000), Some(41_200), true);
    add(m5, atlanta, Some(120_000), None, true);
    add(m5, west, Some(96_000), Some(38_400), true);
    add(m6g, one, Some(77_000), None, true);
    add(m6g, two, Some(77_000), None, true);
    add(m6g, west, None, Some(20_000), true);
    add(p5, two, Some(55_040_000), Some(60_000_000), true);
    add(p5, west, None, None, true);
    add(a2, google, Some(3_673_385), Some(2_000_000), true);
    add(lambda, austin, Some(750_000), None, false);
    let as_of = Timestamp::from_second(1_785_542_400).unwrap_or(Timestamp::UNIX_EPOCH);
    all.finish("a test".to_owned(), as_of).0
}
