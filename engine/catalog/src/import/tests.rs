//! Each fault of a price list, with its treatment.

use super::{Finding, ImportError, ImportReport, import};
use crate::validate;
use fleet_model::{Architecture, Catalog, CatalogRow, Cloud, MicroUsd, Resources};

const AWS: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone";
const GCP: &str = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice";
const AZURE: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,Generation";
const LAMBDA: &str =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice";

fn try_read(lists: &[(Cloud, &str, &str)]) -> Result<(Catalog, ImportReport), ImportError> {
    let folder = tempfile::tempdir().expect("a folder");
    for (cloud, header, lines) in lists {
        let dir = folder.path().join(cloud.as_str());
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("vms.csv"), format!("{header}\n{lines}")).expect("a file");
    }
    import(folder.path())
}

fn read(cloud: Cloud, header: &str, lines: &str) -> (Catalog, ImportReport) {
    let (catalog, report) = try_read(&[(cloud, header, lines)]).expect("imported");
    assert_eq!(validate(&catalog), Ok(()));
    (catalog, report)
}

fn row<'c>(catalog: &'c Catalog, kind: &str) -> &'c CatalogRow {
    let found = catalog.rows.iter().find(|row| catalog.kind(row).name.as_str() == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn has<'c>(catalog: &'c Catalog, kind: &str) -> &'c Resources {
    let found = catalog.kinds.iter().find(|found| found.name.as_str() == kind);
    &found.unwrap_or_else(|| panic!("no {kind}")).resources
}

fn gpus(catalog: &Catalog, kind: &str) -> (Option<String>, u32) {
    let found = has(catalog, kind).accelerators.clone().expect("accelerators");
    (found.name, found.count_milli)
}

fn named(name: &str, count_milli: u32) -> (Option<String>, u32) {
    (Some(name.to_owned()), count_milli)
}

#[test]
fn missing_prices_are_unpriced() {
    let (catalog, report) = read(
        Cloud::Aws,
        AWS,
        "p5e.48xlarge,H200,8.0,192.0,2048.0,,,12.5,us-east-2,use2-az1\n\
         m5.large,,,2.0,8.0,,0.096,0.04,us-east-2,use2-az1\n\
         m5.large,,,2.0,8.0,,0.096,,us-east-2,use2-az2\n\
         mac1.metal,,,12.0,32.0,,,,us-east-2,use2-az1\n",
    );
    let found = row(&catalog, "p5e.48xlarge");
    assert_eq!((found.on_demand, found.spot), (None, Some(MicroUsd(12_500_000))));
    let aws = report.cloud(Cloud::Aws).expect("aws");
    assert_eq!((aws.count(Finding::Unpriced), aws.count(Finding::SpotUnpriced)), (2, 1));
    // Sold as spot elsewhere: unpriced here. Never sold as spot: not spot.
    let m5: Vec<_> =
        catalog.rows.iter().filter(|r| catalog.kind(r).name.as_str() == "m5.large").collect();
    assert_eq!((m5[1].spot, m5[1].has_spot), (None, true));
    assert!(!row(&catalog, "mac1.metal").has_spot);
}

#[test]
fn dear_spot_stays_and_zero_is_unknown() {
    let (catalog, report) =
        read(Cloud::Aws, AWS, "c4.large,,,2.0,3.75,,0.1,0.2,r,z\nc5.large,,,2.0,4.0,,0,0.0,r,z\n");
    assert_eq!(row(&catalog, "c4.large").spot, Some(MicroUsd(200_000)));
    assert_eq!(has(&catalog, "c4.large").memory_mib, Some(3840));
    let free = row(&catalog, "c5.large");
    assert_eq!((free.on_demand, free.spot, free.has_spot), (None, None, false));
    let aws = report.cloud(Cloud::Aws).expect("aws");
    assert_eq!((aws.count(Finding::SpotDearer), aws.count(Finding::Zero)), (1, 2));
}

