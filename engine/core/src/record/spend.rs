//! What machines have cost up to the last moment that nothing can change any more, with all that comes beside them:
//! what budgets are counted from. A machine that runs is settled when the price of its pool moves, what comes beside
//! it when that changes, and both when it is gone.

use fleet_model::{
    Cloud, CostKind, Extra, Extras, ExtrasStep, MachineId, NoPrice, PoolId, PriceStep, Recorded,
    SlotName, SlotState, Timestamp, Uncounted, UncountedUntil,
};
use fleet_money::extras::rule;
use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// No cloud bills less than this.
const LEAST: SignedDuration = SignedDuration::from_mins(1);
/// No month reaches further back.
const KEPT_DAYS: i64 = 33;
/// A price that moved so lately may have moved earlier.
const NOTICED: SignedDuration = SignedDuration::from_hours(1);

/// Prices of pools moved: up to there machines are paid for at the price before.
pub(super) fn priced(recorded: &mut Recorded, prices: &[PriceStep], at: Timestamp) {
    let mut moved: BTreeMap<&PoolId, Vec<&PriceStep>> = BTreeMap::new();
    for step in prices {
        moved.entry(&step.pool).or_default().push(step);
    }
    let mut spent = std::mem::take(&mut recorded.spent);
    for record in recorded.slots.values() {
        let SlotState::Filled { pool, launched_at, price, adopted, .. } = &record.state else {
            continue;
        };
        let Some(steps) = moved.get(pool) else { continue };
        let (mut began, mut hourly) = recorded.unsettled(pool, *launched_at, *price);
        for step in steps {
            // A cloud that does not tell when a price moved shows it at a look: it may have been higher all the
            // time before.
            let noticed = at.duration_since(step.since) < NOTICED;
            let dearer = hourly.max(Some(step.price).filter(|_| noticed));
            spent.add(dearer.unwrap_or_default(), ours(began, *adopted), step.since);
            if step.since > began {
                (began, hourly) = (step.since, Some(step.price));
            }
        }
    }
    recorded.spent = spent;
}

/// What somebody else paid for is not counted.
fn ours(began: Timestamp, adopted: Option<Timestamp>) -> Timestamp {
    adopted.map_or(began, |adopted| began.max(adopted))
}

/// Something else comes beside machines: up to there they are paid for with what came before.
pub(super) fn beside(recorded: &mut Recorded, steps: &[ExtrasStep], at: Timestamp) {
    for ExtrasStep { slots, extras: now } in steps {
        for slot in slots {
            let Some(record) = recorded.slots.get_mut(&slot.name) else { continue };
            let SlotState::Filled { pool, launched_at, extras, extras_since, .. } =
                &mut record.state
            else {
                continue;
            };
            if record.generation != slot.generation {
                continue;
            }
            let (before, cloud) = (extras.replace(*now), pool.place.cloud);
            let began = extras_since.unwrap_or(*launched_at);
            // The clock of whoever wrote this may be behind the one of the launch: nothing is counted twice.
            *extras_since = Some(at.max(began));
            settle(recorded, before, Some(*now), cloud, began, [at; 3]);
        }
    }
}

/// A machine that is gone, or somebody else's.
pub(super) struct Closed<'a> {
    /// The slot that it filled.
    pub(super) slot: SlotName,
    /// Which machine.
    pub(super) machine: &'a MachineId,
    /// Since when.
    pub(super) ended: Timestamp,
    /// Since when its disk is, too.
    pub(super) deleted: Timestamp,
}

/// Machines are gone, or somebody else's.
pub(super) fn closed<'a>(recorded: &mut Recorded, gone: impl Iterator<Item = Closed<'a>>) {
    for Closed { slot, machine, ended, deleted } in gone {
        let state = recorded.slots.get(&slot).map(|record| &record.state);
        let Some(SlotState::Filled {
            machine: there,
            pool,
            launched_at,
            price,
            extras,
            extras_since,
            adopted,
            ..
        }) = state
        else {
            continue;
        };
        if there == machine {
            let (launched_at, extras) = (*launched_at, *extras);
            let (began, hourly) = recorded.unsettled(pool, launched_at, *price);
            let began = ours(began, *adopted);
            let at = launched_at.checked_add(LEAST).map_or(ended, |least| ended.max(least));
            let (cloud, since) = (pool.place.cloud, extras_since.unwrap_or(launched_at));
            recorded.spent.add(hourly.unwrap_or_default(), began, at);
            let until = CostKind::BESIDE.map(|kind| {
                let end = if kind == CostKind::Disk { deleted } else { ended };
                let there = u64::try_from(end.duration_since(launched_at).as_millis());
                let billed = rule(cloud, kind).map_or(0, |rule| rule.billed(there.unwrap_or(0)));
                let billed = SignedDuration::from_millis(i64::try_from(billed).unwrap_or(0));
                launched_at.checked_add(billed).unwrap_or(end)
            });
            settle(recorded, extras, None, cloud, since, until);
        }
    }
}

/// Adds what came beside a machine from a moment on, each until its own end. What goes on without a price is said of
/// the machine that runs, and not here as well.
fn settle(
    recorded: &mut Recorded,
    extras: Option<Extras>,
    next: Option<Extras>,
    cloud: Cloud,
    from: Timestamp,
    until: [Timestamp; 3],
) {
    let unknown = CostKind::BESIDE.map(|kind| (kind, Extra::Unknown(NoPrice::NotRecorded)));
    let each = extras.map_or(unknown, Extras::each);
    for ((kind, extra), until) in each.into_iter().zip(until) {
        if until <= from {
            continue;
        }
        match extra {
            Extra::Hourly(price) | Extra::About(price) if price.0 > 0 => {
                recorded.spent_beside.entry(kind).or_default().add(price, from, until);
            }
            Extra::Hourly(_) | Extra::About(_) => {}
            Extra::Unknown(_) if next.is_some_and(|next| next.each().contains(&(kind, extra))) => {}
            Extra::Unknown(because) => {
                let what = Uncounted { kind, because, cloud, machines: 1 };
                leave_out(&mut recorded.uncounted, what, until);
            }
        }
    }
}

/// Months are asked for: a row for each day, and one for all that is older than any month.
fn leave_out(uncounted: &mut Vec<UncountedUntil>, what: Uncounted, until: Timestamp) {
    let day = |at: Timestamp| at.as_second().div_euclid(86_400);
    // Mostly there is a row for it, and the others are as they should be.
    let same = |row: &&mut UncountedUntil| {
        let Uncounted { kind, because, cloud, machines: _ } = row.what;
        (kind, because, cloud, day(row.until)) == (what.kind, what.because, what.cloud, day(until))
    };
    if let Some(row) = uncounted.iter_mut().rev().find(same) {
        row.what.machines = row.what.machines.saturating_add(what.machines);
        row.until = row.until.max(until);
        return;
    }
    let oldest = day(until) - KEPT_DAYS;
    let mut rows: BTreeMap<_, UncountedUntil> = BTreeMap::new();
    for one in uncounted.drain(..).chain([UncountedUntil { what, until }]) {
        let Uncounted { kind, because, cloud, machines } = one.what;
        match rows.entry((kind, because, cloud, day(one.until).max(oldest))) {
            Entry::Vacant(row) => {
                row.insert(one);
            }
            Entry::Occupied(mut row) => {
                let row = row.get_mut();
                row.what.machines = row.what.machines.saturating_add(machines);
                row.until = row.until.max(one.until);
            }
        }
    }
    uncounted.extend(rows.into_values());
}
