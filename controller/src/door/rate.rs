//! How often somebody may ask. Pure: time is handed in.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Buckets that are kept. A stranger cannot make us remember more.
const REMEMBERED: usize = 10_000;

/// So many requests per second, and so many at once.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// Per second.
    pub per_second: f64,
    /// At once.
    pub burst: f64,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// How much everybody has left.
#[derive(Debug)]
pub struct Rates {
    rate: Rate,
    buckets: HashMap<String, Bucket>,
}

impl Rates {
    /// Everybody may ask at this rate.
    pub fn new(rate: Rate) -> Self {
        Rates { rate, buckets: HashMap::new() }
    }

    /// Takes one, or says how long to wait.
    pub fn take(&mut self, who: &str, now: Instant) -> Result<(), Duration> {
        let Rate { per_second, burst } = self.rate;
        let filled = |bucket: &Bucket| {
            let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.left + passed * per_second).min(burst)
        };
        if !self.buckets.contains_key(who) && self.buckets.len() >= REMEMBERED {
            // A caller with a full bucket is as good as unknown.
            self.buckets.retain(|_, bucket| filled(bucket) < burst);
            if self.buckets.len() >= REMEMBERED {
                return Err(Duration::from_secs(1));
            }
        }
        let new = || Bucket { left: burst, at: now };
        let bucket = self.buckets.entry(who.to_owned()).or_insert_with(new);
        let left = filled(bucket);
        *bucket = Bucket { left, at: now };
        if left >= 1.0 {
            bucket.left = left - 1.0;
            return Ok(());
        }
        let wait = (1.0 - left) / per_second.max(0.001);
        Err(Duration::from_secs_f64(wait))
    }

    /// Whether the next one would have to wait.
    pub fn is_spent(&self, who: &str, now: Instant) -> Option<Duration> {
        let bucket = self.buckets.get(who)?;
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        let left = bucket.left + passed * self.rate.per_second;
        (left < 1.0)
            .then(|| Duration::from_secs_f64((1.0 - left) / self.rate.per_second.max(0.001)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_a_rate() {
        let mut rates = Rates::new(Rate { per_second: 2.0, burst: 3.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take("ada", start), Ok(()));
        }
        assert_eq!(rates.take("ada", start), Err(Duration::from_millis(500)));
        assert!(rates.is_spent("ada", start).is_some());
        assert_eq!(rates.take("bob", start), Ok(()));
        let later = start + Duration::from_millis(500);
        assert_eq!(rates.take("ada", later), Ok(()));
        assert!(rates.take("ada", later).is_err());
    }

    #[test]
    fn strangers_are_forgotten_when_there_are_too_many() {
        let mut rates = Rates::new(Rate { per_second: 1.0, burst: 1.0 });
        let start = Instant::now();
        for nth in 0..REMEMBERED {
            assert_eq!(rates.take(&nth.to_string(), start), Ok(()));
        }
        assert!(rates.take("one more", start).is_err());
        assert_eq!(rates.take("one more", start + Duration::from_secs(2)), Ok(()));
        assert!(rates.buckets.len() < 10);
    }
}
