//! The figures of docs/placement.md: the fleet on every recording, at three prices of what is missing.
//!
//! `cargo run --release -p fleet-replay --example rows -- ../shared/data/traces [wide]`

use fleet_model::Hedge;
use fleet_replay::contest::anywhere;
use fleet_replay::{Measures, Named, Setup, Trace, compare};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    for penalty in if prices.is_empty() { vec![3, 10, 30] } else { prices } {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(vec![None; rows.len()]);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some((at, row)) = Some(next.fetch_add(1, Ordering::Relaxed))
                        .and_then(|at| Some((at, rows.get(at)?)))
                    {
                        let one = walk(Path::new(&folder), row, penalty, policies);
                        found.lock().expect("no panic")[at] = Some(one);
                    }
                });
            }
        });
        let found: Vec<_> = found.into_inner().expect("no panic").into_iter().flatten().collect();
        let text = text(&rows, &found, policies, f64::from(penalty));
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

type Found = (f64, Vec<Measures>);

fn walk(folder: &Path, row: &Row, penalty: u32, policies: &[Named]) -> Found {
    let trace = Trace::load(&folder.join(row.name)).expect("a recording").shuffled(row.seed);
    let hedge = Hedge { penalty_milli: penalty * 1000, ready_after_seconds: 300 };
    let compared = compare(&trace, &row.setup, &anywhere(Some(hedge)), policies);
    (compared.omniscient, compared.rows.iter().map(|row| row.measures).collect())
}

fn text(rows: &[Row], found: &[Found], policies: &[Named], price: f64) -> String {
    let mut out = format!("J{price}\n");
    for (row, (omniscient, measures)) in rows.iter().zip(found) {
        let Setup { target, base, .. } = row.setup;
        let _ = write!(out, "  {:<12}{target:>3}{base:>3}  bound {omniscient:.3}", row.name);
        for m in measures {
            let delivered = m.delivered * 100.0;
            let _ = write!(out, "  {:.3}/{delivered:.2} {:.3}", m.cost, m.j(price));
        }
        out.push('\n');
    }
    for (nth, policy) in policies.iter().enumerate() {
        let count = found.len() as f64;
        let over = found.iter().map(|(bound, all)| (all[nth].j(price) / bound).ln()).sum::<f64>();
        let mean = |of: &dyn Fn(&Measures) -> f64| {
            found.iter().map(|(_, all)| of(&all[nth])).sum::<f64>() / count
        };
        let _ = writeln!(
            out,
            "  {:<16} over bound {:.4}, available {:.2} %, lost per 100 h {:.2}",
            policy.as_str(),
            (over / count).exp(),
            mean(&|m| m.availability) * 100.0,
            mean(&|m| m.interruptions_per_100h)
        );
    }
    out
}