#[test]
fn duplicates_merge_and_the_one_with_prices_wins() {
    for lines in [
        "p4de.24xlarge,A100-80GB,8.0,96.0,1152.0,,27.4,24.2,r,z\np4de.24xlarge,A100-80GB,8.0,96.0,1152.0,,27.4,,r,z\n",
        "p4de.24xlarge,A100-80GB,8.0,96.0,1152.0,,,,r,z\np4de.24xlarge,A100-80GB,8.0,96.0,1152.0,,27.4,24.2,r,z\n",
    ] {
        let (catalog, report) = read(Cloud::Aws, AWS, lines);
        assert_eq!(catalog.rows.len(), 1);
        let found = row(&catalog, "p4de.24xlarge");
        let prices = (found.on_demand, found.spot);
        assert_eq!(prices, (Some(MicroUsd(27_400_000)), Some(MicroUsd(24_200_000))));
        let aws = report.cloud(Cloud::Aws).expect("aws");
        assert_eq!((aws.lines, aws.offers, aws.count(Finding::Duplicate)), (2, 1, 1));
        assert_eq!((aws.count(Finding::Unpriced), aws.count(Finding::SpotUnpriced)), (0, 0));
    }
}

#[test]
fn amazon_accelerators_are_filled_in_sliced_or_unknown() {
    let (catalog, report) = read(
        Cloud::Aws,
        AWS,
        "trn2.48xlarge,,,192.0,2048.0,,,,r,z\n\
         g6f.large,L4,0.125,2.0,8.0,,0.2,0.1,r,z\n\
         g99.large,,,2.0,8.0,,0.2,0.1,r,z\n\
         g98.large,Quantum 9,2,2.0,8.0,,0.2,0.1,r,z\n\
         g98.large,Quantum 9,4,2.0,8.0,,0.2,0.1,r,z2\n\
         m5.large,,,2.0,8.0,,0.2,0.1,r,z\n",
    );
    assert_eq!(gpus(&catalog, "trn2.48xlarge"), named("Trainium2", 16_000));
    assert_eq!(gpus(&catalog, "g6f.large"), named("L4", 125));
    assert_eq!(gpus(&catalog, "g99.large"), (None, 0));
    assert_eq!(gpus(&catalog, "g98.large"), named("Quantum 9", 2000));
    assert_eq!(has(&catalog, "m5.large").accelerators, None);
    let aws = report.cloud(Cloud::Aws).expect("aws");
    for finding in [
        Finding::AcceleratorsFilled,
        Finding::AcceleratorsUnknown,
        Finding::AcceleratorsUnnamed,
        Finding::Contradiction,
    ] {
        assert_eq!(aws.count(finding), 1, "{finding:?}");
    }
}

