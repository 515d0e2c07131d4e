//! What is derived is what would be derived anew, after anything that can happen.

use crate::chance::{below, mix2};
use crate::sim::Sim;
use crate::world::World;
use crate::{Area, Preset, Settings};
use fleet_model::{
    Architecture, Catalog, CatalogRow, Cloud, Create, FleetName, FleetUid, Group, InstanceKind,
    Market, MicroUsd, Place, PoolId, Resources, SlotId, SlotName, Template, Timestamp, Token,
    Victim,
};
use fleet_provider::{CreateRequest, DestroyRequest};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn catalog() -> Arc<Catalog> {
    let resources = Resources {
        vcpus: Some(8),
        memory_mib: None,
        architecture: Architecture::Arm64,
        accelerators: None,
        local_disk: None,
        generation: None,
    };
    let kind = |cloud| {
        Arc::new(InstanceKind { cloud, name: "t.large".into(), resources: resources.clone() })
    };
    let place = |cloud| Place { cloud, region: "r".into(), zone: "z".into() };
    let price = Some(MicroUsd(1_000));
    let row = |n| CatalogRow { kind: n, place: n, on_demand: price, spot: price, has_spot: true };
    Arc::new(Catalog {
        source: "test".into(),
        as_of: Timestamp::UNIX_EPOCH,
        kinds: Cloud::ALL.map(kind).into(),
        places: Cloud::ALL.map(place).into(),
        rows: (0..4).map(row).collect(),
    })
}

/// One thing out of everything that can happen.
async fn something(sim: &Sim, chance: u64) {
    let draw = |salt: u64, n: u64| below(mix2(chance, salt), n);
    let cloud = Cloud::ALL[draw(1, 4) as usize];
    let market = if draw(2, 2) == 0 { Market::OnDemand } else { Market::Spot };
    let area = Area::from(cloud);
    let fleet = FleetUid::new("f");
    let template = Template::default();
    let machines = sim.machines().expect("machines");
    let one = (!machines.is_empty()).then(|| &machines[draw(3, machines.len() as u64) as usize]);
    match draw(4, 16) {
        0..=6 => {
            let place = Place { cloud, region: "r".into(), zone: "z".into() };
            let slot =
                |ordinal| SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 };
            let create = Create {
                pool: PoolId { place, instance_type: "t.large".into(), market },
                others: Vec::new(),
                slots: (0..1 + draw(5, 5) as u32).map(slot).collect(),
                token: Token::new(format!("t{}", draw(6, 40))),
                price: None,
                max_price: None,
                template: template.digest(),
                image: None,
            };
            let request = CreateRequest {
                fleet: &fleet,
                name: &FleetName::new("f"),
                labels: &BTreeMap::new(),
                create: &create,
                template: &template,
            };
            let _ = sim.provider(cloud).create(&request).await;
        }
        7..=8 => {
            if let Some(machine) = one
                && let Some(owner) = &machine.owner
            {
                let victims = [Victim {
                    machine: machine.id.clone(),
                    slot: owner.slot,
                    launched_at: machine.launched_at,
                    price: None,
                }];
                let scope = machine.place.scope();
                let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &victims };
                let _ = sim.provider(scope.cloud).destroy(&request).await;
            }
        }
        9 => drop(one.map(|machine| sim.reclaim(&machine.id))),
        10 => drop(one.map(|machine| sim.strip_tags(&machine.id))),
        11 => drop(one.map(|machine| sim.interrupt(machine.id.as_str(), 1))),
        12 => sim.lossy_outage(area, Some(Duration::from_secs(60))).expect("out"),
        13 => sim.limit_room("*", draw(7, 20) as u32, Some(Duration::from_secs(90))).expect("full"),
        14 => sim.lose_answers(cloud, draw(8, 60) as u8).expect("lossy"),
        _ => {
            let hours = draw(9, 30);
            sim.advance(Duration::from_secs(hours * hours * 60)).expect("later");
        }
    }
}

fn world(sim: &Sim) -> World {
    sim.run(|tx| tx.world.clone()).expect("a world")
}

#[tokio::test]
async fn indexes_and_snapshots_hold_whatever_happens() {
    for seed in 0..20 {
        for preset in [Preset::Lifelike, Preset::Calm] {
            let settings = Settings { seed, preset, ..Settings::default() };
            let sim = Sim::in_memory(settings, catalog());
            for turn in 0..150 {
                something(&sim, mix2(seed, turn)).await;
                let world = world(&sim);
                let saved = postcard::to_stdvec(&world).expect("saved");
                let read: World = postcard::from_bytes(&saved).expect("read back");
                let read = read.reindexed().expect("sound");
                assert_eq!(read.index, world.index, "seed {seed} turn {turn}");
                let again = postcard::to_stdvec(&read).expect("saved");
                assert_eq!(again, saved, "seed {seed} turn {turn}");
            }
        }
    }
}

#[tokio::test]
async fn no_token_ever_has_more_machines_than_it_asked_for() {
    for seed in 100..140 {
        let sim = Sim::in_memory(Settings { seed, ..Settings::default() }, catalog());
        for turn in 0..200 {
            something(&sim, mix2(seed, turn)).await;
            let mut live: BTreeMap<_, u32> = BTreeMap::new();
            for machine in sim.machines().expect("machines") {
                // Lambda forgets: what its name no longer shows may be launched again.
                if let Some(owner) = &machine.owner
                    && machine.state.is_live()
                    && machine.place.cloud != Cloud::Lambda
                {
                    *live.entry((machine.pool(), owner.token.clone(), owner.slot)).or_default() +=
                        1;
                }
            }
            assert!(live.values().all(|count| *count == 1), "seed {seed} turn {turn}: {live:?}");
        }
    }
}
