//! What is accepted, and what it means.

use crate::{TRAIN, accept, fleet, only};
use fleet_model::{
    AtCap, Bounds, Cloud, Desired, Fallback, Fulfilment, LocalDiskRule, Maker, MaxSpotPrice,
    MicroUsd, OnNotice, OnRebalance, Part, Probe, ProbeAddress, Share, SignalSource, Strategy,
    Unit, Units, UpdateStrategy,
};

fn patterns(list: &[fleet_model::Pattern]) -> Vec<&str> {
    list.iter().map(fleet_model::Pattern::as_str).collect()
}

#[test]
fn the_first_spec_is_accepted_as_it_stands() {
    let loaded = accept(TRAIN);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let fleet = only(loaded);
    let desired = &fleet.desired;
    assert_eq!(desired.fleet.as_str(), "train");
    assert_eq!(desired.labels["team"], "research");
    assert_eq!(desired.capacity.unit, Unit::Gpus);
    assert_eq!(desired.capacity.on_demand, Units::whole(16));
    assert_eq!(desired.capacity.spot, Units::whole(48));
    assert_eq!(desired.instances.families.len(), 8);
    assert_eq!(desired.instances.accelerators.count_milli.min, Some(1000));
    assert_eq!(desired.placement.priorities, desired.instances.families);
    assert_eq!(desired.placement.clouds.len(), 4);
    assert_eq!(desired.placement.spread.min_zones, 3);
    assert_eq!(desired.budget.hourly, Some(MicroUsd::dollars(400)));
    assert_eq!(desired.templates.len(), 3);
    assert_eq!(desired.templates[&Cloud::Aws].image.as_deref(), Some("ami-0123456789abcdef0"));
    let place = fleet.place_of("spec.instances.families[3]").expect("a place");
    assert_eq!(place.to_string(), "train.yaml:7:31");
    assert_eq!(fleet.place_of("spec.updates"), None);
    let error = fleet.error_at("spec.instances.vcpus.min", "nothing is left", None);
    assert_eq!((error.line, error.column), (6, 3));
}

#[test]
fn little_is_needed() {
    let loaded = accept(&fleet("capacity: { target: 3 }"));
    assert!(loaded.warnings.is_empty());
    let desired = only(loaded).desired;
    assert_eq!(desired.capacity.unit, Unit::Instances);
    assert_eq!(desired.capacity.spot, Units::whole(3));
    assert_eq!(desired.placement.strategy, Strategy::CapacityOptimized);
    assert_eq!(desired.placement.clouds.len(), 4);
    assert_eq!(desired.placement.fulfilment, Fulfilment::Exact);
    assert!(desired.placement.ignore_signals.is_empty());
    assert_eq!(desired.budget.hourly, None);
    assert!(desired.templates.is_empty());
    let nothing = only(accept(&fleet("capacity: { target: 0, base: { onDemand: 0 } }"))).desired;
    assert!(nothing.capacity.target.is_zero());
}

