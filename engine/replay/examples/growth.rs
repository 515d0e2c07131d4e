//! How long a replay takes, and how that grows with the fleet: one recording, one size after another.
//!
//! `cargo run --release -p fleet-replay --example growth -- ../shared/data/traces/h100-gcp13 10 12 24 48`:
//! the recording ten times over, with 12, 24 and 48 machines.

use fleet_model::Hedge;
use fleet_replay::contest::anywhere;
use fleet_replay::{Named, Setup, Trace, judge};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// What a missing machine-hour costs here, in thousandths of an on-demand hour.
const PENALTY_MILLI: u32 = 10_000;

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = words.next().unwrap_or_else(|| "../shared/data/traces/h100-gcp13".into());
    let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    let (times, sizes) = match numbers.split_first() {
        Some((times, sizes)) => (*times as usize, sizes),
        None => (10, [12, 24, 48, 96, 192].as_slice()),
    };
    let mut trace = Trace::load(Path::new(&folder)).expect("a recording");
    trace.capacity = vec![trace.capacity; times].concat();
    trace.price = vec![trace.price; times].concat();
    let desired = anywhere(Some(Hedge::at(PENALTY_MILLI)));
    for &machines in sizes {
        let started = Instant::now();
        let setup = Setup::new(machines, 0);
        let mut engine = Named::Engine.policy(&trace, &setup, &desired);
        let measures = judge(&trace, &setup, engine.as_mut());
        let seconds = started.elapsed().as_secs_f64();
        let samples = trace.samples();
        let j = measures.j(10.0);
        let _ = writeln!(
            std::io::stdout(),
            "{machines:>5} machines, {samples} samples: {seconds:.1} s, J10 {j:.6}"
        );
    }
}
