//! A market in which nothing ever happens: caution is paid for until it is seen to be needless.

use fleet_model::Hedge;
use fleet_replay::contest::anywhere;
use fleet_replay::{Measures, Named, Setup, Trace, judge};

const INTERVAL: u32 = 150;
const HOURS: u32 = 16;

/// Six zones of three regions, with room for everything, at 0.30 of the on-demand price.
fn calm() -> Trace {
    let region = |zone: usize| format!("us-east-{}", zone % 3 + 1);
    let samples = (HOURS * 3600 / INTERVAL) as usize;
    Trace {
        name: "calm".into(),
        interval_seconds: INTERVAL,
        on_demand: 1.0,
        zones: (0..6).map(|zone| format!("{}{}", region(zone), ["a", "b"][zone / 3])).collect(),
        regions: (0..6).map(region).collect(),
        capacity: vec![vec![64; 6]; samples],
        price: vec![vec![0.3; 6]; samples],
        has_prices: true,
    }
}

fn measured(trace: &Trace, machines: u32) -> Measures {
    let setup = Setup::new(machines, 0);
    let desired = anywhere(Some(Hedge::at(10_000)));
    let mut engine = Named::Engine.policy(trace, &setup, &desired);
    judge(trace, &setup, engine.as_mut())
}

/// What every pool shows counts for the others: five machines that ran for three hours are fifteen hours
/// without a loss, and the spare is not worth its price any more.
#[test]
fn small_fleets_drop_their_spare_within_hours() {
    for machines in [2, 3, 4, 6, 8] {
        let found = measured(&calm(), machines);
        assert!(found.cost < 0.32, "{machines} machines: {found:?}");
        assert!(found.delivered > 0.999, "{machines} machines: {found:?}");
    }
}

/// A market that takes machines back is not taken for a calm one: the spare stays.
#[test]
fn where_machines_are_lost_the_spare_stays() {
    let mut trace = calm();
    // Each zone is empty for ten minutes in every two hours, one after the other.
    for (sample, row) in trace.capacity.iter_mut().enumerate() {
        let seconds = sample as u32 * INTERVAL;
        let turn = (seconds / 1200) as usize % 6;
        if seconds % 1200 < 600 {
            row[turn] = 0;
        }
    }
    let (calm, stormy) = (measured(&calm(), 4), measured(&trace, 4));
    assert!(stormy.cost > calm.cost + 0.05, "{stormy:?} is not above {calm:?}");
    assert!(stormy.delivered > 0.98, "{stormy:?}");
}
