//! Days and months of a time zone, in milliseconds since 1970.

use fleet_model::Timestamp;
pub use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Where the days of a report begin.
#[derive(Debug, Clone)]
pub struct Calendar {
    zone: TimeZone,
    /// The day that was asked for last: neighbours are mostly alike.
    last: Option<(Date, i64, i64)>,
}

impl Calendar {
    /// The days of a time zone.
    pub fn new(zone: TimeZone) -> Self {
        Calendar { zone, last: None }
    }

    /// The days of UTC.
    pub fn utc() -> Self {
        Calendar::new(TimeZone::UTC)
    }

    /// The day of a moment, and the moment at which the next one begins.
    pub fn day(&mut self, at: i64) -> (Date, i64) {
        if let Some((day, from, to)) = self.last
            && (from..to).contains(&at)
        {
            return (day, to);
        }
        let day = self.zone.to_datetime(stamp(at)).date();
        let (from, to) =
            (self.begins(day), day.tomorrow().map_or(i64::MAX, |next| self.begins(next)));
        // A clock that is set back at midnight repeats moments, never days.
        let to = to.max(at + 1);
        self.last = Some((day, from.min(at), to));
        (day, to)
    }

    /// When a day begins.
    pub fn begins(&self, day: Date) -> i64 {
        let midnight = day.to_zoned(self.zone.clone());
        midnight.map_or(i64::MAX, |midnight| midnight.timestamp().as_millisecond())
    }
}

fn stamp(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other_without_gaps_also_when_clocks_change() {
        for (name, hours) in [("UTC", 24), ("Europe/Berlin", 23), ("America/Sao_Paulo", 24)] {
            let zone = fleet_model::time_zone(name).expect("a zone");
            let mut calendar = Calendar::new(zone);
            let day = jiff::civil::date(2026, 3, 29);
            let begins = calendar.begins(day);
            assert_eq!(calendar.day(begins - 1).1, begins, "{name}");
            let (same, next) = calendar.day(begins);
            assert_eq!((same, next - begins), (day, hours * 3_600_000), "{name}");
        }
    }
}