#[test]
fn every_field_has_its_meaning() {
    let desired = only(accept(&fleet(
        r#"
capacity: { unit: memoryGiB, target: 1024.5, base: { onDemand: 25% }, burst: { spot: 50% } }
instances:
  families: [r5]
  types: ["r6*.8xlarge"]
  exclude: ["*.metal"]
  vcpus: { min: 4, max: 64 }
  memoryGiB: { min: 3.75 }
  gibPerVcpu: { max: 8 }
  architectures: [x86_64, arm64]
  accelerators: { makers: [nvidia, amd], memoryGiB: { min: 40 }, perInstance: { min: 0.125 } }
  localDisk: required
  generation: { min: 5 }
placement:
  strategy: prioritized
  clouds:
    - { provider: aws, regions: any, zones: [use1-az1] }
    - { provider: azure, regions: [eastus], zones: [1, 2] }
  spread: { maxSharePerZone: 50%, maxSharePerRegion: 60%, maxSharePerProvider: 70% }
  priorities: [r6*, r5]
  weights: [{ types: r5*, units: 2.5 }]
  maxSpotPrice: 60%
  fulfilment: flexible
  ignoreSignals: [aws-placement-score, azure-eviction-rate]
  commitments:
    - { provider: aws, region: us-east-1, type: r5.8xlarge, count: 12 }
    - { provider: azure, region: eastus, type: Standard_E8s_v5, count: 3, until: 2027-03-01 }
budget: { hourlyUsd: 400, monthlyUsd: 7300, atCap: hold }
template:
  network: vpc-1
  subnets: { aws: [subnet-1, subnet-2] }
  disk: { sizeGiB: 100, type: gp3 }
  tags: { cost: 42, version: 1.10 }
  userData: |
    #!/bin/sh
    echo hello
"#,
    )))
    .desired;
    assert_eq!(desired.capacity.target, Units(1_024_500));
    // A quarter is 256.125, so 257; of the 767.5 that remain, 383 are spot.
    assert_eq!(desired.capacity.spot, Units::whole(383));
    assert_eq!(desired.capacity.on_demand, Units(641_500));
    let instances = &desired.instances;
    assert_eq!(patterns(&instances.types), ["r6*.8xlarge"]);
    assert_eq!(instances.vcpus, Bounds { min: Some(4), max: Some(64) });
    assert_eq!(instances.memory_mib.min, Some(3840));
    assert_eq!(instances.mib_per_vcpu.max, Some(8192));
    assert_eq!(instances.accelerators.count_milli.min, Some(125));
    assert!(instances.accelerators.makers.contains(&Maker::Amd));
    assert_eq!(instances.local_disk, LocalDiskRule::Required);
    let placement = &desired.placement;
    assert_eq!(patterns(&placement.priorities), ["r6*", "r5"]);
    assert_eq!(patterns(&placement.clouds[1].zones), ["1", "2"]);
    assert!(placement.clouds[0].regions.is_empty());
    assert_eq!(placement.fulfilment, Fulfilment::Flexible);
    let ignored: Vec<SignalSource> = placement.ignore_signals.iter().collect();
    assert_eq!(ignored, [SignalSource::SpotPlacementScore, SignalSource::EvictionRate]);
    assert_eq!(placement.weights[0].units, Units(2500));
    let [ever, ends] = &placement.commitments[..] else { panic!("two commitments") };
    assert_eq!((ever.count, ever.region.as_str(), ever.until), (12, "us-east-1", None));
    assert_eq!(ends.until, "2027-03-01T00:00:00Z".parse().ok());
    let share = Share::from_percent(60.0).expect("a share");
    assert_eq!(placement.max_spot_price, Some(MaxSpotPrice::ShareOfOnDemand(share)));
    assert_eq!(desired.budget.hourly, Some(MicroUsd::dollars(10)));
    assert_eq!(desired.budget.at_cap, AtCap::Hold);
    let aws = &desired.templates[&Cloud::Aws];
    assert_eq!(aws.subnets, ["subnet-1", "subnet-2"]);
    assert_eq!(aws.tags["version"], "1.10");
    assert!(aws.disk.as_ref().expect("a disk").encrypted);
    assert_eq!(aws.user_data, Some("#!/bin/sh\necho hello\n".into()));
    let azure = &desired.templates[&Cloud::Azure];
    assert_eq!((azure.network.as_deref(), azure.subnets.len()), (Some("vpc-1"), 0));
    assert_eq!(desired.templates.len(), 2);
}

#[test]
fn what_is_a_mapping_itself_can_be_given_per_cloud() {
    let desired = only(accept(&fleet(
        "capacity: { target: 1 }\n\
         template:\n  disk: { aws: { sizeGiB: 9 }, gcp: { encrypted: false } }\n  \
         tags: { aws: { a: b } }",
    )))
    .desired;
    assert_eq!(desired.templates[&Cloud::Aws].disk.as_ref().expect("a disk").size_gib, Some(9));
    assert!(!desired.templates[&Cloud::Gcp].disk.as_ref().expect("a disk").encrypted);
    assert_eq!(desired.templates[&Cloud::Aws].tags["a"], "b");
}

