//! Memory of replicas, hour by hour.

use crate::judge::percentile;
use serde_json::Value;
use std::collections::BTreeMap;

/// What was seen in each simulated hour, in KiB, look by look.
#[derive(Default)]
pub(crate) struct Hours(BTreeMap<u64, Vec<u64>>);

impl Hours {
    pub(crate) fn saw(&mut self, hour: u64, kib: impl IntoIterator<Item = u64>) {
        self.0.entry(hour).or_default().extend(kib);
    }

    /// The middle of an hour, not its most: what one replica holds for a moment is chance.
    fn middle(&self, hour: u64) -> Option<u64> {
        percentile(self.0.get(&hour)?, 50)
    }

    /// Whether one hour is within a tenth of an earlier one. What was not measured is not flat.
    pub(crate) fn is_flat(&self, first: u64, last: u64) -> bool {
        let ends = self.middle(first).zip(self.middle(last));
        ends.is_some_and(|(first, last)| last <= first + first / 10)
    }

    pub(crate) fn told(&self) -> Value {
        self.0.keys().map(|hour| self.middle(*hour)).collect()
    }
}
