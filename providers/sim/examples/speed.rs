//! How fast the simulated clouds are: `cargo run --release -p fleet-sim --example speed`.
#![expect(clippy::print_stdout, reason = "it prints its figures")]

use fleet_model::{
    Architecture, CapacityGoal, Catalog, CatalogRow, Cloud, Create, FleetName, FleetUid, Group,
    InstanceKind, Market, MicroUsd, Place, PoolId, Resources, SlotId, SlotName, Template,
    Timestamp, Token,
};
use fleet_provider::{CreateRequest, OfferingsRequest};
use fleet_sim::{Preset, Settings, Sim};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// 95,000 rows: 190 places with 500 types each.
fn catalog() -> Catalog {
    let resources = Resources {
        vcpus: Some(8),
        memory_mib: Some(32 << 10),
        architecture: Architecture::X86_64,
        accelerators: None,
        local_disk: None,
        generation: None,
    };
    let kinds = (0..500).map(|n| {
        let name = format!("m{n:03}.2xlarge").as_str().into();
        Arc::new(InstanceKind { cloud: Cloud::Aws, name, resources: resources.clone() })
    });
    let places = (0..190).map(|n| Place {
        cloud: Cloud::Aws,
        region: format!("region-{:02}", n / 4).as_str().into(),
        zone: format!("region-{:02}-az{}", n / 4, n % 4).as_str().into(),
    });
    let row = |kind, place| CatalogRow {
        kind,
        place,
        on_demand: Some(MicroUsd(400_000)),
        spot: Some(MicroUsd(160_000)),
        has_spot: true,
    };
    Catalog {
        source: "speed".into(),
        as_of: Timestamp::UNIX_EPOCH,
        kinds: kinds.collect(),
        places: places.collect(),
        rows: (0..190).flat_map(|place| (0..500).map(move |kind| row(kind, place))).collect(),
    }
}

fn pools(catalog: &Catalog, shared: bool) -> Vec<PoolId> {
    let rows = catalog.rows.iter().flat_map(|row| {
        [Market::OnDemand, Market::Spot].map(|market| PoolId {
            place: catalog.place(row).clone(),
            instance_type: catalog.kind(row).name.clone(),
            market,
        })
    });
    if shared {
        return rows.collect();
    }
    // As read from a file: the same names, but not the same memory.
    rows.filter_map(|pool| pool.to_string().parse().ok()).collect()
}

async fn create(sim: &Sim, pool: &PoolId, from: u32, count: u32) -> Result<(), Box<dyn Error>> {
    let slot = |ordinal| SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 };
    let template = Template::default();
    let create = Create {
        pool: pool.clone(),
        others: Vec::new(),
        slots: (from..from + count).map(slot).collect(),
        token: Token::new(format!("token-{from:032}")),
        price: None,
        max_price: None,
        template: template.digest(),
        image: None,
    };
    let request = CreateRequest {
        fleet: &FleetUid::new("fleet-uid"),
        name: &FleetName::new("speed"),
        labels: &BTreeMap::new(),
        create: &create,
        template: &template,
    };
    sim.provider(pool.place.cloud).create(&request).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let catalog = Arc::new(catalog());
    let template = Template::default();
    for preset in [Preset::Lifelike, Preset::Calm] {
        for shared in [true, false] {
            let pools = pools(&catalog, shared);
            let settings = Settings { preset, ..Settings::default() };
            let sim = Sim::in_memory(settings, catalog.clone());
            for turn in ["first", "next"] {
                let start = Instant::now();
                let request = OfferingsRequest {
                    pools: &pools,
                    template: &template,
                    goal: CapacityGoal::default(),
                    ignore: fleet_model::SignalSet::default(),
                };
                let quotes = sim.provider(Cloud::Aws).offerings(&request).await?.quotes.len();
                println!(
                    "quote {quotes} pools, {preset}, shared {shared}, {turn}: {:?}",
                    start.elapsed()
                );
            }
        }
    }
    let pool = &pools(&catalog, true)[0];
    let calm = Settings { preset: Preset::Calm, ..Settings::default() };
    for (machines, batch) in [(10_000, 100), (10_000, 1), (100_000, 100), (100_000, 1)] {
        let dir = std::env::temp_dir().join(format!("fleet-sim-speed-{}", std::process::id()));
        let sim = Sim::create(&dir, calm.clone(), catalog.clone(), true)?;
        let start = Instant::now();
        for from in (0..machines).step_by(batch as usize) {
            create(&sim, pool, from, batch).await?;
        }
        println!("create {machines} in batches of {batch}: {:?}", start.elapsed());
        let start = Instant::now();
        let listed = sim.machines()?.len();
        println!("list {listed}: {:?}", start.elapsed());
        let start = Instant::now();
        let again = Sim::open(&dir, catalog.clone())?;
        println!("open a world of {machines}: {:?}", start.elapsed());
        assert_eq!(again.machines()?.len(), machines as usize);
        drop((sim, again));
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(())
}
