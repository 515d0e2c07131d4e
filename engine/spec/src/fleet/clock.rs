//! What a fleet does by the clock: targets of a schedule, and its end.

use super::capacity::{self, Split};
use crate::reader::{Field, Object, Reader};
use crate::source::quote;
use crate::wire;
use fleet_model::{Cron, ScheduleEntry, Timestamp, time_zone};

/// The schedule, and when the fleet ends by itself.
pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    split: Split,
) -> (Vec<ScheduleEntry>, Option<Timestamp>) {
    let Some(spec) = spec else { return (Vec::new(), None) };
    let schedule = spec.get(reader, "schedule");
    let schedule = schedule
        .map(|field| reader.list(&field, |reader, item| entry(reader, item, split)))
        .unwrap_or_default();
    let expires = spec.get(reader, "expires").and_then(|field| reader.moment(&field));
    (schedule, expires)
}

fn entry(reader: &mut Reader<'_>, item: &Field<'_>, split: Split) -> Option<ScheduleEntry> {
    let object = reader.object(item, wire::ScheduleEntry::FIELDS)?;
    let cron = object.require(reader, "cron").and_then(|field| cron(reader, &field));
    let zone = match object.get(reader, "timeZone") {
        Some(field) => zone(reader, &field),
        None => Some("UTC".to_owned()),
    };
    let target = object
        .require(reader, "target")
        .and_then(|field| capacity::amount(reader, &field, split.unit));
    Some(ScheduleEntry { cron: cron?, time_zone: zone?, goal: split.goal(target?) })
}

pub(super) fn cron(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Cron> {
    let text = reader.text(field)?;
    match text.parse() {
        Ok(cron) => Some(cron),
        Err(why) => {
            let message = format!("`{}` is not a cron time: {}", quote(&text), quote(&why));
            let hint =
                "five fields: minute, hour, day of month, month, day of week: `0 8 * * mon-fri`";
            reader.error(field, message, Some(hint.into()));
            None
        }
    }
}

pub(super) fn zone(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    let text = reader.text(field)?;
    // Abbreviations such as `EST` are in the database, and know no summer time.
    let named = text == "UTC" || text.contains('/');
    if named && time_zone(&text).is_some() {
        return Some(text);
    }
    let hint = "write UTC, or a name such as Europe/Berlin: abbreviations and offsets do not know summer time";
    reader.error(field, format!("`{}` is not a time zone", quote(&text)), Some(hint.into()));
    None
}
