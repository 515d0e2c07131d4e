//! What is to be said of on-demand in the place of spot.

use crate::decide::{Decision, moves};
use crate::fallback::{Stand, is_in_place_of_spot, stand};
use fleet_model::{FallbackStep, Group, Market, MoveWhy, Notice, Timestamp, Units, WayBack};

/// What a person should know of the fallback.
pub(crate) fn fallback(decision: &Decision<'_>) -> Option<Notice> {
    let (inputs, choice) = (decision.inputs, &decision.choice);
    let stand = stand(inputs, &decision.inventory)?;
    let began = match choice.fallback {
        Some(FallbackStep::Began { why }) => Some((inputs.now, why)),
        _ => stand.on.map(|on| (on.since, on.why)),
    };
    let Some((since, why)) = began else { return short(decision, &stand) };
    let on_demand = on_demand(decision);
    let goal = inputs.desired.capacity;
    let back = way_back(decision, &stand, since);
    let (burst, unit) = (goal.spot, goal.unit);
    (!on_demand.is_zero()).then_some(Notice::Fallback { on_demand, burst, unit, since, why, back })
}

/// How much of the burst is on demand in the place of spot once the plan is carried out.
fn on_demand(decision: &Decision<'_>) -> Units {
    let choice = &decision.choice;
    let holdings = decision.inventory.holdings.iter().enumerate();
    let stay = holdings
        .filter(|(at, holding)| is_in_place_of_spot(holding) && !choice.victims.contains_key(at));
    let kept: Units = stay.map(|(_, holding)| holding.weight).sum();
    let counts = choice.taken.get(&Group::Burst).map(|taken| &taken.counts);
    let launched = counts.into_iter().flatten().map(|(at, count)| {
        let candidate = decision.candidate(*at);
        let sold = candidate.offering.pool.market != Market::Spot && candidate.commitment.is_none();
        if sold { Units(candidate.weight.0 * u64::from(*count)) } else { Units(0) }
    });
    kept + launched.sum()
}

fn way_back(decision: &Decision<'_>, stand: &Stand, since: Timestamp) -> WayBack {
    let inputs = decision.inputs;
    let back = |moving: &&fleet_model::Moving| moving.why == MoveWhy::BackToSpot;
    if let Some(moving) = decision.choice.moving.as_ref().filter(back) {
        return WayBack::Now { machines: moving.slots.len() as u32 };
    }
    let holdings = &decision.inventory.holdings;
    let burst = || holdings.iter().filter(|held| held.slot.name.group == Group::Burst);
    let moving = burst().filter(|held| moves(inputs, held) == Some(MoveWhy::BackToSpot));
    let moving = moving.count() as u32;
    if moving > 0 && burst().any(|held| held.starting && held.standing.counts()) {
        return WayBack::Starting { machines: moving };
    }
    let grown = |at: Timestamp| at.checked_add(stand.wait).unwrap_or(Timestamp::MAX);
    let oldest = holdings.iter().filter(|held| is_in_place_of_spot(held));
    let oldest = oldest.map(|held| grown(held.launched_at)).min().unwrap_or(Timestamp::MIN);
    let until = stand.back_at.max(oldest).max(grown(since));
    if until > inputs.now {
        let for_seconds = u32::try_from(stand.wait.as_secs()).unwrap_or(u32::MAX);
        return WayBack::Holds { until, for_seconds };
    }
    if stand.next_step > inputs.now {
        return WayBack::Next { at: stand.next_step };
    }
    WayBack::NoSuccessor
}

/// Spot that is short, and for how much longer it is waited for.
fn short(decision: &Decision<'_>, stand: &Stand) -> Option<Notice> {
    let inputs = decision.inputs;
    let rule = inputs.desired.fallback?;
    let since = match decision.choice.fallback {
        Some(FallbackStep::Short) => inputs.now,
        Some(FallbackStep::Filled) => return None,
        _ => stand.short_since?,
    };
    let wait = std::time::Duration::from_secs(rule.unfilled_seconds.into());
    let on_demand_from = since.checked_add(wait).unwrap_or(Timestamp::MAX);
    Some(Notice::SpotShort { since, on_demand_from })
}
