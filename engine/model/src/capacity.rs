//! What capacity is counted in.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// What a fleet counts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Unit {
    /// Machines.
    #[default]
    #[serde(rename = "instances")]
    Instances,
    /// Virtual CPUs.
    #[serde(rename = "vcpus")]
    Vcpus,
    /// Accelerators of any kind.
    #[serde(rename = "gpus")]
    Gpus,
    /// Gibibytes of memory.
    #[serde(rename = "memoryGiB")]
    MemoryGib,
}

impl Unit {
    /// The unit as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Instances => "instances",
            Unit::Vcpus => "vcpus",
            Unit::Gpus => "gpus",
            Unit::MemoryGib => "memoryGiB",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An amount of capacity in thousandths of its unit: an eighth of a GPU is 125, exactly.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Units(pub u64);

impl Units {
    /// Whole units.
    pub const fn whole(units: u64) -> Self {
        Units(units.saturating_mul(1000))
    }

    /// Subtraction that stops at nothing.
    pub fn saturating_sub(self, other: Self) -> Self {
        Units(self.0.saturating_sub(other.0))
    }

    /// The amount as a number for programs.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Whether there is nothing of it.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}", self.as_f64()))
    }
}

impl Add for Units {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Units(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Units {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Sum for Units {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Units(0), Add::add)
    }
}
