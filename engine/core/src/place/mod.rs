//! How many machines to take from which pool: the problem (candidates and limits), greedy by the order of
//! a strategy, the tail solved anew as a knapsack, a bound that tells how good that is, and an exact
//! search where something is left to be gained.

mod bound;
mod committed;
mod counting;
mod exact;
mod fill;
mod greedy;
mod limits;
mod need;
mod problem;
pub(crate) mod rank;
mod shares;
mod table;
mod tail;
mod usage;

pub use need::Certificate;
pub(crate) use need::{Need, Taken};
pub(crate) use problem::Problem;
pub(crate) use usage::Usage;
