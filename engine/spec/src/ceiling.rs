//! A policy's ceilings: for each fleet, for all of them together, and for those with a label.

use crate::fleet::budget::tighter;
use crate::reader::{Field, Object, Reader};
use crate::wire;
use fleet_model::{Budget, Cap, Labels, MicroUsd, Pattern};
use serde::Serialize;

/// The most that something may cost, in each way to count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ceiling {
    /// Per hour.
    pub hourly: Option<MicroUsd>,
    /// In each month of the calendar.
    pub calendar_month: Option<MicroUsd>,
    /// In all.
    pub lifetime: Option<MicroUsd>,
}

impl Ceiling {
    /// One of the limits.
    pub fn limit(&self, cap: Cap) -> Option<MicroUsd> {
        match cap {
            Cap::Hourly => self.hourly,
            Cap::CalendarMonth => self.calendar_month,
            Cap::Lifetime => self.lifetime,
        }
    }

    /// Whether there is any.
    pub fn is_some(&self) -> bool {
        Cap::ALL.iter().any(|cap| self.limit(*cap).is_some())
    }
}

/// The most that fleets with a label may cost together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelCeiling {
    /// The label.
    pub label: String,
    /// What its value must match.
    pub value: Pattern,
    /// How much.
    pub ceiling: Ceiling,
}

impl LabelCeiling {
    /// Whether it is about a fleet with these labels.
    pub(crate) fn is_about(&self, labels: &Labels) -> bool {
        labels.get(&self.label).is_some_and(|value| self.value.matches(value))
    }
}

/// Reads `budget` of a policy: for each fleet, for all together, by label.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
) -> (Ceiling, Ceiling, Vec<LabelCeiling>) {
    let nothing = (Ceiling::default(), Ceiling::default(), Vec::new());
    let Some(object) = reader.object(field, wire::PolicyBudget::FIELDS) else {
        return nothing;
    };
    if field.entries().next().is_none() {
        let hint = format!("set one of: {}", wire::PolicyBudget::FIELDS.join(", "));
        reader.error(field, "`budget` sets no limit".into(), Some(hint));
    }
    let mut usd = |name: &str| object.get(reader, name).and_then(|field| reader.usd(&field));
    let per_fleet = Ceiling {
        hourly: tighter(usd("perFleetHourlyUsd"), usd("perFleetMonthlyUsd")),
        calendar_month: usd("perFleetCalendarMonthUsd"),
        lifetime: usd("perFleetLifetimeUsd"),
    };
    let total = Ceiling {
        hourly: tighter(usd("totalHourlyUsd"), usd("totalMonthlyUsd")),
        calendar_month: usd("totalCalendarMonthUsd"),
        lifetime: usd("totalLifetimeUsd"),
    };
    for cap in Cap::ALL {
        if let (Some(each), Some(all)) = (per_fleet.limit(cap), total.limit(cap))
            && each > all
        {
            let message =
                format!("one fleet may cost {each} {}, all together only {all}", per(cap));
            let hint = "lower the limit per fleet, or raise the total";
            reader.warn(field, message, Some(hint.into()));
        }
    }
    let by_label = object.get(reader, "byLabel");
    let by_label = by_label.map(|field| reader.list(&field, label_ceiling)).unwrap_or_default();
    (per_fleet, total, by_label)
}

fn label_ceiling(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<LabelCeiling> {
    let object: Object<'_> = reader.object(item, wire::LabelBudget::FIELDS)?;
    let label = object.require(reader, "label").and_then(|field| reader.text(&field));
    let value = object.require(reader, "value").and_then(|field| reader.text(&field));
    let mut usd = |name: &str| object.get(reader, name).and_then(|field| reader.usd(&field));
    let ceiling = Ceiling {
        hourly: tighter(usd("hourlyUsd"), usd("monthlyUsd")),
        calendar_month: usd("calendarMonthUsd"),
        lifetime: usd("lifetimeUsd"),
    };
    if !ceiling.is_some() {
        let hint = "set one of: hourlyUsd, monthlyUsd, calendarMonthUsd, lifetimeUsd";
        reader.error(item, "this sets no limit".into(), Some(hint.into()));
    }
    Some(LabelCeiling { label: label?, value: Pattern::new(value?), ceiling })
}

/// The budget that a fleet has under a ceiling: its own, or the ceiling.
pub(crate) fn under(budget: &Budget, ceiling: Ceiling, cap: Cap) -> Option<MicroUsd> {
    budget.limit(cap).or(ceiling.limit(cap))
}

/// What a limit is counted by, for messages.
pub(crate) fn per(cap: Cap) -> &'static str {
    match cap {
        Cap::Hourly => "per hour",
        Cap::CalendarMonth => "in a calendar month",
        Cap::Lifetime => "in all",
    }
}

/// An amount with what it is counted by.
pub(crate) fn amount(price: MicroUsd, cap: Cap) -> String {
    match cap {
        // Both forms, because limits come in both.
        Cap::Hourly => format!("{price} per hour ({} per month)", price.per_month()),
        Cap::CalendarMonth | Cap::Lifetime => format!("{price} {}", per(cap)),
    }
}
