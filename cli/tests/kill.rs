//! `kill -9` at 200 random moments: never a machine too many, none lost, at rest in the end.

mod support;

use fleet_sim::{Chance, Preset};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use support::{MORTAL, Place};

/// Moments at which the process is killed.
const KILLS: u32 = 200;
/// Machines wanted. Half the kills hit a launch, the others the fleet's end.
const WANTED: usize = 48;

#[test]
fn two_hundred_kills() {
    let mut chance = Chance::new(0x5eed);
    let (mut kills, mut seed) = (0, 0);
    while kills < KILLS {
        seed += 1;
        let place = Place::new(seed, Preset::Lifelike, Duration::from_millis(4));
        let spec = place.write("spec.yaml", MORTAL);
        let spec = spec.to_str().expect("a path");

        kills += kill_until_done(&place, &["apply", "--yes", spec], &mut chance);
        assert_eq!(place.live().len(), WANTED, "seed {seed}");
        let clouds: BTreeSet<_> = place.live().iter().map(|m| m.place.cloud).collect();
        assert_eq!(clouds.len(), 4, "every cloud's habits are tried");
        place.expect(0, &["plan", "--detailed-exitcode", spec]);
        let orphans = place.expect(0, &["sweep", "-o", "json"]);
        assert!(
            orphans.contains("\"orphans\":[]") || orphans.contains("\"orphans\": []"),
            "{orphans}"
        );

        kills += kill_until_done(&place, &["destroy", "--yes", spec], &mut chance);
        place.sim.advance(Duration::from_secs(120)).expect("time");
        assert_eq!(place.live().len(), 0, "seed {seed}: the fleet is gone");
    }
}

/// Runs a command again and again, killing it at random moments, until it ends by itself. Returns
/// how often it was killed.
fn kill_until_done(place: &Place, args: &[&str], chance: &mut Chance) -> u32 {
    let mut kills = 0;
    loop {
        // Later tries live longer, so that every world comes to an end.
        let life = Duration::from_millis(chance.below(60 + 12 * u64::from(kills)));
        let started = Instant::now();
        let mut child = place.start(args);
        let ended = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break Some(status);
            }
            if started.elapsed() >= life {
                child.kill().expect("killed");
                child.wait().expect("gone");
                break None;
            }
            place.assert_not_too_many(WANTED);
            std::thread::sleep(Duration::from_millis(1));
        };
        place.assert_not_too_many(WANTED);
        place.assert_one_per_slot();
        match ended {
            Some(status) => {
                assert_eq!(status.code(), Some(0), "{args:?}");
                return kills;
            }
            None => kills += 1,
        }
        assert!(kills < 400, "{args:?} never comes to an end");
    }
}
