//! Azure against a fake that keeps state and goes wrong on demand.

mod bed;
mod conformance;
mod faults;
mod reality;
mod witness;
