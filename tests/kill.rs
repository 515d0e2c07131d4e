//! `kill -9` at 200 random moments: never a machine too many, none lost, at rest in the end.

mod support;

use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use support::Place;

/// Moments at which the process is killed.
const KILLS: u32 = 200;
/// Machines wanted. Half the kills hit a launch, the others the fleet's end.
const WANTED: usize = 48;

/// Spread over clouds with different habits: batches with tokens (AWS), operations (GCP, Azure),
/// one machine per request and no token at all (Lambda).
const SPEC: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: mortal }
spec:
  capacity: { unit: instances, target: 48, base: { onDemand: 16 } }
  instances: { families: [m6i, n2, Standard_D2s_v5, Standard_D4s_v5, Standard_D8s_v5, cpu_4x] }
  placement:
    strategy: prioritized
    priorities: [cpu_4x, Standard_D*, n2, m6i]
    clouds:
      - { provider: aws, regions: [us-east-1] }
      - { provider: gcp, regions: [us-central1] }
      - { provider: azure, regions: [eastus] }
      - { provider: lambda, regions: [us-*] }
    spread: { maxSharePerPool: 10%, maxSharePerProvider: 30% }
";

#[test]
fn two_hundred_kills() {
    let mut chance = Chance(0x5eed);
    let (mut kills, mut seed) = (0, 0);
    while kills < KILLS {
        seed += 1;
        let place = Place::new(seed, Preset::Lifelike, Duration::from_millis(4));
        let spec = place.write("spec.yaml", SPEC);
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
            assert_not_too_many(place);
            std::thread::sleep(Duration::from_millis(1));
        };
        assert_not_too_many(place);
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

/// Never more than wanted, but for the surge: a machine that its cloud is taking back may stand
/// beside its replacement for as long as the notice lasts.
fn assert_not_too_many(place: &Place) {
    let live = place.live();
    let leaving = live.iter().filter(|machine| machine.notice.is_some()).count();
    let most = WANTED + leaving;
    assert!(live.len() <= most, "{} machines, {WANTED} wanted, {leaving} leaving", live.len());
}

/// A small generator (SplitMix64): the moments repeat, the machine's own timing does not.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
