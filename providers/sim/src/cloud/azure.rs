//! Azure: a PUT by name makes one machine, and putting the same again changes nothing.

use super::children::children_of_launch;
use super::{
    Launch, Order, allowance, carry_out, done_in, fingerprint, name_of, quota, repeat, room,
};
use crate::chance::text;
use crate::classify::answer;
use crate::event::Refusal;
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::{Cloud, Market, SlotId, Zone};
use fleet_provider::{CreateRequest, evidence};

/// `PUT virtualMachines/NAME` for one slot of a request.
pub(crate) fn put_vm(
    tx: &mut Tx<'_>,
    request: &CreateRequest<'_>,
    slot: SlotId,
) -> Result<Launch, Refusal> {
    let scope = request.create.pool.place.scope();
    tx.change(&scope, Call::Launch, 1, |tx| put(tx, request, slot))
}

fn refuse(code: &str, message: &str) -> Refusal {
    answer(Cloud::Azure, evidence::Call::Launch, code, message)
}

fn put(tx: &mut Tx<'_>, request: &CreateRequest<'_>, slot: SlotId) -> Result<Launch, Refusal> {
    let create = request.create;
    let id = &create.pool;
    // Names hold in the resource group, which spans regions.
    let name = name_of(&create.token, slot);
    let key = text(&format!("azure/{name}"));
    if let Some(deed) = tx.world.deed_by_key(key) {
        // A name is free again when nothing is known of the machine that bore it.
        let made = deed.machines.clone();
        let known = made.is_empty() || tx.world.vms.range(made).next().is_some();
        let alive = known && (deed.refusal.is_none() || tx.now() < deed.done);
        if alive && deed.fingerprint != fingerprint(request) {
            let message = format!("{name} exists with other properties");
            return Err(refuse("PropertyChangeNotAllowed", &message));
        }
        // Putting again after a failed allocation tries again.
        if alive {
            return Ok(repeat(tx.world, deed));
        }
    }
    let spot = id.market == Market::Spot;
    let Some(pool) = tx.pools.find(id) else {
        let message = format!("{} is not available in {}", id.instance_type, id.place.region);
        return Err(refuse("SkuNotAvailable", &message));
    };
    if allowance(tx, id, &pool) < 1 {
        let limit = quota(tx, id.place.cloud, &id.place.region, id.market).unwrap_or(0);
        let what = if spot { "LowPriorityCores" } else { "Total Regional Cores" };
        let message = format!(
            "Operation could not be completed as it results in exceeding approved {what} quota. \
             Current Limit: {limit}"
        );
        return Err(refuse("OperationNotAllowed", &message));
    }
    let dear = pool.price(&tx.world.settings, tx.now()).zip(create.max_price);
    if spot && dear.is_some_and(|(price, most)| price > most) {
        let message = "the price is above the maximum price given";
        return Err(refuse("SpotPriceGreaterThanProvidedMaxPrice", message));
    }
    // The size is off the shelf altogether, or the cluster turns out to be full.
    if pool.capacity(&tx.world.settings, tx.now()) == 0 {
        let message = format!("{} is not available in {}", id.instance_type, id.place.region);
        return Err(refuse("SkuNotAvailable", &message));
    }
    let refusal = (room(tx, id, &pool) == 0).then(|| {
        let code = match id.place.zone.as_str() {
            Zone::REGIONAL => "AllocationFailed",
            _ => "ZonalAllocationFailed",
        };
        refuse(code, &format!("no room for {} in {}", id.instance_type, id.place))
    });
    let failed = refusal.is_some();
    let one = [slot];
    let slots = if refusal.is_none() { one.as_slice() } else { &[] };
    let (key, done) = (Some(key), done_in(tx, 5, 20));
    let launch = carry_out(tx, Order { request, pool, slots, key, done, refusal, named: true });
    children_of_launch(tx, request, name, failed);
    Ok(launch)
}
