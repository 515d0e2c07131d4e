//! The raw clouds, each with its habits: what they do with a token, what they answer, and when.

mod aws;
mod azure;
mod children;
mod end;
mod gcp;
mod handover;
mod lambda;
mod relabel;
mod trace;

pub(crate) use aws::{create_fleet, run_instances};
pub(crate) use azure::put_vm;
pub(crate) use children::{clear, clear_failed, orphans};
pub(crate) use end::end;
pub(crate) use gcp::bulk_insert;
pub(crate) use handover::{disown, own, rename, unowned};
pub(crate) use lambda::{by_name, launch};
pub(crate) use relabel::relabel;
pub(crate) use trace::{made, trace};

use crate::chance::{below, bytes, mix, mix2, text};
use crate::event::{Born, Event, Launched, Refusal};
use crate::fault::Fault;
use crate::pools::Pool;
use crate::settings::Preset;
use crate::tariff;
use crate::time::{Ms, later};
use crate::tx::Tx;
use crate::world::{Deed, World};
use fleet_model::{Cloud, Labels, Machine, MachineId, Market, PoolId, Region, SlotId, Token};
use fleet_provider::CreateRequest;

/// What came of a launch, as far as the cloud has got.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// The machines as they are now.
    pub(crate) machines: Vec<Machine>,
    /// Why there are fewer than asked for.
    pub(crate) refusal: Option<Refusal>,
    /// When the operation is done; it says nothing before.
    pub(crate) done: Ms,
}

/// A launch that the cloud is about to carry out.
struct Order<'a> {
    request: &'a CreateRequest<'a>,
    pool: Pool<'a>,
    /// The slots that will be filled.
    slots: &'a [SlotId],
    /// What the cloud remembers it by.
    key: Option<u64>,
    done: Ms,
    refusal: Option<Refusal>,
    /// Whether machines bear a name that we chose.
    named: bool,
}

/// The name a machine of a slot bears where we choose names.
pub(crate) fn name_of(token: &Token, slot: SlotId) -> String {
    format!("fleet-{:016x}", mix2(text(token.as_str()), text(&slot.to_string())))
}

/// Everything that must be the same when a token is sent again.
fn fingerprint(request: &CreateRequest<'_>) -> u64 {
    let create = request.create;
    let mut hash = text(request.fleet.as_str());
    hash = mix2(hash, text(&create.pool.to_string()));
    for slot in &create.slots {
        hash = bytes(hash, slot.to_string().as_bytes());
    }
    hash = mix2(hash, text(&request.template.digest().to_string()));
    // To EC2 tags are part of the request. Google and Azure do not compare them.
    if create.pool.place.cloud == Cloud::Aws {
        for (key, value) in labels_of(request) {
            hash = bytes(bytes(hash, key.as_bytes()), value.as_bytes());
        }
    }
    mix2(hash, create.max_price.map_or(u64::MAX, |price| price.0))
}

