//! A user's figures and results of benchmarks: never a panic, every error has a place, and what is read can
//! be counted in.

use fleet_fuzz::{corpus, fuzz};
use fleet_money::benchmark::{BenchmarkResult, Metric};
use fleet_money::performance::Table;

const RESULT: &str = include_str!("../../../examples/benchmark/results/h200.json");

fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Table::parse(text) {
        Ok(table) => assert!(table.rows.iter().all(|row| !row.units.is_zero())),
        Err(error) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines + 1).contains(&error.line), "line {} of {lines}", error.line);
            assert!(!error.what.is_empty() && !error.hint.is_empty());
        }
    }
    if let Ok(result) = BenchmarkResult::parse(text) {
        assert!(result.metric(Metric::Training).is_none_or(|speed| speed > 0.0));
        let written = serde_json::to_string(&result).expect("JSON");
        assert_eq!(BenchmarkResult::parse(&written).as_ref(), Ok(&result));
    }
}

#[test]
fn fuzz_figures() {
    let tables = corpus("figures").into_iter().map(|(_, bytes)| bytes);
    let seeds: Vec<Vec<u8>> = tables.chain([RESULT.as_bytes().to_vec()]).collect();
    fuzz("figures", &seeds, check);
}
