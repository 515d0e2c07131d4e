//! What capacity is counted in.

use crate::{Figure, UnknownName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// What a fleet counts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Unit {
    /// Machines.
    #[default]
    Instances,
    /// Virtual CPUs.
    Vcpus,
    /// Accelerators of any kind.
    Gpus,
    /// Gibibytes of memory.
    MemoryGib,
    /// What accelerators can do, by published figures.
    Figure(Figure),
    /// What machines do by the user's own table, which is among the weights.
    Work,
}

impl Unit {
    /// The unit as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Instances => "instances",
            Unit::Vcpus => "vcpus",
            Unit::Gpus => "gpus",
            Unit::MemoryGib => "memoryGiB",
            Unit::Figure(figure) => figure.as_str(),
            Unit::Work => "work",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Unit> for &'static str {
    fn from(unit: Unit) -> Self {
        unit.as_str()
    }
}

impl TryFrom<String> for Unit {
    type Error = UnknownName;
    fn try_from(text: String) -> Result<Self, UnknownName> {
        let figures = Figure::ALL.into_iter().map(Unit::Figure);
        [Unit::Instances, Unit::Vcpus, Unit::Gpus, Unit::MemoryGib, Unit::Work]
            .into_iter()
            .chain(figures)
            .find(|unit| unit.as_str() == text)
            .ok_or(UnknownName { what: "unit of capacity", text })
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
