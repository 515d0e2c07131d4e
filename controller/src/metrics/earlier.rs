//! What an earlier run counted, read from the file that it left. A counter that began at nothing with every run
//! would hide a launch in one run behind a launch in the next.

use super::families::{FAMILIES, Kind, Row, SPEND};
use super::register::{Labels, Metrics};

impl Metrics {
    /// Counts on from there. Lines that are none of ours are passed over.
    pub fn count_on(&self, text: &str) {
        for (row, labels, value) in text.lines().filter_map(counted) {
            self.add(row.name, labels, value);
        }
    }
}

/// A counter of ours in a line such as `fleet_launch_total{fleet="a"} 2.0`.
fn counted(line: &str) -> Option<(&'static Row, Labels, f64)> {
    let (name, rest) = line.split_once('{')?;
    let row = FAMILIES.iter().find(|row| row.name == name && row.kind == Kind::Counter)?;
    // What was spent is in the journal.
    if row.name == SPEND {
        return None;
    }
    let mut rest = rest;
    let mut labels = Labels::new();
    for label in row.labels {
        rest = rest.strip_prefix(',').unwrap_or(rest);
        rest = rest.strip_prefix(*label)?.strip_prefix("=\"")?;
        let (value, after) = unquoted(rest)?;
        labels.push((label, value));
        rest = after;
    }
    let value: f64 = rest.strip_prefix("} ")?.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some((row, labels, value))
}

/// The value of a label, up to its closing quote, and what comes after that.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Around, Build, plain};

    #[test]
    fn counters_go_on_where_the_last_run_left_them() {
        let metrics = Metrics::new(Build::default(), || None);
        metrics.launched(&"a".into(), "aws", "launched", 2);
        metrics.interrupted(&"a".into(), "aws");
        let scrape = |metrics: &Metrics| {
            let known = std::iter::once("a".into()).collect();
            plain(&metrics.open_metrics(&known, [], Around::default()))
        };
        let first = scrape(&metrics);
        let next = Metrics::new(Build::default(), || None);
        next.count_on(&first);
        next.launched(&"a".into(), "aws", "launched", 2);
        let second = scrape(&next);
        assert!(second.contains("outcome=\"launched\"} 4.0"), "{second}");
        assert!(second.contains("fleet_interruptions_total{fleet=\"a\",provider=\"aws\"} 1.0"));
    }

    #[test]
    fn lines_that_are_none_of_ours_are_passed_over() {
        let line = "fleet_launch_total{fleet=\"a\\\\\\\"\",provider=\"b\",outcome=\"c\"} 2";
        assert_eq!(counted(line).expect("ours").1[0].1, "a\\\"");
        for line in [
            "",
            "fleet_launch_total 3",
            "fleet_launch_total{fleet=\"a\"} 3",
            "fleet_launch_total{fleet=\"a\",provider=\"b\",outcome=\"c\"} NaN",
            "fleet_launch_total{fleet=\"a\",provider=\"b\",outcome=\"c\"} -1",
            "fleet_launch_total{fleet=\"a",
            "fleet_launch_total{fleet=\"a\\",
            "fleet_spend_usd_total{fleet=\"a\"} 3",
            "fleet_units{fleet=\"a\",kind=\"have\"} 3",
        ] {
            assert!(counted(line).is_none(), "{line}");
        }
    }
}
