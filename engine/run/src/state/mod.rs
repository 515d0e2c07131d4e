//! What outlives a run: the store, the journal in it, the lease on a fleet, and what fleets tell each
//! other of spot pools.

pub(crate) mod beliefs;
mod hints;
mod journal;
mod lease;
mod ledger;
mod members;
pub(crate) mod moving;
mod names;
mod notes;
mod origin;
mod outbox;
mod pages;
mod record;
mod remote;
pub(crate) mod said;
mod seams;
mod snapshot;
mod store;
mod store_errors;

pub use beliefs::learned;
pub use journal::{Journal, JournalError};
pub use lease::{Held, Lease, LeaseError, Waiting};
pub use ledger::read_ledger;
pub use members::Members;
pub use origin::{Origin, SIMULATED_MARK};
pub use outbox::Posted;
pub use record::Record;
pub use store::{Store, StoreError, shown};
pub use store_errors::StoreFault;
