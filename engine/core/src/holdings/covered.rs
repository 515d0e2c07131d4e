//! Which machines a commitment pays for.

use crate::holdings::holding::Holding;
use crate::holdings::standing::Standing;
use fleet_model::{Commitment, Group, Inputs, Market, Rejection};
use std::cmp::Reverse;

/// Marks the machines that are paid for: the dearest, the base before the burst, the oldest. On-demand
/// machines of a burst that buys spot alone are out of place once nothing covers them.
pub(crate) fn cover(inputs: &Inputs, commitments: &[Commitment], holdings: &mut [Holding]) {
    for commitment in commitments {
        let of_it = |at: &usize| {
            let holding = &holdings[*at];
            holding.standing.counts() && commitment.is_for(&holding.pool)
        };
        let mut held: Vec<usize> = (0..holdings.len()).filter(of_it).collect();
        held.sort_by_key(|at| {
            let holding = &holdings[*at];
            let dearest = Reverse(holding.price.unwrap_or_default());
            (dearest, holding.slot.name.group, holding.launched_at, holding.slot)
        });
        for at in held.into_iter().take(commitment.count as usize) {
            holdings[at].covered = true;
        }
    }
    let fallen_back =
        inputs.desired.fallback.is_some() && inputs.recorded.spot.fallen_back.is_some();
    if inputs.desired.placement.hedge.is_some() || fallen_back {
        return;
    }
    for holding in holdings {
        let in_place_of_spot =
            holding.slot.name.group == Group::Burst && holding.pool.market == Market::OnDemand;
        if in_place_of_spot && !holding.covered && holding.standing == Standing::Good {
            holding.standing = Standing::Disallowed(Rejection::NotCommitted);
        }
    }
}
