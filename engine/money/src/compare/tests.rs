use super::*;
use crate::performance::Table;
use fleet_model::{
    Accelerators, Architecture, Catalog, CatalogRow, Figure, InstanceKind, InstanceType, Pattern,
    Place, PoolId, Resources,
};
use std::sync::Arc;

/// `("aws/us-east-1/a/p5.48xlarge", "H100", count, on-demand cents, spot cents)`; spot 0 is sold unpriced.
type Row<'a> = (&'a str, &'a str, u32, Option<u64>, Option<u64>);

fn catalog(rows: &[Row<'_>]) -> Catalog {
    let mut kinds: Vec<Arc<InstanceKind>> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    let mut sold = Vec::new();
    let cents = |cents: u64| MicroUsd(cents * 10_000);
    for (id, accelerator, count, on_demand, spot) in rows {
        let pool: PoolId = format!("{id}/spot").parse().expect("a pool");
        let resources = Resources {
            vcpus: Some(8),
            memory_mib: Some(1024),
            architecture: Architecture::X86_64,
            accelerators: Some(Accelerators::named(accelerator, count * 1000)),
            local_disk: None,
            generation: None,
        };
        let name = InstanceType::from(pool.instance_type.as_str());
        let kind = InstanceKind { cloud: pool.place.cloud, name, resources };
        let at = kinds.iter().position(|known| **known == kind).unwrap_or_else(|| {
            kinds.push(Arc::new(kind.clone()));
            kinds.len() - 1
        });
        places.push(pool.place.clone());
        sold.push(CatalogRow {
            kind: at as u32,
            place: places.len() as u32 - 1,
            on_demand: on_demand.map(cents),
            spot: spot.filter(|spot| *spot > 0).map(cents),
            has_spot: spot.is_some(),
        });
    }
    let as_of = "2026-08-01T00:00:00Z".parse().expect("a time");
    Catalog { source: "test".into(), as_of, kinds, places, rows: sold }
}

const WORLD: &[Row<'_>] = &[
    ("aws/us-east-1/a/p5.48xlarge", "H100", 8, Some(5504), Some(2000)),
    ("aws/us-west-2/b/p5.48xlarge", "H100", 8, Some(5400), Some(2500)),
    ("aws/us-east-1/a/p5.4xlarge", "H100", 1, Some(688), Some(300)),
    ("azure/eastus/-/Standard_NC40ads_H100_v5", "H100", 1, Some(698), Some(0)),
    ("lambda/us-south-1/-/gpu_1x_h100_pcie", "H100", 1, Some(249), None),
    ("aws/us-east-1/a/p4d.24xlarge", "A100", 8, Some(2200), Some(1000)),
    ("aws/us-gov-west-1/g/p4d.24xlarge", "A100", 8, Some(1), Some(1)),
];

fn wanted(gpus: &[&str], count: u32) -> Wanted {
    let gpus = gpus.iter().map(|gpu| Pattern::new(*gpu)).collect();
    Wanted { gpus, clouds: vec![], regions: vec![], count, nodes: 1 }
}

fn names(found: &Found) -> Vec<String> {
    let one = |p: &Picked| {
        format!("{} {}×{} {} {}", p.accelerator, p.machines, p.kind.name, p.place.region, p.market)
    };
    found.picked.iter().map(one).collect()
}

const JOB: Work = Work {
    hours: 8.0,
    reference: None,
    checkpoint: 2.0 / 60.0,
    restore: 5.0 / 60.0,
    replace: 5.0 / 60.0,
    save_on_notice: false,
};

#[test]
fn each_chip_has_its_machine_on_each_cloud_where_it_is_cheapest() {
    let found = pick(&catalog(WORLD), &wanted(&["h100"], 8));
    let expect = [
        "H100 1×p5.48xlarge us-west-2 on-demand",
        "H100 1×p5.48xlarge us-east-1 spot",
        "H100-NVL 8×Standard_NC40ads_H100_v5 eastus on-demand",
        "H100-PCIE 8×gpu_1x_h100_pcie us-south-1 on-demand",
    ];
    assert_eq!(names(&found), expect);
    let absent: Vec<_> = found.absent.iter().map(|one| (one.0.as_str(), one.2, one.3)).collect();
    let spot = Market::Spot;
    assert_eq!(
        absent,
        [("H100-NVL", spot, Absent::Unpriced), ("H100-PCIE", spot, Absent::NotSold)]
    );
    // One is asked for: the smaller machine fits, although the larger is cheaper for each.
    let one = pick(&catalog(WORLD), &wanted(&["H100-80GB"], 1));
    assert!(names(&one).contains(&"H100 1×p5.4xlarge us-east-1 spot".to_owned()), "{one:?}");
    // A chip by its own name; and no region that an account must ask for, unless it is named.
    assert_eq!(names(&pick(&catalog(WORLD), &wanted(&["H100-nvl"], 1))).len(), 1);
    let a100 = pick(&catalog(WORLD), &wanted(&["A100"], 8));
    assert_eq!(a100.picked[0].each, MicroUsd(22_000_000));
    let named = Wanted { regions: vec![Pattern::new("us-gov-west-1")], ..wanted(&["A100"], 8) };
    assert_eq!(pick(&catalog(WORLD), &named).picked[0].each, MicroUsd(10_000));
}

#[test]
fn the_cheapest_work_comes_first() {
    let found = pick(&catalog(WORLD), &wanted(&["H100", "A100"], 8));
    let measure = Measure::Published(Figure::Bf16);
    let ways = ways(&found.picked, &JOB, &measure, &|_| 0.05);
    let order: Vec<_> =
        ways.iter().map(|way| (way.picked.accelerator.as_str(), way.picked.market)).collect();
    let (spot, on_demand) = (Market::Spot, Market::OnDemand);
    assert_eq!(
        order,
        [
            ("H100", spot),
            ("H100-PCIE", on_demand),
            ("A100", spot),
            ("H100", on_demand),
            ("H100-NVL", on_demand),
            ("A100", on_demand),
        ]
    );
    let pcie = &ways[1];
    assert_eq!(pcie.per_accelerator, Some(MicroUsd(2_490_000)));
    let job = pcie.job.expect("a job");
    // On demand there is nothing to expect but the work: 8 h × 8 × $2.49, and 48.384 PFLOPS-h.
    assert_eq!((job.expected.hours, job.cost), (8.0, Some(MicroUsd(159_360_000))));
    assert_eq!(job.per_useful, Some(MicroUsd(3_293_651)));
    let spot = ways[0].job.expect("a job");
    assert!(spot.expected.hours > 8.0 && spot.free_hours > 0.0, "{spot:?}");
    assert!(spot.cost.expect("it ends") > MicroUsd::dollars(160));
}

#[test]
fn a_job_that_never_ends_comes_last_and_has_no_price() {
    let measure = Measure::Published(Figure::Bf16);
    for (count, rate) in [(8, 100.0), (1000, 100.0), (1000, 1e6), (8, f64::INFINITY)] {
        let found = pick(&catalog(WORLD), &wanted(&["H100", "A100"], count));
        let ways = ways(&found.picked, &JOB, &measure, &|_| rate);
        let ends: Vec<bool> =
            ways.iter().map(|way| way.job.is_some_and(|job| job.ends())).collect();
        assert!(ends.is_sorted_by(|one, next| one >= next), "{count}, {rate}: {ends:?}");
        assert!(ends[0] && !ends[ends.len() - 1], "{count}, {rate}: {ends:?}");
        for way in ways.iter().filter(|way| way.picked.market == Market::Spot) {
            let job = way.job.expect("a job");
            assert_eq!((job.cost, job.per_useful), (None, None), "{count}, {rate}: {job:?}");
        }
    }
}

#[test]
fn the_same_work_takes_longer_on_slower_machines() {
    let found = pick(&catalog(WORLD), &wanted(&["H100", "A100"], 8));
    let measure = Measure::Published(Figure::Bf16);
    let reference = Some(8.0 * 989.4);
    let job = Work { reference, ..JOB };
    let ways = ways(&found.picked, &job, &measure, &|_| 0.0);
    let hours = |name: &str| {
        let way = ways.iter().find(|way| way.picked.accelerator == name);
        way.and_then(|way| way.job).expect("a job").expected.hours
    };
    assert!((hours("H100") - 8.0).abs() < 1e-9);
    assert!((hours("A100") - 8.0 * 989.4 / 312.0).abs() < 1e-9);
}

#[test]
fn what_has_no_figure_comes_last_and_costs_its_price() {
    let found = pick(&catalog(WORLD), &wanted(&["H100", "A100"], 8));
    let table = Table::parse("A100,2\n").expect("a table");
    let found_ways = ways(&found.picked, &JOB, &Measure::Own(table.clone()), &|_| 0.0);
    assert_eq!(found_ways[0].picked.accelerator, "A100");
    assert_eq!(found_ways[0].useful.map(|useful| useful.units.0), Some(16_000));
    let last = found_ways.last().expect("ways");
    let job = last.job.expect("a job");
    assert!(last.useful.is_none() && job.per_useful.is_none() && job.cost.is_some());
    // The length of the job is not known without a figure.
    let other = Work { reference: Some(16.0), ..JOB };
    let unknown = ways(&found.picked, &other, &Measure::Own(table), &|_| 0.0);
    assert_eq!(unknown.iter().filter(|way| way.job.is_none()).count(), 4);
}

/// More machines are interrupted more often; a notice that is long enough saves the work.
#[test]
fn clusters_are_interrupted_as_often_as_their_machines_together() {
    let cluster = Wanted { nodes: 4, ..wanted(&["A100"], 8) };
    let found = pick(&catalog(WORLD), &cluster);
    let measure = Measure::Published(Figure::Bf16);
    let job = |work: &Work, picked: &[Picked]| {
        let ways = ways(picked, work, &measure, &|_| 0.1);
        ways.iter().find(|way| way.picked.market == Market::Spot).and_then(|way| way.job)
    };
    let four = job(&JOB, &found.picked).expect("a job");
    let one = job(&JOB, &pick(&catalog(WORLD), &wanted(&["A100"], 8)).picked).expect("a job");
    assert!(four.expected.interruptions > 4.0 * one.expected.interruptions);
    assert!(four.cost.expect("it ends").0 > 4 * one.cost.expect("it ends").0);
    let short = Work { checkpoint: 1.5 / 60.0, ..JOB };
    let saved = job(&Work { save_on_notice: true, ..short.clone() }, &found.picked).expect("a job");
    let unsaved = job(&short, &found.picked).expect("a job");
    assert!(saved.expected.hours < unsaved.expected.hours);
    // Two minutes do not fit into what is left of two.
    let long = Work { save_on_notice: true, ..JOB };
    let unsaved = job(&long, &found.picked).expect("a job");
    assert_eq!(
        unsaved,
        job(&Work { save_on_notice: false, ..long }, &found.picked).expect("a job")
    );
    // A job that cannot end has no cost.
    let endless = Work { hours: 1e6, checkpoint: 1e4, ..JOB };
    let endless = ways(&found.picked, &endless, &measure, &|_| 3.0);
    let spot = endless.iter().find(|way| way.picked.market == Market::Spot).and_then(|way| way.job);
    assert_eq!(spot.and_then(|job| job.cost), None);
}

#[test]
fn commitments_are_a_third_kind_of_row() {
    let text = "provider,region,type,usdPerHour,until,term,source\n\n# ours\n\
                aws,us-east-1,p5.48xlarge,25.5,2027-03-01,\"1 year, no upfront\",contract 7\n\
                aws,eu-west-1,p5.48xlarge,26,,,\naws,us-east-1,g6.xlarge,0.4,,,\n";
    let offers = offers(text).expect("offers");
    assert_eq!(offers.iter().map(|offer| offer.line).collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(offers[0].term.as_deref(), Some("1 year, no upfront"));
    let catalog = catalog(&[
        // A local zone of the region, which an account must ask for.
        ("aws/us-east-1/use1-atl2-az1/p5.48xlarge", "H100", 8, Some(5000), None),
        ("aws/us-east-1/a/p5.48xlarge", "H100", 8, Some(5000), Some(2600)),
        ("aws/us-east-1/a/g6.xlarge", "L4", 1, Some(80), None),
    ]);
    let wanted = Wanted {
        gpus: vec![Pattern::new("H100")],
        clouds: Vec::new(),
        regions: Vec::new(),
        count: 8,
        nodes: 2,
    };
    let (picked, unknown) = pick_committed(&catalog, &wanted, &offers);
    // Nobody asked for the L4, and the catalog has nothing in Ireland.
    assert_eq!(unknown.iter().map(|offer| offer.line).collect::<Vec<_>>(), [5]);
    let [one] = &picked[..] else { panic!("{picked:?}") };
    assert_eq!((one.market, one.machines, one.each), (Market::Reserved, 2, MicroUsd(25_500_000)));
    let work = Work {
        hours: 10.0,
        reference: None,
        checkpoint: 0.1,
        restore: 0.1,
        replace: 0.1,
        save_on_notice: false,
    };
    let ways = ways(&picked, &work, &Measure::Published(Figure::Bf16), &|_| 1.0);
    let job = ways[0].job.expect("a job");
    assert_eq!(job.cost, Some(MicroUsd(510_000_000)), "never interrupted: {job:?}");
}

#[test]
fn bad_prices_of_commitments_say_where() {
    let check = |text: &str, line: usize, what: &str| match offers(text) {
        Err(error) => {
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.what.contains(what), "{text:?}: {error}");
        }
        Ok(found) => panic!("{text:?}: {found:?}"),
    };
    let head = "provider,region,type,usdPerHour,until";
    check("", 1, "no column `provider`");
    check("provider,region,type\n", 1, "no column `usdPerHour`");
    check(&format!("{head}\n"), 1, "no rows");
    check(&format!("{head}\n\nmars,r,t,1\n"), 3, "unknown cloud `mars`");
    check(&format!("{head}\naws,,t,1\n"), 2, "`region` is empty");
    check(&format!("{head}\naws,r,t,free\n"), 2, "`free` is no price");
    check(&format!("{head}\naws,r,t,-1\n"), 2, "`-1` is no price");
    check(&format!("{head}\naws,r,t,NaN\n"), 2, "`NaN` is no price");
    check(&format!("{head}\naws,r,t,1,soon\n"), 2, "`soon` is no day");
}