#[test]
fn updates_health_and_interruption_are_read() {
    let fleet = only(accept(&fleet(
        "capacity: { target: 1 }\nupdates: { strategy: recreate, maxUnavailable: 10%, maxSurge: 2, canary: 0, \
         pause: 10m, healthGate: false, windows: [{ cron: 0 2 * * sat, timeZone: Europe/Berlin, lasts: 4h }] }\n\
         health: { cloud: false, http: { port: 8080, path: /up }, tcp: { port: 22 }, command: [./check, -v], \
         address: public, timeout: 2s, readyWithin: 20m, unhealthyAfter: 90s }\n\
         interruption: { onNotice: drain, onRebalance: replace, graceSeconds: 120, drain: [./drain] }",
    )));
    let Desired { updates, health, interruption, .. } = fleet.desired;
    assert_eq!(updates.strategy, UpdateStrategy::Recreate);
    assert_eq!(updates.max_unavailable, Part::Share(Share::TENTH));
    assert_eq!((updates.max_surge, updates.canary), (Part::Machines(2), 0));
    assert_eq!((updates.pause_seconds, updates.health_gate), (600, false));
    assert_eq!(updates.windows[0].lasts_seconds, 4 * 3600);
    let command = Probe::Command { argv: vec!["./check".into(), "-v".into()] };
    let http = Probe::Http { port: 8080, path: "/up".into() };
    assert_eq!(health.probes, [http, Probe::Tcp { port: 22 }, command]);
    assert_eq!((health.cloud, health.address), (false, ProbeAddress::Public));
    assert_eq!((health.timeout_seconds, health.ready_within_seconds), (2, Some(1200)));
    assert_eq!(health.unhealthy_after_seconds, 90);
    assert_eq!(interruption.on_notice, OnNotice::Drain);
    assert_eq!(interruption.on_rebalance, OnRebalance::Replace);
    assert_eq!((interruption.grace_seconds, interruption.drain.len()), (120, 1));
}

#[test]
fn aliases_of_whole_values_are_allowed() {
    let text = fleet(
        "capacity: { target: 8 }\nplacement:\n  clouds:\n    \
         - { provider: aws, regions: &r [us-east-1] }\n    - { provider: aws, regions: *r }",
    );
    let desired = only(accept(&text)).desired;
    assert_eq!(patterns(&desired.placement.clouds[1].regions), ["us-east-1"]);
}

#[test]
fn warnings_do_not_refuse() {
    let loaded = accept(&fleet(
        "capacity: { target: 8 }\ninstances: { families: [p5, P5] }\n\
         placement: { priorities: [p5] }\ntemplate: { image: { aws: ami-1 } }\n\
         budget: { atCap: hold }",
    ));
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("warnings", loaded.warnings.render(false));
    });
}

#[test]
fn an_order_of_pools_that_nothing_keeps_is_a_warning() {
    let check = |capacity: &str, placement: &str, places: &[&str]| {
        let text = format!("capacity: {{ target: 8{capacity} }}\nplacement: {{ {placement} }}");
        let loaded = accept(&fleet(&text));
        let paths: Vec<&str> = loaded.warnings.0.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, places, "{text}: {}", loaded.warnings);
    };
    let order = "strategy: prioritized, priorities: [m7i.4xlarge, m6i.4xlarge]";
    let (strategy, priorities) = ("spec.placement.strategy", "spec.placement.priorities");
    check("", order, &[]);
    check(", availability: 99%", order, &[strategy, priorities]);
    check(", penalty: 10", "strategy: lowest-price", &[strategy]);
    check(", penalty: 10", "priorities: [p5]", &[priorities]);
    check("", "priorities: [p5]", &[priorities]);
    for strategy in ["capacity-optimized", "price-capacity-optimized"] {
        check(", availability: 99%", &format!("strategy: {strategy}"), &[]);
    }
    check(", availability: 99%", "spread: { minZones: 2 }", &[]);
    // There is no spot, or one place for all.
    check(", availability: 99%, burst: { spot: 0% }", order, &[]);
    check(", availability: 99%", &format!("together: zone, {order}"), &[]);
    let loaded =
        accept(&fleet("capacity: { target: 8, penalty: 3 }\nplacement: { strategy: diversified }"));
    let shown = loaded.warnings.render(false);
    assert!(shown.contains("strategy `diversified` does not choose spot pools here"), "{shown}");
    assert!(shown.contains("hint: remove strategy, or remove availability and penalty"), "{shown}");
}

#[test]
fn a_signal_that_no_cloud_of_the_spec_gives_is_a_warning() {
    let loaded = accept(&fleet(
        "capacity: { target: 8 }\n\
         placement: { clouds: [{ provider: aws }], ignoreSignals: [gcp-capacity-advice] }",
    ));
    let shown = loaded.warnings.render(false);
    assert!(shown.contains("no cloud of this spec gives `gcp-capacity-advice`"), "{shown}");
    assert!(shown.contains("hint: remove it, or allow the cloud"), "{shown}");
}

