//! The protocol holds in every state that three slots and two appliers can reach, and each part of
//! it is needed: without it a counterexample is found.
#![expect(clippy::print_stderr, reason = "how much was explored is worth knowing")]

use fleet_protocol::{Broken, Protocol};
use stateright::{Checker, Model};

/// The worlds that must be safe: every pause but one is unbounded.
const SAFE: Protocol = Protocol { tokens: true, long_pauses: false, broken: None, troubles: 2 };

/// Explores everything; gives the names of what does not hold, or never happens.
fn explore(name: &str, protocol: Protocol) -> (usize, Vec<&'static str>) {
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let checker = protocol.checker().threads(threads).spawn_bfs().join();
    let found = checker.discoveries();
    let states = checker.unique_state_count();
    let broken: Vec<&str> = protocol
        .properties()
        .iter()
        .filter(|property| {
            let sometimes = matches!(property.expectation, stateright::Expectation::Sometimes);
            found.contains_key(property.name) != sometimes
        })
        .map(|property| property.name)
        .collect();
    eprintln!("{name}: {states} states, {} deep, not held: {broken:?}", checker.max_depth());
    for (name, path) in found.into_iter().filter(|(name, _)| broken.contains(name)) {
        eprintln!("  {name}: {:?}", path.into_actions());
    }
    (states, broken)
}

#[test]
fn a_cloud_with_tokens_is_safe() {
    let (states, broken) = explore("tokens", SAFE);
    assert_eq!(broken, [""; 0]);
    assert!(states > 100_000, "{states} states");
}

#[test]
fn a_cloud_without_tokens_is_safe() {
    let (states, broken) = explore("no tokens", Protocol { tokens: false, ..SAFE });
    assert_eq!(broken, [""; 0]);
    assert!(states > 10_000, "{states} states");
}

/// A holder that sleeps between its check and its send, for longer than the settle window: what it
/// then sends was given up for dead. That is all that is left, on either kind of cloud.
#[test]
fn the_residual_is_a_late_request_and_nothing_else() {
    for tokens in [true, false] {
        let name = format!("long pauses, tokens: {tokens}");
        let (_, broken) = explore(&name, Protocol { tokens, long_pauses: true, ..SAFE });
        assert_eq!(broken, ["one machine per slot", "no request is late"], "tokens: {tokens}");
    }
}

#[test]
fn each_part_is_needed() {
    let without = [
        (Broken::NoEpochRecord, "epochs only rise"),
        (Broken::AppendNotConditional, "no append is lost"),
        (Broken::LeaseNotChecked, "one machine per slot"),
        (Broken::NoSettleWindow, "one machine per slot"),
    ];
    for (part, breaks) in without {
        let broken = Some(part);
        let (_, broken) = explore(&format!("{part:?}"), Protocol { broken, ..SAFE });
        assert!(broken.contains(&breaks), "{part:?}: {broken:?}");
    }
}
