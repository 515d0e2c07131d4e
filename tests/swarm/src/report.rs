//! What a thousand worlds came to, in words and as one line of JSON.

use fleet_swarm::{Counts, Kind, Outcome, live};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Says something on stdout. A reader that went away is no reason to stop.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Says something on stderr, where it does not mix with results.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn exit(ok: bool) -> ExitCode {
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Lives worlds on every core, and hands each outcome over until one asks to stop.
fn live_all<T: Send>(
    from: u64,
    seeds: u64,
    one: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(T) -> bool + Send,
) {
    let next = AtomicU64::new(from);
    let stop = AtomicBool::new(false);
    let take = Mutex::new(&mut take);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + seeds {
                        break;
                    }
                    let done = one(seed);
                    if let Ok(mut take) = take.lock()
                        && !take(done)
                    {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
}

/// One world, with everything that happens in it.
pub(crate) fn one(seed: u64) -> ExitCode {
    let Outcome { violations, trace, lasted, .. } = live(seed, true);
    say(trace.trim_end());
    let figures = json!({
        "command": "swarm",
        "seeds": 1,
        "simulatedHours": hours(lasted),
        "violations": violations.len(),
    });
    say(&figures.to_string());
    exit(violations.is_empty())
}

/// Many worlds.
pub(crate) fn swarm(from: u64, seeds: u64) -> ExitCode {
    let mut lasted = Duration::ZERO;
    let mut faults = Counts::new();
    let mut broken: Vec<Outcome> = Vec::new();
    let mut lived = 0;
    live_all(
        from,
        seeds,
        |seed| live(seed, false),
        |outcome| {
            lasted += outcome.lasted;
            lived += 1;
            for (kind, count) in &outcome.faults {
                *faults.entry(*kind).or_default() += count;
            }
            if lived % 5_000 == 0 {
                note(&format!("{lived} worlds lived"));
            }
            if !outcome.violations.is_empty() {
                broken.push(outcome);
            }
            true
        },
    );
    broken.sort_by_key(|outcome| outcome.seed);
    for outcome in broken.iter().take(20) {
        for violation in outcome.violations.iter().take(1) {
            say(&format!("seed {}: {violation}", outcome.seed));
        }
    }
    say(&format!("{lived} worlds, {} simulated hours, {} broken", hours(lasted), broken.len()));
    let mut counted = Map::new();
    for kind in Kind::ALL {
        let count = faults.get(kind).copied().unwrap_or_default();
        say(&format!("  {:>9} × {}", count, kind.as_str()));
        counted.insert(kind.as_str().into(), Value::from(count));
    }
    if let Some(first) = broken.first() {
        let seed = first.seed;
        say(&format!("next: `cargo xtask swarm --seed {seed} --trace` shows what happened"));
    }
    let figures = json!({
        "command": "swarm",
        "seeds": lived,
        "simulatedHours": hours(lasted),
        "faults": counted,
        "violations": broken.len(),
    });
    say(&figures.to_string());
    exit(broken.is_empty())
}

fn hours(lasted: Duration) -> u64 {
    lasted.as_secs() / 3600
}

/// Each world twice: the traces must be the same, byte for byte.
pub(crate) fn determinism(from: u64, seeds: u64) -> ExitCode {
    let mut bytes = 0;
    let mut differ = Vec::new();
    let twice = |seed| (seed, live(seed, true).trace, live(seed, true).trace);
    live_all(from, seeds, twice, |(seed, once, again)| {
        bytes += once.len();
        if once != again {
            differ.push(seed);
        }
        true
    });
    differ.sort_unstable();
    for seed in differ.iter().take(20) {
        say(&format!("seed {seed} differs from itself"));
    }
    say(&format!("{seeds} worlds lived twice, {bytes} bytes of trace, {} differ", differ.len()));
    let figures = json!({
        "command": "determinism",
        "seeds": seeds,
        "bytes": bytes,
        "different": differ.len(),
    });
    say(&figures.to_string());
    exit(differ.is_empty())
}

/// Without the bugs there is nothing to find.
#[cfg(not(feature = "bugs"))]
pub(crate) fn sensitivity(_: Option<&str>, _: u64, _: u64) -> ExitCode {
    note("this build has no seeded bugs; `cargo xtask sensitivity` makes one that has");
    ExitCode::from(64)
}

#[cfg(feature = "bugs")]
fn holds_without(seed: u64) -> bool {
    fleet_model::bugs::switch_on(None);
    live(seed, false).violations.is_empty()
}

/// Worlds that found a bug when they were searched from the first one on. They are lived first; a bug that
/// its world no longer finds is searched for again.
#[cfg(feature = "bugs")]
const FOUND_BY: &[(&str, u64)] = &[
    ("RereadIgnoresSlot", 13332),
    ("VanishedSpotFrozen", 148),
    ("RefusalOfResendBelieved", 22708),
    ("LeaseNotChecked", 2394),
    ("LeaseRevived", 1646),
    ("SettleWindowFromIntent", 2566),
    ("MachinesCountedForSlots", 30369),
    ("WallClockTrusted", 11220),
    ("DoubtWrittenOffBeforeChildren", 608),
    ("SilentEndsNotCounted", 3253),
    ("LostJournalIgnored", 426),
    ("BlocksOfRoundIgnored", 424),
    ("RetriesUnlimited", 545),
    ("TurnsKeptOverSleep", 9066),
    ("ChecksumNotCompared", 238),
    ("StalePlanTaken", 270),
    ("ChecksIgnored", 3599),
    ("UnhealthyReplacedWithoutBound", 30141),
    ("FailedWaveIgnored", 151),
    ("WindowIgnored", 670),
    ("FallbackFlaps", 682),
    ("FreezeByHandIgnored", 22),
    ("ScheduleKeepsPrevious", 11),
    ("ExpiryIgnored", 5),
    ("PruneUnasked", 121),
    ("PruneUnlimited", 4),
];

/// Each bug, until a world finds it. With a first seed of one's own, nothing but a search.
#[cfg(feature = "bugs")]
pub(crate) fn sensitivity(only: Option<&str>, from: u64, seeds: u64) -> ExitCode {
    use fleet_model::bugs::{Bug, switch_on};
    let bugs: Vec<Bug> = Bug::ALL
        .iter()
        .copied()
        .filter(|bug| only.is_none_or(|name| bug.as_str() == name))
        .collect();
    let mut catches = Map::new();
    let mut missed = Vec::new();
    for bug in &bugs {
        let mut first: Option<Outcome> = None;
        let one = |seed| {
            switch_on(Some(*bug));
            live(seed, false)
        };
        let mut take = |outcome: Outcome| {
            // Caught is what breaks with the bug and holds without.
            let found = !outcome.violations.is_empty() && holds_without(outcome.seed);
            if found && first.as_ref().is_none_or(|first| outcome.seed < first.seed) {
                first = Some(outcome);
            }
            first.is_none()
        };
        let known = FOUND_BY.iter().find(|(name, _)| *name == bug.as_str());
        let known = known.filter(|_| from == 1).is_some_and(|(_, seed)| !take(one(*seed)));
        if !known {
            // Bugs about money show in worlds about money.
            let money = bug.as_str().starts_with("Budget");
            let from = if money { fleet_swarm::PURSES + from } else { from };
            live_all(from, seeds, one, take);
        }
        match first {
            Some(Outcome { seed, violations, .. }) => {
                let violation = &violations[0];
                say(&format!("{:<28} seed {seed:>5}  {violation}", bug.as_str()));
                let class = violation.class.to_string();
                catches.insert(bug.as_str().into(), json!({ "seed": seed, "class": class }));
            }
            None => {
                say(&format!("{:<28} not found in {seeds} worlds", bug.as_str()));
                missed.push(bug.as_str());
            }
        }
    }
    let found = bugs.len() - missed.len();
    say(&format!("{found} of {} seeded bugs are found", bugs.len()));
    let figures = json!({
        "command": "sensitivity",
        "bugs": bugs.len(),
        "found": found,
        "catches": catches,
        "missed": missed,
    });
    say(&figures.to_string());
    exit(missed.is_empty())
}
