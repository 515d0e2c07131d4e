//! What a fleet may cost: per hour, in a month of the calendar, and over its life.

use super::clock::zone;
use crate::reader::{Object, Reader};
use crate::wire;
use crate::words::AT_CAP;
use fleet_model::{Budget, CapacityGoal, HOURS_PER_MONTH, MicroUsd, TimeZoneName};

/// What a budget depends on besides.
pub(super) struct Around {
    pub(super) goal: CapacityGoal,
    /// How often somebody looks after the fleet, in seconds.
    pub(super) every: Option<u32>,
    /// Whether the fleet ends by itself.
    pub(super) ends: bool,
}

/// The budget.
pub(super) fn read(reader: &mut Reader<'_>, spec: Option<&Object<'_>>, around: Around) -> Budget {
    let Around { goal, every, ends } = around;
    let Some(field) = spec.and_then(|spec| spec.get(reader, "budget")) else {
        return Budget::default();
    };
    let Some(object) = reader.object(&field, wire::Budget::FIELDS) else {
        return Budget::default();
    };
    let mut usd = |name: &str| object.get(reader, name).and_then(|field| reader.usd(&field));
    let hourly = tighter(usd("hourlyUsd"), usd("monthlyUsd"));
    let (calendar_month, lifetime) = (usd("calendarMonthUsd"), usd("lifetimeUsd"));
    let at_cap = object
        .get(reader, "atCap")
        .and_then(|field| reader.word(&field, "way to act at the cap", AT_CAP));
    let zone = object.get(reader, "timeZone").and_then(|field| zone(reader, &field));
    if field.entries().next().is_none() {
        let hint = "set hourlyUsd, monthlyUsd, calendarMonthUsd or lifetimeUsd, or remove budget";
        reader.error(&field, "`budget` sets no limit".into(), Some(hint.into()));
    }
    if let (Some(_), Some(lifetime), false) =
        (lifetime, object.get(reader, "lifetimeUsd"), goal.on_demand.is_zero() || ends)
    {
        let message = "a base is never destroyed for money, so `lifetimeUsd` needs an end".into();
        let hint = "set spec.expires, remove capacity.base, or use calendarMonthUsd";
        reader.error(&lifetime, message, Some(hint.into()));
    }
    let caps = calendar_month.is_some() || lifetime.is_some();
    Budget {
        hourly,
        calendar_month,
        lifetime,
        time_zone: zone.map(TimeZoneName).unwrap_or_default(),
        reconcile_every_seconds: every.filter(|_| caps),
        at_cap: at_cap.unwrap_or_default(),
    }
}

/// The tighter of an hourly and a monthly limit, per hour. Rounded down: never over a limit.
pub(crate) fn tighter(hourly: Option<MicroUsd>, monthly: Option<MicroUsd>) -> Option<MicroUsd> {
    let per_hour = monthly.map(|MicroUsd(month)| MicroUsd(month / HOURS_PER_MONTH));
    hourly.into_iter().chain(per_hour).min()
}
