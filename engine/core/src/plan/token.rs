//! Idempotency tokens.

use crate::seams;
use fleet_model::{FleetUid, PoolId, SlotId, Token, digest};

/// The token of a launch: a function of recorded intent, so that a repeat after a crash sends the
/// same. Pools and attempts are part of it: another pool, or a new try, is another request.
pub(crate) fn token<'a>(
    uid: &FleetUid,
    pools: impl Iterator<Item = &'a PoolId>,
    slots: &[(SlotId, u32)],
) -> Token {
    let mut parts = vec![uid.to_string()];
    parts.extend(pools.map(PoolId::to_string));
    parts.extend(slots.iter().map(|(slot, attempt)| seams::part_of_token(*slot, *attempt)));
    Token::new(format!("fleet-{}", digest("token/1", parts.iter().map(String::as_bytes))))
}
