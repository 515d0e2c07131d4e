//! Targets by the clock: what a schedule says at a moment, and when a fleet ends by itself.

mod fires;
mod seams;
mod windows;

pub(crate) use windows::{opens, window_open};

use fires::{last, next};
use fleet_model::{
    CapacityGoal, Desired, Group, Inputs, Notice, ScheduleEntry, Share, Timestamp, Units,
};

/// An end is announced from then on.
const ANNOUNCED: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);

/// What a fleet should be at a moment: its schedule's target in the place of the spec's, and nothing once
/// it has expired.
pub fn in_force(desired: &Desired, now: Timestamp) -> Desired {
    let mut desired = desired.clone();
    let expired = is_over(&desired, now);
    let scheduled = current(&desired.schedule, now).map(|(_, entry)| entry.goal);
    if expired {
        desired.capacity = CapacityGoal { unit: desired.capacity.unit, ..CapacityGoal::default() };
    } else if let Some(goal) = scheduled {
        desired.capacity = goal;
    }
    // The clock does what the spec says. Only a policy that is stricter than the rule holds it up.
    if (expired || scheduled.is_some()) && desired.max_destroy >= Share::HALF {
        desired.max_destroy = Share::ALL;
    }
    desired
}

/// By how much the spec asks for less of a group than the fleet was last meant to hold: from, to.
pub(crate) fn target_lowered(inputs: &Inputs, group: Group) -> Option<(Units, Units)> {
    let (before, now) = (inputs.recorded.goal?, inputs.desired.capacity);
    let (from, to) = (before.of(group), now.of(group));
    // Less of one and more of the other is another split, not less.
    let less = before.unit == now.unit && now.target < before.target && to < from;
    (less && !inputs.limits.destroy_all).then_some((from, to))
}

/// Whether a fleet ended by itself.
pub(crate) fn is_over(desired: &Desired, now: Timestamp) -> bool {
    seams::is_over(desired.expires, now)
}

/// What a person should know of the clock, of a fleet as it is in force.
pub(crate) fn notices(desired: &Desired, now: Timestamp) -> Vec<Notice> {
    let mut notices = Vec::new();
    let over = is_over(desired, now);
    if let Some((since, _)) = current(&desired.schedule, now).filter(|_| !over) {
        let next = change(desired, now);
        let next = next.filter(|(at, _)| desired.expires.is_none_or(|end| *at < end));
        let CapacityGoal { target, unit, .. } = desired.capacity;
        notices.push(Notice::Scheduled { target, unit, since, next });
    }
    if let Some(at) = desired.expires.filter(|at| at.duration_since(now) <= ANNOUNCED) {
        notices.push(Notice::Expires { at, over });
    }
    notices
}

/// The entry that came last. Of two at the same time, the later one in the list.
fn current(schedule: &[ScheduleEntry], now: Timestamp) -> Option<(Timestamp, &ScheduleEntry)> {
    let came = schedule
        .iter()
        .filter_map(|entry| Some((last(&entry.cron, &entry.time_zone, now)?, entry)));
    seams::holds(came)
}

/// When the target changes next. Entries that come and say what holds already change nothing.
fn change(desired: &Desired, now: Timestamp) -> Option<(Timestamp, Units)> {
    /// Entries that are overruled by another one at the same time, in a row.
    const LOOKS: usize = 64;
    let mut at = now;
    for _ in 0..LOOKS {
        let others = desired.schedule.iter();
        let others = others.filter(|entry| entry.goal.target != desired.capacity.target);
        let coming = others.filter_map(|e| next(&e.cron, &e.time_zone, at)).min()?;
        let (_, entry) = current(&desired.schedule, coming)?;
        if entry.goal.target != desired.capacity.target {
            return Some((coming, entry.goal.target));
        }
        at = coming;
    }
    None
}

#[cfg(test)]
mod tests;
