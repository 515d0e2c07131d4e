//! The five fields of cron: minute, hour, day of month, month, day of week.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Minutes that come again and again, by the clock and the calendar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cron {
    text: String,
    /// Bit by value.
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    /// Sunday is 0.
    weekdays: u64,
    /// A day of the month *or* of the week is enough where both are named, as cron has always had it.
    either_day: bool,
}

impl Cron {
    /// Whether it comes on a day of a month (1 to 12), which is some day of the week (Sunday is 0).
    pub fn on_day(&self, month: u8, day: u8, weekday: u8) -> bool {
        let has = |set: u64, value: u8| set >> value & 1 == 1;
        let (by_month, by_week) = (has(self.days, day), has(self.weekdays, weekday));
        has(self.months, month)
            && if self.either_day { by_month || by_week } else { by_month && by_week }
    }

    /// The times of such a day, hour and minute, from the first to the last.
    pub fn times(&self) -> impl Iterator<Item = (u8, u8)> + use<> {
        let has = |set: u64, value: u8| set >> value & 1 == 1;
        let (hours, minutes) = (self.hours, self.minutes);
        (0..24u8).filter(move |hour| has(hours, *hour)).flat_map(move |hour| {
            (0..60u8).filter(move |minute| has(minutes, *minute)).map(move |minute| (hour, minute))
        })
    }
}

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let &[minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(format!("it has {} fields", fields.len()));
        };
        let weekdays = set(weekday, ("day of week", 0, 7, &DAYS))?;
        let cron = Cron {
            text: fields.join(" "),
            minutes: set(minute, ("minute", 0, 59, &[]))?,
            hours: set(hour, ("hour", 0, 23, &[]))?,
            days: set(day, ("day of month", 1, 31, &[]))?,
            months: set(month, ("month", 1, 12, &MONTHS))?,
            // Sunday is 0 and 7.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        match cron.ever() {
            true => Ok(cron),
            false => Err(format!("no month has such a day: `{day} {month}`")),
        }
    }
}

impl Cron {
    /// Whether there is such a day at all: the 30th of February never comes.
    fn ever(&self) -> bool {
        const LAST: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let months = (1..=12u8).zip(LAST);
        let by_month = |(month, last): (u8, u8)| {
            self.months >> month & 1 == 1 && (1..=last).any(|day| self.days >> day & 1 == 1)
        };
        self.either_day || months.into_iter().any(by_month)
    }
}

/// The values of one field.
fn set(field: &str, (name, low, high, names): (&str, u32, u32, &[&str])) -> Result<u64, String> {
    let value = |text: &str| {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let named = named.and_then(|at| u32::try_from(at).ok()).map(|at| at + low);
        named.or_else(|| text.parse().ok()).filter(|number| (low..=high).contains(number))
    };
    let mut found = 0;
    for item in field.split(',') {
        let (range, step) = item.split_once('/').map_or((item, None), |(r, s)| (r, Some(s)));
        let ends = match range.split_once('-') {
            _ if range == "*" => Some((low, high)),
            Some((from, to)) => value(from).zip(value(to)).filter(|(from, to)| from <= to),
            // A single value with a step goes on to the end.
            None => value(range).map(|one| (one, if step.is_some() { high } else { one })),
        };
        let by = step.map_or(Some(1), |step| step.parse::<u32>().ok());
        let by = by.filter(|by| (1..=high.max(1)).contains(by));
        let (Some((from, to)), Some(by)) = (ends, by) else {
            return Err(format!("{name} `{item}`"));
        };
        (from..=to).step_by(by as usize).for_each(|value| found |= 1 << value);
    }
    Ok(found)
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl TryFrom<String> for Cron {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Cron> for String {
    fn from(cron: Cron) -> Self {
        cron.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_and_bad() {
        for good in ["0 8 * * mon-fri", "*/5 0-6,22-23 1,15 JAN,6 0", "59 23 31 12 7", "0 0 29 2 *"]
        {
            assert!(good.parse::<Cron>().is_ok(), "{good}");
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
            "0 0 30 2 *",
        ] {
            assert!(bad.parse::<Cron>().is_err(), "{bad}");
        }
    }

    #[test]
    fn days_and_times() {
        let cron = |text: &str| text.parse::<Cron>().expect("a cron");
        let office = cron("30 8,17 * * mon-fri");
        assert!(office.on_day(1, 5, 1) && !office.on_day(1, 4, 0));
        assert_eq!(office.times().collect::<Vec<_>>(), [(8, 30), (17, 30)]);
        let either = cron("0 0 13 * fri");
        assert!(either.on_day(3, 13, 2) && either.on_day(3, 6, 5) && !either.on_day(3, 7, 6));
        assert!(cron("0 0 * * 7").on_day(1, 4, 0), "Sunday is 7 as well");
        assert_eq!(cron("50/5 0 * * *").times().count(), 2);
        assert_eq!(cron("0  8 * *   1").to_string(), "0 8 * * 1");
    }
}
