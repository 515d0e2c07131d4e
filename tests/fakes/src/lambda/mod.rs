//! Lambda Cloud: one launch in twelve seconds, one machine each, no memory for tokens.

mod answers;
mod habits;
mod kinds;
mod vm;
mod world;

pub use habits::{Habits, Sick};
pub use kinds::{ARM_IMAGE, IMAGE, KEY, REGIONS, RULESETS, SSH_KEY};
pub use world::LambdaCloud;
