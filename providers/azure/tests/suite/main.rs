//! Azure against a fake that keeps state and goes wrong on demand.

mod conformance;
mod faults;
mod fixture;
mod reality;
mod witness;
