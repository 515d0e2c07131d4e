//! EC2: tokens hold in one zone, and a launch may give fewer machines than asked for.

use super::{Launch, Order, allowance, carry_out, fingerprint, repeat, room};
use crate::chance::text;
use crate::event::Refusal;
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::{MachineState, Market};
use fleet_provider::CreateRequest;

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
            let message = format!("token {} was used with other parameters", create.token);
            return Err(Refusal::new(400, "IdempotentParameterMismatch", message));
        }
        let launch = repeat(tx.world, deed);
        if launch.machines.iter().all(|machine| machine.state == MachineState::Terminated) {
            let message = format!("the instances of token {} are terminated", create.token);
            return Err(Refusal::new(400, "IdempotentInstanceTerminated", message));
        }
        return Ok(launch);
    }
    let Some(pool) = tx.pools.find(id) else {
        let message =
            format!("{} is not offered as {} in {}", id.instance_type, id.market, id.place);
        return Err(Refusal::new(400, "Unsupported", message));
    };
    if id.market == Market::Spot
        && let (Some(price), Some(most)) =
            (pool.price(&tx.world.settings, tx.now()), create.max_price)
        && price > most
    {
        let message = format!("the spot price is {price}, above the {most} offered");
        return Err(Refusal::new(400, "SpotMaxPriceTooLow", message));
    }
    if allowance(tx, id, &pool) < wanted {
        let code = match id.market {
            Market::Spot => "MaxSpotInstanceCountExceeded",
            Market::OnDemand | Market::Reserved => "VcpuLimitExceeded",
        };
        let message = format!("{wanted} more would exceed the vCPU limit in {}", id.place.region);
        return Err(Refusal::new(400, code, message));
    }
    let granted = room(tx, id, &pool).min(wanted);
    let message = format!("no more {} in {}", id.instance_type, id.place.zone);
    let refusal =
        (granted < wanted).then(|| Refusal::new(500, "InsufficientInstanceCapacity", message));
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
