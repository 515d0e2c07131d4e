//! Shares of a whole, exact to one part in a million.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A share between 0 % and 100 %, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// Everything.
    pub const ALL: Share = Share(1_000_000);
    /// One in ten.
    pub const TENTH: Share = Share(100_000);
    /// One half.
    pub const HALF: Share = Share(500_000);
    /// Nothing.
    pub const NONE: Share = Share(0);

    /// A share from parts per million; `None` above the whole.
    pub fn from_ppm(ppm: u32) -> Option<Self> {
        (ppm <= 1_000_000).then_some(Share(ppm))
    }

    /// A share from per cent; `None` outside 0–100.
    pub fn from_percent(percent: f64) -> Option<Self> {
        (0.0..=100.0).contains(&percent).then(|| Share((percent * 10_000.0).round() as u32))
    }

    /// Parts per million.
    pub fn ppm(self) -> u32 {
        self.0
    }

    /// This share of a whole, rounded down.
    pub fn floor_of(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0) / 1_000_000) as u64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", f64::from(self.0) / 10_000.0))
    }
}
