//! What the suites against emulators share: servers to start, and faults to put in front of them.

pub mod aws;
pub mod stores;
