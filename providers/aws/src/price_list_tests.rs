use super::*;
use aws_sdk_ec2::types::{
    GpuDeviceInfo, GpuDeviceMemoryInfo, GpuInfo, MemoryInfo, NeuronDeviceInfo, NeuronInfo,
    ProcessorInfo, VCpuInfo,
};

/// As the price list writes it, shortened.
fn written(kind: &str, unit: &str, usd: &str) -> String {
    format!(
        r#"{{"product":{{"productFamily":"Compute Instance","attributes":{{"instanceType":"{kind}",
        "regionCode":"us-east-1","operatingSystem":"Linux","tenancy":"Shared"}},"sku":"X"}},
        "serviceCode":"AmazonEC2","terms":{{"OnDemand":{{"X.J":{{"priceDimensions":{{"X.J.6":
        {{"unit":"{unit}","endRange":"Inf","pricePerUnit":{{"USD":"{usd}"}}}}}},"sku":"X",
        "termAttributes":{{}}}}}},"Reserved":{{}}}},"version":"1"}}"#
    )
}

#[test]
fn prices_are_read_and_nothing_is_free() {
    let check = |text: &str, expect: Option<u64>| {
        assert_eq!(product(text).map(|(_, price)| price.0), expect, "{text}");
    };
    check(&written("m5.large", "Hrs", "0.0960000000"), Some(96_000));
    check(&written("m5.large", "Hrs", "0.0000000000"), None);
    check(&written("m5.large", "Quantity", "700"), None);
    check(&written("m5.large", "Hrs", "a lot"), None);
    check(&written("m5.large", "Hrs", "0.09").replace("USD", "CNY"), None);
    check("{}", None);
    check("not JSON", None);
}

fn described(name: &str) -> aws_sdk_ec2::types::builders::InstanceTypeInfoBuilder {
    InstanceTypeInfo::builder()
        .instance_type(name.into())
        .v_cpu_info(VCpuInfo::builder().default_v_cpus(96).build())
        .memory_info(MemoryInfo::builder().size_in_mib(1_179_648).build())
        .instance_storage_supported(true)
}

fn gpu(name: &str, count: i32, logical: i32, part: f64, mib: i32) -> GpuInfo {
    let memory = GpuDeviceMemoryInfo::builder().size_in_mib(mib).build();
    let gpu = GpuDeviceInfo::builder()
        .name(name)
        .count(count)
        .logical_gpu_count(logical)
        .gpu_partition_size(part)
        .memory_info(memory);
    GpuInfo::builder().gpus(gpu.build()).build()
}

#[test]
fn accelerators_have_the_names_that_the_catalog_has() {
    let check = |info: InstanceTypeInfo, name: &str, count: u32, gib: u64| {
        let has = kind(&info).and_then(|kind| kind.resources.accelerators).expect("some");
        assert_eq!((has.name.as_deref(), has.count_milli), (Some(name), count));
        assert_eq!(has.memory_mib, Some(gib * 1024));
    };
    check(
        described("p4d.24xlarge").gpu_info(gpu("A100", 8, 8, 1.0, 40_960)).build(),
        "A100",
        8000,
        40,
    );
    check(
        described("p4de.24xlarge").gpu_info(gpu("A100", 8, 8, 1.0, 81_920)).build(),
        "A100-80GB",
        8000,
        80,
    );
    check(described("g6f.large").gpu_info(gpu("L4", 0, 1, 0.125, 2_861)).build(), "L4", 125, 3);
    let neurons = NeuronDeviceInfo::builder().name("Trainium2").count(16).build();
    let neurons = NeuronInfo::builder().neuron_devices(neurons).build();
    check(described("trn2.48xlarge").neuron_info(neurons).build(), "Trainium2", 16_000, 96);
    // Named by nobody but Amazon's own pages.
    check(described("trn2.3xlarge").build(), "Trainium2", 1000, 96);
    // Surely some, nobody says which.
    let unknown = kind(&described("p9.huge").build()).and_then(|kind| kind.resources.accelerators);
    assert_eq!(unknown, Some(Accelerators::unknown()));
    let plain = kind(&described("m5.24xlarge").build()).expect("a kind");
    assert_eq!(plain.resources.accelerators, None);
    assert_eq!(plain.resources.generation, Some(5));
}

#[test]
fn architectures() {
    let check = |name: &str, says: Option<&str>, expect| {
        let processor = ProcessorInfo::builder()
            .set_supported_architectures(says.map(|says| vec![ArchitectureType::from(says)]));
        let info = described(name).processor_info(processor.build()).build();
        assert_eq!(kind(&info).map(|kind| kind.resources.architecture), Some(expect), "{name}");
    };
    check("m6g.large", Some("arm64"), Architecture::Arm64);
    check("m6g.large", None, Architecture::Arm64);
    check("mac2.metal", Some("arm64_mac"), Architecture::Arm64);
    check("m5.large", Some("x86_64"), Architecture::X86_64);
}

#[test]
fn a_line_per_type_and_zone_with_what_is_known() {
    let m5 = kind(&described("m5.large").build()).expect("a kind");
    let name = m5.name.clone();
    let kinds = BTreeMap::from([(name.clone(), (m5, true))]);
    let zones = ["use1-az1", "use1-az2", "use1-atl2-az1"];
    let mut sold: BTreeSet<(InstanceType, Zone)> =
        zones.iter().map(|zone| (name.clone(), Zone::from(*zone))).collect();
    // A type that is offered and not described.
    sold.insert(("x.y".into(), "use1-az1".into()));
    let on_demand = BTreeMap::from([(name.clone(), MicroUsd(96_000))]);
    let level = |price| prices::Level { price: MicroUsd(price), volatility: None };
    let spot = BTreeMap::from([
        ((name.clone(), Zone::from("use1-az1")), level(40_000)),
        ((name, Zone::from("use1-az2")), level(0)),
    ]);
    let listed = join(&"us-east-1".into(), &kinds, &sold, &on_demand, &spot);
    let lines: Vec<(&str, Option<u64>, Option<u64>)> = listed
        .iter()
        .map(|l| (l.place.zone.as_str(), l.on_demand.map(|p| p.0), l.spot.map(|p| p.0)))
        .collect();
    assert_eq!(
        lines,
        [
            ("use1-atl2-az1", None, None),
            ("use1-az1", Some(96_000), Some(40_000)),
            ("use1-az2", Some(96_000), None),
        ]
    );
}
