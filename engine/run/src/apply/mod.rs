//! Obeying a plan: the session that holds the right to change a fleet, one round of steps, what answers
//! mean, and what is made good after a run that died.

mod clear;
mod destroy;
mod drain;
mod handover;
mod launch;
mod outcome;
mod probe;
mod readings;
mod recover;
mod relabel;
mod rename;
mod round;
mod seams;
mod sent;
mod session;
mod step;

pub use handover::{Changed, Unowned};
pub use rename::Renamed;
pub use round::RoundOutcome;
pub use session::Session;
