//! Faults that came to the swarm later, at moments and by chance of their own.

use crate::weather::Kind;
use crate::world::World;
use fleet_sim::Fault;
use std::sync::Arc;
use std::time::Duration;

const EVENTS: [Kind; 1] = [Kind::ChildLeft];

/// Goes on until it is dropped.
pub(crate) async fn squalls(world: Arc<World>) {
    let kinds: Vec<Kind> = {
        let inner = world.lock();
        EVENTS.into_iter().filter(|kind| inner.weather.has(*kind)).collect()
    };
    if kinds.is_empty() {
        return std::future::pending().await;
    }
    loop {
        let pause = world.lock().later.below(600_000);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let kind = world.lock().later.pick(&kinds).copied();
        if let Some(kind) = kind
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
    match kind {
        Kind::ChildLeft => {
            let percent = 20 + world.lock().later.below(80) as u8;
            world.sim.fault(Fault::ChildrenLeft { percent }).is_ok()
        }
        _ => false,
    }
}
