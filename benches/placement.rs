//! The optimiser over the imported catalog: 1,000 to 100,000 machines, 1,000 to all offers.
//!
//! Prints, for each size, the time on the processor (other programs do not count), the peak memory,
//! and the gap that the optimiser proves. Uses the imported catalog where the shared data is there,
//! else the embedded one.
//!
//! `once STRATEGY UNIT MACHINES POOLS [words]` places once, for tools that count instructions:
//! `valgrind --tool=callgrind --toggle-collect='fleet_core::decide::placement*' …`.

use fleet_core::{eligible, placement};
use fleet_model::{
    Catalog, Inputs, Limits, Market, Observed, Obtainability, Place, Recorded, SIGNALS, Says,
    SignalRow, Timestamp,
};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const WHILE: Duration = Duration::from_millis(400);

fn catalog() -> Catalog {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/catalog");
    match fleet_catalog::import(&shared) {
        Ok((catalog, _)) => catalog,
        Err(_) => fleet_catalog::embedded(),
    }
}

/// Spot pools of the whole catalog, the first `pools` of them, evenly chosen; every limit is on.
fn inputs(catalog: &Catalog, machines: u32, pools: usize, unit: &str, strategy: &str) -> Inputs {
    let spec = format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: bench }}
spec:
  capacity: {{ unit: {unit}, target: {machines} }}
  placement:
    strategy: {strategy}
    spread: {{ maxSharePerPool: 2%, maxSharePerZone: 5%, maxSharePerRegion: 12%,
      maxSharePerProvider: 60%, minZones: 6 }}
  budget: {{ hourlyUsd: {} }}
",
        u64::from(machines) * 100
    );
    let loaded = fleet_spec::load_str("bench.yaml", &spec).unwrap_or_else(|e| panic!("{e}"));
    let desired = loaded.fleets[0].desired.clone();
    let found = eligible(&desired, catalog);
    let mut offerings = found.offerings;
    offerings.retain(|offering| offering.pool.market == Market::Spot && offering.price.is_some());
    let step = (offerings.len() / pools.max(1)).max(1);
    let mut nth = 0;
    offerings.retain(|_| {
        nth += 1;
        (nth - 1) % step == 0
    });
    let now = Timestamp::UNIX_EPOCH;
    Inputs {
        uid: "bench".into(),
        desired,
        recorded: Recorded::default(),
        observed: Observed {
            complete: catalog.places.iter().map(Place::scope).collect(),
            ..Observed::nothing(now)
        },
        offerings,
        rejected: found.rejected,
        held_pools: BTreeMap::new(),
        quotas: vec![],
        beliefs: BTreeMap::new(),
        signals: std::collections::BTreeMap::new(),
        limits: Limits::default(),
        now,
    }
}

/// Every cloud says something else of each pool, and has said it for some hours.
fn with_words(mut inputs: Inputs) -> Inputs {
    for (nth, offering) in inputs.offerings.iter_mut().enumerate() {
        let cloud = offering.pool.place.cloud;
        let foretells = |row: &&SignalRow| row.cloud == cloud && row.says == Says::Launch;
        let Some(row) = SIGNALS.iter().find(foretells) else { continue };
        let percent = (nth * 37 % 101) as u8;
        offering.signals.obtainability = Some(Obtainability { percent, source: row.source });
        let since = inputs.now.as_second() - 3600 * (nth * 13 % 72) as i64;
        offering.signals.steady_since = Timestamp::from_second(since).ok();
    }
    inputs
}

/// Nanoseconds that this thread was on a processor; `None` where the system does not say.
fn on_processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn peak_megabytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

/// The mean of as many runs as fit into a while: systems count processor time in ticks of
/// milliseconds.
fn milliseconds(inputs: &Inputs) -> f64 {
    let (start, busy) = (Instant::now(), on_processor());
    let mut runs = 0u32;
    while runs == 0 || start.elapsed() < WHILE {
        black_box(placement(black_box(inputs), false));
        runs += 1;
    }
    let wall = start.elapsed().as_nanos() as f64;
    let busy = busy.zip(on_processor()).map(|(from, to)| (to - from) as f64);
    busy.unwrap_or(wall) / 1e6 / f64::from(runs)
}

#[expect(clippy::print_stdout, reason = "a benchmark's result")]
fn main() {
    let catalog = catalog();
    let arguments: Vec<String> = std::env::args().skip_while(|word| word != "once").collect();
    if let [_, strategy, unit, machines, pools, ..] = &arguments[..] {
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
        let mut inputs = inputs(&catalog, number(machines), number(pools) as usize, unit, strategy);
        if arguments.iter().any(|word| word == "words") {
            inputs = with_words(inputs);
        }
        println!("{} pools: {:?}", inputs.offerings.len(), placement(&inputs, false));
        return;
    }
    println!("| strategy | unit | machines | pools | ms | with words | proven gap | peak MB |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for strategy in
        ["lowest-price", "price-capacity-optimized", "capacity-optimized", "diversified"]
    {
        for unit in ["instances", "vcpus"] {
            for pools in [1_000, 10_000, 95_000] {
                for machines in [1_000, 10_000, 100_000] {
                    let inputs = inputs(&catalog, machines, pools, unit, strategy);
                    let proven = placement(&inputs, true).certificates[1];
                    let gap = proven.map_or("–".into(), |proof| format!("{:.1e}", proof.gap()));
                    let (pools, plain) = (inputs.offerings.len(), milliseconds(&inputs));
                    println!(
                        "| {strategy} | {unit} | {machines} | {pools} | {plain:.2} | {:.2} | {gap} | {} |",
                        milliseconds(&with_words(inputs)),
                        peak_megabytes().unwrap_or_default(),
                    );
                }
            }
        }
    }
}
