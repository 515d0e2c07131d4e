//! What exists, as far as the clouds told us.

use crate::{
    Access, Cloud, Digest, FleetName, FleetUid, InstanceType, MachineId, Market, MicroUsd, Place,
    PoolId, Probed, Readings, Scope, SlotId, Timestamp, Token,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One machine, as its cloud describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// The cloud's name for it.
    pub id: MachineId,
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub instance_type: InstanceType,
    /// How it is paid for.
    pub market: Market,
    /// How it is.
    pub state: MachineState,
    /// When the cloud made it.
    pub launched_at: Timestamp,
    /// Price per hour, where the cloud tells.
    pub price: Option<MicroUsd>,
    /// What its tags say of its owner. `None`: not ours.
    pub owner: Option<Ownership>,
    /// The cloud means to take it back.
    pub notice: Option<InterruptionNotice>,
    /// Why it is in the state that it is in, where the cloud tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// How it is reached.
    #[serde(default, skip_serializing_if = "Access::is_unknown")]
    pub access: Access,
}

/// Why a machine is not well, or is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// What kind of reason.
    pub kind: CauseKind,
    /// The cloud's own words. Hostile until shown otherwise: escape before printing.
    pub words: String,
}

impl Cause {
    /// A reason in the cloud's words.
    pub fn new(kind: CauseKind, words: impl Into<String>) -> Self {
        Cause { kind, words: words.into() }
    }
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CauseKind {
    /// The cloud took it back.
    Interrupted,
    /// A person or a program of theirs ended or stopped it.
    Person,
    /// It shut itself down from inside.
    Guest,
    /// Its time was limited from the start and is over.
    Expired,
    /// The cloud accepted the launch, and the machine ended before it ever ran.
    LaunchFailed,
    /// It never reported ready. It is paid for, and nobody should wait for it.
    NeverReady,
    /// It came up once, and its cloud now says that something is wrong with it.
    Unwell,
    /// Its cloud sees nothing wrong, and it is not ready: it took too long, or its checks fail.
    NotReady,
}

impl Machine {
    /// The pool it was taken from.
    pub fn pool(&self) -> PoolId {
        PoolId {
            place: self.place.clone(),
            instance_type: self.instance_type.clone(),
            market: self.market,
        }
    }

    /// Whether it still runs and its cloud has said that it takes it back.
    pub fn is_taken_back(&self) -> bool {
        let notice = self.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
        notice && self.state.is_live()
    }
}

/// The life of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MachineState {
    /// Being made.
    Pending,
    /// Up.
    Running,
    /// There and paid for, and its cloud says that it does not work.
    Failed,
    /// Shut down, and still there: its disk at least is paid for.
    Stopped,
    /// Being ended.
    Stopping,
    /// Gone, but still listed.
    Terminated,
}

impl MachineState {
    /// Whether it still costs money or soon will.
    pub fn is_live(self) -> bool {
        self != MachineState::Terminated
    }

    /// The state's name as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            MachineState::Pending => "pending",
            MachineState::Running => "running",
            MachineState::Failed => "failed",
            MachineState::Stopped => "stopped",
            MachineState::Stopping => "stopping",
            MachineState::Terminated => "terminated",
        }
    }
}

impl fmt::Display for MachineState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Tags that every machine of ours carries from its first moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ownership {
    /// The fleet that asked for it.
    pub fleet: FleetUid,
    /// That fleet's name: what is left to go by when a journal is lost.
    pub name: FleetName,
    /// The slot it fills.
    pub slot: SlotId,
    /// The request that made it.
    pub token: Token,
    /// The template it was made from.
    pub template: Digest,
}

/// The cloud's warning that it will take a machine back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptionNotice {
    /// When it will be taken; of a recommendation, when it was given.
    pub at: Timestamp,
    /// How certain it is.
    #[serde(default)]
    pub kind: NoticeKind,
}

/// How certain it is that a machine will be taken back.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    /// It will be.
    #[default]
    Interruption,
    /// It is more likely than it was: the cloud recommends to move.
    Rebalance,
}

