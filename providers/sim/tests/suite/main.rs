//! Everything that the simulated clouds promise, driven as a library.

mod conformance;
mod disk;
mod faults;
mod habits;
mod kill;
mod market;
mod proof;
mod support;
