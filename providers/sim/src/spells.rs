//! How spot capacity of accelerators comes and goes: in spells that last the longer, the longer they
//! have lasted.

use crate::chance::mix2;

/// How much a draw counts that holds for a half hour, 4, 16, 64, 256 or 1,024 of them.
///
/// A pool is a sum of such draws. Most of the time the slow ones decide and the quick ones change nothing: a spell of days.
/// Where they come to about the middle, the quick ones throw the pool to and fro. So the chance to
/// lose a slot falls about as 1 / age, as it does in all recordings of accelerators there are:
/// 13 zones of Google's H100 (`SkyNomad`) and 12 of EC2's V100 (`SkyPilot`'s spot traces), and in one
/// of a CPU type. Per hour, by the age of the spell, in hours, looked at every half hour:
///
/// | slot | up | 0 to 1 | 1 to 6 | 6 to 24 | 24 and more | up-time in spells of a day or more |
/// |---|--:|--:|--:|--:|--:|--:|
/// | h100-gcp13, 1st | .71 | .54 | .12 | .061 | .017 | .53 |
/// | h100-gcp13, 8th | .53 | .70 | .25 | .079 | .010 | .39 |
/// | v100-9z, 1st | .56 | .59 | .21 | .104 | .029 | .38 |
/// | v100-4n, 1st | .41 | .58 | .26 | .033 | | .38 |
/// | here, 1st | .66 | .65 | .24 | .073 | .024 | .48 |
/// | here, 8th | .47 | .71 | .28 | .086 | .032 | .37 |
///
/// The weights are the smallest that come near; decision 0046 has more of the figures.
const WEIGHTS: [u64; 6] = [4, 5, 5, 6, 7, 8];

/// The highest sum of draws.
const HIGHEST: u64 = 35 * 0xffff;

/// Up to this sum a pool is empty, about a third of the time (recorded: .25 to .59).
const EMPTY: u64 = HIGHEST * 44 / 100;

/// From this sum on it is full, about a third of the time too (h100-gcp13: .39, the only recording
/// that tells sixteen machines apart).
const FULL: u64 = HIGHEST * 53 / 100;

/// How many machines a scarce pool of a size carries in a half hour. Whole numbers, so that every
/// platform draws the same line.
pub(crate) fn carried(hash: u64, bucket: u64, size: u64) -> u64 {
    // Pools do not change together: each has a phase of its own at each scale.
    let phases = mix2(hash, 3);
    let draw = |(scale, weight): (u64, u64)| {
        let bits = 2 * scale;
        let phase = (phases >> (9 * scale)) & ((1 << bits) - 1);
        weight * (mix2(hash ^ (scale + 1), (bucket + phase) >> bits) & 0xffff)
    };
    let sum: u64 = (0..).zip(WEIGHTS).map(draw).sum();
    size * (sum.clamp(EMPTY, FULL) - EMPTY) / (FULL - EMPTY)
}

#[cfg(test)]
mod tests {
    use crate::pools::Pools;
    use crate::settings::Settings;
    use crate::time::{BUCKET, EPOCH};
    use fleet_model::{Accelerators, Catalog, InstanceKind};
    use std::sync::Arc;

    const WEEK: u64 = 7 * 48;

    /// Where the ages of a spell are told apart, in half hours.
    const AGES: [u64; 5] = [0, 2, 12, 48, WEEK + 1];

    /// What became of a slot in many weeks, each of its own.
    #[derive(Default)]
    struct Slot {
        up: u64,
        /// Of that, in spells of a day and more.
        long: u64,
        /// By age: half hours, and losses.
        ages: [(u64, u64); 4],
    }

    impl Slot {
        /// A spell of so many half hours; one at the end of a recording is not `lost`.
        fn add(&mut self, spell: u64, lost: bool) {
            self.up += spell;
            self.long += if spell >= 48 { spell } else { 0 };
            for (age, from) in self.ages.iter_mut().zip(AGES.windows(2)) {
                age.0 += spell.clamp(from[0], from[1]) - from[0];
                age.1 += u64::from(lost && from[0] < spell && spell <= from[1]);
            }
        }

