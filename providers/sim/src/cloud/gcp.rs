//! Compute Engine: a request id, names we choose, and an operation that ends later, with errors
//! inside.

use super::{Launch, Order, allowance, carry_out, done_in, fingerprint, repeat, room};
use crate::chance::text;
use crate::classify::answer;
use crate::event::Refusal;
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::Cloud;
use fleet_provider::{CreateRequest, evidence};

/// `instances.bulkInsert` with a request id and a minimum of one. It has no price limit: Google
/// takes none.
pub(crate) fn bulk_insert(tx: &mut Tx<'_>, request: &CreateRequest<'_>) -> Result<Launch, Refusal> {
    let wanted = u32::try_from(request.create.slots.len()).unwrap_or(u32::MAX);
    let scope = request.create.pool.place.scope();
    tx.change(&scope, Call::Launch, wanted, |tx| insert(tx, request, wanted))
}

fn refuse(code: &str, message: &str) -> Refusal {
    answer(Cloud::Gcp, evidence::Call::Launch, code, message)
}

fn insert(tx: &mut Tx<'_>, request: &CreateRequest<'_>, wanted: u32) -> Result<Launch, Refusal> {
    let create = request.create;
    let id = &create.pool;
    // A request id holds in the whole project, and also for a request that failed.
    let key = text(&format!("gcp/{}", create.token));
    if let Some(deed) = tx.world.deed_by_key(key) {
        if deed.fingerprint != fingerprint(request) {
            let message = format!("the names of {} are taken", create.token);
            return Err(refuse("alreadyExists", &message));
        }
        return Ok(repeat(tx.world, deed));
    }
    let Some(pool) = tx.pools.find(id) else {
        let message = format!("{} has no {} as {}", id.place.zone, id.instance_type, id.market);
        return Err(refuse("invalid", &message));
    };
    let (free, allowed) = (room(tx, id, &pool), allowance(tx, id, &pool));
    let granted = wanted.min(free).min(allowed);
    let refusal = (granted < wanted).then(|| {
        if allowed < free {
            let message = format!("quota 'CPUS' exceeded in region {}", id.place.region);
            refuse("QUOTA_EXCEEDED", &message)
        } else {
            let message = format!("{} has no more {}", id.place.zone, id.instance_type);
            refuse("ZONE_RESOURCE_POOL_EXHAUSTED", &message)
        }
    });
    let slots = create.slots.get(..granted as usize).unwrap_or_default();
    let (key, done) = (Some(key), done_in(tx, 2, 10));
    Ok(carry_out(tx, Order { request, pool, slots, key, done, refusal, named: true }))
}
