//! A few hundred worlds with every build. `cargo xtask swarm` lives as many as you like.

use fleet_swarm::{Kind, Outcome, live};
use std::collections::BTreeSet;

const WORLDS: u64 = 300;

/// Some faults need an occasion that comes once in three hundred worlds: a lost journal, for one, while
/// every cloud answers. By then each has struck.
const WORLDS_FOR_EVERY_FAULT: u64 = 3000;

#[test]
fn every_promise_holds() {
    let mut missing: BTreeSet<Kind> = Kind::ALL.iter().copied().collect();
    for seed in 1..=WORLDS_FOR_EVERY_FAULT {
        if seed > WORLDS && missing.is_empty() {
            break;
        }
        let Outcome { violations, faults, .. } = live(seed, false);
        assert_eq!(violations, [], "seed {seed}");
        missing.retain(|kind| !faults.contains_key(kind));
    }
    // The worlds are no good if little goes wrong in them.
    assert!(missing.is_empty(), "never struck: {missing:?}");
}

#[test]
fn a_seed_is_a_world() {
    for seed in 1..=20 {
        let (one, two) = (live(seed, true), live(seed, true));
        assert!(!one.trace.is_empty());
        assert_eq!(one.trace, two.trace, "seed {seed}");
        assert_eq!(one.fingerprint, two.fingerprint, "seed {seed}");
    }
    assert_ne!(live(1, false).fingerprint, live(2, false).fingerprint);
}
