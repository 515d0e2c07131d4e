//! Times in which something may be done.

use super::fires::{last, next};
use fleet_model::{Timestamp, Window};
use std::time::Duration;

/// Whether a moment lies in one of the windows. Where there are none, every moment does.
pub(crate) fn window_open(windows: &[Window], now: Timestamp) -> bool {
    let is_open = |window: &Window| {
        let opened = last(&window.cron, &window.time_zone, now);
        let lasts = Duration::from_secs(window.lasts_seconds.into());
        opened.and_then(|at| at.checked_add(lasts).ok()).is_some_and(|closes| closes > now)
    };
    windows.is_empty() || windows.iter().any(is_open)
}

/// When the next one opens.
pub(crate) fn opens(windows: &[Window], now: Timestamp) -> Option<Timestamp> {
    windows.iter().filter_map(|window| next(&window.cron, &window.time_zone, now)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    fn window(cron: &str, zone: &str, hours: u32) -> Window {
        let cron = cron.parse().expect("a cron time");
        Window { cron, time_zone: zone.to_owned(), lasts_seconds: hours * 3600 }
    }

    #[test]
    fn open_from_its_time_on_and_for_as_long_as_it_lasts() {
        let saturday = [window("0 2 * * sat", "Europe/Berlin", 4)];
        // In winter two o'clock in Berlin is one o'clock UTC.
        for (moment, open) in [
            ("2026-01-17T00:59:59Z", false),
            ("2026-01-17T01:00:00Z", true),
            ("2026-01-17T04:59:59Z", true),
            ("2026-01-17T05:00:00Z", false),
            ("2026-07-18T00:00:00Z", true),
            ("2026-07-18T04:00:00Z", false),
        ] {
            assert_eq!(window_open(&saturday, at(moment)), open, "{moment}");
        }
        let next = opens(&saturday, at("2026-01-17T05:00:00Z"));
        assert_eq!(next, Some(at("2026-01-24T01:00:00Z")));
        assert!(window_open(&[], at("2026-01-17T05:00:00Z")));
    }

    #[test]
    fn a_window_over_midnight_and_over_a_change_of_the_clocks_lasts_its_hours() {
        let night = [window("0 23 * * *", "Europe/Berlin", 5)];
        // The clocks go forward at two: the window opened at 22:00 UTC and closes five hours later.
        assert!(window_open(&night, at("2026-03-29T02:59:59Z")));
        assert!(!window_open(&night, at("2026-03-29T03:00:00Z")));
    }
}
