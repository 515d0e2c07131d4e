//! Fuzzing on the stable toolchain: real inputs, damaged in ways that readers stumble over.
//!
//! Random bytes are turned away at the first of them. So each case takes a real file and damages it:
//! bits flip, parts are cut, doubled, moved and spliced, numbers grow, brackets nest, text stops
//! being UTF-8. Proptest finds the fewest damages that still fail. An input that once failed is kept
//! in `corpus/` under a name that says what it was, and is tried as it stands in every run.
//!
//! A plain `cargo test` runs some hundred cases per target. `FLEET_FUZZ_CASES` or
//! `FLEET_FUZZ_SECONDS` set how many, or for how long; `cargo xtask fuzz` sets them.

mod mutate;

pub use mutate::{LARGEST, Mutation, mutate};

use proptest::collection::vec;
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestRunner};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Cases of a plain `cargo test`.
const USUAL_CASES: u32 = 300;
/// Cases between two looks at the clock.
const BATCH: u32 = 2_000;

/// Every file of a folder of this package's corpus, by name.
pub fn corpus(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(folder))
}

/// Every file under a folder, by name.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).expect("a file")));
        }
    }
    found.sort();
    found
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: {text}")))
}

/// Damages the seeds in turn and holds each against a property, which panics if it does not hold.
/// Prints how many cases there were, for `cargo xtask fuzz`.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub fn fuzz(target: &str, seeds: &[Vec<u8>], holds: impl Fn(&[u8])) {
    assert!(!seeds.is_empty(), "{target} has no corpus");
    seeds.iter().for_each(|seed| holds(seed));
    let damages = (proptest::arbitrary::any::<Index>(), vec(Mutation::any(), 1..8));
    let inputs =
        damages.prop_map(|(which, damages)| mutate(which.get::<Vec<u8>>(seeds), seeds, &damages));
    let until = number("FLEET_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let wanted = number("FLEET_FUZZ_CASES").unwrap_or(u64::from(USUAL_CASES));
    let first = number("FLEET_FUZZ_SEED").unwrap_or(1);
    let mut done = 0;
    for seed in first.. {
        let cases = match until {
            Some(until) if Instant::now() >= until => break,
            Some(_) => BATCH,
            None if done >= wanted => break,
            None => (wanted - done).min(u64::from(BATCH)) as u32,
        };
        let config = Config {
            cases,
            failure_persistence: None,
            rng_algorithm: RngAlgorithm::ChaCha,
            rng_seed: RngSeed::Fixed(seed),
            ..Config::default()
        };
        let ran = TestRunner::new(config).run(&inputs, |input| {
            holds(&input);
            Ok::<(), TestCaseError>(())
        });
        if let Err(failure) = ran {
            panic!("{target}, FLEET_FUZZ_SEED={seed}: {}", shown(&failure));
        }
        done += u64::from(cases);
    }
    println!("fuzz {target}: {done} cases");
}

/// A failure with its input as text, as far as it is text.
fn shown(failure: &proptest::test_runner::TestError<Vec<u8>>) -> String {
    use proptest::test_runner::TestError;
    match failure {
        TestError::Abort(why) => why.to_string(),
        TestError::Fail(why, input) => {
            format!("{why}\n{}\n{input:?}", String::from_utf8_lossy(input).escape_debug())
        }
    }
}
