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
    /// How wide a refusal reaches; `None`: as wide as its class says.
    pub reach: Option<Reach>,
    /// The cloud says that we ask too much.
    pub throttled: bool,
}

/// How wide a refusal reaches: as narrow as its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// One pool.
    Pool,
    /// Every type that shares a limit with this one, in its region and market.
    Class,
    /// Everything in the zone: a subnet without addresses.
    Zone,
    /// One market of the region.
    Market,
    /// The region.
    Region,
    /// Every type that shares a limit with this one, in every region of the account.
    AccountClass,
    /// One market, in every region of the account.
    AccountMarket,
    /// The account, whatever region.
    Account,
    /// The cloud, whatever account.
    Cloud,
}

/// Codes of our own for what a person has to set up before a cloud can be asked anything.
pub const NO_CREDENTIALS: &str = "NoCredentials";
/// See [`NO_CREDENTIALS`].
pub const NOT_SET_UP: &str = "NotSetUp";

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
        let (code, message) = (code.into(), message.into());
        Error { cloud, class, code, message, reach: None, throttled: false }
    }

    /// The same, as wide as that.
    pub fn reaching(mut self, reach: Reach) -> Self {
        self.reach = Some(reach);
        self
    }

    /// The same, as the cloud's word that we ask too much.
    pub fn throttled(mut self) -> Self {
        self.throttled = true;
        self
    }

    /// Whether nothing was asked, because something has to be set up first.
    pub fn lacks_setup(&self) -> bool {
        self.class == Class::Auth && matches!(self.code.as_str(), NO_CREDENTIALS | NOT_SET_UP)
    }

    /// How wide it reaches.
    pub fn reach(&self) -> Reach {
        self.reach.unwrap_or(match self.class {
            Class::Quota { .. } => Reach::Market,
            Class::Auth => Reach::Account,
            Class::Retry { .. }
            | Class::Capacity { .. }
            | Class::Invalid
            | Class::Refused { .. }
            | Class::Unknown
            | Class::Freeze => Reach::Pool,
        })
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
    /// A limit is reached; do not ask what shares it again for this long.
    Quota {
        /// How long.
        block: Duration,
    },
    /// The cloud does not know or trust us, or we lack a right.
    Auth,
    /// The request itself is wrong: no retry will mend it.
    Invalid,
    /// Turned down for a reason that we do not know; nothing was made. Not again for this long.
    Refused {
        /// How long.
        block: Duration,
    },
    /// The outcome is not known: the machines may or may not exist. Resolve before going on.
    Unknown,
    /// Something that must not be: stop and tell a person.
    Freeze,
}
