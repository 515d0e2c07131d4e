//! Limits on what is spent: how much is left, and for how long.

use crate::budget::{Left, cost};
use crate::decide::Decision;
use fleet_model::{BudgetLine, Cap, Group, MicroUsd, Timestamp};

/// Every limit on what is spent, against what the plan costs per hour.
pub(crate) fn budgets(decision: &Decision<'_>) -> Vec<BudgetLine> {
    let after = decision.choice.usage.spend;
    let base = base_after(decision);
    let now = decision.inputs.now;
    let line = |left: &Left| {
        let hourly_limit = decision.allowance.only(left.cap).for_burst(base);
        let until = match left.cap {
            Cap::Lifetime => decision.inputs.desired.expires,
            Cap::Hourly | Cap::CalendarMonth => left.rest.and_then(|rest| later(now, rest)),
        };
        let set_aside = cost(base, left.rest.unwrap_or(0));
        // The base is paid for first: the burst lasts for as long as the rest does.
        let used_up = match after > base {
            true => lasts(left.free() - set_aside, after - base),
            false => lasts(left.free(), base),
        };
        let used_up = used_up.filter(|lasts| left.rest.is_none_or(|rest| *lasts < rest));
        BudgetLine {
            cap: left.cap,
            limit: left.limit,
            spent: left.spent,
            spent_on: left.spent_on,
            set_aside,
            until,
            forecast: left.rest.map(|rest| left.spent + cost(after, rest)),
            used_up_at: used_up.and_then(|lasts| later(now, lasts)),
            hourly_limit: hourly_limit.map_or(MicroUsd(0), |limit| limit.hourly),
        }
    };
    decision.allowance.caps.iter().map(line).collect()
}

/// What stands besides the burst costs per hour afterwards.
fn base_after(decision: &Decision<'_>) -> MicroUsd {
    let holdings = decision.inventory.holdings.iter().enumerate();
    let stays = holdings.filter(|(at, holding)| {
        let of_burst = holding.slot.name.group == Group::Burst && holding.standing.stands();
        of_burst && !decision.choice.victims.contains_key(at)
    });
    let kept: MicroUsd = stays.map(|(_, holding)| holding.bill()).sum();
    let taken =
        decision.choice.taken.get(&Group::Burst).into_iter().flat_map(|taken| &taken.counts);
    let price = |at: u32| {
        let candidate = decision.candidate(at);
        candidate.offering.price.unwrap_or_default() + candidate.beside
    };
    let burst = kept + taken.map(|(at, count)| price(*at) * u64::from(*count)).sum();
    decision.choice.usage.spend - burst
}

/// For how many seconds an amount lasts; `None`: nothing is paid.
fn lasts(amount: MicroUsd, hourly: MicroUsd) -> Option<u64> {
    let seconds = (u128::from(amount.0) * 3600).checked_div(u128::from(hourly.0))?;
    u64::try_from(seconds).ok()
}

fn later(now: Timestamp, seconds: u64) -> Option<Timestamp> {
    let seconds = i64::try_from(seconds).ok()?;
    now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()
}
