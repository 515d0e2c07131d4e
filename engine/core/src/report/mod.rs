//! What a decision means: groups, pools and their reasons, money, what is to be expected, and which
//! constraint costs most.

mod afresh;
mod budgets;
mod cost;
mod explain;
mod fallback;
mod outlook;
mod pool_reasons;
mod range;
mod relax;
mod summary;

pub use afresh::afresh;
pub use explain::{
    ODDS_HOURS, PoolOdds, PoolVerdict, SlotVerdict, Verdict, explain_moves, explain_pools,
    explain_slots,
};
pub use relax::{Relax, Relaxation, proven_gaps, relaxations};
pub(crate) use summary::report;
