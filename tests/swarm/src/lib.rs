//! The engine in storms: production code of observing, planning, applying, journal, lease and
//! recovery, against simulated clouds and a simulated store, on one simulated clock.
//!
//! One seed is one world is one run, and runs the same each time, byte for byte. A judge sees
//! everything that happens beside the clouds' own truth, and says which of the promises in
//! docs/safety.md is broken.

mod bench;
mod chance;
mod clockwork;
mod damage;
mod habits;
mod hooks;
mod judge;
mod life;
mod market;
mod operator;
mod process;
mod purse;
mod rest;
mod squall;
mod storm;
mod trace;
mod weather;
mod wire;
mod wish;
mod world;

pub use judge::Violation;
pub use life::{Outcome, live};
pub use purse::PURSES;
pub use weather::{Counts, Kind};
