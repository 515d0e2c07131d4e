//! A small world to decide about, and what happens to it when a plan is obeyed.

use fleet_core::{Planned, check, eligible, fold, plan, rejection};
use fleet_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const NOW: i64 = 1_800_000_000;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(NOW + seconds).expect("a time")
}

/// `("aws/us-east-1/a/g.8", gpus, on-demand cents, spot cents)`.
pub(crate) type Row<'a> = (&'a str, u32, Option<u64>, Option<u64>);

pub(crate) fn catalog(rows: &[Row<'_>]) -> Catalog {
    let mut kinds: BTreeMap<(Cloud, InstanceType), Arc<InstanceKind>> = BTreeMap::new();
    let mut places: BTreeSet<Place> = BTreeSet::new();
    let mut sold: BTreeMap<(Place, InstanceType), (Option<u64>, Option<u64>)> = BTreeMap::new();
    for (id, gpus, on_demand, spot) in rows {
        let pool: PoolId = format!("{id}/spot").parse().expect("a pool");
        let resources = Resources {
            vcpus: Some(8 * gpus.max(&1)),
            memory_mib: Some(65_536),
            architecture: Architecture::X86_64,
            accelerators: (*gpus > 0).then(|| Accelerators {
                name: Some("H100".into()),
                count_milli: gpus * 1000,
                memory_mib: Some(81_920),
                maker: Some(Maker::Nvidia),
            }),
            local_disk: Some(false),
            generation: Some(5),
        };
        let (cloud, name) = (pool.place.cloud, pool.instance_type.clone());
        let kind = InstanceKind { cloud, name: name.clone(), resources };
        kinds.insert((cloud, name.clone()), Arc::new(kind));
        places.insert(pool.place.clone());
        sold.insert((pool.place, name), (*on_demand, *spot));
    }
    let cents = |cents: Option<u64>| cents.map(|cents| MicroUsd(cents * 10_000));
    let kind_at = |key: &(Cloud, InstanceType)| kinds.keys().position(|k| k == key);
    let place_at = |key: &Place| places.iter().position(|place| place == key);
    let rows = sold
        .iter()
        .map(|((place, name), (on_demand, spot))| CatalogRow {
            kind: kind_at(&(place.cloud, name.clone())).expect("a kind") as u32,
            place: place_at(place).expect("a place") as u32,
            on_demand: cents(*on_demand),
            spot: cents(*spot),
            has_spot: spot.is_some(),
        })
        .collect();
    Catalog {
        source: "test".into(),
        as_of: at(0),
        kinds: kinds.into_values().collect(),
        places: places.into_iter().collect(),
        rows,
    }
}

/// Everything by name, so that no default leaves anything out: `defaults.rs` is about those.
fn every_family() -> Vec<Pattern> {
    ('a'..='z').map(|letter| Pattern::new(format!("{letter}*"))).collect()
}

pub(crate) fn desired(target: u64, on_demand: u64, unit: Unit) -> Desired {
    Desired {
        fleet: "f".into(),
        labels: BTreeMap::new(),
        capacity: CapacityGoal {
            unit,
            target: Units::whole(target),
            on_demand: Units::whole(on_demand),
            spot: Units::whole(target - on_demand),
        },
        instances: InstanceRules { families: every_family(), ..InstanceRules::default() },
        placement: PlacementRules {
            strategy: Strategy::CapacityOptimized,
            clouds: Cloud::ALL
                .into_iter()
                .map(|cloud| CloudRule { cloud, regions: vec![], zones: vec![], accounts: vec![] })
                .collect(),
            spread: Spread::default(),
            priorities: vec![],
            weights: vec![],
            max_spot_price: None,
            together: None,
            fulfilment: Fulfilment::Exact,
            hedge: None,
            lost_work_seconds: None,
            ignore_signals: fleet_model::SignalSet::default(),
            commitments: Vec::new(),
            traffic: fleet_model::Traffic::default(),
        },
        budget: Budget::default(),
        templates: BTreeMap::new(),
        max_destroy: Share::HALF,
        schedule: Vec::new(),
        expires: None,
        health: Default::default(),
        updates: Default::default(),
        interruption: Default::default(),
        fallback: None,
        rebalance: None,
        approvals: Vec::new(),
        digest: digest("spec/1", []),
    }
}

pub(crate) fn inputs(desired: Desired, catalog: &Catalog) -> Inputs {
    let observed = Observed {
        complete: catalog.places.iter().map(Place::scope).collect(),
        ..Observed::nothing(at(0))
    };
    let found = eligible(&desired, catalog);
    Inputs {
        uid: "uid-1".into(),
        desired,
        recorded: Recorded::default(),
        observed,
        offerings: found.offerings,
        rejected: found.rejected,
        held_pools: BTreeMap::new(),
        quotas: vec![],
        beliefs: BTreeMap::new(),
        signals: std::collections::BTreeMap::new(),
        limits: Limits::default(),
        now: at(0),
    }
}

/// Offers what a new spec allows, as a fresh look would.
pub(crate) fn respec(inputs: &mut Inputs, desired: Desired, catalog: &Catalog) {
    let found = eligible(&desired, catalog);
    inputs.offerings = found.offerings;
    inputs.rejected = found.rejected;
    inputs.desired = desired;
    inputs.held_pools.clear();
    for record in inputs.recorded.slots.values() {
        let SlotState::Filled { pool, .. } = &record.state else { continue };
        if inputs.offerings.iter().any(|offering| offering.pool == *pool) {
            continue;
        }
        let kind = catalog
            .kinds
            .iter()
            .find(|k| k.cloud == pool.place.cloud && k.name == pool.instance_type)
            .cloned();
        let because = kind.as_ref().and_then(|k| rejection(&inputs.desired, &pool.place, k));
        inputs
            .held_pools
            .insert(pool.clone(), HeldPool { kind, rejection: because, ..HeldPool::default() });
    }
}

/// Obeys a plan to the letter: what a cloud that refuses nothing would do, a while later.
pub(crate) fn obey(inputs: &mut Inputs, planned: &Planned, seconds: i64) {
    inputs.recorded.uid = Some(inputs.uid.clone());
    let now = inputs.now;
    let mut events = vec![Event::Vacated { gone: planned.plan.vacate.clone() }];
    events.push(Event::HealthSeen { news: planned.plan.health.clone() });
    events.extend(planned.plan.rollout.iter().map(|news| Event::Rollout { news: news.clone() }));
    events.extend(planned.plan.fallback.map(|step| Event::Fallback { step }));
    events.extend(planned.plan.cheaper.clone().map(|pools| Event::Cheaper { pools }));
    events.extend(planned.plan.moving.clone().map(|moving| Event::Moving { moving }));
    for step in &planned.plan.steps {
        match &step.action {
            Action::Create(create) => {
                events.push(Event::CreateIntended { create: create.clone() });
                let machines = create
                    .slots
                    .iter()
                    .map(|slot| {
                        let id = MachineId::new(format!("{}-{slot}", create.token));
                        // A cloud with a choice chooses now this, now that.
                        let pools: Vec<&PoolId> = create.pools().collect();
                        let chance = digest("choice", [id.as_str().as_bytes()]).as_u64();
                        let pool = pools[chance as usize % pools.len()];
                        let machine = machine(&id, create, pool, *slot, now);
                        inputs.observed.machines.insert(id.clone(), machine);
                        NewMachine {
                            slot: *slot,
                            machine: id,
                            launched_at: now,
                            price: create.price_in(pool),
                            pool: (*pool != create.pool).then(|| pool.clone()),
                        }
                    })
                    .collect();
                let token = create.token.clone();
                let (missing, surplus, no_room) = (vec![], vec![], false);
                events.push(Event::Created { token, machines, missing, surplus, no_room });
            }
            Action::Destroy(destroy) => {
                let slots = destroy.victims.iter().map(|victim| victim.slot).collect();
                events.push(Event::DestroyIntended { pool: destroy.pool.clone(), slots });
                for victim in &destroy.victims {
                    if let Some(machine) = inputs.observed.machines.get_mut(&victim.machine) {
                        machine.state = MachineState::Terminated;
                    }
                }
            }
        }
    }
    for event in &events {
        fold(&mut inputs.recorded, event, now);
    }
    inputs.now = Timestamp::from_second(now.as_second() + seconds).expect("a time");
    inputs.observed.taken_at = inputs.now;
}

fn machine(
    id: &MachineId,
    create: &Create,
    pool: &PoolId,
    slot: SlotId,
    now: Timestamp,
) -> Machine {
    Machine {
        id: id.clone(),
        place: pool.place.clone(),
        instance_type: pool.instance_type.clone(),
        market: pool.market,
        state: MachineState::Running,
        launched_at: now,
        price: create.price_in(pool),
        owner: Some(Ownership {
            fleet: "uid-1".into(),
            name: "f".into(),
            slot,
            token: create.token.clone(),
            template: create.template,
        }),
        notice: None,
        cause: None,
        access: Default::default(),
    }
}

/// The plan in a few words: `+2 aws/…/spot`, `-1 aws/…/on-demand`, in order of steps.
pub(crate) fn summary(planned: &Planned) -> Vec<String> {
    let mut lines: Vec<(char, String, usize)> = Vec::new();
    for step in &planned.plan.steps {
        let sign = match &step.action {
            Action::Create(_) => '+',
            Action::Destroy(_) => '-',
        };
        let pool = step.action.pool().to_string();
        match lines.last_mut() {
            Some(last) if last.0 == sign && last.1 == pool => last.2 += step.action.count(),
            _ => lines.push((sign, pool, step.action.count())),
        }
    }
    lines.into_iter().map(|(sign, pool, count)| format!("{sign}{count} {pool}")).collect()
}

/// A plan that keeps the engine's own rules.
pub(crate) fn checked(world: &Inputs) -> Planned {
    let planned = plan(world);
    assert_eq!(check(world, &planned), []);
    planned
}

/// Machines that a plan launches and destroys.
pub(crate) fn counts(planned: &Planned) -> (usize, usize) {
    planned.plan.steps.iter().fold((0, 0), |(create, destroy), step| match &step.action {
        Action::Create(c) => (create + c.slots.len(), destroy),
        Action::Destroy(d) => (create, destroy + d.victims.len()),
    })
}
