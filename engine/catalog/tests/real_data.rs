//! Facts about the real price lists, and the snapshot made of them.
//!
//! The lists are not part of the repository: `FLEET_SHARED_DATA` names the folder that holds
//! `catalog/`, else it is looked for beside the workspace. Where they are absent the tests say so
//! and pass.

use fleet_catalog::{
    Finding, Query, SNAPSHOT_LISTS, SNAPSHOT_SOURCE, embedded, import, import_all, list, load,
    save, show, snapshot_as_of, source, validate, write_snapshot,
};
use fleet_model::{Catalog, Cloud, MicroUsd};
use std::path::{Path, PathBuf};

/// The folder that is imported in tests.
fn lists() -> Option<PathBuf> {
    all_lists().map(|dirs| dirs[0].clone())
}

/// Every folder that the snapshot is made of.
fn all_lists() -> Option<Vec<PathBuf>> {
    SNAPSHOT_LISTS.iter().map(|list| fleet_testkit::shared_data(list)).collect()
}

fn price(catalog: &Catalog, kind: &str, zone: &str) -> (Option<MicroUsd>, Option<MicroUsd>) {
    let shown = show(catalog, kind).expect("a type");
    let offer = shown.offers.into_iter().find(|offer| offer.place.zone.as_str() == zone);
    offer.map_or((None, None), |offer| (offer.on_demand, offer.spot))
}

fn gpus(catalog: &Catalog, kind: &str) -> (String, u32) {
    let shown = show(catalog, kind).expect("a type");
    let found = shown.kind.resources.accelerators.clone().expect("accelerators");
    (found.name.unwrap_or_default(), found.count_milli)
}

#[test]
fn the_real_lists_are_read_as_they_should_be() {
    let Some(dir) = lists() else { return };
    let (catalog, report) = import(&dir).expect("imported");
    assert_eq!(validate(&catalog), Ok(()));
    assert_eq!(report.lines(), 95_091);
    assert_eq!(report.offers() as usize, catalog.rows.len());
    let count = |cloud, finding| report.cloud(cloud).map_or(0, |report| report.count(finding));
    assert_eq!(count(Cloud::Aws, Finding::SpotDearer), 243);
    assert_eq!(count(Cloud::Aws, Finding::Unpriced), 134);
    assert_eq!(count(Cloud::Aws, Finding::Duplicate), 5);
    assert_eq!(count(Cloud::Azure, Finding::Unpriced), 66);
    assert_eq!(count(Cloud::Gcp, Finding::Placeholder), 24);
    assert_eq!(count(Cloud::Gcp, Finding::Zero), 0, "a zero host price is no finding");

    let usd = |micros| Some(MicroUsd(micros));
    // Host 0.94803 + one A100 3.10156; spot 0.56878 + 1.8609.
    let a2 = price(&catalog, "a2-highgpu-1g", "asia-northeast1-a");
    assert_eq!(a2, (usd(4_049_590), usd(2_429_680)));
    // Billed as one: the host is listed at zero.
    let a4 = price(&catalog, "a4-highgpu-8g", "asia-northeast1-b");
    assert_eq!(a4, (usd(90_216_000), usd(47_452_800)));
    // No accelerator price in this zone.
    assert_eq!(price(&catalog, "a3-megagpu-8g", "asia-east1-c"), (None, None));
    // H200 has a spot price here and no other.
    let a3 = price(&catalog, "a3-ultragpu-8g", "us-south1-b");
    assert!(a3.0.is_none() && a3.1.is_some(), "{a3:?}");
    assert_eq!(price(&catalog, "p4de.24xlarge", "use1-az4"), (usd(27_447_050), usd(24_288_200)));
    assert_eq!(gpus(&catalog, "Standard_ND96isr_H100_v5"), ("H100".into(), 8000));
    assert_eq!(gpus(&catalog, "a3-megagpu-8g"), ("H100".into(), 8000));
    assert_eq!(gpus(&catalog, "trn2.48xlarge"), ("Trainium2".into(), 16_000));
    assert_eq!(gpus(&catalog, "tpu-v5p-8"), ("tpu-v5p".into(), 4000));
    let gpu = Query { gpu: Some("H100".into()), ..Query::default() };
    let clouds: std::collections::BTreeSet<Cloud> =
        list(&catalog, &gpu).iter().map(|line| line.kind.cloud).collect();
    assert_eq!(clouds.into_iter().collect::<Vec<_>>(), Cloud::ALL);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.bin");
    assert_eq!(source(Some(&path)).expect("embedded"), embedded());
    save(&catalog, &path).expect("saved");
    assert_eq!(source(Some(&path)).expect("loaded").rows, catalog.rows);
    let bytes = std::fs::read(&path).expect("bytes");
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&path, &bytes[..cut]).expect("written");
        assert!(load(&path).is_err(), "cut at {cut}");
        assert!(source(Some(&path)).is_err(), "never the embedded one in silence");
    }
}

