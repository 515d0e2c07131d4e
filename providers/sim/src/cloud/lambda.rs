//! Lambda: one launch in twelve seconds, one machine each, and no memory for tokens.

use super::{Launch, Order, allowance, carry_out, describe, room};
use crate::classify::answer;
use crate::event::Refusal;
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::{Cloud, Machine, Scope, SlotId};
use fleet_provider::{CreateRequest, evidence};

/// `instance-operations/launch` of one machine. Asked again, it launches again.
pub(crate) fn launch(
    tx: &mut Tx<'_>,
    request: &CreateRequest<'_>,
    slot: SlotId,
) -> Result<Launch, Refusal> {
    let scope = request.create.pool.place.scope();
    tx.change(&scope, Call::Launch, 1, |tx| {
        let id = &request.create.pool;
        let Some(pool) = tx.pools.find(id) else {
            let message = format!("{} in {} does not exist", id.instance_type, id.place.region);
            return Err(refuse("global/object-does-not-exist", &message));
        };
        if allowance(tx, id, &pool) < 1 {
            return Err(refuse("global/quota-exceeded", "quota exceeded"));
        }
        if room(tx, id, &pool) == 0 {
            let code = "instance-operations/launch/insufficient-capacity";
            let message = format!("not enough {} in {}", id.instance_type, id.place.region);
            return Err(refuse(code, &message));
        }
        let (slots, done) = (&[slot], tx.now());
        Ok(carry_out(
            tx,
            Order { request, pool, slots, key: None, done, refusal: None, named: true },
        ))
    })
}

fn refuse(code: &str, message: &str) -> Refusal {
    answer(Cloud::Lambda, evidence::Call::Launch, code, message)
}

/// The listed machines that bear a name. The API lists them all and the adapter picks; an index
/// picks here, so that a launch does not cost more the more there is.
pub(crate) fn by_name(tx: &mut Tx<'_>, scope: &Scope, name: &str) -> Result<Vec<Machine>, Refusal> {
    tx.read(scope, |tx| {
        let (world, now) = (&*tx.world, tx.now());
        let serials = world.index.names.get(name).into_iter().flatten().copied();
        let listed =
            serials.filter(|s| world.vms.get(s).is_some_and(|vm| vm.is_listed(scope.cloud, now)));
        describe(world, listed)
    })
}
