//! The weather while people work: what clouds, machines, disks and strangers do at random moments.

use crate::weather::Kind;
use crate::world::World;
use fleet_model::{Cloud, Machine, MachineState, Market, Place, Scope, SlotId, SlotName};
use fleet_sim::{Area, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What may happen at any moment.
const EVENTS: [Kind; 22] = [
    Kind::PartialPage,
    Kind::Outage,
    Kind::LossyOutage,
    Kind::Forbidden,
    Kind::Throttled,
    Kind::Exhausted,
    Kind::Short,
    Kind::Surplus,
    Kind::QuotaZero,
    Kind::Visibility,
    Kind::DiskFull,
    Kind::Pause,
    Kind::TagsStripped,
    Kind::TagsEdited,
    Kind::LookAlike,
    Kind::IdReused,
    Kind::SpotStorm,
    Kind::DeadAtBoot,
    Kind::NeverReady,
    Kind::Pause,
    Kind::Visibility,
    Kind::SpotStorm,
];

/// Goes on until it is dropped.
pub(crate) async fn storm(world: Arc<World>) {
    let kinds: Vec<Kind> = {
        let inner = world.lock();
        EVENTS.into_iter().filter(|kind| inner.weather.has(*kind)).collect()
    };
    if kinds.is_empty() {
        return std::future::pending().await;
    }
    // Half of the worlds begin in the midst of it.
    let mut at_once = world.below(2) * world.below(4);
    loop {
        let most = if world.below(2) == 0 { 20 } else { 400 };
        if at_once > 0 {
            at_once -= 1;
        } else {
            tokio::time::sleep(world.up_to(Duration::from_secs(most))).await;
        }
        if world.below(6) == 0 {
            world.trace(format_args!("the clouds are healed"));
            let _ = world.sim.heal();
            continue;
        }
        let kind = world.lock().chance.pick(&kinds).copied();
        let sheltered = world.lock().sheltered;
        let may_strike =
            |kind: &Kind| !sheltered || *kind == Kind::PartialPage && shows_some(&world);
        if let Some(kind) = kind.filter(may_strike)
            && strike(&world, kind)
        {
            world.count(kind);
            world.trace(format_args!("{} strikes", kind.as_str()));
            world.look();
        }
    }
}

/// Whether half of a list still shows a machine of ours, wherever there are any: a list that lost a page
/// shows something, silence shows nothing.
fn shows_some(world: &World) -> bool {
    let mut all: BTreeMap<Scope, usize> = BTreeMap::new();
    for machine in world.sim.machines().unwrap_or_default() {
        *all.entry(machine.place.scope()).or_default() += 1;
    }
    let mut ours: BTreeMap<Scope, usize> = BTreeMap::new();
    for (machine, _) in world.lock().judge.ours().filter(|(machine, _)| machine.owner.is_some()) {
        *ours.entry(machine.place.scope()).or_default() += 1;
    }
    ours.iter().all(|(scope, count)| count / 2 > all.get(scope).copied().unwrap_or(0) - count)
}

/// One of the clouds that the fleet may stand on: nobody notices faults elsewhere.
fn cloud(world: &World) -> Cloud {
    let mut inner = world.lock();
    let clouds = inner.clouds.clone();
    inner.chance.pick(&clouds).copied().unwrap_or(Cloud::Aws)
}

fn scope(world: &World) -> Scope {
    let cloud = cloud(world);
    let places = crate::market::CATALOG.places.iter().filter(|place| place.cloud == cloud);
    let scopes: Vec<Scope> = places.map(Place::scope).collect();
    let scope = world.lock().chance.pick(&scopes).cloned();
    scope.unwrap_or_else(|| Scope { cloud, region: "us-east-1".into() })
}

/// A region, and now and then a whole cloud.
fn area(world: &World) -> Area {
    if world.below(4) == 0 { cloud(world).into() } else { scope(world).into() }
}

/// Makes it happen; whether there was an occasion.
fn strike(world: &World, kind: Kind) -> bool {
    let sim = &world.sim;
    let some_time = world.up_to(Duration::from_secs(900)) + Duration::from_secs(5);
    let lasting = Some(some_time);
    let done = match kind {
        Kind::PartialPage => sim.partial_lists(area(world)),
        Kind::Outage => sim.outage(area(world), lasting),
        Kind::LossyOutage => sim.lossy_outage(area(world), lasting),
        Kind::Forbidden => sim.fault(Fault::Forbidden { area: area(world) }),
        Kind::Throttled => sim.throttle(cloud(world), some_time),
        Kind::Exhausted if world.below(3) == 0 => sim.exhaust("*", lasting),
        Kind::Exhausted => sim.exhaust(format!("{}/*", scope(world)).as_str(), lasting),
        Kind::Short => {
            let room = world.below(4) as u32;
            sim.limit_room(format!("{}/*", scope(world)).as_str(), room, None)
        }
        Kind::Surplus => sim.fault(Fault::Surplus { cloud: cloud(world), percent: 50 }),
        Kind::QuotaZero => {
            let scope = scope(world);
            let market = if world.below(2) == 0 { Market::Spot } else { Market::OnDemand };
            sim.set_quota(scope.cloud, scope.region, market, 0)
        }
        Kind::Visibility => {
            let most = world.lock().weather.visibility;
            let by = if world.below(2) == 0 { most } else { world.up_to(most) };
            sim.delay_visibility(cloud(world), by)
        }
        Kind::SpotStorm => {
            let count = 1 + world.below(8) as usize;
            sim.interrupt("*/*/*/*/spot", count).map(|_| ())
        }
        Kind::NeverReady => sim.fault(Fault::NeverReady { cloud: cloud(world) }),
        Kind::DiskFull => {
            let mut inner = world.lock();
            inner.disk_full = !inner.disk_full;
            return inner.disk_full;
        }
        Kind::Pause => return pause(world),
        Kind::DeadAtBoot => {
            let Some(machine) = some_machine(world, MachineState::is_live) else { return false };
            sim.reclaim(&machine.id)
        }
        Kind::TagsStripped => {
            let Some(machine) = some_machine(world, MachineState::is_live) else { return false };
            world.lock().judge.touched.insert(machine.id.clone());
            sim.strip_tags(&machine.id)
        }
        Kind::TagsEdited => {
            let Some(machine) = some_machine(world, MachineState::is_live) else { return false };
            let Some(owner) = &machine.owner else { return false };
            if !is_settled(world, &machine) {
                return false;
            }
            let name = SlotName { ordinal: world.below(12) as u32, ..owner.slot.name };
            let generation = world.below(2) as u32;
            if (SlotId { name, generation }) == owner.slot {
                return false;
            }
            world.lock().judge.touched.insert(machine.id.clone());
            sim.retag(&machine.id, SlotId { name, generation })
        }
        Kind::LookAlike => {
            let Some(mut machine) = some_machine(world, MachineState::is_live) else {
                return false;
            };
            machine.id = format!("x-{}", world.below(1 << 40)).as_str().into();
            return plant(world, &machine);
        }
        Kind::IdReused => {
            let gone = |state: MachineState| !state.is_live();
            let Some(machine) = some_machine(world, gone) else { return false };
            return plant(world, &machine);
        }
        _ => return false,
    };
    done.is_ok()
}

/// A stranger's machine with the tags of one of ours: somebody chose "launch more like this". The
/// launch it is copied from is settled: who can forge the tags of a launch under way, can forge
/// machines of ours (see docs/safety.md).
fn plant(world: &World, like: &Machine) -> bool {
    if !is_settled(world, like) {
        return false;
    }
    world.lock().judge.touched.insert(like.id.clone());
    world.sim.plant(like).is_ok()
}

/// Whether the outcome of the launch that made a machine is on record.
fn is_settled(world: &World, machine: &Machine) -> bool {
    let token = machine.owner.as_ref().map(|owner| &owner.token);
    let inner = world.lock();
    let intent = token.and_then(|token| inner.judge.book.intents.get(token));
    intent.is_some_and(|intent| intent.settled)
}

/// A machine of ours that nobody else laid hands on.
fn some_machine(world: &World, state: impl Fn(MachineState) -> bool) -> Option<Machine> {
    let fit = untouched(world, state);
    world.lock().chance.pick(&fit).cloned()
}

/// Machines of ours that nobody else laid hands on.
pub(crate) fn untouched(world: &World, state: impl Fn(MachineState) -> bool) -> Vec<Machine> {
    let truth = world.sim.machines().unwrap_or_default();
    let inner = world.lock();
    let ours =
        |machine: &Machine| machine.owner.is_some() && !inner.judge.touched.contains(&machine.id);
    truth.into_iter().filter(|machine| state(machine.state) && ours(machine)).collect()
}

/// Some process stands still.
fn pause(world: &World) -> bool {
    let running = world.running();
    let chosen = world.lock().chance.pick(&running).cloned();
    let Some(process) = chosen.filter(|process| !process.is_dead()) else { return false };
    let most = if world.below(2) == 0 { 30 } else { 1800 };
    process.freeze(world.up_to(Duration::from_secs(most)));
    true
}