#[test]
fn google_hosts_cost_what_host_and_accelerators_cost() {
    let (catalog, report) = read(
        Cloud::Gcp,
        GCP,
        "a2-highgpu-2g,24.0,170.0,,,,r,r-a,1.5,0.9\n\
         a2-highgpu-2g,24.0,170.0,,,,r,r-b,1.5,0.9\n\
         a3-megagpu-8g,208.0,1872.0,,,,r,r-a,9.0,5.0\n\
         a4-highgpu-8g,224.0,3968.0,,,,r,r-a,0.0,0.0\n\
         g4-standard-6,6.0,22.0,,,,r,r-a,0.4,0.1\n\
         a2-newgpu-2g,24.0,170.0,,,,r,r-a,1.5,0.9\n\
         n1-340-48-tpu,48.0,340.0,,,,r,r-a,3.4,0.7\n\
         ,,,A100,1,,r,r-a,3.0,1.0\n\
         ,,,A100,2,,r,r-a,5.5,2.0\n\
         ,,,H100-MEGA,8,,r,r-a,,40\n\
         ,,,B200,8,,r,r-a,90,40\n\
         ,,,RTXPRO6000,1,,r,r-a,1.6,0.8\n\
         ,,,T4,1,,r,r-a,0.35,0.1\n\
         ,,,,,,r,r-a,0.35,0.1\n",
    );
    let prices = |kind: &str, zone: &str| {
        let found = catalog.rows.iter().find(|row| {
            catalog.kind(row).name.as_str() == kind && catalog.place(row).zone.as_str() == zone
        });
        let found = found.unwrap_or_else(|| panic!("no {kind}"));
        (found.on_demand.map(|p| p.0), found.spot.map(|p| p.0), found.has_spot)
    };
    assert_eq!(prices("a2-highgpu-2g", "r-a"), (Some(7_000_000), Some(2_900_000), true));
    // No accelerator price in this zone: never the host's alone.
    assert_eq!(prices("a2-highgpu-2g", "r-b"), (None, None, true));
    assert_eq!(prices("a3-megagpu-8g", "r-a"), (None, Some(45_000_000), true));
    assert_eq!(prices("a4-highgpu-8g", "r-a"), (Some(90_000_000), Some(40_000_000), true));
    assert_eq!(prices("g4-standard-6", "r-a"), (Some(600_000), Some(200_000), true));
    assert_eq!(prices("a2-newgpu-2g", "r-a"), (None, None, false));
    assert_eq!(gpus(&catalog, "a3-megagpu-8g"), named("H100", 8000));
    assert_eq!(gpus(&catalog, "a2-newgpu-2g"), (None, 0));
    let gcp = report.cloud(Cloud::Gcp).expect("gcp");
    let check = |finding, expect| assert_eq!(gcp.count(finding), expect, "{finding:?}");
    check(Finding::HostPlusAccelerators, 3);
    check(Finding::AcceleratorsUnpriced, 3);
    check(Finding::Folded, 5);
    check(Finding::Attachable, 1);
    check(Finding::TpuHost, 1);
    check(Finding::Nameless, 1);
    check(Finding::AcceleratorsUnknown, 1);
    assert_eq!((gcp.lines, gcp.offers), (14, 6));
}

#[test]
fn slices_are_kinds_and_placeholders_are_no_prices() {
    let (catalog, report) = read(
        Cloud::Gcp,
        GCP,
        ",,,tpu-v5p-8,1,tpu-v5p-8,r,r-a,17,3\n\
         ,,,tpu-v5p-8,1,tpu-v5p-8,r,r-a,17,3\n\
         ,,,tpu-v6e-8,1,tpu-v6e-8,r,r-a,21.6,\n\
         ,,,tpu-v6e-1,1,tpu-v6e-1,r,r-b,700.0,700.0\n\
         ,,,tpu-v6e-4,1,tpu-v6e-4,r,r-b,700.0,700.0\n",
    );
    assert_eq!(gpus(&catalog, "tpu-v5p-8"), named("tpu-v5p", 4000));
    assert_eq!(gpus(&catalog, "tpu-v6e-8"), named("tpu-v6e", 8000));
    assert_eq!(
        (has(&catalog, "tpu-v6e-8").vcpus, has(&catalog, "tpu-v6e-8").memory_mib),
        (None, None)
    );
    assert_eq!(row(&catalog, "tpu-v5p-8").on_demand, Some(MicroUsd(17_000_000)));
    assert_eq!(row(&catalog, "tpu-v6e-4").on_demand, None);
    let gcp = report.cloud(Cloud::Gcp).expect("gcp");
    assert_eq!((gcp.count(Finding::Placeholder), gcp.count(Finding::Duplicate)), (2, 1));
    assert_eq!(catalog.rows.len(), 4);
}

