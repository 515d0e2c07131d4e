//! What comes beside machines on the meter: their disks, their addresses, their share of the traffic. Charged at what
//! was written down at the launch, from the launch on, each by its own rule; also in hours in which the machine itself
//! is free.

use super::{Charge, labels_at, ms, stamp};
use crate::extras::{Until, rule};
use fleet_model::{
    CostKind, Departure, Extra, Extras, ExtrasStep, Meter, NoPrice, OpenLife, Timestamp,
};

/// Until when something is counted.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) to: i64,
    pub(super) how: Option<Departure>,
    /// Nobody told.
    pub(super) estimated: bool,
}

/// Something else comes beside machines from a moment on.
pub fn changed(
    meter: &mut Meter,
    steps: &[ExtrasStep],
    at: Timestamp,
    sink: &mut impl FnMut(Charge<'_>),
) {
    for ExtrasStep { slots, extras } in steps {
        for slot in slots {
            let Some(life) = super::in_slot(meter, *slot) else { continue };
            so_far(life, at, sink);
            life.extras = Some(*extras);
            life.extras_since = at.max(life.extras_since);
        }
    }
}

/// Gives it out up to a moment at which it goes on.
pub(super) fn so_far(life: &OpenLife, at: Timestamp, sink: &mut impl FnMut(Charge<'_>)) {
    give(life, |_| End { to: ms(at), how: None, estimated: false }, sink);
}

/// Gives it out of a machine whose end may have been asked for: its disk is there all the same.
pub(super) fn running(
    life: &OpenLife,
    until: Timestamp,
    now: Timestamp,
    sink: &mut impl FnMut(Charge<'_>),
) {
    let end = |at| End { to: ms(at), how: None, estimated: false };
    let ends = |kind| match rule(life.pool.place.cloud, kind).map(|rule| rule.until) {
        Some(Until::Deleted) => end(now),
        Some(Until::MachineEnds) | None => end(until),
    };
    give(life, ends, sink);
}

/// Gives out the rest of a machine that is gone: `machine` is when that ended, `disk` when nothing of it was left.
pub(super) fn rest(life: &OpenLife, machine: End, disk: End, sink: &mut impl FnMut(Charge<'_>)) {
    give(life, |kind| billed(life, machine, disk, kind), sink);
}

/// Until when something is billed of a machine that is gone.
fn billed(life: &OpenLife, machine: End, disk: End, kind: CostKind) -> End {
    let launched = ms(life.launched_at);
    let Some(rule) = rule(life.pool.place.cloud, kind) else { return machine };
    let end = match rule.until {
        Until::Deleted => disk,
        Until::MachineEnds => machine,
    };
    let there = u64::try_from(end.to - launched).unwrap_or_default();
    let billed = i64::try_from(rule.billed(there)).unwrap_or(i64::MAX);
    End { to: launched.saturating_add(billed), ..end }
}

fn give(life: &OpenLife, ends: impl Fn(CostKind) -> End, sink: &mut impl FnMut(Charge<'_>)) {
    let unknown = CostKind::BESIDE.map(|kind| (kind, Extra::Unknown(NoPrice::NotRecorded)));
    for (kind, extra) in life.extras.map_or(unknown, Extras::each) {
        let hourly = extra.hourly();
        if hourly.is_some_and(|price| price.0 == 0) {
            continue;
        }
        let End { to, how, estimated } = ends(kind);
        let (about, because) = (extra.is_about(), extra.unknown().unwrap_or(NoPrice::Machine));
        let disk_since = life.disk_since.filter(|_| kind == CostKind::Disk);
        let mut at = ms(disk_since.map_or(life.extras_since, |since| since.max(life.extras_since)));
        while at < to {
            let later = life.relabelled.iter().map(|(since, _)| ms(*since));
            let next = later.filter(|since| *since > at).min().map_or(to, |next| next.min(to));
            let last = next == to;
            sink(Charge {
                life,
                kind,
                labels: labels_at(life, at),
                from: at,
                to: next,
                hourly,
                about,
                because,
                waived: false,
                estimated: estimated && last,
                ended: how.filter(|_| last),
                covered: None,
            });
            at = next;
        }
    }
}

/// From here on it is counted, if the machine comes back that was written down as gone.
pub(super) fn counted_until(life: &mut OpenLife, machine: End, disk: End) {
    let since = |kind| stamp(billed(life, machine, disk, kind).to);
    let (disk, others) = (since(CostKind::Disk), since(CostKind::Egress));
    life.disk_since = Some(disk.max(life.disk_since.unwrap_or(disk)));
    life.extras_since = others.max(life.extras_since);
}
