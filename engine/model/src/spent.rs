//! What machines that are gone have cost, by time: what a budget of a month is counted from.

use crate::{CostKind, Extras, MicroUsd, Timestamp};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// Older spending is only summed up: no month reaches further back.
const KEPT: i64 = 33 * DAY;

/// An amount, by what it is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ByKind {
    /// Machines.
    pub machine: MicroUsd,
    /// Their disks.
    pub disk: MicroUsd,
    /// Their public addresses.
    pub address: MicroUsd,
    /// Their traffic.
    pub egress: MicroUsd,
}

impl ByKind {
    /// One of them.
    pub fn of(&mut self, kind: CostKind) -> &mut MicroUsd {
        match kind {
            CostKind::Machine => &mut self.machine,
            CostKind::Disk => &mut self.disk,
            CostKind::Address => &mut self.address,
            CostKind::Egress => &mut self.egress,
        }
    }

    /// Adds what is known of what comes beside a machine, each by what it comes to at a price per hour.
    pub fn add_extras(&mut self, extras: Extras, comes_to: impl Fn(MicroUsd) -> MicroUsd) {
        for (kind, extra) in extras.each() {
            *self.of(kind) += extra.hourly().map_or(MicroUsd(0), &comes_to);
        }
    }

    /// All of it.
    pub fn total(self) -> MicroUsd {
        let ByKind { machine, disk, address, egress } = self;
        machine + disk + address + egress
    }

    /// Each with its kind.
    pub fn each(self) -> [(CostKind, MicroUsd); 4] {
        let ByKind { machine, disk, address, egress } = self;
        [
            (CostKind::Machine, machine),
            (CostKind::Disk, disk),
            (CostKind::Address, address),
            (CostKind::Egress, egress),
        ]
    }
}

/// What was spent, by time. Rounded up: a budget is never passed by rounding.
///
/// A month may begin at any hour around the turn of a month in UTC, depending on the zone. So money is kept
/// by the hour on the first and the last day of each month, and by the day in between: a machine of a month
/// is 76 entries and not 720.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Seconds since 1970 at which an hour or a day begins, and what was spent in it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<i64, MicroUsd>,
    /// What was spent before the first of them.
    pub before: MicroUsd,
}

impl Spent {
    /// Whether nothing was spent.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.before == MicroUsd(0)
    }

    /// Adds what a price per hour comes to from one moment to another.
    pub fn add(&mut self, hourly: MicroUsd, from: Timestamp, to: Timestamp) {
        let (mut at, end) = (from.as_millisecond(), to.as_millisecond());
        while at < end {
            let (part, next) = part_of(at.div_euclid(1000));
            let until = end.min(next * 1000);
            let ms = u128::try_from(until - at).unwrap_or(0);
            let micros = (u128::from(hourly.0) * ms).div_ceil(3_600_000);
            *self.parts.entry(part).or_default() +=
                MicroUsd(u64::try_from(micros).unwrap_or(u64::MAX));
            at = until;
        }
        let oldest = end.div_euclid(1000) - KEPT;
        while let Some(first) = self.parts.first_entry().filter(|first| *first.key() < oldest) {
            self.before += first.remove();
        }
    }

    /// What was spent since a moment, with all of the hour that it is in; `None`: since the beginning.
    pub fn since(&self, from: Option<Timestamp>) -> MicroUsd {
        match from {
            None => self.before + self.parts.values().copied().sum(),
            Some(from) => {
                let (part, _) = part_of(from.as_second());
                self.parts.range(part..).map(|(_, micros)| *micros).sum()
            }
        }
    }
}

/// The hour or the day that a second is in: when it begins, and when the next one does.
fn part_of(second: i64) -> (i64, i64) {
    let midnight = second.div_euclid(DAY) * DAY;
    let date = Timestamp::from_second(second).unwrap_or_default().to_zoned(TimeZone::UTC).date();
    if date.day() == 1 || date == date.last_of_month() {
        let hour = second.div_euclid(HOUR) * HOUR;
        return (hour, hour + HOUR);
    }
    (midnight, midnight + DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    #[test]
    fn months_of_every_zone_are_told_apart() {
        let mut spent = Spent::default();
        // Two dollars an hour over the turn of a month.
        let price = MicroUsd::dollars(2);
        spent.add(price, at("2026-10-10T10:30:00Z"), at("2026-11-03T00:00:00Z"));
        let check = |from: &str, hours: u64| {
            assert_eq!(spent.since(Some(at(from))), price * hours, "{from}");
        };
        check("2026-11-01T00:00:00Z", 48);
        check("2026-11-01T07:00:00Z", 41);
        check("2026-10-31T13:00:00Z", 59);
        // Half an hour too much, never too little.
        check("2026-10-31T18:30:00Z", 54);
        assert_eq!(spent.since(None), MicroUsd::dollars(2 * 565 + 1));
    }

    #[test]
    fn nothing_is_forgotten_and_little_is_kept() {
        let mut spent = Spent::default();
        for day in 0..400_i64 {
            let from = at("2026-01-01T00:00:00Z") + jiff::SignedDuration::from_hours(24 * day);
            spent.add(MicroUsd(999), from, from + jiff::SignedDuration::from_mins(90));
        }
        assert_eq!(spent.since(None), MicroUsd(400 * (999 + 500)).max(spent.since(None)));
        assert!(spent.since(None) <= MicroUsd(400 * (999 + 501)));
        assert!(spent.parts.len() < 120, "{}", spent.parts.len());
    }

    #[test]
    fn rounding_is_always_up() {
        let mut spent = Spent::default();
        spent.add(MicroUsd(1), at("2026-05-05T05:00:00Z"), at("2026-05-05T05:00:00.001Z"));
        assert_eq!(spent.since(None), MicroUsd(1));
    }
}
