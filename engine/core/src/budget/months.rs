//! Months of the calendar, in a zone.

use crate::budget::seams;
use fleet_model::{TimeZoneName, Timestamp, time_zone};
use jiff::ToSpan;
use jiff::tz::TimeZone;

/// The month around a moment: when it began, and when the next one does.
pub(super) fn around(now: Timestamp, zone: &TimeZoneName) -> (Timestamp, Timestamp) {
    let zone = time_zone(seams::zone(&zone.0)).unwrap_or(TimeZone::UTC);
    let first = now.to_zoned(zone.clone()).date().first_of_month();
    let begins = |day: jiff::civil::Date| {
        let midnight = day.at(0, 0, 0, 0);
        zone.to_ambiguous_timestamp(midnight).compatible().unwrap_or(now)
    };
    let next = first.checked_add(1.month()).unwrap_or(first);
    (seams::month_begins(begins(first)), begins(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_where_the_zone_says() {
        let check = |now: &str, zone: &str, from: &str, until: &str| {
            let now: Timestamp = now.parse().expect("a moment");
            let (begin, end) = around(now, &TimeZoneName(zone.into()));
            assert_eq!((begin.to_string(), end.to_string()), (from.into(), until.into()));
        };
        check("2026-11-17T12:00:00Z", "UTC", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z");
        check("2026-12-31T23:59:59Z", "UTC", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z");
        // Google's months: the last hours of one are in the next by UTC.
        let pacific = "America/Los_Angeles";
        check("2026-12-01T07:59:59Z", pacific, "2026-11-01T07:00:00Z", "2026-12-01T08:00:00Z");
        check("2026-12-01T08:00:00Z", pacific, "2026-12-01T08:00:00Z", "2027-01-01T08:00:00Z");
        // A month that loses an hour, and one in a zone of half hours.
        check("2026-03-20T00:00:00Z", pacific, "2026-03-01T08:00:00Z", "2026-04-01T07:00:00Z");
        check(
            "2026-02-10T00:00:00Z",
            "Asia/Kolkata",
            "2026-01-31T18:30:00Z",
            "2026-02-28T18:30:00Z",
        );
    }
}
