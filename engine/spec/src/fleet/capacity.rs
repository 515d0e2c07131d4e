//! How much, and how it is split between markets.

use crate::beside;
use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::source::quote;
use crate::wire;
use crate::words::UNITS;
use fleet_model::{CapacityGoal, Hedge, Share, Unit, Units, Weight};
use fleet_money::performance::Table;
use std::ops::RangeInclusive;

/// More machines than any fleet has; slots are numbered in 32 bits.
const MOST_INSTANCES: u64 = 1_000_000;
/// More vCPUs, GPUs or GiB than any fleet has.
const MOST_UNITS: u64 = 1_000_000_000;

/// How a target is split between markets, whatever the target is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub(super) unit: Unit,
    base: Base,
    /// Of what is above the base.
    spot: Share,
}

#[derive(Debug, Clone, Copy)]
enum Base {
    Units(Units),
    Share(Share),
}

/// What the capacity of a fleet says.
pub(super) struct Read {
    /// How much.
    pub(super) goal: CapacityGoal,
    /// How any other target would be split.
    pub(super) split: Split,
    /// What it costs to be short of it.
    pub(super) hedge: Option<Hedge>,
    /// How often somebody looks after the fleet, in seconds.
    pub(super) every: Option<u32>,
    /// Work that ends with a machine, in seconds.
    pub(super) lost_work: Option<u32>,
    /// What machines count for, by the user's table.
    pub(super) work: Vec<Weight>,
}

/// Reads the capacity.
pub(super) fn read(reader: &mut Reader<'_>, spec: Option<&Object<'_>>) -> Read {
    let no_base = Base::Units(Units(0));
    let nothing = Split { unit: Unit::Instances, base: no_base, spot: Share::ALL };
    let object = spec
        .and_then(|spec| spec.require(reader, "capacity"))
        .and_then(|field| reader.object(&field, wire::Capacity::FIELDS));
    let Some(object) = object else {
        let goal = CapacityGoal::default();
        return Read {
            goal,
            split: nothing,
            hedge: None,
            every: None,
            lost_work: None,
            work: Vec::new(),
        };
    };
    let every_at = object.get(reader, "reconcileEvery");
    let every = every_at.as_ref().and_then(|field| reader.span(field, EVERY));
    let lost_work = object.get(reader, "lostWork").and_then(|field| reader.span(&field, LOST_WORK));
    let hedge = hedge(reader, &object, every);
    let unit = object.get(reader, "unit").and_then(|field| reader.word(&field, "unit", UNITS));
    let unit = unit.unwrap_or(Unit::Instances);
    let work = work(reader, &object, unit);
    let target_at = object.require(reader, "target");
    let target = target_at.as_ref().and_then(|field| amount(reader, field, unit));
    let base_at = object
        .get(reader, "base")
        .and_then(|field| reader.object(&field, wire::Base::FIELDS))
        .and_then(|base| base.require(reader, "onDemand"));
    let base = base_at.as_ref().and_then(|field| base(reader, field, unit, target));
    let spot = object
        .get(reader, "burst")
        .and_then(|field| reader.object(&field, wire::Burst::FIELDS))
        .and_then(|burst| burst.get(reader, "spot"))
        .and_then(|field| reader.share(&field))
        .unwrap_or(Share::ALL);
    let split = Split { unit, base: base.unwrap_or(no_base), spot };
    let Some(target) = target else {
        let goal = CapacityGoal { unit, ..CapacityGoal::default() };
        return Read { goal, split, hedge, every, lost_work, work };
    };
    Read { goal: split.goal(target), split, hedge, every, lost_work, work }
}

/// `lostWork` is weighed against money, and where no money is to be saved or paid, nothing heeds it.
pub(super) fn nobody_weighs_lost_work(reader: &mut Reader<'_>, spec: Option<&Object<'_>>) {
    let object = spec
        .and_then(|spec| spec.get(reader, "capacity"))
        .and_then(|field| reader.object(&field, wire::Capacity::FIELDS));
    if let Some(field) = object.and_then(|object| object.get(reader, "lostWork")) {
        let message = "nothing heeds `lostWork` here".into();
        let hint = "add `availability` or `penalty`, or `rebalance`: they weigh it against money";
        reader.error(&field, message, Some(hint.into()));
    }
}

/// The user's table, which `unit: work` needs and no other unit has.
fn work(reader: &mut Reader<'_>, object: &Object<'_>, unit: Unit) -> Vec<Weight> {
    const FILE: beside::Kind = beside::Kind {
        most: 1024 * 1024,
        is: "a table is a text of at most 1 MiB",
        instead: "write the figures under placement.weights",
    };
    if unit != Unit::Work {
        if let Some(field) = object.get(reader, "workFile") {
            let message = format!("workFile is for unit: work, and the unit is {unit}");
            reader.error(&field, message, Some("remove one of them, or set unit: work".into()));
        }
        return Vec::new();
    }
    let Some(field) = object.require(reader, "workFile") else { return Vec::new() };
    let Some(path) = reader.text(&field) else { return Vec::new() };
    let Some(text) = beside::read(reader, &field, &path, FILE) else { return Vec::new() };
    match Table::parse(&text) {
        Ok(table) => table.rows,
        Err(error) => {
            let message = format!("`{}`, line {}: {}", quote(&path), error.line, error.what);
            reader.error(&field, message, Some(error.hint.to_owned()));
            Vec::new()
        }
    }
}

