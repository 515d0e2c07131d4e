//! What the journal's events say of the spot market as a whole: machines lost, launches refused, and how
//! far the fleet fell back to on-demand.
//!
//! Times are kept as they were; what they come to is judged by the spec of the moment, in `fallback`.

use fleet_model::{
    Block, BlockScope, Departure, FallbackStep, FallenBack, Market, Moved, Moving, PoolId,
    Recorded, SlotState, SpotRecord, Times, Timestamp, Vacated,
};
use std::collections::BTreeSet;

/// Nothing older bears on a decision: spans in a spec are no longer.
const KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
/// More rows than a run every five minutes writes in a day.
const ROWS: usize = 300;

/// How many spot machines of some that are gone were taken back. Their slots are not freed yet.
pub(crate) fn taken_back(recorded: &Recorded, gone: &[Vacated]) -> u32 {
    let spot = |vacated: &&Vacated| {
        let state = recorded.slots.get(&vacated.slot).map(|record| &record.state);
        vacated.how == Departure::Interrupted
            && matches!(state, Some(SlotState::Filled { pool, machine, .. })
                if pool.market == Market::Spot && *machine == vacated.machine)
    };
    gone.iter().filter(spot).count() as u32
}

/// Machines are gone.
pub(super) fn gone(recorded: &mut Recorded, gone: &[Vacated], at: Timestamp) {
    let count = taken_back(recorded, gone);
    note(&mut recorded.spot.lost, count, at);
}

/// A scope said no.
pub(super) fn blocked(spot: &mut SpotRecord, block: &Block, at: Timestamp) {
    let market = match &block.scope {
        BlockScope::Pool { pool } => Some(pool.market),
        BlockScope::Quota { market, .. } | BlockScope::Class { market, .. } => Some(*market),
        BlockScope::Account { market, .. } => *market,
        BlockScope::Zone { .. }
        | BlockScope::Region { .. }
        | BlockScope::Cloud { .. }
        | BlockScope::Breaker { .. } => None,
    };
    if market == Some(Market::Spot) {
        note(&mut spot.refused, 1, at);
    }
}

/// The fallback to on-demand began or ended.
pub(super) fn stepped(spot: &mut SpotRecord, step: FallbackStep, at: Timestamp) {
    match step {
        FallbackStep::Short => spot.short_since = spot.short_since.or(Some(at)),
        FallbackStep::Filled => spot.short_since = None,
        FallbackStep::Began { why } => {
            spot.fallen_back = Some(FallenBack { since: at, why });
            spot.short_since = None;
        }
        FallbackStep::Ended => {
            spot.fallen_back = None;
            spot.ended = Some(at);
        }
    }
}

/// Machines of some pools are worth moving. Those that were so before have been for longer.
pub(super) fn cheaper(spot: &mut SpotRecord, pools: &BTreeSet<PoolId>, at: Timestamp) {
    let since = |pool: &PoolId| spot.cheaper.get(pool).copied().unwrap_or(at);
    spot.cheaper = pools.iter().map(|pool| (pool.clone(), since(pool))).collect();
}

/// Machines are about to be moved.
pub(super) fn moving(spot: &mut SpotRecord, moving: &Moving, at: Timestamp) {
    let Moving { why, slots } = moving;
    spot.moving = slots.iter().map(|slot| (slot.name, (slot.generation, *why))).collect();
    spot.moves.retain(|moved| at.duration_since(moved.at) <= KEPT);
    spot.moves.push(Moved { at, machines: slots.len() as u32, why: *why });
    let more = spot.moves.len().saturating_sub(ROWS);
    spot.moves.drain(..more);
}

fn note(rows: &mut Vec<Times>, count: u32, at: Timestamp) {
    if count == 0 {
        return;
    }
    rows.retain(|row| at.duration_since(row.at) <= KEPT);
    match rows.last_mut() {
        Some(last) if last.at == at => last.count += count,
        _ => rows.push(Times { at, count }),
    }
    let more = rows.len().saturating_sub(ROWS);
    rows.drain(..more);
}
