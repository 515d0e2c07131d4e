//! What the clouds ask for their machines, reckoned by themselves: from their own events, by their own
//! rules, and by no code of the engine. It is the judge of a ledger.
//!
//! Rules: EC2 bills *running* alone, by the second with a minute at least, and asks nothing for spot that it
//! takes back within the first hour. Google bills from the launch until the machine has stopped, by the
//! second with a minute at least, and asks nothing for spot that it takes back within a minute. Azure bills
//! from the launch until its end is asked for or it is taken back, also while it is shut down, by the second
//! with a minute at least; Lambda by the started minute. Spot costs what it costs at each moment: a guess
//! for EC2, whose rule within an hour is not documented.

use crate::pools::Pools;
use crate::sim::Sim;
use crate::store::SimError;
use crate::time::{BUCKET, Ms, stamp};
use crate::vm::Vm;
use crate::world::{Deed, World};
use fleet_model::{Cloud, FleetName, MachineId, Market, MicroUsd, PoolId, Timestamp};
use serde::{Deserialize, Serialize};

/// A machine that the clouds have forgotten but for its bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Past {
    id: MachineId,
    fleet: FleetName,
    pool: u32,
    price: Option<MicroUsd>,
    launched: Ms,
    running: Ms,
    asked: Option<Ms>,
    stopped: Option<Ms>,
    gone: Option<Ms>,
    taken: bool,
}

impl World {
    /// When a machine that is forgotten ran, and what ended it.
    pub(crate) fn moments_of_past(&self, machine: &MachineId) -> Option<(Ms, [Option<Ms>; 3])> {
        // The youngest come first: whoever asks has just noticed.
        let past = self.past.iter().rev().find(|past| past.id == *machine)?;
        Some((past.running, [past.asked, past.stopped, past.gone]))
    }
}

impl Past {
    pub(crate) fn of(vm: &Vm, deed: &Deed, gone: Option<Ms>) -> Self {
        let fleet = deed.owner(vm).map_or_else(|| deed.name().clone(), |owner| owner.name);
        Past {
            id: vm.id.clone(),
            fleet,
            pool: deed.pool,
            price: deed.price,
            launched: deed.launched,
            running: vm.running,
            asked: vm.asked,
            stopped: vm.stopped,
            gone,
            taken: vm.notice.is_some() && vm.notice == vm.gone && vm.asked.is_none(),
        }
    }
}

/// One line of the bill: a machine, so far or to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Billed {
    /// Which machine.
    pub machine: MachineId,
    /// The fleet that its tags name.
    pub fleet: FleetName,
    /// Where it came from.
    pub pool: PoolId,
    /// The first moment that is billed.
    pub from: Timestamp,
    /// The first that is not; of a machine that runs, now.
    pub until: Timestamp,
    /// Whether it is on the meter still.
    pub running: bool,
    /// Whether its cloud asks nothing for it.
    pub free: bool,
    /// Price per hour in micro-dollars, times milliseconds. `None`: it has no price.
    pub micro_usd_ms: Option<u128>,
}

impl Billed {
    /// The amount in whole micro-dollars.
    pub fn amount(&self) -> Option<MicroUsd> {
        self.micro_usd_ms.map(|sum| MicroUsd(((sum + 1_800_000) / 3_600_000) as u64))
    }
}

impl Sim {
    /// The whole bill, from the beginning of the world to now.
    pub fn bill(&self) -> Result<Vec<Billed>, SimError> {
        self.run(|tx| {
            let world = &*tx.world;
            let present = world.vms.values().filter_map(|vm| {
                let (deed, _) = world.origin(vm)?;
                Some(Past::of(vm, deed, vm.gone.filter(|gone| *gone <= world.now)))
            });
            let all: Vec<Past> = world.past.iter().cloned().chain(present).collect();
            all.iter().filter_map(|past| line(world, tx.pools, past)).collect()
        })
    }
}

fn line(world: &World, pools: &Pools, past: &Past) -> Option<Billed> {
    let pool = world.pools.get(past.pool as usize)?;
    let cloud = pool.place.cloud;
    let now = world.now;
    let begun = if cloud == Cloud::Aws { past.running } else { past.launched };
    let asked = past.asked.filter(|asked| *asked <= now);
    let stopped = past.stopped.filter(|stopped| *stopped <= now);
    let ends = match cloud {
        Cloud::Aws => [asked, stopped, past.gone],
        Cloud::Gcp => [None, stopped, past.gone],
        Cloud::Azure | Cloud::Lambda => [asked, None, past.gone],
    };
    let end = ends.into_iter().flatten().min();
    let ran = end.unwrap_or(now).saturating_sub(begun);
    let free_until = match (cloud, pool.market) {
        (Cloud::Aws, Market::Spot) => 3_600_000,
        (Cloud::Gcp, Market::Spot) => 60_000,
        _ => 0,
    };
    let free = past.taken && end.is_some() && ran < free_until;
    let never = cloud == Cloud::Aws && end.is_some_and(|end| end <= begun);
    let seconds = ran.div_ceil(1000);
    let billed = match (end, cloud) {
        _ if never => 0,
        (None, _) => ran,
        (Some(_), _) if free => ran,
        (Some(_), Cloud::Lambda) => seconds.div_ceil(60).max(1) * 60_000,
        (Some(_), Cloud::Aws | Cloud::Gcp | Cloud::Azure) => seconds.max(60) * 1000,
    };
    let sum = if free { Some(0) } else { cost(world, pools, pool, past, begun, begun + billed) };
    Some(Billed {
        machine: past.id.clone(),
        fleet: past.fleet.clone(),
        pool: pool.clone(),
        from: stamp(begun),
        until: stamp(begun + billed),
        running: end.is_none(),
        free,
        micro_usd_ms: sum,
    })
}

/// Half hour by half hour, since that is how long a spot price holds.
fn cost(world: &World, pools: &Pools, id: &PoolId, past: &Past, from: Ms, to: Ms) -> Option<u128> {
    if id.market != Market::Spot {
        return past.price.map(|price| u128::from(price.0) * u128::from(to - from));
    }
    let mut sum = 0;
    let mut at = from;
    while at < to {
        let next = ((at / BUCKET + 1) * BUCKET).min(to);
        let price = match pools.find(id) {
            Some(pool) => pool.price(&world.settings, at),
            None => past.price,
        };
        sum += u128::from(price?.0) * u128::from(next - at);
        at = next;
    }
    Some(sum)
}
