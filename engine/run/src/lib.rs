//! The shell around the decisions: looks, writes down, obeys.
//!
//! Order of every mutation: append the intent, send, append the outcome. Nothing here decides
//! what to do; when a cloud says no, the step ends, the refusal is remembered, and the next round
//! decides anew.

mod apply;
mod beliefs;
mod breakers;
mod clear;
mod clock;
mod engine;
mod error;
mod journal;
mod lease;
mod limits;
mod observe;
mod outcome;
mod progress;
mod record;
mod recover;
mod relabel;
mod remote;
mod retry;
mod session;
mod store;
mod sweep;
mod trouble;

pub use apply::RoundOutcome;
pub use clock::SystemClock;
pub use engine::{Engine, Fresh};
pub use error::RunError;
pub use journal::{Journal, JournalError};
pub use lease::{Held, Lease, LeaseError, Waiting};
pub use progress::{Progress, StepResult, Stop};
pub use record::Record;
pub use session::{Converged, Session};
pub use store::{Store, StoreError, shown};
pub use sweep::{Orphan, Stray, Sweep};
pub use trouble::Trouble;
