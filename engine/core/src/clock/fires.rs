//! When a time of cron came last, and when it comes next.
//!
//! Times are those of the zone's clocks. A time that the clocks skip comes when they go on, and one that
//! they show twice comes the first time.

use fleet_model::{Cron, Timestamp, time_zone};
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Days to look at, either way: the 29th of February can be eight years away.
const DAYS: usize = 8 * 366 + 1;

/// The last time up to a moment.
pub(super) fn last(cron: &Cron, zone: &str, now: Timestamp) -> Option<Timestamp> {
    let zone = time_zone(zone)?;
    // Clocks that go forward move a late time of the day before into this one.
    let today = now.to_zoned(zone.clone()).date().tomorrow().ok()?;
    let mut days = std::iter::successors(Some(today), |day| day.yesterday().ok()).take(DAYS);
    days.find_map(|day| moments(cron, day, &zone).filter(|at| *at <= now).max())
}

/// The first time after a moment.
pub(super) fn next(cron: &Cron, zone: &str, now: Timestamp) -> Option<Timestamp> {
    let zone = time_zone(zone)?;
    let today = now.to_zoned(zone.clone()).date().yesterday().ok()?;
    let mut days = std::iter::successors(Some(today), |day| day.tomorrow().ok()).take(DAYS);
    days.find_map(|day| moments(cron, day, &zone).filter(|at| *at > now).min())
}

/// The times of one day. Not in order where the clocks skip some.
fn moments(cron: &Cron, day: Date, zone: &TimeZone) -> impl Iterator<Item = Timestamp> {
    let weekday = day.weekday().to_sunday_zero_offset();
    let comes = cron.on_day(day.month() as u8, day.day() as u8, weekday as u8);
    let times = comes.then(|| cron.times()).into_iter().flatten();
    times.filter_map(move |(hour, minute)| {
        let local = day.at(hour as i8, minute as i8, 0, 0);
        zone.to_ambiguous_timestamp(local).compatible().ok()
    })
}
