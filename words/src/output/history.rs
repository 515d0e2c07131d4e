//! The document of `fleet history`: one flat record per event of the journal.

use super::bodies;
use super::words::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// What was done to fleets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The fleets.
    pub fleets: Vec<FleetHistory>,
}

bodies! { History: "history", "history"; }

/// What was done to one fleet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetHistory {
    /// The fleet's name.
    pub fleet: String,
    /// What happened, in order.
    pub events: Vec<Happened>,
}

/// One event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Happened {
    /// When.
    pub at: Time,
    /// The fleet.
    pub fleet: String,
    /// The run that wrote it: every run that holds the lease has the next number. 0 before the first.
    pub run: u64,
    /// Who ran it, and with which command; `null` before the first run.
    pub who: Option<String>,
    /// Its record in the journal. Events of one record happened together.
    pub record: u64,
    /// What kind of event it is.
    pub kind: EventKind,
    /// The slots that it is about.
    pub slots: Vec<String>,
    /// The machines that it is about, as far as they are known.
    pub machines: Vec<String>,
    /// The pool that it is about; `null` if it is about none, or several.
    pub pool: Option<String>,
    /// What happened, in words.
    pub what: String,
    /// Whether it is trouble.
    pub trouble: bool,
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    /// The fleet was given its identity.
    Opened,
    /// A run took the lease.
    RunStarted,
    /// A round of changes began.
    RoundStarted,
    /// A launch was about to be sent.
    LaunchIntended,
    /// A launch in doubt was about to be sent again.
    LaunchResent,
    /// A launch made machines: all that were asked for, or some.
    Launched,
    /// A launch was refused.
    LaunchRefused,
    /// The outcome of a launch is not known.
    LaunchUnknown,
    /// Machines were about to be destroyed.
    DestroyIntended,
    /// Machines were kept, because they are not what they were taken for.
    DestroyRefused,
    /// It is not known whether machines were destroyed.
    DestroyUnknown,
    /// Machines are gone.
    Gone,
    /// Machines do not work.
    Failed,
    /// The account of a cloud was noted.
    AccountSeen,
    /// Labels of new machines were changed.
    LabelsMeant,
    /// A template was used for the first time.
    TemplateMeant,
    /// Labels of machines were changed in place.
    Relabelled,
    /// A machine that was recorded as gone is there after all.
    CameBack,
    /// A machine said that it will be taken back.
    NoticeTold,
    /// Machines said how busy they were.
    BusyTold,
    /// A person asked for machines to be replaced.
    ReplaceAsked,
    /// A person wants machines to stay that were to be replaced.
    ReplaceWithdrawn,
    /// Checks of machines pass or fail, and did not before.
    HealthSeen,
    /// A change of template came further, or a person had a say in it.
    Rollout,
    /// The work on machines was asked to end.
    Drained,
    /// A person wants nothing to be changed.
    Frozen,
    /// The fleet may be changed again.
    Thawed,
    /// The fleet was given another name.
    Renamed,
    /// Machines that somebody else launched were taken in.
    Adopted,
    /// Machines were let go, and run on.
    Released,
    /// On-demand takes the place of spot, or no longer; or spot is short, or no longer.
    Fallback,
    /// Other pools than before have machines that are worth moving to cheaper ones.
    Cheaper,
    /// Machines are moved: each is destroyed when its successor is up.
    Moving,
    /// Prices of pools that hold machines moved.
    Priced,
    /// Something refused a launch, and is not retried for a while.
    Blocked,
    /// A round of changes ended.
    RoundEnded,
}
