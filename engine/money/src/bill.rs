//! Bills of clouds, as they export them, and how they compare with a ledger.
//!
//! Four forms are known by their columns: FOCUS (AWS, Azure, Google), AWS CUR 2.0, Google's BigQuery export and
//! Azure's cost details. What machines themselves cost is compared one by one. Disks, addresses and traffic are lines
//! of their own on every bill, under other names than those of machines: they are compared in one sum for each kind,
//! as far as their rows carry a fleet's tag.

mod bad;
mod cells;
mod compare;
mod forms;
mod kinds;
pub(crate) mod lines;
mod read;
mod window;

pub use bad::{BadBill, BadRow};
pub use compare::{ComparedBeside, Comparison, Differs, Machines, What, compare};
pub use forms::Form;
pub use window::Window;

use fleet_model::{Cloud, CostKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// Billionths of a dollar; credits are negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NanoUsd(pub i128);

impl NanoUsd {
    /// Dollars for people and programs. Never compute with it.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl From<crate::Spend> for NanoUsd {
    fn from(spend: crate::Spend) -> Self {
        // Micro-dollars per hour times milliseconds.
        NanoUsd((spend.raw() as i128 * 1000 + 1_800_000) / 3_600_000)
    }
}

/// What a bill says of a machine in an hour, or a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Billed {
    /// What it costs.
    pub cost: NanoUsd,
    /// How long, in milliseconds; `None` if the bill does not count time.
    pub ms: Option<u64>,
}

impl AddAssign for Billed {
    fn add_assign(&mut self, more: Self) {
        self.cost.0 += more.cost.0;
        self.ms = match (self.ms, more.ms) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (known, more) => known.or(more),
        };
    }
}

/// A machine on a bill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BilledMachine {
    /// As the bill names it.
    pub name: String,
    /// The fleet that its tags name.
    pub fleet: Option<String>,
    /// By the beginning of the hour or day, in milliseconds since 1970.
    pub times: BTreeMap<i64, Billed>,
}

/// What a bill says of machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    /// Its form.
    pub form: Form,
    /// Milliseconds that one row is about at most: an hour, or a day.
    pub grain: i64,
    /// Rows in all.
    pub rows: u64,
    /// Of those, about machines.
    pub machine_rows: u64,
    /// The clouds that it is of: machines of others are not on it. All if it does not tell.
    pub clouds: BTreeSet<Cloud>,
    /// What came beside machines, as far as its rows carry a fleet's tag: by the beginning of the hour or day.
    pub beside: BTreeMap<CostKind, BTreeMap<i64, NanoUsd>>,
    /// Machines by what is the same on bill and journal: the last part of the name, in small letters.
    pub machines: BTreeMap<String, BilledMachine>,
    /// From the first moment to the last that rows of machines are about.
    pub from: i64,
    /// See `from`.
    pub to: i64,
}

/// What a machine is called on bill and journal alike.
pub fn same_name(id: &str) -> String {
    id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase()
}
