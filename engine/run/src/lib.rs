//! The shell around the decisions: looks, writes down, obeys.
//!
//! Order of every mutation: append the intent, send, append the outcome. Nothing here decides
//! what to do; when a cloud says no, the step ends, the refusal is remembered, and the next round
//! decides anew.
//!
//! The rooms, each of which uses only those above it: `calls` (how clouds are asked), `state` (what
//! outlives a run), `hooks` (what reaches machines), the engine, `observe` (looking), `apply` (obeying),
//! and `reconcile`, the one loop.

mod apply;
mod calls;
mod engine;
mod error;
mod hooks;
mod observe;
mod progress;
mod reconcile;
mod state;

pub use apply::{Changed, Renamed, RoundOutcome, Session, Unowned};
pub use calls::{Appended, Meter, SystemClock};
pub use engine::{Engine, Fresh};
pub use error::RunError;
pub use hooks::{HookTarget, Hooks, RealHooks};
pub use observe::{Orphan, Stray, Sweep};
pub use progress::{Progress, StepResult, Stop};
pub use reconcile::{Converged, Reach};
pub use state::{
    Held, Journal, JournalError, Lease, LeaseError, Members, Origin, Posted, Record,
    SIMULATED_MARK, Store, StoreError, StoreFault, Waiting, learned, read_ledger, shown,
};
