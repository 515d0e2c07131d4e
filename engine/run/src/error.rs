//! What can go wrong before, between and after requests to clouds.

use crate::state::{JournalError, LeaseError, StoreError};
use fleet_core::{Stale, Violation};
use fleet_model::{Cloud, FleetName};

/// Why a run ended early. Refusals of clouds are not here: they are outcomes.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal is damaged, or somebody else writes to it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else holds the lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// A cloud that the spec names has no provider here.
    #[error("fleet `{fleet}` uses {cloud}, and no provider for it is configured")]
    NoProvider {
        /// Which fleet.
        fleet: FleetName,
        /// Which cloud.
        cloud: Cloud,
    },
    /// The journal is on its way to another name, and nothing is written under this one any more.
    #[error("fleet `{fleet}` is being renamed to `{to}`, and that is not done yet")]
    Leaving {
        /// Which fleet.
        fleet: FleetName,
        /// Its name from here on.
        to: FleetName,
    },
    /// There is no journal under a name.
    #[error("there is no fleet `{fleet}`")]
    NoSuchFleet {
        /// The name.
        fleet: FleetName,
    },
    /// There is a journal under a name already.
    #[error("there is a fleet `{fleet}` already")]
    NameTaken {
        /// The name.
        fleet: FleetName,
    },
    /// Nobody knows what became of launches.
    #[error("nobody knows yet what became of {requests} {} of fleet `{fleet}`",
        if *.requests == 1 { "launch" } else { "launches" })]
    InDoubt {
        /// Which fleet.
        fleet: FleetName,
        /// How many.
        requests: usize,
    },
    /// A saved plan no longer stands on what it was made from.
    #[error("the plan is stale: {0}")]
    Stale(Stale),
    /// A plan breaks a rule of the engine's own. Nothing was sent.
    #[error("the plan for fleet `{fleet}` breaks a rule of the engine, so nothing was sent: {}",
        .violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unsound {
        /// Which fleet.
        fleet: FleetName,
        /// Which rules.
        violations: Vec<Violation>,
    },
}
