//! EC2: tokens hold in one zone, and a launch may give fewer machines than asked for.

use super::{Launch, Order, allowance, carry_out, fingerprint, repeat, room};
use crate::chance::text;
use crate::classify::answer;
use crate::event::Refusal;
use crate::limit::Call;
use crate::pools::Pool;
use crate::tx::Tx;
use fleet_model::{Cloud, Create, Machine, MachineState, Market, MicroUsd, PoolId};
use fleet_provider::{CreateRequest, evidence};

/// `RunInstances` with a client token, from one machine to all of them.
pub(crate) fn run_instances(
    tx: &mut Tx<'_>,
    request: &CreateRequest<'_>,
) -> Result<Launch, Refusal> {
    let wanted = u32::try_from(request.create.slots.len()).unwrap_or(u32::MAX);
    let scope = request.create.pool.place.scope();
    tx.change(&scope, Call::Launch, wanted, |tx| run(tx, request, wanted))
}

fn run(tx: &mut Tx<'_>, request: &CreateRequest<'_>, wanted: u32) -> Result<Launch, Refusal> {
    let create = request.create;
    let id = &create.pool;
    // The zone is part of the key: the same token in another zone launches again.
    let key = text(&format!("{}/{}", id.place, create.token));
    if let Some(deed) = tx.world.deed_by_key(key) {
        if deed.fingerprint != fingerprint(request) {
            return Err(mismatch(create));
        }
        let launch = repeat(tx.world, deed);
        if launch.machines.iter().all(|machine| machine.state == MachineState::Terminated) {
            let message = format!("the instances of token {} are terminated", create.token);
            return Err(refuse(Cloud::Aws, "IdempotentInstanceTerminated", &message));
        }
        return Ok(launch);
    }
    let pool = sold(tx, id, create.max_price)?;
    if allowance(tx, id, &pool) < wanted {
        return Err(over_quota(id, wanted));
    }
    let granted = room(tx, id, &pool).min(wanted);
    let refusal = (granted < wanted).then(|| full(id));
    let slots = create.slots.get(..granted as usize).unwrap_or_default();
    match refusal {
        Some(refusal) if granted == 0 => Err(refusal),
        refusal => {
            let (key, done) = (Some(key), tx.now());
            let order = Order { request, pool, slots, key, done, refusal, named: false };
            Ok(carry_out(tx, order))
        }
    }
}

/// The pool, if it sells to us at that price.
fn sold<'a>(tx: &Tx<'a>, id: &PoolId, most: Option<MicroUsd>) -> Result<Pool<'a>, Refusal> {
    let Some(pool) = tx.pools.find(id) else {
        let message =
            format!("{} is not offered as {} in {}", id.instance_type, id.market, id.place);
        return Err(match id.place.cloud {
            Cloud::Gcp => refuse(Cloud::Gcp, "invalid", &message),
            Cloud::Aws | Cloud::Azure | Cloud::Lambda => {
                refuse(Cloud::Aws, "Unsupported", &message)
            }
        });
    };
    if id.market == Market::Spot
        && let (Some(price), Some(most)) = (pool.price(&tx.world.settings, tx.now()), most)
        && price > most
    {
        let message = format!("the spot price is {price}, above the {most} offered");
        return Err(refuse(Cloud::Aws, "SpotMaxPriceTooLow", &message));
    }
    Ok(pool)
}

fn mismatch(create: &Create) -> Refusal {
    let message = format!("token {} was used with other parameters", create.token);
    match create.pool.place.cloud {
        Cloud::Gcp => refuse(Cloud::Gcp, "alreadyExists", &message),
        Cloud::Aws | Cloud::Azure | Cloud::Lambda => {
            refuse(Cloud::Aws, "IdempotentParameterMismatch", &message)
        }
    }
}

fn over_quota(id: &PoolId, wanted: u32) -> Refusal {
    let code = match (id.place.cloud, id.market) {
        // A choice between pools is Google's, too, in its own words.
        (Cloud::Gcp, _) => "QUOTA_EXCEEDED",
        (_, Market::Spot) => "MaxSpotInstanceCountExceeded",
        (_, Market::OnDemand | Market::Reserved) => "VcpuLimitExceeded",
    };
    let message = format!("{wanted} more would exceed the vCPU limit in {}", id.place.region);
    refuse(id.place.cloud, code, &message)
}

