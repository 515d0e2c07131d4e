//! Rates as EC2 documents them, per region.

use std::collections::BTreeMap;
use std::time::Instant;

/// What is left in each bucket, and when that was.
#[derive(Debug, Default)]
pub(crate) struct Buckets(BTreeMap<(String, &'static str), (f64, Instant)>);

/// So many at once, so many per second after that.
type Bucket = (&'static str, f64, f64);

const LAUNCHES: Bucket = ("RunInstances", 5.0, 2.0);
const MACHINES: Bucket = ("machines", 1000.0, 2.0);
const ENDS: Bucket = ("TerminateInstances", 100.0, 5.0);
const LISTS: Bucket = ("DescribeInstances", 100.0, 20.0);
/// Not documented: it throttles at a few calls a second (github-aws-runners, karpenter#9175).
const FLEETS: Bucket = ("CreateFleet", 5.0, 2.0);
const CHANGES: Bucket = ("other changes", 50.0, 5.0);

impl Buckets {
    /// Takes what a call needs; `false` if there is not enough, and then nothing is taken.
    pub(crate) fn take(&mut self, region: &str, action: &str, machines: f64, now: Instant) -> bool {
        let needs: &[(Bucket, f64)] = match action {
            "RunInstances" => &[(LAUNCHES, 1.0), (MACHINES, machines)],
            "TerminateInstances" => &[(ENDS, 1.0)],
            "DescribeInstances" => &[(LISTS, 1.0)],
            "CreateFleet" => &[(FLEETS, 1.0), (MACHINES, machines)],
            "CreateLaunchTemplate" | "DeleteLaunchTemplate" => &[(CHANGES, 1.0)],
            _ => &[],
        };
        let free = needs.iter().all(|(bucket, amount)| self.level(region, *bucket, now) >= *amount);
        for ((name, size, rate), amount) in needs.iter().filter(|_| free) {
            let level = self.level(region, (name, *size, *rate), now);
            self.0.insert((region.to_owned(), name), (level - amount, now));
        }
        free
    }

    fn level(&self, region: &str, (name, size, rate): Bucket, now: Instant) -> f64 {
        match self.0.get(&(region.to_owned(), name)) {
            Some((level, then)) => (level + (now - *then).as_secs_f64() * rate).min(size),
            None => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn five_launches_at_once_and_two_a_second() {
        let start = Instant::now();
        let mut buckets = Buckets::default();
        let mut at =
            |millis| buckets.take("r", "RunInstances", 10.0, start + Duration::from_millis(millis));
        let first: Vec<bool> = (0..6).map(|_| at(0)).collect();
        assert_eq!(first, [true, true, true, true, true, false]);
        assert_eq!([at(400), at(500), at(900), at(1000)], [false, true, false, true]);
        assert!(!buckets.take("s", "RunInstances", 1001.0, start), "more machines than the bucket");
    }

    #[test]
    fn fleets_are_as_slow_as_launches() {
        let (start, mut buckets) = (Instant::now(), Buckets::default());
        let first: Vec<bool> =
            (0..6).map(|_| buckets.take("r", "CreateFleet", 10.0, start)).collect();
        assert_eq!(first, [true, true, true, true, true, false]);
        assert!(buckets.take("r", "RunInstances", 10.0, start), "each action has its own");
        assert!(!buckets.take("s", "CreateFleet", 1001.0, start), "more machines than the bucket");
    }
}
