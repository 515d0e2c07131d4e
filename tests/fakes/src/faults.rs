//! What goes wrong on demand, in words that all clouds share.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What goes wrong, until it is replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Faults {
    /// How many more machines there is room for, by `region/type`. What is not named has room.
    pub room: BTreeMap<String, u32>,
    /// The account's limit of machines, by region. What is not named has none.
    pub quota: BTreeMap<String, u32>,
    /// Nothing gets in.
    pub out: bool,
    /// Every call is turned away.
    pub throttled: bool,
    /// Changes are carried out, and the connection closes without an answer.
    pub answers_lost: bool,
    /// Changes are carried out, and the answer is that something broke.
    pub answers_broken: bool,
    /// Machines on a page of a list, where the cloud has pages.
    pub page: Option<usize>,
    /// Lists end too early: their second page does not come, or their only one is cut short.
    pub page_lost: bool,
    /// New machines stay out of lists for so many seconds.
    pub hidden_for: u64,
    /// What the cloud takes its time for in milliseconds, half before the deed and half after.
    pub latency: u64,
    /// Every launch is refused with this.
    pub refuse: Option<Refusal>,
    /// Launches are accepted and fail later, with this code, where the cloud does that.
    pub fails_later: Option<String>,
    /// Ends are accepted and fail later, where the cloud does that.
    pub ends_fail: bool,
    /// Disks and interfaces stay when their machine goes, and ending them fails later, where the cloud
    /// has them.
    pub children_stay: bool,
    /// How many reads the cloud says are left, where it says so.
    pub reads_left: Option<i64>,
    /// Rates are not kept watch over.
    pub unlimited: bool,
}

/// A refusal in the cloud's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// The code.
    pub code: String,
    /// The words.
    pub message: String,
}
