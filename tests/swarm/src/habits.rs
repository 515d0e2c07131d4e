//! The true habits of clouds, at moments and by chance of their own: machines that stop, fail or go
//! without a word, and lists that lack what is there.

use crate::storm::untouched;
use crate::weather::{HABITS, Kind};
use crate::world::World;
use fleet_model::{Cloud, Machine, MachineState, Market};
use fleet_sim::Fault;
use std::sync::Arc;
use std::time::Duration;

/// Goes on until it is dropped.
pub(crate) async fn habits(world: Arc<World>) {
    let kinds: Vec<Kind> = {
        let inner = world.lock();
        // Whose credentials a process has is decided when it starts.
        let comes = |kind: &Kind| *kind != Kind::OtherAccount && inner.weather.has(*kind);
        HABITS.into_iter().filter(comes).collect()
    };
    if kinds.is_empty() {
        return std::future::pending().await;
    }
    loop {
        let most = if world.lock().habits.percent(50) { 60_000 } else { 1_200_000 };
        let pause = world.lock().habits.below(most);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let kind = world.lock().habits.pick(&kinds).copied();
        let sheltered = world.lock().sheltered;
        if let Some(kind) = kind.filter(|_| !sheltered)
            && strike(&world, kind)
        {
            world.count(kind);
            world.trace(format_args!("{} strikes", kind.as_str()));
            world.look();
        }
    }
}

/// Makes it happen; whether there was an occasion.
fn strike(world: &World, kind: Kind) -> bool {
    let runs = |state| state == MachineState::Running;
    match kind {
        Kind::Stopped => {
            let some = some(world, untouched(world, runs), 2);
            !some.is_empty() && some.iter().all(|machine| world.sim.stop(&machine.id).is_ok())
        }
        Kind::Failed => {
            // A bad image spoils all machines alike.
            let some = some(world, untouched(world, runs), 8);
            !some.is_empty() && some.iter().all(|machine| world.sim.fail(&machine.id).is_ok())
        }
        Kind::ManyVanish => {
            let mut on_demand = untouched(world, runs);
            on_demand.retain(|machine| machine.market == Market::OnDemand);
            let some = some(world, on_demand, 10);
            !some.is_empty() && some.iter().all(|machine| world.sim.reclaim(&machine.id).is_ok())
        }
        Kind::ShortList => {
            let mut inner = world.lock();
            // Lambda has nothing but its list: nobody could know better.
            let mut clouds = inner.clouds.clone();
            clouds.retain(|cloud| *cloud != Cloud::Lambda);
            let Some(cloud) = inner.habits.pick(&clouds).copied() else { return false };
            let percent = inner.habits.between(10, 100) as u8;
            inner.judge.blurred = true;
            drop(inner);
            world.sim.fault(Fault::ShortLists { area: cloud.into(), percent }).is_ok()
        }
        _ => false,
    }
}

/// Up to `most` of them.
fn some(world: &World, mut of: Vec<Machine>, most: u64) -> Vec<Machine> {
    let mut inner = world.lock();
    let count = 1 + inner.habits.below(most) as usize;
    let from = inner.habits.below(of.len() as u64) as usize;
    of.rotate_left(from);
    of.truncate(count);
    of
}
