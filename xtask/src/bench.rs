//! `cargo xtask bench`.

use crate::Report;
use crate::shell::{cargo, watch};
use crate::test::seconds;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Runs the benchmarks whose names hold the filter.
pub(crate) fn run(filter: Option<&str>) -> Report {
    let start = Instant::now();
    let mut args = vec![
        "bench",
        "--package",
        "fleet-cli",
        // None of them reaches a cloud, and the SDKs take minutes to build.
        "--no-default-features",
        "--bench",
        "plan",
        "--bench",
        "placement",
        "--bench",
        "commands",
    ];
    if let Some(filter) = filter {
        args.extend(["--", filter]);
    }
    let mut times = Times::default();
    let ok = watch(cargo(&args), |line| times.add(line));
    let figures = json!({
        "command": "bench",
        "ok": ok,
        "medianMs": times.found,
        "seconds": seconds(start),
    });
    Report { ok, figures }
}

/// The middle estimate of each benchmark, from lines such as
/// `plan/10000   time:   [201.5 ms 203.1 ms 205.0 ms]`. A long name has a line of its own before.
#[derive(Default)]
struct Times {
    last: String,
    found: Map<String, Value>,
}

impl Times {
    fn add(&mut self, line: &str) {
        let Some((name, rest)) = line.split_once("time:") else {
            if !line.trim().is_empty() {
                self.last = line.trim().to_owned();
            }
            return;
        };
        let name = if name.trim().is_empty() { self.last.as_str() } else { name.trim() };
        if let Some(time) = middle(rest) {
            self.found.insert(name.to_owned(), time.into());
        }
    }
}

/// The second of three times, in milliseconds.
fn middle(text: &str) -> Option<f64> {
    let inside = text.trim().strip_prefix('[')?.split(']').next()?;
    let words: Vec<&str> = inside.split_whitespace().collect();
    let [_, _, number, unit, _, _] = words[..] else { return None };
    let factor = match unit {
        "ns" => 1e-6,
        "µs" | "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => return None,
    };
    let time = number.parse::<f64>().ok()? * factor;
    Some((time * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_times() {
        let mut times = Times::default();
        times.add("plan/10000              time:   [201.5 ms 203.1 ms 205.0 ms]");
        times.add("                        change: [-0.5% +0.2% +0.9%]");
        times.add("apply/a very long name indeed");
        times.add("                        time:   [1.5 s 1.6 s 1.7 s]");
        assert_eq!(times.found["plan/10000"], 203.1);
        assert_eq!(times.found["apply/a very long name indeed"], 1600.0);
        assert_eq!(times.found.len(), 2);
    }
}
