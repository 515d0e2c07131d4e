//! How machines are replaced when their template changes, and how far that has come.

use crate::{Cloud, Cron, Digest, Group, Share, SlotId, SlotName, Timestamp, Units};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How machines are replaced when their template changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Updates {
    /// A few at a time, or all at once.
    pub strategy: UpdateStrategy,
    /// How much of the target may be missing meanwhile.
    pub max_unavailable: Part,
    /// How much beyond the target may stand meanwhile.
    pub max_surge: Part,
    /// How many machines are replaced first, before the others.
    pub canary: u32,
    /// For how long the canary, and each wave, must stay ready before the next one, in seconds.
    pub pause_seconds: u32,
    /// Whether an old machine waits until its successor is ready, and a failed one stops the rest.
    pub health_gate: bool,
    /// When waves may begin; none: at any time.
    pub windows: Vec<Window>,
}

impl Default for Updates {
    fn default() -> Self {
        Updates {
            strategy: UpdateStrategy::Rolling,
            max_unavailable: Part::Machines(0),
            max_surge: Part::Share(Self::SURGE),
            canary: 1,
            pause_seconds: 0,
            health_gate: true,
            windows: Vec::new(),
        }
    }
}

impl Updates {
    /// What may stand beyond the target, where nobody says otherwise: a tenth.
    pub const SURGE: Share = Share::TENTH;

    /// Whether this is what a spec without a word on it has.
    pub fn is_default(&self) -> bool {
        *self == Updates::default()
    }
}

/// Ways to replace machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateStrategy {
    /// A few at a time: successors first, as far as the surge allows.
    #[default]
    Rolling,
    /// All old machines go at once, and new ones are launched then.
    Recreate,
}

/// A number of machines, or a share of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// So many machines.
    Machines(u32),
    /// A share of the target.
    Share(Share),
}

impl Part {
    /// Whether it is nothing.
    pub fn is_none(self) -> bool {
        self == Part::Machines(0) || self == Part::Share(Share::NONE)
    }
}

/// Times in which something may be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// When it opens.
    pub cron: Cron,
    /// On which clock: a name of the IANA database.
    pub time_zone: String,
    /// For how long it stays open, in seconds.
    pub lasts_seconds: u32,
}

/// The templates of some clouds, by fingerprint.
pub type TemplateSet = BTreeMap<Cloud, Digest>;

/// A change of template on its way through a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// The last templates that a whole fleet was ready with: what an undo returns to.
    pub from: TemplateSet,
    /// The templates that it brings.
    pub to: TemplateSet,
    /// When it began.
    pub since: Timestamp,
    /// Waves that are done, the canary included.
    pub waves: u32,
    /// The old machines that are being replaced now, by slot.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub wave: BTreeSet<SlotId>,
    /// What each group held when that wave began: it is not to hold less for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub level: BTreeMap<Group, Units>,
    /// When the last wave was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wave_done: Option<Timestamp>,
    /// How it stands.
    pub state: RolloutState,
}

/// How a rollout stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum RolloutState {
    /// It goes on.
    Going,
    /// A person stopped it for now.
    Paused,
    /// New machines failed: it goes on when a person says so, or with another template.
    Halted {
        /// Why.
        why: HaltCause,
    },
    /// Every machine has its template.
    Done,
}

/// Why a rollout stopped by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HaltCause {
    /// New machines that failed.
    pub failed: u32,
    /// The slot of one of them; `None` where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotName>,
    /// What was seen of it, escaped; empty where nobody told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// Something that happened to a rollout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "news")]
pub enum RolloutNews {
    /// It began.
    Began {
        /// What an undo returns to.
        from: TemplateSet,
        /// What it brings.
        to: TemplateSet,
    },
    /// Some machines are to be replaced now.
    WaveBegan {
        /// Their slots.
        slots: BTreeSet<SlotId>,
        /// What each group holds.
        level: BTreeMap<Group, Units>,
    },
    /// All of them are, and their successors are ready.
    WaveDone,
    /// New machines failed.
    Halted {
        /// Why.
        why: HaltCause,
    },
    /// Every machine has its template and is ready.
    Done,
    /// A person stopped it for now.
    Paused,
    /// A person wants it to go on, also if it was halted or undone.
    Resumed,
    /// A person wants the template before it.
    Undone,
}

/// Templates that a person does not want, and what is used in their place. Another template in the spec
/// is a new word, and this one is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undone {
    /// What the spec says and nobody wants.
    pub bad: TemplateSet,
    /// What holds in its place.
    pub good: TemplateSet,
    /// Since when.
    pub since: Timestamp,
}
