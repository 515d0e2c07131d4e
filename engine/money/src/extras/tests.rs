use super::traffic::Ways;
use super::{Sent, beside, sent};
use fleet_model::{Extra, MicroUsd, NoPrice, PoolId, Template, Traffic, Units};

fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

fn disk(text: &str, gib: Option<u32>, kind: Option<&str>) -> Extra {
    let sent = Sent { disk_gib: gib, disk_kind: kind, own_network: false };
    beside(&sent, &pool(text)).disk
}

#[test]
fn disks_are_priced_by_what_is_sent() {
    let hourly = |micros| Extra::Hourly(MicroUsd(micros));
    // 100 GiB × $0.08 / 730 h.
    assert_eq!(disk("aws/us-east-1/a/m5.large/spot", Some(100), None), hourly(10_959));
    let elsewhere = disk("aws/eu-west-1/a/m5.large/spot", Some(100), None);
    assert_eq!(elsewhere, Extra::About(MicroUsd(10_959)));
    assert_eq!(disk("gcp/us-central1/a/n2-standard-4/spot", Some(730), None), hourly(100_000));
    // 33 GiB are billed as the tier of 64.
    assert_eq!(disk("azure/eastus/1/Standard_D2s_v5/spot", Some(33), None), hourly(6_575));
    assert_eq!(disk("lambda/us-east-1/regional/gpu_1x_a10/on-demand", None, None), hourly(0));
    let unknown = |text, gib, kind| disk(text, gib, kind).unknown();
    let aws = "aws/us-east-1/a/m5.large/spot";
    assert_eq!(unknown(aws, None, None), Some(NoPrice::ImageDecides));
    assert_eq!(unknown(aws, Some(8), Some("io2")), Some(NoPrice::DiskKind));
    let n4 = "gcp/us-central1/a/n4-standard-4/spot";
    assert_eq!(unknown(n4, Some(50), None), Some(NoPrice::DiskKind));
    let azure = "azure/eastus/1/Standard_D2s_v5/spot";
    assert_eq!(unknown(azure, Some(8192), Some("Premium_LRS")), Some(NoPrice::DiskSize));
}

#[test]
fn addresses_are_priced_where_launches_ask_for_them() {
    let address = |text: &str, own_network| {
        beside(&Sent { own_network, ..Sent::default() }, &pool(text)).address
    };
    let hourly = |micros| Extra::Hourly(MicroUsd(micros));
    let aws = "aws/eu-west-1/a/m5.large/spot";
    assert_eq!(address(aws, false), hourly(5_000));
    assert_eq!(address(aws, true), Extra::Unknown(NoPrice::SubnetDecides));
    assert_eq!(address("gcp/us-central1/a/n2-standard-4/spot", false), hourly(2_500));
    assert_eq!(address("gcp/us-central1/a/n2-standard-4/on-demand", false), hourly(5_000));
    assert_eq!(address("gcp/us-central1/a/n2-standard-4/on-demand", true), hourly(0));
    assert_eq!(address("azure/eastus/1/Standard_D2s_v5/spot", true), hourly(0));
}

/// What a day's traffic of a fleet in one place costs in a month, in dollars.
fn month(data: &str, machines: &str, egress: u64, returned: u64) -> Result<f64, NoPrice> {
    let data = data
        .split_once('/')
        .map(|(cloud, region)| (cloud.parse().expect("a cloud"), region.to_owned()));
    let traffic =
        Traffic { data, egress_milli_gib: egress * 1000, returned_milli_gib: returned * 1000 };
    let place = pool(&format!("{machines}/z/t/spot")).place;
    Ways(&traffic).from(&place).map(|way| way.month as f64 / 1e6)
}

