//! Lambda Cloud: one launch in twelve seconds, one machine each, no memory for tokens.

mod kinds;
mod vm;
mod world;

pub use kinds::{KEY, REGIONS, SSH_KEY};
pub use world::LambdaCloud;
