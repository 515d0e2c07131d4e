//! The figures of docs/placement.md: the fleet on every recording, at three prices of what is missing.
//!
//! `cargo run --release -p fleet-replay --example rows -- ../shared/data/traces [wide] [all] [calibration] [notices] [10]`:
//! other sizes and delays, all policies, predicted losses, notices of different length, and one price instead of
//! three.

use fleet_model::Hedge;
use fleet_replay::contest::{anywhere, on_every_core};
use fleet_replay::{Compared, Named, Notice, Setup, Trace, calibrations, compare, overall};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The rows that are published: recording, machines, of those on demand.
const ROWS: [(&str, u32, u32); 9] = [
    ("h100-gcp13", 16, 0),
    ("h100-gcp13", 48, 0),
    ("h100-gcp13", 48, 12),
    ("v100-9z", 8, 0),
    ("v100-9z", 16, 0),
    ("v100-9z", 16, 4),
    ("v100-4n", 4, 0),
    ("v100-4n", 8, 2),
    ("r5-3z", 6, 0),
];

/// Other sizes and delays, with shuffled zones: nobody published these.
const WIDE: [(&str, u32, u32, u32); 14] = [
    ("h100-gcp13", 4, 0, 300),
    ("h100-gcp13", 8, 2, 480),
    ("h100-gcp13", 24, 0, 180),
    ("h100-gcp13", 32, 8, 300),
    ("v100-9z", 2, 0, 300),
    ("v100-9z", 4, 0, 480),
    ("v100-9z", 12, 0, 180),
    ("v100-4n", 2, 0, 300),
    ("v100-4n", 6, 0, 480),
    ("v100-4n", 8, 0, 180),
    ("r5-3z", 2, 0, 300),
    ("r5-3z", 4, 1, 480),
    ("r5-3z", 8, 0, 300),
    ("r5-3z", 12, 3, 180),
];

struct Row {
    name: &'static str,
    setup: Setup,
    seed: u64,
}

fn rows(wide: bool) -> Vec<Row> {
    let published = ROWS.iter().map(|&(name, target, base)| Row {
        name,
        setup: Setup::new(target, base),
        seed: 0,
    });
    let others = WIDE.iter().map(|&(name, target, base, delay_seconds)| Row {
        name,
        setup: Setup { delay_seconds, ..Setup::new(target, base) },
        seed: 7,
    });
    if wide { others.collect() } else { published.collect() }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "../shared/data/traces".into());
    let rest: Vec<String> = args.collect();
    let rows = rows(rest.iter().any(|word| word == "wide"));
    let policies: &[Named] = match rest.iter().any(|word| word == "all") {
        true => &Named::ALL,
        false => &[Named::Engine],
    };
    let prices: Vec<u32> = rest.iter().filter_map(|word| word.parse().ok()).collect();
    if rest.iter().any(|word| word == "notices") {
        notices(Path::new(&folder), rows);
        return;
    }
    for penalty in if prices.is_empty() { vec![3, 10, 30] } else { prices } {
        let walked = |nth: usize| walk(Path::new(&folder), &rows[nth], penalty, policies);
        let found = on_every_core(rows.len(), walked);
        let mut text = text(&rows, &found, f64::from(penalty));
        if rest.iter().any(|word| word == "calibration") {
            text.push_str(&predicted("all", &found));
            for name in rows.iter().map(|row| row.name).collect::<BTreeSet<_>>() {
                let of = |(row, _): &(&Row, &Compared)| row.name == name;
                let some = rows.iter().zip(&found).filter(of).map(|(_, one)| one.clone());
                text.push_str(&predicted(name, &some.collect::<Vec<_>>()));
            }
        }
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// What it is worth to be told of a loss beforehand, at a price of ten.
fn notices(folder: &Path, mut rows: Vec<Row>) {
    let all = [
        ("none", Notice::None),
        ("30 s", Notice::Seconds(30)),
        ("cloud", Notice::Cloud),
        ("2 min", Notice::Seconds(120)),
        ("5 min", Notice::Seconds(300)),
    ];
    for (name, notice) in all {
        rows.iter_mut().for_each(|row| row.setup.notice = notice);
        let found = on_every_core(rows.len(), |nth| walk(folder, &rows[nth], 10, &[Named::Engine]));
        let overall = overall(&found, 10.0);
        let lines = overall.iter().map(|(row, over)| {
            format!("{name:<6} {over:.3}  {:.2} %\n", row.measures.availability * 100.0)
        });
        let _ = std::io::stdout().write_all(lines.collect::<String>().as_bytes());
    }
}

fn walk(folder: &Path, row: &Row, penalty: u32, policies: &[Named]) -> Compared {
    let trace = Trace::load(&folder.join(row.name)).expect("a recording").shuffled(row.seed);
    let hedge = Hedge::at(penalty * 1000);
    compare(&trace, &row.setup, &anywhere(Some(hedge)), policies)
}

/// Losses predicted and observed, by tenths of the predictions.
fn predicted(name: &str, found: &[Compared]) -> String {
    let mut out = String::new();
    for one in calibrations(found) {
        let furthest =
            one.bins.iter().map(|bin| (bin.predicted - bin.observed).abs()).fold(0.0, f64::max);
        let _ = write!(
            out,
            "  {name:<12}{} h: {} predictions, Brier {:.4} (mean {:.4}), furthest {:.1} points\n   ",
            one.hours,
            one.count,
            one.brier,
            one.brier_of_mean,
            furthest * 100.0
        );
        for bin in &one.bins {
            let _ = write!(out, " {:.1}→{:.1}", bin.predicted * 100.0, bin.observed * 100.0);
        }
        out.push('\n');
    }
    out
}

fn text(rows: &[Row], found: &[Compared], penalty: f64) -> String {
    let mut out = format!("J{penalty}\n");
    for (row, one) in rows.iter().zip(found) {
        let Setup { target, base, .. } = row.setup;
        let bound = one.omniscient;
        let _ = write!(out, "  {:<12}{target:>3}{base:>3}  bound {bound:.3}", row.name);
        for m in one.rows.iter().map(|row| row.measures) {
            let delivered = m.delivered * 100.0;
            let _ = write!(out, "  {:.3}/{delivered:.2} {:.3}", m.cost, m.j(penalty));
        }
        out.push('\n');
    }
    for (row, over) in overall(found, penalty) {
        let _ = writeln!(
            out,
            "  {:<16} over bound {over:.4}, available {:.2} %, lost per 100 h {:.2}",
            row.policy.as_str(),
            row.measures.availability * 100.0,
            row.measures.interruptions_per_100h
        );
    }
    out
}
