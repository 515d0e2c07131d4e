//! A few hundred worlds with every build. `cargo xtask swarm` lives as many as you like.

use fleet_swarm::{Kind, Outcome, live};
use std::collections::BTreeSet;

const WORLDS: u64 = 300;

#[test]
fn every_promise_holds() {
    let mut struck: BTreeSet<Kind> = BTreeSet::new();
    for seed in 1..=WORLDS {
        let Outcome { violations, faults, .. } = live(seed, false);
        assert_eq!(violations, [], "seed {seed}");
        struck.extend(faults.keys());
    }
    // The worlds are no good if little goes wrong in them.
    let missing: Vec<_> = Kind::ALL.iter().filter(|kind| !struck.contains(*kind)).collect();
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
