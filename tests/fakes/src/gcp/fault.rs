//! What goes wrong between a client and Compute Engine.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What goes wrong. Sent to a running server as JSON: `POST /fake/faults`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Faults {
    /// How many more machines fit, by `zone/type`. What is not named has room.
    pub room: BTreeMap<String, u32>,
    /// The whole service is out: nothing gets in.
    pub outage: bool,
    /// Every call is turned away: over the rate.
    pub throttled: bool,
    /// Changes are carried out, and the connection closes without an answer.
    pub answers_lost: bool,
    /// Changes are carried out, and the answer is that something broke.
    pub answers_broken: bool,
    /// Somebody else sets a label right before the next change of labels.
    pub labels_race: bool,
    /// Zones that lists cannot reach. A list of all zones fails for their sake.
    pub unreachable: BTreeSet<String>,
    /// Pages of lists hold no more than this.
    pub page: Option<usize>,
    /// The second page of a list does not come.
    pub page_lost: bool,
    /// New machines stay out of the lists for this many milliseconds.
    pub hidden_ms: u64,
    /// What a call takes, half of it before the deed and half after.
    pub latency_ms: u64,
    /// What an operation takes.
    pub operation_ms: u64,
    /// Operations never end.
    pub operations_hang: bool,
    /// The service has forgotten every request id: an hour has passed.
    pub request_ids_forgotten: bool,
    /// Answers are not what Google's description allows: for those who check the checker.
    pub misspeaks: bool,
    /// Every launch ends with this code, inside its operation.
    pub launch_error: Option<String>,
    /// Where there is no room, a machine is listed while Google tries, and then it is gone.
    pub listed_while_made: bool,
    /// A bulk launch for which no zone has room is refused outright.
    pub full_is_refused: bool,
    /// By how much a bulk launch is dated later than its parts, as clocks that differ would.
    pub launch_is_dated_late: Duration,
    /// Lower limits than this project has, by their name: `IN_USE_ADDRESSES`.
    pub limits: BTreeMap<String, u32>,
    /// What happened to machines is not among the operations.
    pub events_lost: bool,
    /// The account lacks the right to ask for advice.
    pub no_advice: bool,
    /// There is no network `default`.
    pub no_network: bool,
    /// Every change is refused outright.
    pub refuse: Option<Refusal>,
}

/// A refusal outright.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// Google's word for it: `quotaExceeded`.
    pub reason: String,
    /// Its words; empty: `Refused`.
    pub message: String,
    /// Details of the newer kind. The list of errors is sent beside them.
    pub details: Vec<Value>,
}
