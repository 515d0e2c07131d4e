//! How many machines a change destroys in the end, however many applies that takes.

use fleet_model::{Hold, Report};

/// Machines that a plan destroys, and that later ones will: what is held back is only put off.
pub(super) fn destroys(report: &Report) -> u64 {
    let now: u32 = report.pools.iter().map(|line| line.destroy).sum();
    let stand: u32 = report.pools.iter().map(|line| line.destroy + line.keep).sum();
    let Later { limited, successors, waiting, by_hand, update } = later(report);
    // The limit counts those that wait for room as well, and not those whose successors are on their way.
    let moved = now + successors + limited.unwrap_or(waiting);
    u64::from(moved.max(by_hand).saturating_add(update.saturating_sub(now)).min(stand.max(now)))
}

/// What is put off, by what puts it off.
#[derive(Default)]
struct Later {
    limited: Option<u32>,
    successors: u32,
    waiting: u32,
    by_hand: u32,
    update: u32,
}

fn later(report: &Report) -> Later {
    let mut later = Later::default();
    for hold in &report.held {
        match hold {
            Hold::DestroyLimit { held, .. } => later.limited = Some(*held),
            Hold::SuccessorsNotUp { slots, .. } => later.successors += slots.len() as u32,
            Hold::WaitingForReplacement { machines } | Hold::NotSeenYet { machines } => {
                later.waiting += machines;
            }
            Hold::ByHand { destroys, .. } => later.by_hand += destroys,
            Hold::Rollout { left, .. } => later.update += left,
            Hold::ManyUnhealthy { .. }
            | Hold::Surge { .. }
            | Hold::Frozen { .. }
            | Hold::JournalLost { .. }
            | Hold::AttemptLimit { .. }
            | Hold::BootFailures { .. }
            | Hold::Budget { .. }
            | Hold::Gap { .. } => {}
        }
    }
    later
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    /// Ten machines stand; the plan destroys one of them at once.
    fn report(held: Vec<Hold>) -> Report {
        let (_, mut report) = samples::quiet();
        report.pools.truncate(1);
        (report.pools[0].keep, report.pools[0].destroy) = (9, 1);
        Report { held, ..report }
    }

    fn limit(held: u32) -> Hold {
        Hold::DestroyLimit { allowed: 1, wanted: 8, held, said: None, lowered: 0 }
    }

    fn successors(slots: u32) -> Hold {
        let slot = |n: u32| format!("base-{n}").parse().expect("a slot");
        Hold::SuccessorsNotUp { slots: (0..slots).map(slot).collect(), starting: 0 }
    }

    #[test]
    fn what_is_held_back_is_destroyed_later() {
        let check = |held: Vec<Hold>, expect: u64| {
            let report = report(held);
            assert_eq!(destroys(&report), expect, "{:?}", report.held);
        };
        let waiting = |machines| Hold::WaitingForReplacement { machines };
        check(vec![], 1);
        check(vec![limit(6)], 7);
        check(vec![limit(6), successors(1)], 8);
        check(vec![successors(7)], 8);
        check(vec![waiting(7)], 8);
        // The limit counts those that wait.
        check(vec![limit(6), waiting(6)], 7);
        check(vec![Hold::NotSeenYet { machines: 4 }], 5);
        check(vec![waiting(100)], 10);
        let (reason, until) = ("look first".to_owned(), None);
        check(vec![Hold::ByHand { reason, until, launches: 0, destroys: 8 }], 8);
    }
}
