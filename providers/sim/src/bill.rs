//! What the clouds ask for their machines, reckoned by themselves: from their own events, by their own
//! rules, and by no code of the engine. It is the judge of a ledger.
//!
//! Rules: EC2 bills *running* alone, by the second with a minute at least, and asks nothing for spot that it
//! takes back within the first hour. Google bills from the launch until the machine has stopped, by the
//! second with a minute at least, and asks nothing for spot that it takes back within a minute. Azure bills
//! from the launch until its end is asked for or it is taken back, also while it is shut down, by the second
//! with a minute at least; Lambda by the started minute. Spot costs what it costs at each moment: a guess
//! for EC2, whose rule within an hour is not documented.
//!
//! A disk is there from the launch until its machine is gone, or until it is cleared away if its cloud forgot it:
//! by the second, on EC2 with a minute at least, on Azure by the started hour (a guess: how a part of a month counts is
//! not documented). A public address is there from the launch until its machine leaves its last state that is billed,
//! by the second with a minute at least. Neither is free when a machine is.

use crate::pools::Pools;
use crate::sim::Sim;
use crate::store::SimError;
use crate::tariff::Tariff;
use crate::time::{BUCKET, Ms, stamp};
use crate::vm::Vm;
use crate::world::{Deed, World};
use fleet_model::{Cloud, CostKind, FleetName, MachineId, Market, MicroUsd, PoolId, Timestamp};
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
    #[serde(default)]
    tariff: Option<Tariff>,
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
            tariff: deed.tariff,
            taken: vm.notice.is_some() && vm.notice == vm.gone && vm.asked.is_none(),
        }
    }
}

/// One line of the bill: a machine, or what came with it, so far or to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Billed {
    /// Which machine.
    pub machine: MachineId,
    /// The machine itself, or what came with it.
    pub kind: CostKind,
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
            all.iter().flat_map(|past| lines(world, tx.pools, past)).collect()
        })
    }
}

/// A machine, its disk and its address. What costs nothing beside a machine is no line.
fn lines(world: &World, pools: &Pools, past: &Past) -> Vec<Billed> {
    let Some(pool) = world.pools.get(past.pool as usize) else { return Vec::new() };
    let machine = line(world, pools, pool, past);
    let Some(Tariff { disk, address }) = past.tariff else { return vec![machine] };
    let gone = past.gone.filter(|gone| *gone <= world.now);
    let left = world.orphans.get(&past.id).is_some_and(|(_, since)| *since <= world.now);
    let cleared = world.cleared.get(&past.id).copied();
    let deleted =
        if left { None } else { gone.map(|gone| cleared.map_or(gone, |at| at.max(gone))) };
    let second = 1000;
    let (step, least) = match pool.place.cloud {
        Cloud::Aws => (second, 60 * second),
        Cloud::Gcp | Cloud::Lambda => (second, second),
        Cloud::Azure => (3600 * second, 3600 * second),
    };
    let beside = |kind, price: Option<MicroUsd>, end: Option<Ms>, (step, least): (Ms, Ms)| {
        if price.is_some_and(|price| price.0 == 0) {
            return None;
        }
        let there = end.unwrap_or(world.now).saturating_sub(past.launched);
        let billed = match end {
            Some(_) => (there.div_ceil(step) * step).max(least),
            None => there,
        };
        Some(Billed {
            kind,
            from: stamp(past.launched),
            until: stamp(past.launched + billed),
            running: end.is_none(),
            free: false,
            micro_usd_ms: price.map(|price| u128::from(price.0) * u128::from(billed)),
            ..machine.clone()
        })
    };
    let ended = ended(world, pool.place.cloud, past);
    let disk = beside(CostKind::Disk, disk, deleted, (step, least));
    let address = beside(CostKind::Address, address, ended, (second, 60 * second));
    [Some(machine.clone()), disk, address].into_iter().flatten().collect()
}

/// When a machine left its last state that is billed.
fn ended(world: &World, cloud: Cloud, past: &Past) -> Option<Ms> {
    let asked = past.asked.filter(|asked| *asked <= world.now);
    let stopped = past.stopped.filter(|stopped| *stopped <= world.now);
    let ends = match cloud {
        Cloud::Aws => [asked, stopped, past.gone],
        Cloud::Gcp => [None, stopped, past.gone],
        Cloud::Azure | Cloud::Lambda => [asked, None, past.gone],
    };
    ends.into_iter().flatten().min()
}

fn line(world: &World, pools: &Pools, pool: &PoolId, past: &Past) -> Billed {
    let cloud = pool.place.cloud;
    let now = world.now;
    let begun = if cloud == Cloud::Aws { past.running } else { past.launched };
    let end = ended(world, cloud, past);
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
    Billed {
        machine: past.id.clone(),
        kind: CostKind::Machine,
        fleet: past.fleet.clone(),
        pool: pool.clone(),
        from: stamp(begun),
        until: stamp(begun + billed),
        running: end.is_none(),
        free,
        micro_usd_ms: sum,
    }
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