/// The labels that a launch gives its machines.
fn labels_of(request: &CreateRequest<'_>) -> Labels {
    let all = request.labels.iter().chain(&request.template.tags);
    all.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn carry_out(tx: &mut Tx<'_>, order: Order<'_>) -> Launch {
    let Order { request, pool, slots, key, done, refusal, named } = order;
    let create = request.create;
    let (cloud, now, settings) = (create.pool.place.cloud, tx.now(), tx.world.settings.clone());
    let hidden = tx.faults().filter_map(|fault| match fault {
        Fault::DelayedVisibility { cloud: slow, by } if *slow == cloud => Some(*by),
        _ => None,
    });
    let hidden = hidden.last();
    let scattered = tx.faults().filter_map(|fault| match fault {
        Fault::ScatteredVisibility { cloud: slow, within } if *slow == cloud => Some(*within),
        _ => None,
    });
    let scattered = scattered.last().map_or(0, |within| within.as_millis() as Ms);
    let stuck = tx.faults().any(|f| matches!(f, Fault::NeverReady { cloud: c } if *c == cloud));
    let gives_up = cloud.facts().gives_up_after;
    let slots = with_surplus(tx, cloud, slots);
    let born = (tx.world.next..).zip(&slots).map(|(serial, slot)| {
        let chance = mix2(settings.seed, serial);
        let between = |salt: u64, least: Ms, most: Ms| match settings.preset {
            Preset::Calm => 0,
            Preset::Lifelike => least + below(mix(chance ^ salt), most - least + 1),
        };
        let usual = if cloud == Cloud::Lambda { 0 } else { between(1, 0, 20_000) };
        let usual = usual.max(below(mix(chance ^ 3), scattered + 1));
        Born {
            id: machine_id(cloud, settings.seed, serial),
            slot: *slot,
            visible: hidden.map_or(now + usual, |by| later(now, by).max(now + usual)),
            running: if stuck { Ms::MAX } else { now + between(2, 20_000, 90_000) },
            fails: gives_up.filter(|_| stuck).map(|after| now + after.as_millis() as Ms),
            name: named.then(|| name_of(&create.token, *slot)),
        }
    });
    let launched = Launched {
        key,
        fingerprint: fingerprint(request),
        pool: create.pool.clone(),
        fleet: request.fleet.clone(),
        name: request.name.clone(),
        token: create.token.clone(),
        labels: labels_of(request),
        template: create.template,
        price: pool.price(&settings, now),
        tariff: Some(tariff::of(&create.pool, request.template)),
        vcpus: pool.vcpus.unwrap_or(1),
        done,
        born: born.collect(),
        refusal: refusal.clone(),
    };
    let first = tx.world.next;
    tx.emit(Event::Launched(launched));
    let machines = describe(tx.world, first..tx.world.next);
    Launch { machines, refusal, done }
}

/// The slots, and where a cloud makes one machine too many the last of them once more.
fn with_surplus(tx: &Tx<'_>, cloud: Cloud, slots: &[SlotId]) -> Vec<SlotId> {
    let percent = tx.faults().filter_map(|fault| match fault {
        Fault::Surplus { cloud: generous, percent } if *generous == cloud => Some(*percent),
        _ => None,
    });
    let percent = u64::from(percent.last().unwrap_or(0));
    let chance = mix2(tx.world.settings.seed ^ 0x0507, tx.world.next);
    let extra = slots.last().filter(|_| below(chance, 100) < percent);
    slots.iter().chain(extra).copied().collect()
}

/// What a cloud answers to a token it knows.
fn repeat(world: &World, deed: &Deed) -> Launch {
    Launch {
        machines: describe(world, deed.machines.clone()),
        refusal: deed.refusal.clone(),
        done: deed.done,
    }
}

fn describe(world: &World, serials: impl Iterator<Item = u64>) -> Vec<Machine> {
    serials.filter_map(|serial| world.describe(world.vms.get(&serial)?)).collect()
}

/// How many more machines a pool takes.
pub(crate) fn room(tx: &Tx<'_>, id: &PoolId, pool: &Pool<'_>) -> u32 {
    let index = &tx.world.index;
    let live = index.pool_numbers.get(id).map_or(0, |n| index.pools[*n as usize].live.len());
    let live = u32::try_from(live).unwrap_or(u32::MAX);
    let allowed = tx.faults().filter_map(|fault| fault.room_for(id)).min();
    let capacity = tx.pools.capacity(id, pool, &tx.world.settings, tx.now());
    allowed.map_or(capacity, |allowed| allowed.min(capacity)).saturating_sub(live)
}

/// vCPUs that the account may use, if there is a limit.
pub(crate) fn quota(tx: &Tx<'_>, cloud: Cloud, region: &Region, market: Market) -> Option<u64> {
    /// Room for seven hundred of the largest machines there are.
    const USUAL: u64 = 150_000;
    let set = tx.faults().filter_map(|fault| match fault {
        Fault::Quota { cloud: c, region: r, market: m, vcpus }
            if *c == cloud && r == region && *m == market =>
        {
            Some(*vcpus)
        }
        _ => None,
    });
    // The last word holds.
    set.last().or(if tx.is_calm() { None } else { Some(USUAL) })
}

/// How many more machines of a pool the account may have.
fn allowance(tx: &Tx<'_>, id: &PoolId, pool: &Pool<'_>) -> u32 {
    let Some(limit) = quota(tx, id.place.cloud, &id.place.region, id.market) else {
        return u32::MAX;
    };
    let used = tx.world.index.used(&id.place.scope(), id.market);
    let each = u64::from(pool.vcpus.unwrap_or(1)).max(1);
    u32::try_from(limit.saturating_sub(used) / each).unwrap_or(u32::MAX)
}

/// When an operation that takes between `least` and `most` seconds is done.
fn done_in(tx: &Tx<'_>, least: u64, most: u64) -> Ms {
    if tx.is_calm() {
        return tx.now();
    }
    let chance = mix2(tx.world.settings.seed ^ 0x0d0e, tx.world.calls);
    tx.now() + 1000 * least + below(chance, 1000 * (most - least) + 1)
}

fn machine_id(cloud: Cloud, seed: u64, serial: u64) -> MachineId {
    let a = mix(mix(seed) ^ serial);
    let b = mix(a);
    MachineId::new(match cloud {
        Cloud::Aws => format!("i-0{a:016x}"),
        Cloud::Gcp => format!("{a:020}"),
        Cloud::Azure => format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xffff,
            b >> 48,
            b & 0xffff_ffff_ffff
        ),
        Cloud::Lambda => format!("{a:016x}{b:016x}"),
    })
}
