//! Compute Engine over loopback, as far as `fleet` uses it: a server that keeps state, speaks
//! Google's wire format and can be told to misbehave.
//!
//! It is kept honest from outside. Prism stands between a client and this server and refuses what
//! Google's own description does not allow, and Google's own Python client drives it. Neither
//! knows anything of `fleet`.

mod answer;
mod fault;
mod filter;
mod happen;
mod insert;
mod list;
mod market;
mod operation;
mod route;
mod server;
mod world;

pub use fault::{Faults, Refusal};
pub use market::{all_zones, regions};
pub use server::{Fake, serve_on};
