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