#[test]
fn bands_are_summed() {
    // 24 GiB a day are 730 GiB a month.
    assert_eq!(month("aws/us-east-1", "aws/us-east-1", 24, 24), Ok(0.0));
    assert_eq!(month("aws/us-east-1", "aws/us-west-2", 24, 0), Ok(730.0 * 0.02));
    assert_eq!(month("aws/us-east-1", "aws/us-east-2", 24, 24), Ok(2.0 * 730.0 * 0.01));
    assert_eq!(month("aws/us-east-1", "gcp/us-central1", 24, 0), Ok(730.0 * 0.09));
    // The other way it is Google's bill.
    assert_eq!(month("aws/us-east-1", "gcp/us-central1", 0, 24), Ok(730.0 * 0.12));
    // 2,400 GiB a day are 73,000 a month: three bands.
    let three = 10_240.0 * 0.09 + 40_960.0 * 0.085 + 21_800.0 * 0.07;
    let sum = month("aws/us-east-1", "lambda/us-east-1", 2_400, 0).expect("a price");
    assert!((sum - three).abs() < 1e-6, "{sum} {three}");
    assert_eq!(month("", "lambda/us-east-1", 2_400, 0), Ok(0.0));
    assert_eq!(month("", "gcp/europe-west4", 24, 0), Ok(730.0 * 0.12));
}

#[test]
fn ways_without_a_price_say_so() {
    assert_eq!(month("azure/eastus", "azure/westus", 24, 0), Err(NoPrice::Route));
    assert_eq!(month("gcp/us-central1", "aws/ap-southeast-2", 24, 0), Err(NoPrice::Route));
    assert_eq!(month("aws/sa-east-1", "lambda/us-east-1", 24, 0), Ok(730.0 * 0.15));
    assert_eq!(month("aws/sa-east-1", "lambda/us-east-1", 2_400, 0), Err(NoPrice::Volume));
    assert_eq!(month("aws/us-gov-west-1", "lambda/us-east-1", 24, 0), Err(NoPrice::Route));
    // Nothing is sent, so nothing needs a price.
    assert_eq!(month("azure/eastus", "azure/westus", 0, 0), Ok(0.0));
}

#[test]
fn a_machine_has_its_share() {
    let traffic = Traffic {
        data: Some((fleet_model::Cloud::Aws, "us-east-1".into())),
        egress_milli_gib: 24_000,
        returned_milli_gib: 0,
    };
    let place = pool("gcp/us-central1/z/t/spot").place;
    let way = Ways(&traffic).from(&place).expect("a way");
    // $65.70 a month are $0.09 an hour; two units of eight are a quarter.
    assert_eq!(way.of(Units::whole(2), Units::whole(8)), Extra::Hourly(MicroUsd(22_500)));
    assert_eq!(way.of(Units::whole(2), Units::whole(0)), Extra::default());
}

#[test]
fn a_template_and_its_record_ask_for_the_same() {
    let template = Template {
        disk: Some(fleet_model::Disk {
            size_gib: Some(64),
            kind: Some("gp2".into()),
            encrypted: true,
        }),
        subnets: vec!["subnet-1".into()],
        ..Template::default()
    };
    let fields = template.fields();
    assert_eq!(Sent::from(&template), Sent::of_fields(&fields));
    let plain = Template::default();
    assert_eq!(Sent::from(&plain), Sent::of_fields(&plain.fields()));
}

/// What launches send by default is written in the providers. This crate may not depend on them, so the
/// lines themselves are compared.
#[test]
fn defaults_are_those_of_the_launches() {
    let source = |path: &str| {
        let path = format!("{}/../../providers/{path}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let series = format!("{:?}", sent::HYPERDISK).replace(['[', ']'], "");
    let kind = source("gcp/src/kind.rs");
    assert!(kind.contains(&format!("&[{series}]")), "{series}");
    assert!(kind.contains(r#"{ "hyperdisk-balanced" } else { "pd-balanced" }"#));
    assert!(source("azure/src/launch.rs").contains(r#"const DISK: &str = "StandardSSD_LRS";"#));
    assert!(!source("azure/src/launch.rs").contains("publicIPAddress"));
    assert!(source("aws/src/launch.rs").contains("kind.unwrap_or(VolumeType::Gp3)"));
}
