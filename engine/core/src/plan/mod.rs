//! From a decision to steps in order, each with its token; the linter that every plan passes; whether a
//! saved plan still stands; and the walk over its steps.

mod adopt;
mod check;
mod planned;
mod prune;
mod seams;
mod staleness;
mod steps;
mod token;
mod walk;

pub use adopt::{Adoptee, Adoption, Unfit, adopt, unfit};
pub use check::{Violation, check};
pub use planned::Planned;
pub use prune::{Pruning, prunes, unmanaged};
pub(crate) use staleness::premises_of_the_moment;
pub use staleness::{Stale, premises, same_steps, stale};
pub(crate) use steps::steps;
pub use walk::{StepState, Walk};
