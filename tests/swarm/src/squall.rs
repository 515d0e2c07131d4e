//! Faults that came to the swarm later, at moments and by chance of their own.

use crate::weather::Kind;
use crate::world::World;
use fleet_model::Cloud;
use fleet_sim::Fault;
use std::sync::Arc;
use std::time::Duration;

const EVENTS: [Kind; 5] =
    [Kind::ChildLeft, Kind::LostRequest, Kind::Blurred, Kind::ClockLeap, Kind::ClockLeap];

/// Goes on until it is dropped.
pub(crate) async fn squalls(world: Arc<World>) {
    let kinds: Vec<Kind> = {
        let inner = world.lock();
        EVENTS.into_iter().filter(|kind| inner.weather.has(*kind)).collect()
    };
    if kinds.is_empty() {
        return std::future::pending().await;
    }
    // Half of the worlds begin in the midst of it.
    let mut at_once = world.lock().later.below(4).saturating_sub(1);
    loop {
        if at_once > 0 {
            at_once -= 1;
        } else {
            let pause = world.lock().later.below(600_000);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        let kind = world.lock().later.pick(&kinds).copied();
        if let Some(kind) = kind
            && strike(&world, kind)
        {
            // Requests are counted when they come.
            if !matches!(kind, Kind::Blurred | Kind::LostRequest) {
                world.count(kind);
            }
            world.trace(format_args!("{} strikes", kind.as_str()));
            world.look();
        }
    }
}

/// One of the clouds that the fleet may stand on.
fn some_cloud(world: &World) -> Cloud {
    let mut inner = world.lock();
    let clouds = inner.clouds.clone();
    inner.later.pick(&clouds).copied().unwrap_or(Cloud::Aws)
}

/// Makes it happen; whether there was an occasion.
fn strike(world: &World, kind: Kind) -> bool {
    match kind {
        Kind::ChildLeft => {
            let percent = 20 + world.lock().later.below(80) as u8;
            world.sim.fault(Fault::ChildrenLeft { percent }).is_ok()
        }
        Kind::LostRequest => {
            let (cloud, by) = (some_cloud(world), world.lock().weather.visibility);
            world.sim.delay_visibility(cloud, by).is_ok()
        }
        Kind::Blurred => {
            let (cloud, within) = (some_cloud(world), world.lock().weather.visibility);
            world.sim.fault(Fault::Surplus { cloud, percent: 50 }).is_ok()
                && world.sim.fault(Fault::ScatteredVisibility { cloud, within }).is_ok()
        }
        Kind::ClockLeap => leap(world),
        _ => false,
    }
}

/// Somebody sets the clock of a process that runs.
fn leap(world: &World) -> bool {
    let running = world.running();
    let mut inner = world.lock();
    let Some(process) = inner.later.pick(&running).cloned() else { return false };
    let most = if inner.later.percent(50) { 600_000 } else { 3 * 3_600_000 };
    let by = inner.later.below(2 * most + 1) as i64 - most as i64;
    inner.judge.blurred = true;
    drop(inner);
    process.leap(by);
    true
}
