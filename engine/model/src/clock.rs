//! What a fleet does by the clock.

use crate::{CapacityGoal, Cron};
use serde::{Deserialize, Serialize};

/// A target that holds from some times on, until another one does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleEntry {
    /// When.
    pub cron: Cron,
    /// On which clock: a name of the IANA database.
    pub time_zone: String,
    /// How much from then on.
    pub goal: CapacityGoal,
}

/// A time zone by its name; `None`: there is none of that name.
///
/// From the database that is built in, so that every machine decides alike.
pub fn time_zone(name: &str) -> Option<jiff::tz::TimeZone> {
    jiff::tz::TimeZoneDatabase::bundled().get(name).ok()
}