fn refuse(cloud: Cloud, code: &str, message: &str) -> Refusal {
    answer(cloud, evidence::Call::Launch, code, message)
}

fn full(id: &PoolId) -> Refusal {
    let message = format!("no more {} in {}", id.instance_type, id.place.zone);
    match id.place.cloud {
        Cloud::Gcp => refuse(Cloud::Gcp, "ZONE_RESOURCE_POOL_EXHAUSTED", &message),
        Cloud::Aws | Cloud::Azure | Cloud::Lambda => {
            refuse(Cloud::Aws, "InsufficientInstanceCapacity", &message)
        }
    }
}

/// What `CreateFleet` answers: machines, and what each pool said that did not give enough.
pub(crate) type Fleet = (Vec<Machine>, Vec<(PoolId, Refusal)>);

/// `CreateFleet` of the kind `instant`: pool after pool, in the order of the request, until there
/// are enough.
pub(crate) fn create_fleet(tx: &mut Tx<'_>, request: &CreateRequest<'_>) -> Result<Fleet, Refusal> {
    let wanted = u32::try_from(request.create.slots.len()).unwrap_or(u32::MAX);
    let scope = request.create.pool.place.scope();
    tx.change(&scope, Call::Launch, wanted, |tx| choose(tx, request))
}

/// The part of a request that one pool is asked for.
fn part(create: &Create, pool: &PoolId) -> Create {
    let other = create.others.iter().find(|other| other.pool == *pool);
    let max_price = other.map_or(create.max_price, |other| other.max_price);
    Create { pool: pool.clone(), others: Vec::new(), max_price, ..create.clone() }
}

fn choose(tx: &mut Tx<'_>, request: &CreateRequest<'_>) -> Result<Fleet, Refusal> {
    let create = request.create;
    let parts: Vec<Create> = create.pools().map(|pool| part(create, pool)).collect();
    // The token holds in the whole region; each pool's part is remembered by itself.
    let key = |part: &Create| Some(text(&format!("fleet/{}/{}", part.pool, part.token)));
    let (mut machines, mut refusals) = (Vec::new(), Vec::new());
    let mut known = false;
    for part in &parts {
        let Some(deed) = key(part).and_then(|key| tx.world.deed_by_key(key)) else { continue };
        if deed.fingerprint != fingerprint(&CreateRequest { create: part, ..*request }) {
            return Err(mismatch(create));
        }
        let Launch { machines: made, refusal, .. } = repeat(tx.world, deed);
        known = true;
        machines.extend(made);
        refusals.extend(refusal.map(|refusal| (part.pool.clone(), refusal)));
    }
    if known {
        return Ok((machines, refusals));
    }
    for part in &parts {
        let slots = create.slots.get(machines.len()..).unwrap_or_default();
        if slots.is_empty() {
            break;
        }
        let id = &part.pool;
        let pool = match sold(tx, id, part.max_price) {
            Ok(pool) => pool,
            Err(refusal) => {
                refusals.push((id.clone(), refusal));
                continue;
            }
        };
        let wanted = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        let (allowed, room) = (allowance(tx, id, &pool), room(tx, id, &pool));
        let refusal = if allowed < wanted.min(room) {
            Some(over_quota(id, wanted))
        } else {
            (room < wanted).then(|| full(id))
        };
        let slots = slots.get(..wanted.min(allowed).min(room) as usize).unwrap_or_default();
        let request = CreateRequest { create: part, ..*request };
        let (key, done) = (key(part), tx.now());
        let order = Order {
            request: &request,
            pool,
            slots,
            key,
            done,
            refusal: refusal.clone(),
            // What CreateFleet makes has no slot of its own; what bulkInsert makes has a name.
            named: create.pool.place.cloud != Cloud::Aws,
        };
        machines.extend(carry_out(tx, order).machines);
        refusals.extend(refusal.map(|refusal| (id.clone(), refusal)));
    }
    Ok((machines, refusals))
}
