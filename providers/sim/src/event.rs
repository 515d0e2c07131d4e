//! What happened. A world is the fold of its events, and nothing else.
//!
//! Events are facts, not requests: a log replays to the same world even where the catalog, or
//! the way capacity is drawn, has changed since.

use crate::fault::Fault;
use crate::limit::LimitKey;
use crate::tariff::Tariff;
use crate::time::Ms;
use fleet_model::{
    Digest, FleetName, FleetUid, Labels, MachineId, MicroUsd, Orphans, Ownership, PoolId, SlotId,
    Token,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The clock was moved.
    Time { to: Ms },
    /// A call was let in, and used up some of a limit.
    Called { limit: Option<LimitKey>, cost: u32 },
    /// A cloud took a launch to its end. `born` may be empty: then `refusal` says why.
    Launched(Launched),
    /// Machines began to end.
    Ended { ids: Vec<MachineId>, asked: Ms, gone: Ms },
    /// Disks and interfaces of a machine stay when it goes, or when its launch comes to nothing.
    Left {
        #[serde(rename = "remains")]
        orphans: Orphans,
        since: Ms,
    },
    /// They are gone.
    Cleared { machine: MachineId },
    /// A machine's labels were changed.
    Relabelled { id: MachineId, labels: Labels },
    /// The cloud wants a machine back.
    Interrupted { id: MachineId, due: Ms },
    /// A machine was shut down, and is still there.
    Stopped { id: MachineId, since: Ms },
    /// A machine does not work from now on; `worked`: it did before.
    Failed { id: MachineId, since: Ms, worked: bool },
    /// A machine lost its tags.
    Stripped { id: MachineId },
    /// A machine carries tags that were not written by its launch.
    Owned { id: MachineId, owner: Ownership },
    /// Something goes wrong from now on.
    Fault(Fault),
    /// Nothing goes wrong any more.
    Healed,
    /// Somebody wrote another slot on a machine.
    Retagged { id: MachineId, slot: SlotId },
    /// A machine is no longer known at all, and its id may be given to another.
    Forgotten { id: MachineId },
}

/// A launch and all that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Launched {
    /// What the cloud remembers the request by, hashed; `None` where it has no memory.
    pub(crate) key: Option<u64>,
    /// What was asked, so that another request under the same key is noticed.
    pub(crate) fingerprint: u64,
    pub(crate) pool: PoolId,
    pub(crate) fleet: FleetUid,
    pub(crate) name: FleetName,
    pub(crate) token: Token,
    pub(crate) template: Digest,
    /// Labels of the user's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: Labels,
    pub(crate) price: Option<MicroUsd>,
    /// What comes with each; `None` in logs from before it was metered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tariff: Option<Tariff>,
    /// vCPUs of one machine.
    pub(crate) vcpus: u32,
    /// When the answer is ready.
    pub(crate) done: Ms,
    pub(crate) born: Vec<Born>,
    /// Why there are fewer than asked for.
    pub(crate) refusal: Option<Refusal>,
}

/// One new machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Born {
    pub(crate) id: MachineId,
    pub(crate) slot: SlotId,
    pub(crate) visible: Ms,
    pub(crate) running: Ms,
    /// When its cloud gives up waiting for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fails: Option<Ms>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

/// A cloud's no, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// The HTTP status; 0 where no answer came.
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    /// Milliseconds after which the cloud wants to be asked again.
    pub(crate) after: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Refusal { status, code: code.into(), message: message.into(), after: None }
    }
}
