//! `cargo xtask markets`: the engine and simple policies in made-up markets, as one table.
//!
//! `--count N` markets (1000), `--seed N` (1), `--from N`: number of the first. The last line is JSON.
//! Exits with 1 if a bound of docs/placement.md is broken.

use fleet_replay::contest::{POLICIES, Played, Summary, play_all, summary};
use fleet_replay::synthetic::Kind;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut count, mut seed, mut from) = (1000, 1, 0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse::<u64>().ok());
        match (word.as_str(), value) {
            ("--count", Some(value)) => count = value as usize,
            ("--seed", Some(value)) => seed = value,
            ("--from", Some(value)) => from = value as usize,
            _ => {
                return usage(&format!("`{word}`: write --count N, --seed N or --from N"));
            }
        }
    }
    let played = play_all(seed, from, count);
    let Some(all) = summary(played.iter()) else {
        return usage("--count 0 is nothing to measure");
    };
    let of_kind = |kind: Kind| {
        let of = move |one: &&Played| one.kind == kind;
        summary(played.iter().filter(of)).map(|summary| (kind.as_str(), summary))
    };
    let mut rows: Vec<(&str, Summary)> = Kind::ALL.into_iter().filter_map(of_kind).collect();
    rows.push(("all", all.clone()));
    let broken = all.broken();
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{}", table(&rows));
    for bound in &broken {
        let _ = writeln!(out, "bound of docs/placement.md broken: {bound}");
    }
    let figures = serde_json::json!({
        "command": "markets",
        "ok": broken.is_empty(),
        "markets": all.markets,
        "seed": seed,
        "meanRegretPercent": all.mean_regret * 100.0,
        "worstRegretPercent": all.worst.0 * 100.0,
        "worstMarket": all.worst.1,
        "worseBy3Percent": all.worse[0] * 100.0,
        "worseBy10Percent": all.worse[1] * 100.0,
        "meanJ10": POLICIES.iter().zip(all.mean_j).map(|(p, j)| (p.as_str().to_owned(), j.into()))
            .collect::<serde_json::Map<_, _>>(),
    });
    let _ = writeln!(out, "{figures}");
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage(what: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {what}");
    ExitCode::from(64)
}

fn table(rows: &[(&str, Summary)]) -> String {
    let policies: String = POLICIES.iter().map(|p| format!("  {:>15}", p.as_str())).collect();
    let mut out = format!(
        "{:<12} {:>7}  {:>11}  {:>15}  {:>5}  {:>5}  | mean J10:\n{:<12} {:>7}  {:>11}  {:>15}  {:>5}  {:>5}  |{policies}\n",
        "",
        "",
        "mean regret",
        "worst (market)",
        "worse",
        "worse",
        "kind",
        "markets",
        "to the best",
        "",
        ">3%",
        ">10%",
    );
    for (kind, one) in rows {
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let worst = format!("{} ({})", percent(one.worst.0), one.worst.1);
        let means: String = one.mean_j.iter().map(|j| format!("  {j:>15.3}")).collect();
        out.push_str(&format!(
            "{kind:<12} {:>7}  {:>11}  {worst:>15}  {:>5}  {:>5}  |{means}\n",
            one.markets,
            percent(one.mean_regret),
            percent(one.worse[0]),
            percent(one.worse[1]),
        ));
    }
    out
}
