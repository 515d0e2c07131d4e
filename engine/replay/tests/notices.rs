//! A notice is worth exactly its head start, is paid for, and is only for who heeds it.

use fleet_model::{Desired, Strategy};
use fleet_replay::contest::anywhere;
use fleet_replay::{Measures, Named, Notice, Setup, Trace, compare, notice_seconds};

const SAMPLES: usize = 60;
const INTERVAL: u32 = 300;

/// The cheap zone loses both machines at sample 30; the other has room throughout.
fn trace() -> Trace {
    let cheap = |sample| if sample < 30 { 2 } else { 0 };
    Trace {
        name: "one loss".into(),
        interval_seconds: INTERVAL,
        on_demand: 1.0,
        zones: ["us-east-1a", "us-west-2b"].map(String::from).to_vec(),
        regions: ["us-east-1", "us-west-2"].map(String::from).to_vec(),
        capacity: (0..SAMPLES).map(|sample| vec![cheap(sample), 2]).collect(),
        price: vec![vec![0.3, 0.4]; SAMPLES],
        has_prices: true,
    }
}

/// No penalty: nothing but spot, and no spares.
fn desired() -> Desired {
    let mut desired = anywhere(None);
    desired.placement.strategy = Strategy::LowestPrice;
    desired
}

fn measured(policy: Named, notice: Notice) -> Measures {
    let setup = Setup { notice, ..Setup::new(2, 0) };
    compare(&trace(), &setup, &desired(), &[policy]).rows[0].measures
}

/// Machine-seconds that were missing, of two machines from the first hour on.
fn missing(notice: Notice) -> f64 {
    let measured_seconds = (SAMPLES - 12) as f64 * f64::from(INTERVAL);
    ((1.0 - measured(Named::Engine, notice).delivered) * 2.0 * measured_seconds).round()
}

#[test]
fn the_gap_shrinks_by_the_notice_and_no_more() {
    // A machine takes five minutes to be ready.
    assert_eq!(missing(Notice::None), 2.0 * 300.0);
    // The zone that is failing is not asked for the successors, so even half a minute is gained.
    assert_eq!(missing(Notice::Seconds(30)), 2.0 * 270.0);
    assert_eq!(missing(Notice::Cloud), 2.0 * 180.0, "two minutes on AWS");
    assert_eq!(missing(Notice::Seconds(300)), 0.0);
    // More than one sample, and no multiple of it.
    assert_eq!(missing(Notice::Seconds(400)), 0.0);
}

#[test]
fn the_head_start_is_paid_for() {
    let cost = |notice| measured(Named::Engine, notice).cost;
    // Two machines of the dearer zone for two minutes, relative to two on demand for four hours.
    let more = cost(Notice::Seconds(120)) - cost(Notice::None);
    assert!((more - 0.4 * 120.0 / (48.0 * 300.0)).abs() < 1e-9, "{more}");
}

#[test]
fn other_policies_do_not_react() {
    let (with, without) =
        (measured(Named::RoundRobin, Notice::Cloud), measured(Named::RoundRobin, Notice::None));
    assert!((with.j(10.0) - without.j(10.0)).abs() < 1e-9, "{with:?} {without:?}");
}

#[test]
fn the_shortest_notice_of_a_recordings_clouds_counts() {
    let mut trace = trace();
    let setup = Setup { notice: Notice::Cloud, ..Setup::new(2, 0) };
    assert_eq!(notice_seconds(&trace, &setup), 120);
    trace.regions[1] = "us-central1".into();
    assert_eq!(notice_seconds(&trace, &setup), 30);
}

/// Without a penalty nothing on demand stands in for spot: the replay adds none of its own.
#[test]
fn a_spec_without_a_penalty_is_replayed_without_one() {
    let mut trace = trace();
    for row in &mut trace.capacity[30..] {
        row.fill(0);
    }
    let plain = compare(&trace, &Setup::new(2, 0), &desired(), &[Named::Engine]);
    assert!((plain.rows[0].measures.delivered - 18.0 / 48.0).abs() < 1e-9, "{plain:?}");
    let hedge = fleet_model::Hedge::at(10_000);
    let mut hedged = desired();
    hedged.placement.hedge = Some(hedge);
    let hedged = compare(&trace, &Setup::new(2, 0), &hedged, &[Named::Engine]);
    assert!(hedged.rows[0].measures.delivered > 0.97, "{:?}", hedged.rows);
}
