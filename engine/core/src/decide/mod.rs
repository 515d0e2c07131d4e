//! What to keep, what to launch and what to destroy: the decision as data, the driver that makes it, the
//! choice of removals, the hedged burst, and what is held back.

mod burst;
mod choose;
mod decision;
mod driver;
mod groups;
mod holds;
mod limits;
mod moves;
mod outgoing;
mod placement;
mod rebalance;
mod relabel;
mod removals;
mod resend;
mod resting;
mod rollout;
mod seams;
mod together;

pub(crate) use decision::{Consent, Decision};
pub(crate) use driver::{decide, decide_with};
pub(crate) use holds::by_hand;
pub(crate) use moves::moves;
pub use placement::{Placement, placement};
pub(crate) use relabel::stuck;