#[test]
fn microsoft_counts_are_corrected_and_zones_are_regional() {
    let (catalog, report) = read(
        Cloud::Azure,
        AZURE,
        "Standard_ND96isr_H100_v5,H100,12,96.0,1900,H100,98.3,98.3,eastus,V2\n\
         Standard_NV4as_v4,Radeon MI25,1,4.0,14,Radeon MI25,0.2,0.02,eastus,V1\n\
         Standard_NP10s,,,10.0,168,,1.65,0.3,eastus,V1\n\
         Standard_ND40s_v3,,,40.0,672,,,,eastus,\"V1,V2\"\n\
         Standard_E16-4s_v5,,,16.0,128,,1.0,0.2,eastus,V1\n\
         Standard_D2ps_v5,,,2.0,8,,0.07,0.01,eastus,V2\n",
    );
    assert_eq!(gpus(&catalog, "Standard_ND96isr_H100_v5"), named("H100", 8000));
    assert_eq!(gpus(&catalog, "Standard_NV4as_v4"), named("MI25", 125));
    assert_eq!(gpus(&catalog, "Standard_NP10s"), named("U250", 1000));
    assert_eq!(gpus(&catalog, "Standard_ND40s_v3"), (None, 0));
    assert_eq!(has(&catalog, "Standard_E16-4s_v5").vcpus, Some(4));
    assert_eq!(has(&catalog, "Standard_D2ps_v5").architecture, Architecture::Arm64);
    assert_eq!(catalog.places.len(), 1);
    assert_eq!(catalog.places[0].to_string(), "azure/eastus/regional");
    let azure = report.cloud(Cloud::Azure).expect("azure");
    let check = |finding, expect| assert_eq!(azure.count(finding), expect, "{finding:?}");
    check(Finding::AcceleratorsCorrected, 2);
    check(Finding::AcceleratorsFilled, 1);
    check(Finding::AcceleratorsUnknown, 1);
    check(Finding::VcpusCorrected, 1);
}

#[test]
fn lambda_is_regional_and_never_spot() {
    let (catalog, _) = read(
        Cloud::Lambda,
        LAMBDA,
        "gpu_1x_gh200,GH200,1.0,64.0,432.0,1.99,us-east-3,,\ncpu_4x_general,,,4.0,16.0,0.2,us-east-3,,\n",
    );
    assert!(catalog.rows.iter().all(|row| !row.has_spot && row.spot.is_none()));
    assert_eq!(has(&catalog, "gpu_1x_gh200").architecture, Architecture::Arm64);
    assert_eq!(has(&catalog, "cpu_4x_general").accelerators, None);
    assert_eq!(catalog.places[0].to_string(), "lambda/us-east-3/regional");
}

#[test]
fn what_is_not_a_list_is_refused_with_its_place() {
    let fails = |header: &str, lines: &str| {
        try_read(&[(Cloud::Aws, header, lines)]).expect_err("refused").to_string()
    };
    assert!(try_read(&[]).expect_err("refused").to_string().contains("holds no catalog"));
    assert!(fails("InstanceType,Price", "").contains("has no column `AcceleratorName`"));
    let line = |price: &str| format!("m5.large,,,2.0,8.0,,{price},,r,z\n");
    for bad in ["x", "-1", "NaN", "inf", "1e300"] {
        let message = fails(AWS, &line(bad));
        assert!(message.ends_with(&format!(":2: `{bad}` is not a value for Price")), "{message}");
    }
    assert!(fails(AWS, "m5.large,,,-2,8.0,,1,,r,z\n").contains("not a value for vCPUs"));
    assert!(fails(AWS, "m5.large,,,2,8.0,,1,,,z\n").contains("not a value for Region"));
    assert!(fails(AWS, "m5.large\n").contains("is not a table"));
}

#[test]
fn an_absent_cloud_is_left_out_and_the_report_reads_well() {
    let (catalog, report) = try_read(&[
        (Cloud::Lambda, LAMBDA, "gpu_1x_a10,A10,1.0,30.0,200.0,0.75,us-east-1,,\n"),
        (Cloud::Aws, AWS, "m5.large,,,2.0,8.0,,,,us-east-1,use1-az1\n"),
    ])
    .expect("imported");
    assert_eq!(catalog.rows.len(), 2);
    assert_eq!(
        report.to_string(),
        "aws: 1 lines, 1 types, 1 offers\n       1 offers without an on-demand price: kept as unpriced\n\
         lambda: 1 lines, 1 types, 1 offers"
    );
}
