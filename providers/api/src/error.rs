//! Errors by what the caller can do about them.

use fleet_model::Cloud;
use std::fmt;
use std::time::Duration;

/// A cloud's refusal or silence, classified where its codes are known: in the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// Who said it.
    pub cloud: Cloud,
    /// What to do about it.
    pub class: Class,
    /// The cloud's own code: `InsufficientInstanceCapacity`.
    pub code: String,
    /// The cloud's own words. Hostile until shown otherwise: escape before printing.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered {}: {}", self.cloud, self.code, self.message.escape_debug())
    }
}

impl Error {
    /// An error of a class.
    pub fn new(
        cloud: Cloud,
        class: Class,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Error { cloud, class, code: code.into(), message: message.into() }
    }

    /// Whether the cloud says that we ask too much, whatever it calls that.
    pub fn is_throttling(&self) -> bool {
        const WORDS: [&str; 6] =
            ["throttl", "ratelimit", "rateexceeded", "requestlimit", "toomanyrequests", "429"];
        let letters = self.code.chars().filter(char::is_ascii_alphanumeric);
        let code: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        matches!(self.class, Class::Retry { .. }) && WORDS.iter().any(|word| code.contains(word))
    }
}

/// What the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing happened; ask again with the same token, not before this long.
    Retry {
        /// The cloud's wish, if it said one.
        after: Option<Duration>,
    },
    /// This pool has nothing for us; do not ask it again for this long.
    Capacity {
        /// How long.
        block: Duration,
    },
    /// A limit of the account is reached; do not ask this region and market again for this long.
    Quota {
        /// How long.
        block: Duration,
    },
    /// The cloud does not know or trust us: stop using it.
    Auth,
    /// The request itself is wrong: no retry will mend it.
    Invalid,
    /// The outcome is not known: the machines may or may not exist. Resolve before going on.
    Unknown,
    /// Something that must not be: stop and tell a person.
    Freeze,
}
