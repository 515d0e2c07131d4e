//! Sections that are read and checked now, and obeyed later.

use super::capacity;
use crate::NotYetObeyed;
use crate::places::Places;
use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::source::quote;
use crate::wire;
use crate::words::{ON_NOTICE, UPDATE_STRATEGIES};
use fleet_model::Unit;

pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    unit: Unit,
    places: &Places,
) -> Vec<NotYetObeyed> {
    let mut found = Vec::new();
    let Some(spec) = spec else {
        return found;
    };
    let mut note = |path: &str| {
        found.push(NotYetObeyed { path: path.to_owned(), place: places.location(path) });
    };
    if let Some(field) = spec.get(reader, "updates") {
        updates(reader, &field);
        field.entries().for_each(|(_, inner)| note(&inner.path));
    }
    if let Some(field) = spec.get(reader, "interruption") {
        interruption(reader, &field);
        field.entries().for_each(|(_, inner)| note(&inner.path));
    }
    if let Some(field) = spec.get(reader, "schedule") {
        reader.list(&field, |reader, item| entry(reader, item, unit));
        note(&field.path);
    }
    found
}

fn updates(reader: &mut Reader<'_>, field: &Field<'_>) {
    let Some(object) = reader.object(field, wire::Updates::FIELDS) else {
        return;
    };
    if let Some(field) = object.get(reader, "strategy") {
        reader.word(&field, "update strategy", UPDATE_STRATEGIES);
    }
    let mut limits = Vec::new();
    for name in ["maxUnavailable", "maxSurge"] {
        let Some(field) = object.get(reader, name) else {
            continue;
        };
        let value = if Reader::is_share(&field) {
            reader.share(&field).map(|share| u64::from(share.ppm()))
        } else {
            reader.number(&field, Number::whole(0, 1_000_000))
        };
        limits.push(value);
    }
    if limits == [Some(0), Some(0)] {
        let message = "`maxUnavailable` and `maxSurge` are both 0: nothing could ever be replaced";
        reader.error(field, message.into(), Some("raise one of them".into()));
    }
}

fn interruption(reader: &mut Reader<'_>, field: &Field<'_>) {
    let Some(object) = reader.object(field, wire::Interruption::FIELDS) else {
        return;
    };
    if let Some(field) = object.get(reader, "onNotice") {
        reader.word(&field, "answer to a notice", ON_NOTICE);
    }
    if let Some(field) = object.get(reader, "graceSeconds") {
        reader.number(&field, Number::whole(0, 3600));
    }
}

fn entry(reader: &mut Reader<'_>, item: &Field<'_>, unit: Unit) -> Option<()> {
    let object = reader.object(item, wire::ScheduleEntry::FIELDS)?;
    if let Some(field) = object.require(reader, "cron")
        && let Some(text) = reader.text(&field)
        && let Err(why) = cron(&text)
    {
        let hint = "five fields: minute, hour, day of month, month, day of week: `0 8 * * mon-fri`";
        reader.error(
            &field,
            format!("`{}` is not a cron time: {why}", quote(&text)),
            Some(hint.into()),
        );
    }
    if let Some(field) = object.get(reader, "timeZone")
        && let Some(text) = reader.text(&field)
        && !is_time_zone(&text)
    {
        let hint = "write UTC, or a name such as Europe/Berlin: abbreviations and offsets do not know summer time";
        reader.error(&field, format!("`{}` is not a time zone", quote(&text)), Some(hint.into()));
    }
    if let Some(field) = object.require(reader, "target") {
        capacity::amount(reader, &field, unit);
    }
    Some(())
}

/// Whether a text looks like a name of the IANA database. Whether the name exists is found out
/// where it is used: the database belongs to the machine that obeys, not to the spec.
fn is_time_zone(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-+".contains(c))
    };
    text == "UTC" || (text.contains('/') && text.len() <= 64 && text.split('/').all(part))
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Checks the five fields of cron.
fn cron(text: &str) -> Result<(), String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let parts: [(&str, u32, u32, &[&str]); 5] = [
        ("minute", 0, 59, &[]),
        ("hour", 0, 23, &[]),
        ("day of month", 1, 31, &[]),
        ("month", 1, 12, &MONTHS),
        ("day of week", 0, 7, &DAYS),
    ];
    if fields.len() != parts.len() {
        return Err(format!("it has {} fields", fields.len()));
    }
    for (field, (name, low, high, names)) in fields.iter().zip(parts) {
        let value = |text: &str| {
            let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
            let named = named.and_then(|at| u32::try_from(at).ok()).map(|at| at + low);
            named.or_else(|| text.parse().ok()).filter(|number| (low..=high).contains(number))
        };
        for item in field.split(',') {
            let (range, step) = item.split_once('/').unwrap_or((item, "1"));
            let steps = step.parse::<u32>().is_ok_and(|step| (1..=high.max(1)).contains(&step));
            let good = match range.split_once('-') {
                _ if range == "*" => true,
                Some((from, to)) => {
                    matches!((value(from), value(to)), (Some(a), Some(b)) if a <= b)
                }
                None => value(range).is_some(),
            };
            if !steps || !good {
                return Err(format!("{name} `{}`", quote(item)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cron_times() {
        for good in ["0 8 * * mon-fri", "*/5 0-6,22-23 1,15 JAN,6 0", "59 23 31 12 7"] {
            assert_eq!(cron(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "- * * * *",
            "/ * * * *",
            ", * * * *",
            "@daily",
        ] {
            assert!(cron(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn time_zones() {
        for good in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+3"] {
            assert!(is_time_zone(good), "{good}");
        }
        for bad in ["CET", "+02:00", "europe/berlin", "Europe/", "/", "Mars/ "] {
            assert!(!is_time_zone(bad), "{bad}");
        }
    }
}
