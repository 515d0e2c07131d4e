//! Money is whole micro-dollars. Unknown is `None`, never zero.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

/// Hours in a month of money: the 730 that every cloud's own estimate uses.
pub const HOURS_PER_MONTH: u64 = 730;

/// Micro-dollars; as a price, micro-dollars per hour.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

/// Why a text is not an amount of dollars.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an amount of dollars")]
pub struct MoneyError(pub String);

impl MicroUsd {
    /// Whole dollars.
    pub const fn dollars(dollars: u64) -> Self {
        MicroUsd(dollars * 1_000_000)
    }

    /// The nearest whole micro-dollar; `None` for what is negative, infinite or not a number.
    pub fn from_f64(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).round();
        (0.0..9e18).contains(&micros).then_some(MicroUsd(micros as u64))
    }

    /// Dollars for programs: JSON numbers and charts. Never compute with it.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The price of a month at this price per hour.
    pub fn per_month(self) -> Self {
        MicroUsd(self.0.saturating_mul(HOURS_PER_MONTH))
    }

    /// Subtraction that stops at nothing.
    pub fn saturating_sub(self, other: Self) -> Self {
        MicroUsd(self.0.saturating_sub(other.0))
    }
}

impl Add for MicroUsd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        MicroUsd(self.0.saturating_add(other.0))
    }
}

impl AddAssign for MicroUsd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for MicroUsd {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for MicroUsd {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        MicroUsd(self.0.saturating_mul(times))
    }
}

impl Sum for MicroUsd {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(MicroUsd(0), Add::add)
    }
}

/// `$1,234.50`: two decimals, up to four where the amount needs them and is below $10.
impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = self.0 < 10_000_000 && !self.0.is_multiple_of(10_000);
        let text = if small {
            let rounded = (self.0 + 50) / 100;
            format!("${}.{:04}", rounded / 10_000, rounded % 10_000)
        } else {
            let cents = (self.0 + 5_000) / 10_000;
            format!("${}.{:02}", thousands(cents / 100), cents % 100)
        };
        f.pad(&text)
    }
}

/// `12,345`: a number as people read it.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl FromStr for MicroUsd {
    type Err = MoneyError;
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let bad = || MoneyError(text.into());
        let digits = text.trim().trim_start_matches('$').replace(',', "");
        let dollars: f64 = digits.parse().map_err(|_| bad())?;
        MicroUsd::from_f64(dollars).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_read_well() {
        let check = |micros: u64, expect: &str| assert_eq!(MicroUsd(micros).to_string(), expect);
        check(0, "$0.00");
        check(918_000, "$0.9180");
        check(1_000_000, "$1.00");
        check(55_040_000, "$55.04");
        check(1_234_567_890_000, "$1,234,567.89");
        check(9_999_999, "$10.0000");
    }

    #[test]
    fn nonsense_is_not_money() {
        for bad in ["", "x", "-1", "NaN", "inf", "1e300"] {
            assert!(bad.parse::<MicroUsd>().is_err(), "{bad}");
        }
        assert_eq!("$1,200.5".parse(), Ok(MicroUsd(1_200_500_000)));
    }
}
