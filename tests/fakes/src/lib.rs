//! Twins of clouds that speak the real wire format on loopback, keep state, and go wrong on demand.
//!
//! A fake is a world behind a small HTTP server. Tests in the same process set its faults directly
//! and step its clock; programs outside set them with `PUT /fake/faults` and ask for the truth with
//! `GET /fake/state`, whatever faults there are.

pub mod azure;
mod faults;
pub mod gcp;
pub mod lambda;
mod server;
pub mod witness;

pub use faults::{Faults, Refusal};
pub use server::{Fake, Server, World};
