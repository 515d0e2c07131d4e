//! Compute Engine, against a server that keeps state. The witnesses that nobody here wrote, Prism
//! on Google's own description and Google's own Python client, are run by `cargo xtask test
//! clouds`, which installs them.

mod account;
mod conformance;
mod faults;
mod reality;
mod rounds;
mod support;
mod witness;
