//! The decision alone, from inputs in memory: how it grows with machines and with pools.
//!
//! Uses the imported catalog (about 190,000 pools) where the shared data is there, else the
//! embedded one.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fleet_core::{eligible, plan};
use fleet_model::{Catalog, Inputs, Limits, Observed, Place, Recorded, Timestamp};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;

fn catalog() -> Catalog {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/catalog");
    match fleet_catalog::import(&shared) {
        Ok((catalog, _)) => catalog,
        Err(_) => fleet_catalog::embedded(),
    }
}

fn inputs(catalog: &Catalog, machines: u32, families: &str) -> Inputs {
    let spec = format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: bench }}
spec:
  capacity: {{ unit: instances, target: {machines}, base: {{ onDemand: 20% }} }}
  instances: {{ {families} }}
  placement: {{ spread: {{ maxSharePerPool: 5%, maxSharePerRegion: 20%, minZones: 6 }} }}
"
    );
    let loaded = fleet_spec::load_str("bench.yaml", &spec).unwrap_or_else(|e| panic!("{e}"));
    let desired = loaded.fleets[0].desired.clone();
    let found = eligible(&desired, catalog);
    let now = Timestamp::UNIX_EPOCH;
    Inputs {
        uid: "bench".into(),
        desired,
        recorded: Recorded::default(),
        observed: Observed {
            complete: catalog.places.iter().map(Place::scope).collect(),
            ..Observed::nothing(now)
        },
        offerings: found.offerings,
        rejected: found.rejected,
        held_pools: BTreeMap::new(),
        quotas: vec![],
        beliefs: BTreeMap::new(),
        signals: std::collections::BTreeMap::new(),
        limits: Limits::default(),
        now,
    }
}

fn decide(criterion: &mut Criterion) {
    let catalog = catalog();
    let mut group = criterion.benchmark_group("decide");
    group.sample_size(10);
    for machines in [1_000, 10_000, 100_000] {
        for families in
            ["families: [m6i, n2]", "families: [m*, n*, c*, Standard_D*]", "types: ['*']"]
        {
            let inputs = inputs(&catalog, machines, families);
            let name = format!("{machines} machines");
            let id = BenchmarkId::new(name, format!("{} pools", inputs.offerings.len()));
            group.bench_with_input(id, &inputs, |bencher, inputs| {
                bencher.iter(|| black_box(plan(inputs)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
