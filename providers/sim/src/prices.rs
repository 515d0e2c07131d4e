//! What spot of accelerators costs as time passes: seldom another price, and one close to that before.
//!
//! In 23 days EC2 changed the price of the recorded pools 0.1 to 4.4 times a day (V100) and in 3 days 4 to 7
//! times a day (R5), by 0.1 to 0.7 % on average. In a week Google changed none of 13 (`h100-gcp13`); its
//! documents say once a day at most, and somebody saw none of 3,707 change in eight days. Nobody recorded
//! Azure: it is taken for like Google, which is a guess.

use crate::chance::{below, mix2};
use crate::time::{BUCKET, EPOCH};
use fleet_model::Cloud;

/// Half hours from one point of a price to the next, on EC2: two days.
const POINTS: u64 = 96;
/// Half hours for which a price holds elsewhere: thirty days.
const HOLDS: u64 = 1440;
/// The furthest that a price goes from where it began, in steps: 5 %. Many pools stay closer.
const FURTHEST: u64 = 10;
/// Steps of half a per cent in the whole price.
pub(crate) const STEPS: u64 = 200;

/// What a price is now, in steps of half a per cent of what it was when the world began.
pub(crate) fn moved(hash: u64, cloud: Cloud, bucket: u64) -> u64 {
    let passed = bucket.saturating_sub(EPOCH / BUCKET);
    let reach = below(mix2(hash, 5), FURTHEST + 1);
    let point = |nth: u64| match nth {
        0 => STEPS,
        _ => STEPS - reach + below(mix2(hash, nth), 2 * reach + 1),
    };
    if cloud != Cloud::Aws {
        return point(passed / HOLDS);
    }
    let (nth, part) = (passed / POINTS, passed % POINTS);
    (point(nth) * (POINTS - part) + point(nth + 1) * part + POINTS / 2) / POINTS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes per day, and the largest as a share, over many pools for so many days.
    fn changes(cloud: Cloud, days: u64) -> (f64, f64) {
        const POOLS: u64 = 500;
        let (mut seen, mut largest) = (0, 0.0f64);
        for hash in 0..POOLS {
            let first = EPOCH / BUCKET;
            let all: Vec<u64> = (0..days * 48).map(|at| moved(hash, cloud, first + at)).collect();
            for two in all.windows(2).filter(|two| two[0] != two[1]) {
                seen += 1;
                largest = largest.max((two[1] as f64 / two[0] as f64 - 1.0).abs());
            }
        }
        (f64::from(seen) / (POOLS * days) as f64, largest)
    }

    #[test]
    fn prices_move_as_seldom_and_as_little_as_recorded() {
        let (per_day, largest) = changes(Cloud::Aws, 23);
        // Recorded: 2.0 per day on average over nine zones of V100, 5.7 over three of R5.
        assert!((1.0..4.4).contains(&per_day), "{per_day} a day");
        assert!(largest < 0.007, "{largest}");
        for cloud in [Cloud::Gcp, Cloud::Azure] {
            assert_eq!(changes(cloud, 29), (0.0, 0.0), "{cloud}");
            assert!(changes(cloud, 62).0 > 0.0, "{cloud} changes them after a month");
        }
    }
}