/// How often a fleet may be looked after, in seconds.
const EVERY: RangeInclusive<u32> = 1..=30 * 24 * 3600;

/// How much work may end with a machine, in seconds. A day of it would mean no checkpoints at all.
const LOST_WORK: RangeInclusive<u32> = 1..=24 * 3600;

/// What it costs to be short, if the spec says so.
fn hedge(reader: &mut Reader<'_>, object: &Object<'_>, every: Option<u32>) -> Option<Hedge> {
    const PENALTY: Number = Number { places: 3, min: 1, max: 10_000_000 };
    let looked_after = |hedge: Hedge| Hedge {
        reconcile_every_seconds: every.unwrap_or(hedge.reconcile_every_seconds),
        ..hedge
    };
    let availability_at = object.get(reader, "availability");
    let penalty_at = object.get(reader, "penalty");
    if let (Some(_), Some(field)) = (&availability_at, &penalty_at) {
        let message = "`availability` and `penalty` say the same thing twice".into();
        // It is the field that is too many, whatever its value.
        reader.error_at(field.key, &field.path, message, Some("keep one of them".into()));
    }
    if let Some(field) = availability_at {
        let share = reader.share(&field)?;
        if share == Share::ALL {
            let message = "100% cannot be promised".into();
            let hint = "write 99.9%, or use on-demand: capacity.burst.spot: 0%";
            reader.error(&field, message, Some(hint.into()));
            return None;
        }
        return Some(looked_after(Hedge::for_availability(share)));
    }
    let milli = penalty_at.and_then(|field| reader.number(&field, PENALTY))?;
    let penalty_milli = u32::try_from(milli).unwrap_or(u32::MAX);
    Some(looked_after(Hedge::at(penalty_milli)))
}

/// An amount in the fleet's unit.
pub(super) fn amount(reader: &mut Reader<'_>, field: &Field<'_>, unit: Unit) -> Option<Units> {
    let (places, most) = match unit {
        Unit::Instances => (0, MOST_INSTANCES),
        Unit::Vcpus => (0, MOST_UNITS),
        Unit::Gpus | Unit::MemoryGib | Unit::Figure(_) | Unit::Work => (3, MOST_UNITS * 1000),
    };
    let value = reader.number(field, Number { places, min: 0, max: most })?;
    Some(if places == 0 { Units::whole(value) } else { Units(value) })
}

/// The on-demand base: an amount, or a share of the target.
fn base(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    unit: Unit,
    target: Option<Units>,
) -> Option<Base> {
    if Reader::is_share(field) {
        return reader.share(field).map(Base::Share);
    }
    let base = amount(reader, field, unit)?;
    if let Some(target) = target
        && base > target
    {
        let message = format!("base is above the target: {base} of {target} {unit}");
        let hint = format!("lower base.onDemand to {target} or less");
        reader.error(field, message, Some(hint));
        return None;
    }
    Some(Base::Units(base))
}

impl Split {
    /// Splits a target. A base given as a share is rounded up to whole units; the spot share of what is
    /// above the base is rounded down to whole units; the rest is on-demand. All of the rest needs no
    /// rounding, so that half a GPU can be spot.
    pub(super) fn goal(self, target: Units) -> CapacityGoal {
        let base = match self.base {
            // A schedule may go below the base.
            Base::Units(base) => base.min(target),
            Base::Share(share) => {
                let exact = u128::from(target.0) * u128::from(share.ppm());
                let whole = exact.div_ceil(1_000_000_000);
                Units::whole(u64::try_from(whole).unwrap_or(u64::MAX)).min(target)
            }
        };
        let rest = target.saturating_sub(base);
        let spot = match self.spot {
            Share::ALL => rest,
            share => Units::whole(share.floor_of(rest.0) / 1000),
        };
        CapacityGoal { unit: self.unit, target, on_demand: target.saturating_sub(spot), spot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_toward_on_demand() {
        let check = |target: u64, base: u64, percent: f64, on_demand: u64, spot: u64| {
            let share = Share::from_percent(percent).expect("a share");
            let base = Base::Units(Units(base));
            let goal = Split { unit: Unit::Gpus, base, spot: share }.goal(Units(target));
            assert_eq!((goal.on_demand.0, goal.spot.0), (on_demand, spot), "{target} {base:?}");
            assert_eq!(goal.on_demand + goal.spot, goal.target);
        };
        check(64_000, 16_000, 100.0, 16_000, 48_000);
        check(10_000, 0, 75.0, 3_000, 7_000);
        check(10_000, 3_000, 50.0, 7_000, 3_000);
        check(1_000, 0, 99.9999, 1_000, 0);
        check(500, 0, 100.0, 0, 500);
        check(2_500, 0, 50.0, 1_500, 1_000);
        check(0, 0, 50.0, 0, 0);
        check(5_000, 5_000, 100.0, 5_000, 0);
    }
}