#[test]
fn targets_by_the_clock_are_split_as_the_capacity_is() {
    let desired = only(accept(&fleet(
        "capacity: { target: 8, base: { onDemand: 4 }, burst: { spot: 50% } }\n\
         schedule: [{ cron: 0 8 * * mon-fri, timeZone: Europe/Berlin, target: 10 }, { cron: 0 20 * * *, target: 3 }]\n\
         expires: 2027-03-01",
    )))
    .desired;
    let shown: Vec<String> = desired
        .schedule
        .iter()
        .map(|one| {
            let goal = one.goal;
            format!(
                "{} {} {} {} {}",
                one.cron, one.time_zone, goal.target, goal.on_demand, goal.spot
            )
        })
        .collect();
    assert_eq!(shown, ["0 8 * * mon-fri Europe/Berlin 10 7 3", "0 20 * * * UTC 3 3 0"]);
    assert_eq!(desired.expires, "2027-03-01T00:00:00Z".parse().ok());
}

#[test]
fn a_fallback_has_defaults_and_is_off_without_a_word() {
    let check = |lines: &str, expect: Option<Fallback>| {
        let desired = only(accept(&fleet(&format!("capacity: {{ target: 8 }}{lines}")))).desired;
        assert_eq!(desired.fallback, expect, "{lines}");
    };
    check("", None);
    check("\nfallback: {}", Some(Fallback::default()));
    let rule = Fallback {
        losses: Some(5),
        within_seconds: 7200,
        unfilled_seconds: 300,
        share: Share::HALF,
        return_after_seconds: 3600,
    };
    check(
        "\nfallback: { after: { losses: 5, within: 2h, unfilled: 5m }, share: 50%, returnAfter: 1h }",
        Some(rule),
    );
}

#[test]
fn rebalancing_is_off_without_a_word() {
    use fleet_model::Rebalance;
    let check = |lines: &str, expect: Option<Rebalance>| {
        let desired = only(accept(&fleet(&format!("capacity: {{ target: 8 }}{lines}")))).desired;
        assert_eq!(desired.rebalance, expect, "{lines}");
    };
    check("", None);
    check("\nrebalance: {}", Some(Rebalance::default()));
    let rule = Rebalance { min_saving: Share::HALF, max_per_hour: Some(2) };
    check("\nrebalance: { minSaving: 50%, maxPerHour: 2 }", Some(rule));
}

#[test]
fn what_it_costs_to_be_short() {
    let check = |capacity: &str, penalty_milli: Option<u32>| {
        let desired = only(accept(&fleet(&format!("capacity: {{ target: 8{capacity} }}")))).desired;
        let hedge = desired.placement.hedge;
        assert_eq!(hedge.map(|hedge| hedge.penalty_milli), penalty_milli, "{capacity}");
    };
    check("", None);
    check(", availability: 99%", Some(30_000));
    check(", availability: 99.9%", Some(300_000));
    check(", penalty: 10", Some(10_000));
    check(", penalty: 0.5", Some(500));
    let every = |span: &str| {
        let capacity = format!("capacity: {{ target: 8, penalty: 3{span} }}");
        let hedge = only(accept(&fleet(&capacity))).desired.placement.hedge;
        hedge.map(|hedge| hedge.reconcile_every_seconds)
    };
    assert_eq!(every(""), Some(3600));
    assert_eq!(every(", reconcileEvery: 5m"), Some(300));
    assert_eq!(every(", reconcileEvery: 1h30m"), Some(5400));
    assert_eq!(every(", reconcileEvery: 1d"), Some(86_400));
    let lost = |capacity: &str| only(accept(&fleet(capacity))).desired.placement.lost_work_seconds;
    assert_eq!(lost("capacity: { target: 8, penalty: 3 }"), None);
    assert_eq!(lost("capacity: { target: 8, penalty: 3, lostWork: 20m }"), Some(1200));
}

#[test]
fn traffic_is_read_to_the_thousandth() {
    let read = |placement: &str| {
        let text = fleet(&format!("capacity: {{ target: 4 }}\nplacement: {{ {placement} }}"));
        let loaded = accept(&text);
        let warnings = loaded.warnings.0.len();
        (only(loaded).desired.placement.traffic, warnings)
    };
    let data = "dataRegion: gcp/europe-west4, egressGiBPerDay: 12.5, returnGiBPerDay: 3";
    let (traffic, warnings) = read(data);
    assert_eq!(traffic.data, Some((Cloud::Gcp, "europe-west4".into())));
    assert_eq!((traffic.egress_milli_gib, traffic.returned_milli_gib), (12_500, 3_000));
    assert_eq!(warnings, 0);
    assert_eq!(read("egressGiBPerDay: 1").0.data, None);
    // A region alone says nothing, and is told so.
    assert_eq!(read("dataRegion: aws/us-east-1").1, 1);
}
