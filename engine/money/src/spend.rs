//! Amounts that add up exactly, however they are cut.

use fleet_model::MicroUsd;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

const MS_PER_HOUR: u128 = 3_600_000;

/// What was spent: price per hour in micro-dollars, times milliseconds. Divided when it is shown and not
/// before, so that the days of a year add up to the year to the last digit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spend(u128);

impl Spend {
    /// A price for a time.
    pub fn of(hourly: MicroUsd, ms: u64) -> Self {
        Spend(u128::from(hourly.0) * u128::from(ms))
    }

    /// The nearest whole micro-dollar, half up.
    pub fn micros(self) -> MicroUsd {
        let micros = (self.0 + MS_PER_HOUR / 2) / MS_PER_HOUR;
        MicroUsd(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// From the smallest unit.
    pub fn from_raw(raw: u128) -> Self {
        Spend(raw)
    }

    /// In the smallest unit, for programs that add up themselves.
    pub fn raw(self) -> u128 {
        self.0
    }

    /// Subtraction that stops at nothing.
    pub fn saturating_sub(self, other: Self) -> Self {
        Spend(self.0.saturating_sub(other.0))
    }

    /// The price per hour at which a time costs this much; `None` for no time.
    pub fn per_hour(self, ms: u128) -> Option<MicroUsd> {
        (ms > 0).then(|| MicroUsd(u64::try_from((self.0 + ms / 2) / ms).unwrap_or(u64::MAX)))
    }
}

impl Add for Spend {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Spend(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Spend {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Spend(self.0.saturating_mul(u128::from(times)))
    }
}

impl Sum for Spend {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Spend::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let price = MicroUsd(1_234_567);
        let whole = Spend::of(price, 86_400_001);
        let parts: Spend = (0..3).map(|_| Spend::of(price, 28_800_000)).sum();
        assert_eq!(parts + Spend::of(price, 1), whole);
        assert_eq!(Spend::of(MicroUsd::dollars(36), 100).micros(), MicroUsd(1000));
        assert_eq!(whole.per_hour(86_400_001), Some(price));
        assert_eq!(Spend::default().per_hour(0), None);
    }
}