        /// Losses per hour, in thousandths, by age.
        fn hazards(&self) -> [u64; 4] {
            self.ages.map(|(half_hours, lost)| 2000 * lost / half_hours.max(1))
        }
    }

    /// Pools of one week each, as the recordings are.
    fn weeks() -> Vec<Vec<u32>> {
        let mut catalog = Catalog::clone(&crate::tests::catalog());
        let accelerators =
            Accelerators { name: None, count_milli: 8000, memory_mib: None, maker: None };
        for kind in &mut catalog.kinds {
            let mut of = InstanceKind::clone(kind);
            of.resources.accelerators = Some(accelerators.clone());
            *kind = Arc::new(of);
        }
        let pools = Pools::new(Arc::new(catalog), None);
        let id = "aws/r/z/t.large/spot".parse().expect("a pool");
        let pool = pools.find(&id).expect("it is sold");
        let week = |seed| {
            let settings = Settings { seed, ..Settings::default() };
            let carries = |at: u64| pool.capacity(&settings, EPOCH + at * BUCKET);
            (0..WEEK).map(carries).collect()
        };
        (0..2000).map(week).collect()
    }

    fn slot(nth: u32, weeks: &[Vec<u32>]) -> Slot {
        let mut slot = Slot::default();
        for week in weeks {
            let runs: Vec<&[u32]> = week.chunk_by(|a, b| (*a < nth) == (*b < nth)).collect();
            for (at, run) in runs.iter().enumerate().filter(|(_, run)| run[0] >= nth) {
                slot.add(run.len() as u64, at + 1 < runs.len());
            }
        }
        slot
    }

    /// From the recordings, looked at every half hour, as in the table of [`super::WEIGHTS`]: the lowest
    /// and the highest of them, and a fifth more, since three to thirteen zones in one to three weeks
    /// tell no more. One recording alone has slots 8 and 12, and its deep zones were its calm ones: what is
    /// old there may be lost up to four times as often as in it. Only pools of 12 and more have a slot 12.
    #[test]
    fn the_longer_a_slot_has_been_there_the_longer_it_stays() {
        let weeks = weeks();
        let thousandths = |part: u64, of: u64| 1000 * part / of;
        for (nth, up, long, hazards) in [
            (1, 410..=740, 380..=530, [280..=705, 98..=324, 26..=125, 14..=35]),
            (4, 350..=740, 200..=440, [280..=734, 138..=512, 59..=125, 12..=35]),
            (8, 440..=640, 310..=470, [560..=842, 201..=301, 63..=95, 8..=40]),
            (12, 300..=550, 250..=370, [619..=929, 202..=302, 69..=103, 7..=40]),
        ] {
            let slot = slot(nth, &weeks);
            let seen = slot.hazards();
            let all_up = thousandths(slot.up, weeks.len() as u64 * WEEK);
            assert!(up.contains(&all_up), "slot {nth} is up for {all_up}, not {up:?}");
            let old = thousandths(slot.long, slot.up);
            assert!(long.contains(&old), "slot {nth}: {old} of it in long spells, not {long:?}");
            for (age, (seen, bounds)) in seen.iter().zip(hazards).enumerate() {
                assert!(bounds.contains(seen), "slot {nth}, age {age}: {seen}, not {bounds:?}");
            }
            let falls = seen.windows(2).all(|two| two[1] * 2 < two[0]);
            assert!(falls, "slot {nth}: {seen:?} falls by half from age to age");
        }
        let empty = weeks.iter().flatten().filter(|carries| **carries == 0).count();
        let empty = thousandths(empty as u64, weeks.len() as u64 * WEEK);
        assert!((250..=590).contains(&empty), "{empty} of a thousand pools are empty");
    }
}