/// Everything the clouds told us in one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// When we began to look: what came later may be missing.
    pub taken_at: Timestamp,
    /// Machines with tags of ours, live or lately ended.
    pub machines: BTreeMap<MachineId, Machine>,
    /// Scopes that answered in full.
    pub complete: BTreeSet<Scope>,
    /// Scopes that did not. Nothing in them is created, destroyed or forgotten.
    pub gaps: Vec<Gap>,
    /// Machines that a list which is not whole shows. They prove that something is there, and nothing
    /// else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub glimpsed: BTreeMap<MachineId, Machine>,
    /// Machines of the journal that a complete list lacks, and what asking for each by its id or
    /// name brought. What is in neither is not known to be gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gone: BTreeMap<MachineId, Option<Cause>>,
    /// The accounts behind the scopes that answered, where clouds tell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accounts: BTreeMap<AccountKey, String>,
    /// What is there of machines besides themselves, and used by none: theirs are gone, or not made
    /// yet, or not listed yet.
    #[serde(rename = "remains", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orphans: BTreeMap<MachineId, Orphans>,
    /// What checks of the user's own said. Only those who may change the fleet make them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probed: BTreeMap<MachineId, Probed>,
    /// What the ledger wants to know: prices as they moved, and when machines ran.
    #[serde(default, skip_serializing_if = "Readings::is_empty")]
    pub readings: Readings,
}

impl Observed {
    /// A look that has seen nothing yet.
    pub fn nothing(taken_at: Timestamp) -> Self {
        Observed {
            taken_at,
            machines: BTreeMap::new(),
            complete: BTreeSet::new(),
            gaps: Vec::new(),
            glimpsed: BTreeMap::new(),
            gone: BTreeMap::new(),
            accounts: BTreeMap::new(),
            orphans: BTreeMap::new(),
            probed: BTreeMap::new(),
            readings: Readings::default(),
        }
    }

    /// Whether we know what is in a scope.
    pub fn is_complete(&self, scope: &Scope) -> bool {
        self.complete.contains(scope)
    }
}

/// Which account of which cloud, as a spec names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountKey {
    /// The cloud.
    pub cloud: Cloud,
    /// The account that the spec names; `None`: the one that the credentials are for.
    pub account: Option<String>,
}

impl AccountKey {
    /// The account of a scope.
    pub fn of(scope: &Scope) -> Self {
        let account = scope.region.account().map(str::to_owned);
        AccountKey { cloud: scope.cloud, account }
    }
}

impl fmt::Display for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.account {
            None => write!(f, "{}", self.cloud),
            Some(account) => write!(f, "{}@{account}", self.cloud),
        }
    }
}

impl std::str::FromStr for AccountKey {
    type Err = crate::UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (cloud, account) = match text.split_once('@') {
            Some((cloud, account)) => (cloud, Some(account.to_owned())),
            None => (text, None),
        };
        Ok(AccountKey { cloud: cloud.parse()?, account })
    }
}

impl Serialize for AccountKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AccountKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Disks and network interfaces that no machine uses, as clouds make them for a machine and may
/// leave them behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Orphans {
    /// The machine that they were made for.
    pub machine: MachineId,
    /// The launch that made them.
    pub token: Token,
    /// Where they are.
    pub scope: Scope,
}

/// A scope that did not answer in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// Which scope.
    pub scope: Scope,
    /// Why.
    pub cause: GapCause,
    /// The cloud's own words, escaped.
    pub detail: String,
}

/// Why a scope is a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCause {
    /// No answer in time, or an answer that something is broken.
    Unreachable,
    /// Part of the list is missing.
    PartialList,
    /// There are no credentials, or something else that has to be set up first.
    NoCredentials,
    /// Credentials do not allow the look.
    NotAllowed,
    /// Throttled for longer than we wait.
    Throttled,
    /// Requests there failed several times in a row, so it is not asked for a while.
    BreakerOpen,
    /// The list lacks machines that are there.
    ListWrong,
    /// The credentials are for another account than the one that the journal knows.
    OtherAccount,
}

impl GapCause {
    /// The cause in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            GapCause::Unreachable => "does not answer",
            GapCause::PartialList => "answered in part",
            GapCause::NoCredentials => "cannot be asked without credentials",
            GapCause::NotAllowed => "refused us",
            GapCause::Throttled => "throttles us",
            GapCause::BreakerOpen => "is left alone, its breaker is open",
            GapCause::ListWrong => "lists less than there is",
            GapCause::OtherAccount => "is another account",
        }
    }
}

impl fmt::Display for GapCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
