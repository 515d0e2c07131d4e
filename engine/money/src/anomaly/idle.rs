//! What was spent on machines that had nothing to do, by their own word.

use super::{Anomaly, WORTH_A_WORD, Window, part};
use crate::Spend;
use crate::meter::Charge;
use fleet_model::{Busy, CostKind, MachineId};
use std::collections::BTreeMap;

/// A machine that is less busy is idle, in hundredths.
const IDLE_BELOW: u8 = 5;

/// Of how many machine-hours machines told how busy they were, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
    /// Of so many.
    pub told: u128,
    /// Out of so many.
    pub all: u128,
}

impl std::ops::AddAssign for Told {
    fn add_assign(&mut self, other: Self) {
        self.told += other.told;
        self.all += other.all;
    }
}

/// A machine in the window, in milliseconds.
#[derive(Debug, Default)]
struct Work {
    /// What was told, in order: the same time is not told again. Replicas write in any order.
    known: Vec<(i64, i64)>,
    told: u64,
    idle: u64,
    ran: u64,
    cost: Spend,
}

/// How busy machines were in a stretch of time, and what they cost.
#[derive(Debug, Default)]
pub(super) struct Idle(BTreeMap<MachineId, Work>);

impl Idle {
    pub(super) fn told(&mut self, busy: &Busy, Window { from, to }: Window) {
        let work = self.0.entry(busy.machine.clone()).or_default();
        let begin = busy.from.as_millisecond().max(from);
        let end = busy.to.as_millisecond().min(to);
        let ms = news(&mut work.known, begin, end);
        work.told += ms;
        if busy.percent < IDLE_BELOW {
            work.idle += ms;
        }
    }

    pub(super) fn charge(&mut self, charge: &Charge<'_>) {
        let work = self.0.entry(charge.machine().clone()).or_default();
        if charge.kind == CostKind::Machine {
            work.ran += charge.ms();
        }
        work.cost += charge.amount().unwrap_or_default();
    }

    pub(super) fn coverage(&self) -> Told {
        let mut sum = Told::default();
        for work in self.0.values() {
            // A machine cannot have told of more than it ran.
            sum += Told { told: work.told.min(work.ran).into(), all: work.ran.into() };
        }
        sum
    }

    /// `spent`: what the fleet cost in all.
    pub(super) fn found(&self, spent: Spend) -> Option<Anomaly> {
        let (mut machines, mut idle_ms, mut cost) = (0, 0, Spend::default());
        for work in self.0.values() {
            let (idle, ran) = (u128::from(work.idle.min(work.ran)), u128::from(work.ran));
            if idle == 0 {
                continue;
            }
            machines += 1;
            idle_ms += idle;
            // With its disk and its address, as far as those were paid for.
            cost += Spend::from_raw(work.cost.raw() * idle / ran);
        }
        (part(cost, spent) >= WORTH_A_WORD).then_some(Anomaly::Idle { machines, idle_ms, cost })
    }
}

/// How much of a stretch was not known before. It is from here on.
fn news(known: &mut Vec<(i64, i64)>, begin: i64, end: i64) -> u64 {
    if begin >= end {
        return 0;
    }
    // Those that it meets become one with it.
    let first = known.partition_point(|(_, to)| *to < begin);
    let last = known.partition_point(|(from, _)| *from <= end);
    let met = &known[first..last];
    let before: i64 = met.iter().map(|(from, to)| (*to).min(end) - (*from).max(begin)).sum();
    let from = met.first().map_or(begin, |(from, _)| begin.min(*from));
    let to = met.last().map_or(end, |(_, to)| end.max(*to));
    known.splice(first..last, [(from, to)]);
    u64::try_from(end - begin - before).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_counts_once_in_whatever_order_it_is_told() {
        let mut known = Vec::new();
        let mut told = |from, to| news(&mut known, from, to);
        assert_eq!((told(10, 20), told(30, 40), told(0, 5)), (10, 10, 5));
        assert_eq!((told(10, 20), told(12, 18), told(7, 7)), (0, 0, 0));
        assert_eq!((told(15, 35), told(5, 10)), (10, 5));
        assert_eq!(told(-5, 50), 15);
        assert_eq!(known, [(-5, 50)]);
    }
}