#[test]
fn the_snapshot_is_what_the_lists_give() {
    let Some(dirs) = all_lists() else { return };
    let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let (mut catalog, report) = import_all(&dirs).expect("imported");
    assert_eq!(report.lines(), 95_091 + 27_642);
    catalog.source = SNAPSHOT_SOURCE.to_owned();
    catalog.as_of = snapshot_as_of();
    for (cloud, text) in write_snapshot(&catalog) {
        let path = format!("{}/snapshot/{cloud}.txt", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(&path).expect("a snapshot");
        assert!(
            text == kept,
            "snapshot/{cloud}.txt is stale: cargo run -p fleet-catalog --example make_snapshot"
        );
    }
}

#[test]
fn the_snapshot_covers_what_fleets_are_made_of() {
    let catalog = embedded();
    assert_eq!(validate(&catalog), Ok(()));
    assert_eq!(catalog.source, SNAPSHOT_SOURCE);
    assert_eq!(catalog.as_of.to_string(), "2026-08-01T00:00:00Z");
    for kind in [
        "p5.48xlarge",
        "p4d.24xlarge",
        "a3-highgpu-8g",
        "a2-ultragpu-1g",
        "tpu-v5litepod-256",
        "Standard_ND96isr_H100_v5",
        "Standard_D8s_v5",
        "gpu_8x_h100_sxm5",
        "m7g.large",
        "n2-standard-8",
    ] {
        assert!(show(&catalog, kind).is_ok(), "{kind}");
    }
    for kind in ["u-6tb1.112xlarge", "tpu-v5p-12288", "n1-ultramem-40"] {
        assert!(show(&catalog, kind).is_err(), "{kind}");
    }
}

/// Azure is everywhere; what its spot machines cost outside the US is not in the lists. That is not
/// known, which is neither nothing nor "not sold".
#[test]
fn azure_outside_the_us_is_sold_at_a_spot_price_that_nobody_knows() {
    let catalog = embedded();
    let azure = |region: &str, kind: &str| {
        let shown = show(&catalog, kind).expect("a type");
        let offer = shown.offers.into_iter().find(|offer| offer.place.region.as_str() == region);
        offer.map(|offer| (offer.on_demand.is_some(), offer.has_spot, offer.spot.is_some()))
    };
    for region in ["westeurope", "uksouth", "japaneast", "centralindia", "brazilsouth"] {
        assert_eq!(azure(region, "Standard_D8s_v5"), Some((true, true, false)), "{region}");
    }
    assert_eq!(azure("eastus", "Standard_D8s_v5"), Some((true, true, true)));
    let azure = |place: &&fleet_model::Place| place.cloud == Cloud::Azure;
    let regions: std::collections::BTreeSet<&str> =
        catalog.places.iter().filter(azure).map(|place| place.region.as_str()).collect();
    assert_eq!(regions.len(), 57);
}
