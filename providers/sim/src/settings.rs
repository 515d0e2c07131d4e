//! How a world is set up. Chosen once, when it is made.

use fleet_model::UnknownName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What kind of world it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Decides everything that chance decides.
    pub seed: u64,
    /// How the clouds behave.
    pub preset: Preset,
    /// Real time that every call takes, for tests that kill a process at a random moment.
    #[serde(default)]
    pub latency: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 1, preset: Preset::Lifelike, latency: Duration::ZERO }
    }
}

/// How the clouds behave when nobody asks for faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Capacity runs out, prices move, calls are limited, machines take their time.
    Lifelike,
    /// Endless capacity, fixed prices, no limits, and everything is done at once.
    Calm,
}

impl Preset {
    /// The preset as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Lifelike => "lifelike",
            Preset::Calm => "calm",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        [Preset::Lifelike, Preset::Calm]
            .into_iter()
            .find(|preset| preset.as_str() == text)
            .ok_or_else(|| UnknownName { what: "preset", text: text.into() })
    }
}
